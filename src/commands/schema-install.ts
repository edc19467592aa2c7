import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFolder } from "../manifest/files.ts";
import { patternsOf } from "../manifest/find-manifests.ts";
import { readProject } from "../manifest/load.ts";
import { DEFAULT_MANIFESTS } from "../manifest/tables.ts";
import { stop } from "../model/error.ts";
import { type Json, isObject, parseJson } from "../model/json.ts";
import { writeJson } from "../render/json.ts";
import { refuseLinks } from "../render/output-file.ts";
import type { View } from "../render/view.ts";

/** Where the schemas stand, from the project folder. */
const SCHEMA_FILES = {
  project: ".vscode/tasc/project.schema.json",
  target: ".vscode/tasc/target.schema.json",
} as const;

/** The settings of VS Code for a folder, which the YAML extension reads, too. */
const SETTINGS_FILE = ".vscode/settings.json";

const KEY = "yaml.schemas";

/**
 * `tasc schema --install vscode`: puts the schemas into the project, and names them in the editor's settings.
 *
 * @throws TascError with what keeps it from writing
 */
export async function installForVscode(
  root: string,
  schemas: { readonly project: unknown; readonly target: unknown },
): Promise<View> {
  const files: { readonly file: string; readonly written: boolean }[] = [];
  try {
    const { project } = await readProject(projectFolder(root));
    const manifests = project === undefined ? DEFAULT_MANIFESTS : patternsOf(project);
    const before = textOf(join(root, SETTINGS_FILE));
    put(SCHEMA_FILES.project, writeJson(schemas.project));
    put(SCHEMA_FILES.target, writeJson(schemas.target));
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
