import type { Json } from "../model/json.ts";
import type { YamlProblem } from "./problem.ts";
import { readFast } from "./read-fast.ts";

export type Reading =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly problems: readonly YamlProblem[] };

/**
 * The value of a YAML 1.2 core text with one document, or everything that is wrong with it, in the order of
 * the text. Keys are the text they are written as: `1.0`, `true` and `null` are the keys "1.0", "true" and
 * "null". Aliased parts of the value may be shared.
 *
 * @param text a whole file, without byte order mark, as `decodeUtf8` returns it.
 */
export async function readYaml(text: string): Promise<Reading> {
  const value = readFast(text);
  if (value !== undefined) return { ok: true, value };
  const { readSlow } = await import("./read-slow.ts");
  return readSlow(text);
}
