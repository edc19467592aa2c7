import { type Document, pathOf, withoutAll } from "../document.ts";
import { valueAt, type Json, type JsonObject, type Path, isObject } from "../../model/json.ts";
import {
  type ManifestProblem,
  didYouMean,
  listWords,
  manifestProblem,
  nearest,
  showFound,
  showPath,
} from "../problem.ts";
import { isTemplate, parseTemplate } from "../interpolation.ts";
import { foreignKey } from "../settings.ts";
import type { SchemaFinding } from "../shape.ts";
import {
  type ManifestPart,
  RESERVED_KEYS,
  allowed,
  allowedIn,
  bare,
  convert,
  entryOf,
  holdsHidden,
  isHidden,
  partsAlong,
} from "../shape.ts";
import { PROJECT, SECTIONS, TARGET_DOCUMENT, TARGET_KEYS } from "../tables.ts";

export interface CheckedDocument {
  /** Without what is wrong in it, so that the rest can be checked in the same run. */
  readonly document: Document;
  readonly problems: readonly ManifestProblem[];
  /** What went with the wrong is more than a field, so that references to what is not there prove nothing. */
  readonly lossy: boolean;
}

const PROJECT_PART = bare(PROJECT);
const TARGET_PART = bare(TARGET_DOCUMENT);

/** The mistakes behind what JSON Schema found in a document, and what is left of it without them. */
export function explainShape(
  kind: "project" | "target",
  document: Document,
  findings: readonly SchemaFinding[],
): CheckedDocument {
  const [root, isLoss] =
    kind === "project" ? [PROJECT_PART, isLossOfStages] : [TARGET_PART, isLossOfResources];
  const mistakes = explainFindings(document.file, document.value, root, findings);
  const spoilt = mistakes.flatMap((mistake) => (mistake.spoilt === undefined ? [] : [mistake.spoilt]));
  return {
    document: { ...document, value: withoutAll(document.value, spoilt) },
    problems: mistakes.map(({ problem }) => inFile(problem, document)),
    lossy: mistakes.some(({ spoilt: path, problem }) => isLoss(path ?? problem.origin.path)),
  };
}

/** A problem counted from the document, with the document's place in its file. */
function inFile(problem: ManifestProblem, { root }: Document): ManifestProblem {
  if (root.length === 0) return problem;
  return { ...problem, origin: { ...problem.origin, path: [...root, ...problem.origin.path] } };
}

/** Whether stages, or the patterns of manifests, went with what was at a path. */
function isLossOfStages(path: Path): boolean {
  const [first] = path;
  if (first === undefined) return false;
  if (path.length === 1) return nearest(String(first), CHOOSING) !== undefined;
  return first === "manifests" || (first === "stages" && path.length === 2);
}

/** Keys that decide on stages and files; a misspelt one was meant to. */
const CHOOSING = ["manifests", "stages", "defaultStage"];

/** Whether a resource, or more, went with what was at a path. */
function isLossOfResources(path: Path): boolean {
  const inside = path[0] === "stages" ? path.slice(2) : path;
  const [first] = inside;
  if (inside.length > 1) return inside.length === 2 && SECTIONS.some(({ name }) => name === first);
  return !FIELDS_OF_TARGETS.has(String(first));
}

const FIELDS_OF_TARGETS: ReadonlySet<string> = new Set([...TARGET_KEYS, "defaults", "moved"]);

/** Where a mistake is, in the document and in the tables. */
interface Site {
  readonly file: string;
  readonly path: Path;
  readonly value: Json | undefined;
  /** From the root to the value, as far as the tables know. */
  readonly parts: readonly ManifestPart[];
}

const UNKNOWN_PART = bare({ type: "json" });

/** What the tables say of the value. */
function partAt({ path, parts }: Site): ManifestPart {
  return parts[path.length] ?? UNKNOWN_PART;
}

/** Whether the value may be repeated in a message: nothing in it, and nothing that it is in, is to be hidden. */
function mayShow(site: Site): boolean {
  return !site.parts.some(isHidden) && !holdsHidden(partAt(site));
}

/** The keys that may stand at a site; none where they are the user's own. */
function knownKeys(site: Site): readonly string[] {
  const { shape } = partAt(site);
  if (shape.type === "object") return Object.keys(shape.parts);
  return shape.type === "reference" ? ["description"] : [];
}

/** A mistake in the shape of a document. */
interface Mistake {
  readonly problem: ManifestProblem;
  /** What of the document cannot be used because of it; nothing where something is missing. */
  readonly spoilt: Path | undefined;
}

/**
 * The mistakes behind what JSON Schema found: one for each key that may not be there, each that is missing and
 * each value that does not fit, however many keywords it breaks.
 */
