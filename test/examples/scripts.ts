import { readFileSync } from "node:fs";
import { parseDocument } from "yaml";

/** Everything that a shell runs for a pipeline or an action. */
export function scripts(file: string): readonly string[] {
  const document = parseDocument(readFileSync(file, "utf8"));
  const [error] = document.errors;
  if (error !== undefined) throw new Error(`${file}: ${error.message}`);
  return scriptsIn(document.toJS());
}

const SCRIPT_KEYS = ["run", "script", "before_script"];

function scriptsIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inside]: [string, unknown]) =>
    SCRIPT_KEYS.includes(key) ? [inside].flat().map(String) : scriptsIn(inside),
  );
}
