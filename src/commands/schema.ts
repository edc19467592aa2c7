import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import plan from "../../schemas/plan.schema.json" with { type: "json" };
import project from "../../schemas/project.schema.json" with { type: "json" };
import target from "../../schemas/target.schema.json" with { type: "json" };
import { projectRoot } from "../app/session.ts";
import { projectFolder } from "../manifest/files.ts";
import { patternsOf } from "../manifest/find-manifests.ts";
import { readProject } from "../manifest/load.ts";
import { DEFAULT_MANIFESTS } from "../manifest/tables.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { type Json, isObject, parseJson } from "../model/json.ts";
import { writeJson } from "../render/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

const SCHEMAS = { project, target, plan };

/** `tasc schema project|target|plan`: prints a JSON Schema. `--install vscode` puts them where an editor finds them. */
export async function run(
  options: OptionsOf<"schema">,
  { console, host }: Context,
): Promise<View | ExitCode> {
  const { which, install } = options;
  if ((which === undefined) !== (install !== undefined))
    throw stop(
      "invalid",
      "bad-arguments",
      which === undefined
        ? "It is not said which schema"
        : "--install takes no schema: it installs those of manifests",
      "tasc schema project|target|plan\ntasc schema --install vscode",
    );
  if (which === undefined) return installForVscode(projectRoot(options, host));
  console.document(writeJson(SCHEMAS[which]));
  return EXIT.done;
}

/** Where the schemas stand, from the project folder. */
const SCHEMA_FILES = {
  project: ".vscode/tasc/project.schema.json",
  target: ".vscode/tasc/target.schema.json",
} as const;

/** The settings of VS Code for a folder, which the YAML extension reads, too. */
const SETTINGS_FILE = ".vscode/settings.json";

const KEY = "yaml.schemas";

/** Puts the schemas into the project, and names them in the editor's settings. */
async function installForVscode(root: string): Promise<View> {
  const files: { readonly file: string; readonly written: boolean }[] = [];
  try {
    const { project: file } = await readProject(projectFolder(root));
    const manifests = file === undefined ? DEFAULT_MANIFESTS : patternsOf(file);
    const before = textOf(join(root, SETTINGS_FILE));
    put(SCHEMA_FILES.project, writeJson(project));
    put(SCHEMA_FILES.target, writeJson(target));
    put(SETTINGS_FILE, mergeSettings(before, manifests));
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    throw stop("failed", "schemas-unwritable", "The schemas cannot be installed", `${error.message}.`);
  }
  const namesOf = (written: boolean): readonly string[] =>
    files.filter((one) => one.written === written).map(({ file }) => file);
  return {
    json: { written: namesOf(true), kept: namesOf(false) },
    text: [files.map(({ file, written }) => `${written ? "wrote" : "kept "}  ${file}`)],
  };

  function put(file: string, text: string): void {
    const path = join(root, file);
    refuseLinks(path, root);
    const written = textOf(path) !== text;
    files.push({ file, written });
    if (!written) return;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
}

/** A file's text; nothing where there is none. @throws what else keeps it from being read */
function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * The settings with our schemas in them, and all that was there before.
 *
 * @param before the file's text, if it is there
 * @param manifests the project's patterns
 * @throws TascError for a file that cannot be written again without losing something of it
 */
export function mergeSettings(before: string | undefined, manifests: readonly string[]): string {
  const own = { [`./${SCHEMA_FILES.project}`]: ["tasc.yaml"], [`./${SCHEMA_FILES.target}`]: manifests };
  const keep = (why: string): Error =>
    stop(
      "failed",
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
