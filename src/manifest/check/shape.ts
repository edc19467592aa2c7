import {
  type Json,
  type JsonObject,
  type Path,
  isArray,
  isObject,
  parseJson,
  valueAt,
} from "../../model/json.ts";
import type { Origin } from "../../model/diagnostic.ts";
import { groupBy } from "../../model/collections.ts";
import type { Document } from "../document.ts";
import { isTemplate, placeholdersIn } from "../template.ts";
import {
  type ManifestProblem,
  didYouMean,
  listWords,
  manifestProblem,
  nearest,
  showFound,
  showPath,
} from "../problem.ts";
import { validate as validateProject } from "../schema/generated/project.js";
import { validate as validateTarget } from "../schema/generated/target.js";
import { foreignKey } from "../settings.ts";
import {
  JSON_PART,
  type ManifestPart,
  RESERVED_KEYS,
  type SchemaFinding,
  allowed,
  allowedIn,
  convert,
  entryOf,
  holdsHidden,
  isHidden,
  partsAlong,
} from "../shape.ts";
import { DOCUMENTS, type DocumentKind, SECTIONS, TARGET_KEYS } from "../tables.ts";

export interface CheckedDocument {
  /** Without its invalid parts, so that the rest can be checked in the same run. */
  readonly document: Document;
  readonly problems: readonly ManifestProblem[];
  /**
   * Whether resources or stages were removed with the invalid parts, so that references to them are
   * not errors.
   */
  readonly lossy: boolean;
}

/**
 * Explains the findings of JSON Schema: one mistake for each key or value, however many keywords it
 * does not satisfy.
 */
export function explainShape(kind: DocumentKind, document: Document): CheckedDocument {
  const { file, root, value: whole } = document;
  const validate = kind === "project" ? validateProject : validateTarget;
  const findings = validate(whole) ? [] : (validate.errors ?? []);
  const isLoss = kind === "project" ? isLossOfStages : isLossOfResources;
  const problems: ManifestProblem[] = [];
  const spoilt: Path[] = [];
  let lossy = false;
  const add = (path: Path, problem: ManifestProblem, isMissing = false): void => {
    problems.push(problem);
    if (!isMissing) spoilt.push(path);
    lossy ||= isLoss(path);
  };
  // A failed `if` is explained by the findings inside its branch.
  const telling = findings.filter(({ keyword }) => keyword !== "if");
  for (const [pointer, found] of groupBy(telling, ({ instancePath }) => instancePath)) {
    const path = pathOf(pointer, whole);
    const parts = partsAlong(DOCUMENTS[kind], path);
    const part = parts[path.length] ?? JSON_PART;
    const value = valueAt(whole, path);
    const originOf = (inner: Path) => ({
      file,
      path: root.length === 0 ? inner : [...root, ...inner],
    });
    const known = knownKeys(part);
    if (found.some(({ keyword }) => keyword === "false schema")) {
      // A key that is not allowed with this value of the deciding key.
      const above = path.slice(0, -1);
      const { shape } = parts[above.length] ?? JSON_PART;
      if (shape.type !== "object" || shape.branches === undefined) continue;
      const branch = valueAt(whole, [...above, shape.branches.key]);
      const { path: place } = originOf(path);
      const name = typeof branch === "string" ? branch : shape.branches.default;
      add(path, foreignKey(file, place, shape.branches, name));
      continue;
    }
    const unknownKeys = namesIn(found, "additionalProperties", "additionalProperty");
    const required = namesIn(found, "required", "missingProperty");
    // A required key that is misspelt is one mistake, not two.
    const meant = new Set(
      required.length === 0 ? [] : unknownKeys.map((key) => nearest(key, known)),
    );
    for (const key of unknownKeys) {
      const inner = [...path, key];
      add(inner, unknownKey(originOf(inner), key, value, known));
    }
    for (const key of required) {
      if (meant.has(key)) continue;
      const missing = entryOf(part, key);
      const detail = `The key \`${key}\` is required.${missing === undefined ? "" : ` It must be ${allowedIn(missing)}.`}`;
      const summary = `\`${showPath([...path, key])}\` is missing`;
      add(path, manifestProblem("missing-key", originOf(path), summary, detail), true);
    }
    if (found.every(({ keyword }) => keyword === "additionalProperties" || keyword === "required"))
      continue;
    const name = `\`${showPath(path)}\``;
    const mayShow = !parts.some(isHidden) && !holdsHidden(part);
    const isOpenSecret =
      part.secret === true && value !== null && value !== undefined && typeof value !== "object";
    const wrong = `Found ${showFound(value, mayShow)}.${hint(value, part, mayShow)}`;
    const [code, fault, detail] = isOpenSecret
      ? ["secret-in-clear", "come from a secret or a file", secretDetail(String(value))]
      : ["bad-value", `be ${allowedIn(part)}`, wrong];
    add(path, manifestProblem(code, originOf(path), `${name} must ${fault}`, detail));
  }
  return { document: { ...document, value: withoutAll(whole, spoilt) }, problems, lossy };
}

