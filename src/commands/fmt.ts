import { writeTexts } from "../edit/edit-files.ts";
import { formatManifest } from "../manifest/format.ts";
import { hasErrors } from "../manifest/problem.ts";
import { EXIT } from "../model/error.ts";
import type { View } from "../render/view.ts";
import { invalidProject, readFolder } from "../app/project.ts";
import type { Context } from "./context.ts";
import { flag } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = { check: flag("--check", "change nothing; exit with 1 if a file would change") };

export const command = defineCommand({
  group: "Write",
  summary: "format the manifests",
  examples: {
    "tasc fmt": "put keys in their usual order; comments are kept",
    "tasc fmt --check": "list the files that would change, e.g. in a pull request",
  },
  options: OPTIONS,
  run: fmt,
});

async function fmt(options: OptionsOf<typeof OPTIONS>, { host }: Context): Promise<View> {
  const { root, reading } = await readFolder(options, host);
  const { project, documents, problems } = reading;
  // Errors inside a document do not stop the others from being formatted. Without tasc.yaml, the
  // files are unknown.
  if (project === undefined && hasErrors(problems)) throw await invalidProject(reading, problems);
  const all = project === undefined ? documents : [project, ...documents];
  const files = new Map(all.map((document) => [document.file, document]));
  const changed = [...files.values()].flatMap(({ file, bom, text }) => {
    const after = formatManifest(text, file === project?.file ? "project" : "target");
    return after === text ? [] : [{ file, bom, before: text, after }];
  });
  if (!options.check) writeTexts(root, changed);
  const names = changed.map(({ file }) => file);
  // What cannot be parsed cannot be formatted, and silence would say that it was.
  const unread = problems.filter(({ origin: { file } }) => !files.has(file));
  const { diagnostics, source } = await invalidProject(reading, unread);
  host.warn(diagnostics, source);
  const exitCode = options.check && names.length > 0 ? EXIT.failed : EXIT.done;
  return {
    json: { check: options.check, changed: names },
    text: [names],
    exitCode: hasErrors(unread) ? EXIT.invalid : exitCode,
  };
}
