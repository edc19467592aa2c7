import { type Json, type JsonObject, isObject, parseJson } from "../model/json.ts";

/** Where the schemas stand, from the project folder. */
export const SCHEMA_FILES = {
  project: ".vscode/tasc/project.schema.json",
  target: ".vscode/tasc/target.schema.json",
} as const;

/** The settings of VS Code for a folder, which the YAML extension reads, too. */
export const SETTINGS_FILE = ".vscode/settings.json";

const KEY = "yaml.schemas";

export type Merged =
  | { readonly ok: true; readonly text: string }
  /** The file is one that cannot be written again without losing something of it. */
  | { readonly ok: false; readonly why: string };

/**
 * The settings with our schemas in them, and all that was there before. @param before the file's text, if it is there
 * @param manifests the project's patterns
 */
export function mergeSettings(before: string | undefined, manifests: readonly string[]): Merged {
  const settings = before === undefined || before.trim() === "" ? {} : readSettings(before);
  if (settings === undefined) return { ok: false, why: "it contains comments, or is not a JSON object" };
  const present = settings[KEY] ?? {};
  if (!isObject(present)) return { ok: false, why: `its \`${KEY}\` is not a map` };
  const merged = { ...settings, [KEY]: { ...present, ...ownSchemas(manifests) } };
  const indent = /^([ \t]+)\S/m.exec(before ?? "")?.[1] ?? "  ";
  return { ok: true, text: `${JSON.stringify(merged, null, indent)}\n` };
}

/** What to add by hand. */
export function settingsToAdd(manifests: readonly string[]): string {
  return JSON.stringify({ [KEY]: ownSchemas(manifests) }, null, 2);
}

function ownSchemas(manifests: readonly string[]): JsonObject {
  return { [`./${SCHEMA_FILES.project}`]: ["tasc.yaml"], [`./${SCHEMA_FILES.target}`]: [...manifests] };
}

function readSettings(text: string): JsonObject | undefined {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    return undefined;
  }
  return isObject(value) ? value : undefined;
}
