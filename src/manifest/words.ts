import { isArray, isObject } from "../model/json.ts";
import type { Json, Path } from "../model/json.ts";

const LONGEST = 60;

/** A path as the messages write it: `testCases.login.elements[2].selectors`. */
export function showPath(path: Path): string {
  return path
    .map((step, at) => (typeof step === "number" ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join("");
}

/** What was found, with its value where that is short and may show. */
export function showFound(value: Json | undefined, mayShow: boolean): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (isObject(value)) return "a map";
  const kind =
    typeof value === "string" ? "the text" : typeof value === "number" ? "the number" : "the boolean";
  return mayShow ? `${kind} ${quote(value)}` : kind.replace("the", "a");
}

function quote(value: string | number | boolean): string {
  const text = JSON.stringify(value);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 2)}…"`;
}

/** `a`, `b` and `c`. */
export function listWords(words: readonly string[], joint: "and" | "or"): string {
  const quoted = words.map((word) => `\`${word}\``);
  const last = quoted.at(-1) ?? "";
  return quoted.length < 2 ? last : `${quoted.slice(0, -1).join(", ")} ${joint} ${last}`;
}

/** A guess as a sentence of its own with a space before it, or nothing. */
export function didYouMean(guess: string | undefined): string {
  return guess === undefined ? "" : ` Did you mean \`${guess}\`?`;
}
