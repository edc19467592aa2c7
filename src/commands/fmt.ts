import { openFolder } from "../app/session.ts";
import { writeTexts } from "../edit/edit-files.ts";
import { hasErrors, locate } from "../manifest/problem.ts";
import { formatManifest } from "../manifest/format.ts";
import { readProject } from "../manifest/load.ts";
import { EXIT, type ExitCode, TascError } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc fmt`: puts the keys of all manifests in their usual order, and changes nothing else of them. */
export async function run(options: OptionsOf<"fmt">, { host, console }: Context): Promise<ExitCode> {
  const { root, folder } = openFolder(options, host);
  const { project, documents, problems, sources } = await readProject(folder);
  // Mistakes inside of a document are no reason to leave the others; without tasc.yaml nobody knows which files.
  if (project === undefined && hasErrors(problems))
    throw new TascError("invalid", await locate(problems, sources), (file) => sources.get(file)?.text);
  const files = new Map(
    [...(project === undefined ? [] : [project]), ...documents].map((document) => [document.file, document]),
  );
  const changed = [...files.values()].flatMap(({ file, bom, text }) => {
    const after = formatManifest(text, file === project?.file ? "project" : "target");
    return after === text ? [] : [{ file, bom, before: text, after }];
  });
  if (!options.check) writeTexts(root, changed);
  const names = changed.map(({ file }) => file);
  console.show({ json: { check: options.check, changed: names }, text: [names] }, options.format);
  return options.check && names.length > 0 ? EXIT.failed : EXIT.done;
}