function explainFindings(
  file: string,
  document: JsonObject,
  root: ManifestPart,
  findings: readonly SchemaFinding[],
): readonly Mistake[] {
  const bySite = new Map<string, SchemaFinding[]>();
  for (const finding of findings) {
    // That a branch does not hold is said by what does not hold in it.
    if (finding.keyword === "if") continue;
    const known = bySite.get(finding.instancePath);
    if (known === undefined) bySite.set(finding.instancePath, [finding]);
    else known.push(finding);
  }
  return [...bySite].flatMap(([pointer, found]) => {
    const path = pathOf(pointer, document);
    const site = { file, path, value: valueAt(document, path), parts: partsAlong(root, path) };
    return explainSite(site, document, found);
  });
}

function explainSite(site: Site, document: JsonObject, findings: readonly SchemaFinding[]): Mistake[] {
  if (findings.some(({ keyword }) => keyword === "false schema"))
    return [{ problem: explainForeign(site, document), spoilt: site.path }];
  const strange = namesIn(findings, "additionalProperties", "additionalProperty");
  // Who misspelt a key that must be there has made one mistake, not two.
  const required = namesIn(findings, "required", "missingProperty");
  const meant = new Set(required.length === 0 ? [] : strange.map((key) => nearest(key, knownKeys(site))));
  const missing = required.filter((key) => !meant.has(key));
  const unfit = findings.some(({ keyword }) => keyword !== "additionalProperties" && keyword !== "required");
  return [
    ...strange.map((key) => ({ problem: explainKey(site, key), spoilt: [...site.path, key] })),
    ...missing.map((key) => ({ problem: explainMissing(site, key), spoilt: undefined })),
    ...(unfit ? [{ problem: explainValue(site), spoilt: site.path }] : []),
  ];
}

function namesIn(findings: readonly SchemaFinding[], keyword: string, parameter: string): string[] {
  return findings
    .filter((finding) => finding.keyword === keyword)
    .map(({ params }) => params[parameter])
    .filter((name) => typeof name === "string");
}

/** A key that may not stand where it does. */
function explainKey(site: Site, key: string): ManifestProblem {
  const known = knownKeys(site);
  return known.length > 0 && !isTemplate(key) ? unknownKey(site, key, known) : badKey(site, key);
}

function unknownKey(site: Site, key: string, known: readonly string[]): ManifestProblem {
  return manifestProblem(
    "unknown-key",
    { file: site.file, path: [...site.path, key] },
    `Unknown key \`${key}\``,
    `${didYouMean(nearest(key, known))} Allowed here: ${listWords(known, "and")}.`.trimStart(),
    { at: "key" },
  );
}

function badKey(site: Site, key: string): ManifestProblem {
  return manifestProblem(
    "bad-key",
    { file: site.file, path: [...site.path, key] },
    `\`${key}\` cannot be a key`,
    whyBad(site, key),
    { at: "key" },
  );
}

function whyBad(site: Site, key: string): string {
  if (RESERVED_KEYS.some((name) => name === key)) return "It is a reserved name. Choose another.";
  if (isTemplate(key)) return "Keys are not interpolated, only values are. Write the key in full.";
  return `It must be ${allowed({ type: "key" })}.${suggestion(site, key)}`;
}

/** The key as it could be written, unless that is taken. */
function suggestion({ value }: Site, key: string): string {
  const plain = key.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const written = plain.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^[_-]+|-+$/g, "");
  if (written === "" || (isObject(value) && Object.hasOwn(value, written))) return "";
  return ` \`${written}\` is possible.`;
}

/** A key that means nothing beside the value of another one. */
function explainForeign(site: Site, document: JsonObject): ManifestProblem {
  const above = site.path.slice(0, -1);
  const shape = site.parts[above.length]?.shape;
  const branches = shape?.type === "object" ? shape.branches : undefined;
  if (branches === undefined) return explainKey({ ...site, path: above }, String(site.path.at(-1)));
  const value = valueAt(document, [...above, branches.key]);
  return foreignKey(site.file, site.path, branches, typeof value === "string" ? value : branches.default);
}

/** A key that must be there and is not. */
function explainMissing(site: Site, key: string): ManifestProblem {
  const part = entryOf(partAt(site), key);
  const wanted = part === undefined ? "" : ` It must be ${allowedIn(part)}.`;
  return manifestProblem(
    "missing-key",
    { file: site.file, path: site.path },
    `\`${showPath([...site.path, key])}\` is missing`,
    `The key \`${key}\` is required.${wanted}`,
  );
}

/** A value that does not fit its place. */
function explainValue(site: Site): ManifestProblem {
  const part = partAt(site);
  const origin = { file: site.file, path: site.path };
  const name = `\`${showPath(site.path)}\``;
  if (part.secret === true && isScalar(site.value))
    return manifestProblem(
      "secret-in-clear",
      origin,
      `${name} must come from a secret or a file`,
      secretDetail(String(site.value)),
    );
  return manifestProblem(
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
    : `Secrets written in the file stay in git history. ${remedy}`;
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
  return " It cannot be null. Leave the key out instead.";
}

function textHint(text: string, { shape }: ManifestPart): string {
  if (shape.type === "enum") return didYouMean(nearest(text, shape.values));
  const value = convert(shape, text);
  return value !== undefined && typeof value !== "string" ? " Remove the quotes." : "";
}
