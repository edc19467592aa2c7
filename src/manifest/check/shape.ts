import type { Origin } from "../../model/diagnostic.ts";
import { type Document, pathOf, withoutAll } from "../document.ts";
import { valueAt, type Json, type Path, isObject } from "../../model/json.ts";
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
import { DOCUMENTS, type DocumentKind, SECTIONS, TARGET_KEYS } from "../tables.ts";

export interface CheckedDocument {
  /** Without what is wrong in it, so that the rest can be checked in the same run. */
  readonly document: Document;
  readonly problems: readonly ManifestProblem[];
  /** What went with the wrong is more than a field, so that references to what is not there prove nothing. */
  readonly lossy: boolean;
}

/**
 * The mistakes behind what JSON Schema found in a document, and what is left of it without them: one for each key that
 * may not be there, each that is missing and each value that does not fit, however many keywords it breaks.
 */
export function explainShape(
  kind: DocumentKind,
  document: Document,
  findings: readonly SchemaFinding[],
): CheckedDocument {
  const isLoss = kind === "project" ? isLossOfStages : isLossOfResources;
  const bySite = new Map<string, SchemaFinding[]>();
  for (const finding of findings) {
    // That a branch does not hold is said by what does not hold in it.
    if (finding.keyword === "if") continue;
    const known = bySite.get(finding.instancePath);
    if (known === undefined) bySite.set(finding.instancePath, [finding]);
    else known.push(finding);
  }
  const mistakes = [...bySite].flatMap(([pointer, found]) => {
    const path = pathOf(pointer, document.value);
    const parts = partsAlong(DOCUMENTS[kind], path);
    const part = parts[path.length] ?? UNKNOWN_PART;
    return explainSite({ document, path, value: valueAt(document.value, path), parts, part }, found);
  });
  const spoilt = mistakes.flatMap(({ path, isMissing }) => (isMissing ? [] : [path]));
  return {
    document: { ...document, value: withoutAll(document.value, spoilt) },
    problems: mistakes.map(({ problem }) => problem),
    lossy: mistakes.some(({ path }) => isLoss(path)),
  };
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

interface Site {
  readonly document: Document;
  readonly path: Path;
  readonly value: Json | undefined;
  /** From the root to the value, as far as the tables know. */
  readonly parts: readonly ManifestPart[];
  /** What the tables say of the value. */
  readonly part: ManifestPart;
}

const UNKNOWN_PART = bare({ type: "json" });

/** Whether the value may be repeated in a message: nothing in it, and nothing that it is in, is to be hidden. */
function mayShow({ parts, part }: Site): boolean {
  return !parts.some(isHidden) && !holdsHidden(part);
}

function knownKeys({ part: { shape } }: Site): readonly string[] {
  if (shape.type === "object") return Object.keys(shape.parts);
  return shape.type === "reference" ? ["description"] : [];
}

/** A mistake in the shape of a document. What is at its path cannot be used, unless something is missing there. */
interface Mistake {
  readonly problem: ManifestProblem;
  readonly path: Path;
  readonly isMissing?: true;
}

function originOf({ document: { file, root } }: Site, path: Path): Origin {
  return { file, path: root.length === 0 ? path : [...root, ...path] };
}

function explainSite(site: Site, findings: readonly SchemaFinding[]): Mistake[] {
  const { path } = site;
  if (findings.some(({ keyword }) => keyword === "false schema"))
    return [{ problem: explainForeign(site), path }];
  const strange = namesIn(findings, "additionalProperties", "additionalProperty");
  const required = namesIn(findings, "required", "missingProperty");
  // Who misspelt a key that must be there has made one mistake, not two.
  const meant = new Set(required.length === 0 ? [] : strange.map((key) => nearest(key, knownKeys(site))));
  const mistakes = strange.map((key): Mistake => ({ problem: explainKey(site, key), path: [...path, key] }));
  for (const key of required)
    if (!meant.has(key)) mistakes.push({ problem: explainMissing(site, key), path, isMissing: true });
  if (findings.some(({ keyword }) => keyword !== "additionalProperties" && keyword !== "required"))
    mistakes.push({ problem: explainValue(site), path });
  return mistakes;
}

function namesIn(findings: readonly SchemaFinding[], keyword: string, parameter: string): string[] {
  return findings
    .filter((finding) => finding.keyword === keyword)
    .map(({ params }) => params[parameter])
    .filter((name) => typeof name === "string");
}

/** A key that may not stand where it does. */
function explainKey(site: Site, key: string): ManifestProblem {
  const origin = originOf(site, [...site.path, key]);
  const known = knownKeys(site);
  if (known.length > 0 && !isTemplate(key)) {
    const detail = `${didYouMean(nearest(key, known))} Allowed here: ${listWords(known, "and")}.`.trimStart();
    return manifestProblem("unknown-key", origin, `Unknown key \`${key}\``, detail, { at: "key" });
  }
  return manifestProblem("bad-key", origin, `\`${key}\` cannot be a key`, whyBad(site, key), { at: "key" });
}

function whyBad({ value }: Site, key: string): string {
  if (RESERVED_KEYS.some((name) => name === key)) return "It is a reserved name. Choose another.";
  if (isTemplate(key)) return "Keys are not interpolated, only values are. Write the key in full.";
  // The key as it could be written, unless that is taken.
  const plain = key.normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const written = plain.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^[_-]+|-+$/g, "");
  const isFree = written !== "" && !(isObject(value) && Object.hasOwn(value, written));
  return `It must be ${allowed({ type: "key" })}.${isFree ? ` \`${written}\` is possible.` : ""}`;
}

/** A key that means nothing beside the value of another one. */
function explainForeign(site: Site): ManifestProblem {
  const { document, parts } = site;
  const path = site.path.slice(0, -1);
  const part = parts[path.length] ?? UNKNOWN_PART;
  const branches = part.shape.type === "object" ? part.shape.branches : undefined;
  if (branches === undefined) return explainKey({ ...site, path, part }, String(site.path.at(-1)));
  const value = valueAt(document.value, [...path, branches.key]);
  const branch = typeof value === "string" ? value : branches.default;
  const origin = originOf(site, site.path);
  return foreignKey(origin.file, origin.path, branches, branch);
}

function explainMissing(site: Site, key: string): ManifestProblem {
  const part = entryOf(site.part, key);
  const summary = `\`${showPath([...site.path, key])}\` is missing`;
  const detail = `The key \`${key}\` is required.${part === undefined ? "" : ` It must be ${allowedIn(part)}.`}`;
  return manifestProblem("missing-key", originOf(site, site.path), summary, detail);
}

