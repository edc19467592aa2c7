import { join } from "node:path";
import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { projectRoot } from "../app/project.ts";
import { projectFolder } from "../manifest/files.ts";
import { patternsOf } from "../manifest/find-manifests.ts";
import { readProject } from "../manifest/load.ts";
import { DEFAULT_MANIFESTS } from "../manifest/tables.ts";
import { EXIT, failed, invalid } from "../model/error.ts";
import { type Json, isObject, parseJson } from "../model/json.ts";
import { writeJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import { textOf, writeText } from "./project-files.ts";
import { choice } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";

const OPTIONS = {
  which: choice("[which]", "which schema to print", ["project", "target", "plan"]),
  install: choice(
    "--install <editor>",
    "add the schemas to the project and the editor's settings instead of printing one",
    ["vscode"],
  ),
};

export const command = defineCommand({
  group: "Write",
  summary: "print a JSON Schema, or install all schemas for an editor",
  examples: {
    "tasc schema target > target.schema.json": "save the schema for other tools",
    "tasc schema --install vscode": "get completion and checks in VS Code's YAML extension",
  },
  options: OPTIONS,
  run: schema,
});

const SCHEMAS = { project, target, plan };

async function schema(options: OptionsOf<typeof OPTIONS>, { console, host }: Context) {
  const { which, install } = options;
  if ((which === undefined) !== (install !== undefined))
    throw invalid(
      "bad-arguments",
      which === undefined
        ? "The name of the schema is missing"
        : "--install takes no schema: it installs those of manifests",
      "tasc schema project|target|plan\ntasc schema --install vscode",
    );
  if (which === undefined) return installForVscode(projectRoot(options, host));
  console.document(writeJson(SCHEMAS[which]));
  return EXIT.done;
}

const SCHEMA_FILES = {
  project: ".vscode/tasc/project.schema.json",
  target: ".vscode/tasc/target.schema.json",
} as const;

/** The VS Code settings of a folder, which the YAML extension reads, too. */
const SETTINGS_FILE = ".vscode/settings.json";

const KEY = "yaml.schemas";

async function installForVscode(root: string): Promise<View> {
  const files: { readonly file: string; readonly written: boolean }[] = [];
  const { project: file } = await readProject(projectFolder(root));
  const manifests = file === undefined ? DEFAULT_MANIFESTS : patternsOf(file);
  const before = textOf(join(root, SETTINGS_FILE));
  put(SCHEMA_FILES.project, writeJson(project));
  put(SCHEMA_FILES.target, writeJson(target));
  put(SETTINGS_FILE, mergeSettings(before, manifests));
  const namesOf = (written: boolean): readonly string[] =>
    files.filter((one) => one.written === written).map(({ file }) => file);
  return {
    json: { written: namesOf(true), kept: namesOf(false) },
    text: [files.map(({ file, written }) => `${written ? "wrote" : "kept "}  ${file}`)],
  };

  function put(file: string, text: string): void {
    const written = textOf(join(root, file)) !== text;
    files.push({ file, written });
    if (written) writeText(root, file, text);
  }
}

/**
 * Adds tasc's schemas to the settings.
 * @throws TascError if the file cannot be rewritten without a loss
 */
export function mergeSettings(before: string | undefined, manifests: readonly string[]): string {
  const own = {
    [`./${SCHEMA_FILES.project}`]: ["tasc.yaml"],
    [`./${SCHEMA_FILES.target}`]: manifests,
  };
  const keep = (why: string): Error =>
    failed(
      "settings-kept",
      `${SETTINGS_FILE} stays as it is: ${why}`,
      `It was left unchanged so that nothing is lost. Add this to it:\n${JSON.stringify({ [KEY]: own }, null, 2)}`,
    );
  let settings: Json = {};
  try {
    if (before !== undefined && before.trim() !== "") settings = parseJson(before);
  } catch {
    settings = null;
  }
  if (!isObject(settings)) throw keep("it contains comments, or is not a JSON object");
  const present = settings[KEY] ?? {};
  if (!isObject(present)) throw keep(`its \`${KEY}\` is not a map`);
  const indent = /^([ \t]+)\S/m.exec(before ?? "")?.[1] ?? "  ";
  return `${JSON.stringify({ ...settings, [KEY]: { ...present, ...own } }, null, indent)}\n`;
}
