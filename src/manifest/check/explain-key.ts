import { isObject } from "../../model/json.ts";
import { nearest } from "../nearest.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { allowed, allowedIn } from "../shape/allowed.ts";
import { entryOf } from "../shape/shape.ts";
import { RESERVED_KEYS } from "../shape/patterns.ts";
import { isTemplate } from "../template/parse.ts";
import { didYouMean, listWords, showPath } from "../words.ts";
import { knownKeys, partAt } from "./site.ts";
import type { Site } from "./site.ts";

/** A key that may not stand where it does. */
export function explainKey(site: Site, key: string): ManifestProblem {
  const known = knownKeys(site);
  return known.length > 0 && !isTemplate(key) ? unknownKey(site, key, known) : badKey(site, key);
}

function unknownKey(site: Site, key: string, known: readonly string[]): ManifestProblem {
  return manifestError(
    "unknown-key",
    { file: site.file, path: [...site.path, key] },
    `Unknown key \`${key}\``,
    `${didYouMean(nearest(key, known))} Allowed here: ${listWords(known, "and")}.`.trimStart(),
    { at: "key" },
  );
}

function badKey(site: Site, key: string): ManifestProblem {
  return manifestError(
    "bad-key",
    { file: site.file, path: [...site.path, key] },
    `\`${key}\` cannot be a key`,
    whyBad(site, key),
    { at: "key" },
  );
}

function whyBad(site: Site, key: string): string {
  if (RESERVED_KEYS.some((name) => name === key)) return "It is a reserved name; choose another.";
  if (isTemplate(key)) return "Keys are not interpolated, only values are; write the key out.";
  return `Allowed is ${allowed({ type: "key" })}.${suggestion(site, key)}`;
}

/** The key as it could be written, unless that is taken. */
function suggestion({ value }: Site, key: string): string {
  const plain = key.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const written = plain.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^[_-]+|-+$/g, "");
  if (written === "" || (isObject(value) && Object.hasOwn(value, written))) return "";
  return ` \`${written}\` would do.`;
}

/** A key that must be there and is not. */
export function explainMissing(site: Site, key: string): ManifestProblem {
  const part = entryOf(partAt(site), key);
  const wanted = part === undefined ? "" : ` It must be ${allowedIn(part)}.`;
  return manifestError(
    "missing-key",
    { file: site.file, path: site.path },
    `\`${showPath([...site.path, key])}\` is missing`,
    `The key \`${key}\` must be there.${wanted}`,
  );
}
