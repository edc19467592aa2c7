import { nearest } from "../manifest/document.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";

/** The target of that key, or all where none is named; one that no manifest declares is said. */
export function targetsNamed(
  word: string | undefined,
  { targets }: Desired,
  console: Console,
): readonly DesiredTarget[] | undefined {
  if (word === undefined) return targets;
  const key = word.replace(/^target\./, "");
  const found = targets.find((target) => target.key === key);
  if (found !== undefined) return [found];
  const keys = targets.map((target) => target.key);
  const close = nearest(key, keys);
  sayError(
    console,
    `No manifest declares a target ${key}`,
    `There are: ${keys.join(", ")}.${close === undefined ? "" : ` Did you mean ${close}?`}`,
  );
  return undefined;
}