function explainValue(site: Site): ManifestProblem {
  const { path, part, value } = site;
  const origin = originOf(site, path);
  const name = `\`${showPath(path)}\``;
  if (part.secret === true && value !== null && value !== undefined && typeof value !== "object") {
    const summary = `${name} must come from a secret or a file`;
    return manifestProblem("secret-in-clear", origin, summary, secretDetail(String(value)));
  }
  const detail = `Found ${showFound(value, mayShow(site))}.${hint(site)}`;
  return manifestProblem("bad-value", origin, `${name} must be ${allowedIn(part)}`, detail);
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

function hint(site: Site): string {
  const { value, part } = site;
  const { shape, nullable = false } = part;
  if (value === null && (shape.type === "object" || shape.type === "map"))
    return nullable ? "" : " An empty map is written `{}`.";
  if (value === null) return nullable ? "" : " It cannot be null. Leave the key out instead.";
  if (shape.type === "version" && typeof value === "number") return " A newer tasc may read it.";
  if (typeof value === "string") {
    if (shape.type === "enum") return didYouMean(nearest(value, shape.values));
    const converted = convert(shape, value);
    return converted !== undefined && typeof converted !== "string" ? " Remove the quotes." : "";
  }
  if (typeof value !== "number" && typeof value !== "boolean") return "";
  if (shape.type === "duration") return ` Write the unit too: \`${String(value)}s\`.`;
  if (convert(shape, String(value)) !== String(value)) return "";
  return mayShow(site) ? ` Put it in quotes: \`"${String(value)}"\`.` : " Put it in quotes.";
}
