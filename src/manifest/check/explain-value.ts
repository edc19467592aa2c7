import type { Json } from "../../model/json.ts";
import { nearest } from "../nearest.ts";
import { manifestError } from "../problem.ts";
import type { ManifestProblem } from "../problem.ts";
import { allowedIn } from "../shape/allowed.ts";
import { convert } from "../shape/convert.ts";
import type { ManifestPart } from "../shape/shape.ts";
import { parseTemplate } from "../template/parse.ts";
import { didYouMean, showFound, showPath } from "../words.ts";
import { mayShow, partAt } from "./site.ts";
import type { Site } from "./site.ts";

/** A value that does not fit its place. */
export function explainValue(site: Site): ManifestProblem {
  const part = partAt(site);
  const origin = { file: site.file, path: site.path };
  const name = `\`${showPath(site.path)}\``;
  if (part.secret === true && isScalar(site.value))
    return manifestError(
      "secret-in-clear",
      origin,
      `${name} must come from a secret or a file`,
      secretDetail(String(site.value)),
    );
  return manifestError(
    "bad-value",
    origin,
    `${name} must be ${allowedIn(part)}`,
    `Found ${showFound(site.value, mayShow(site))}.${hint(site, part)}`,
  );
}

function isScalar(value: Json | undefined): value is string | number | boolean {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean";
}

/** Says what is wrong without repeating any of it: it may well be the password. */
function secretDetail(text: string): string {
  const remedy =
    "Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.";
  const open = parseTemplate(text).parts.find((part) => part.kind === "env");
  if (open !== undefined)
    return `\`\${env:…}\` would show in outputs. ${remedy} Here: \`\${secret:${open.name}}\`.`;
  return text === ""
    ? `Found nothing. ${remedy}`
    : `A literal stands in git for good, for everyone to read. ${remedy}`;
}

const VERSION_HINT = " A newer tasc may read it.";

function hint(site: Site, part: ManifestPart): string {
  const { value } = site;
  if (value === null) return part.nullable === true ? "" : nullHint(part);
  if (part.shape.type === "version" && typeof value === "number") return VERSION_HINT;
  if (typeof value === "string") return textHint(value, part);
  if (typeof value !== "number" && typeof value !== "boolean") return "";
  if (part.shape.type === "duration") return ` Write the unit too: \`${String(value)}s\`.`;
  if (convert(part.shape, String(value)) !== String(value)) return "";
  return mayShow(site) ? ` Put it in quotes: \`"${String(value)}"\`.` : " Put it in quotes.";
}

function nullHint({ shape }: ManifestPart): string {
  if (shape.type === "object" || shape.type === "map") return " An empty map is written `{}`.";
  return " It cannot be null; leave the key out instead.";
}

function textHint(text: string, { shape }: ManifestPart): string {
  if (shape.type === "enum") return didYouMean(nearest(text, shape.values));
  const value = convert(shape, text);
  return value !== undefined && typeof value !== "string" ? " Take the quotes away." : "";
}