function unknownKey(
  origin: Origin,
  key: string,
  value: Json | undefined,
  known: readonly string[],
): ManifestProblem {
  const isOwn = known.length === 0 || isTemplate(key);
  if (isOwn) {
    const why = whyBad(value, key);
    return manifestProblem("bad-key", origin, `\`${key}\` cannot be a key`, why, KEY);
  }
  const guess = didYouMean(nearest(key, known));
  const allowedHere = `${guess} Allowed here: ${listWords(known, "and")}.`.trimStart();
  return manifestProblem("unknown-key", origin, `Unknown key \`${key}\``, allowedHere, KEY);
}

/**
 * Converts a JSON pointer to a path. Only the document shows whether `0` is a key or a position.
 */
function pathOf(pointer: string, document: Json): Path {
  const path: (string | number)[] = [];
  let value: Json | undefined = document;
  for (const raw of pointer.split("/").slice(1)) {
    const name = raw.replaceAll("~1", "/").replaceAll("~0", "~");
    const step: string | number = isArray(value) ? Number(name) : name;
    path.push(step);
    value = value === undefined ? undefined : valueAt(value, [step]);
  }
  return path;
}

/**
 * Removes the values at some paths. In a list null replaces them, so that the other positions do
 * not change.
 */
function withoutAll(document: JsonObject, paths: readonly Path[]): JsonObject {
  // A deep copy: aliases make values shared, and the document itself must not change.
  const copy = parseJson(JSON.stringify(document));
  for (const path of paths) {
    const holder = valueAt(copy, path.slice(0, -1));
    const last = path.at(-1) ?? "";
    if (isArray(holder)) Reflect.set(holder, last, null);
    else if (isObject(holder)) Reflect.deleteProperty(holder, last);
  }
  return isObject(copy) && paths.every(({ length }) => length > 0) ? copy : {};
}

/**
 * Whether stages or patterns of manifests were removed with a path. A misspelt key may have been
 * one of these.
 */
function isLossOfStages(path: Path): boolean {
  const [first] = path;
  if (first === undefined) return false;
  if (path.length === 1)
    return nearest(String(first), ["manifests", "stages", "defaultStage"]) !== undefined;
  return first === "manifests" || (first === "stages" && path.length === 2);
}

/** Whether a resource, or more, was removed with a path. */
function isLossOfResources(path: Path): boolean {
  const [first, ...further] = path[0] === "stages" ? path.slice(2) : path;
  if (further.length > 0)
    return further.length === 1 && SECTIONS.some(({ name }) => name === first);
  return ![...TARGET_KEYS, "defaults", "moved"].includes(String(first));
}

const KEY = { at: "key" } as const;

/** Returns the keys that are allowed in a part; empty if the keys are the user's own. */
function knownKeys({ shape }: ManifestPart): readonly string[] {
  if (shape.type === "object") return Object.keys(shape.parts);
  return shape.type === "reference" ? ["description"] : [];
}

function namesIn(findings: readonly SchemaFinding[], keyword: string, parameter: string): string[] {
  return findings
    .filter((finding) => finding.keyword === keyword)
    .map(({ params }) => params[parameter])
    .filter((name) => typeof name === "string");
}

function whyBad(value: Json | undefined, key: string): string {
  if (RESERVED_KEYS.some((name) => name === key)) return "It is a reserved name. Choose another.";
  if (isTemplate(key)) return "Keys are not interpolated, only values are. Write the key in full.";
  // Suggests the key with allowed characters, unless such a key exists.
  const plain = key.replaceAll(/\p{M}/gu, "").normalize("NFKD").replaceAll(/\p{M}/gu, "");
  const written = plain.replaceAll(/[^A-Za-z0-9_-]+/g, "-").replaceAll(/^[_-]+|-+$/g, "");
  const isFree = written !== "" && !(isObject(value) && Object.hasOwn(value, written));
  return `It must be ${allowed({ type: "key" })}.${isFree ? ` \`${written}\` is possible.` : ""}`;
}

/** Explains the mistake without repeating the text, which may be the password. */
function secretDetail(text: string): string {
  const remedy =
    "Write `${secret:NAME}` and nothing else, and put the value into the environment variable NAME; or write `${file:path}`.";
  const open = placeholdersIn(text).find(({ kind }) => kind === "env");
  if (open !== undefined)
    return `\`\${env:…}\` would show in outputs. ${remedy} Here: \`\${secret:${open.name}}\`.`;
  return text === ""
    ? `Found nothing. ${remedy}`
    : `Secrets written in the file stay in git history. ${remedy}`;
}

function hint(
  value: Json | undefined,
  { shape, nullable = false }: ManifestPart,
  mayShow: boolean,
): string {
  if (value === null) {
    if (nullable) return "";
    const isMap = shape.type === "object" || shape.type === "map";
    return isMap
      ? " An empty map is written `{}`."
      : " It cannot be null. Leave the key out instead.";
  }
  if (shape.type === "version" && typeof value === "number") return " A newer tasc may read it.";
  if (typeof value === "string") {
    if (shape.type === "enum") return didYouMean(nearest(value, shape.values));
    const converted = convert(shape, value);
    return converted !== undefined && typeof converted !== "string" ? " Remove the quotes." : "";
  }
  if (typeof value !== "number" && typeof value !== "boolean") return "";
  if (shape.type === "duration") return ` Write the unit too: \`${String(value)}s\`.`;
  if (convert(shape, String(value)) !== String(value)) return "";
  return mayShow ? ` Put it in quotes: \`"${String(value)}"\`.` : " Put it in quotes.";
}
