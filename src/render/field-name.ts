import type { Path } from "../model/json.ts";
import { safeLine } from "../output/safe.ts";

/** A field's path as people write it: `discovery.prompt`, `elements[2].locatorLine`, `headers["X.Y"]`. */
export function fieldName(path: Path): string {
  return path.map(step).join("");
}

function step(key: string | number, at: number): string {
  if (typeof key === "number") return `[${key}]`;
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(key)) return `[${safeLine(JSON.stringify(key))}]`;
  return at === 0 ? key : `.${key}`;
}
