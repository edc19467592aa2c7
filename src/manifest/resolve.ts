import type { Origin } from "../model/diagnostic.ts";
import { type Json, type JsonObject, type Path, isArray, isObject, setOwn } from "../model/json.ts";
import { Secret, UNKNOWN, type Value } from "../model/value.ts";
import { type ManifestProblem, manifestProblem, showFound, showPath } from "./problem.ts";
import type { Interpolated, Interpolator } from "./interpolation.ts";
import { isTemplate } from "./template.ts";
import {
  JSON_PART,
  type ManifestPart,
  allowed,
  convert,
  entryOf,
  holdsHidden,
  isHidden,
  itemOf,
} from "./shape.ts";

export interface ResolveContext {
  readonly interpolator: Interpolator;
  /** Returns where the value at a path is declared, in the layer that determines it. */
  readonly originOf: (path: Path) => Origin;
  readonly report: (problem: ManifestProblem) => void;
}

/**
 * Fills in and converts a declared value, and wraps its sensitive leaves; leaves that fail become
 * unknown.
 */
export function resolveValue(
  part: ManifestPart,
  json: Json,
  path: Path,
  context: ResolveContext,
): Value {
  return isPlain(json) && !holdsHidden(part) ? json : resolve(part, json, path, context);
}

function resolve(part: ManifestPart, json: Json, path: Path, context: ResolveContext): Value {
  if (typeof json === "string") return resolveText(part, json, path, context);
  if (isArray(json))
    return json.map((item, at) => resolve(itemOf(part), item, [...path, at], context));
  if (!isObject(json))
    return isHidden(part) && json !== null ? protect(String(json), context) : json;
  const entries = Object.entries(json).map(([key, value]): readonly [string, Value] => [
    key,
    resolve(entryOf(part, key) ?? JSON_PART, value, [...path, key], context),
  ]);
  return Object.fromEntries(entries);
}

function resolveText(part: ManifestPart, text: string, path: Path, context: ResolveContext): Value {
  if (!isTemplate(text)) return isHidden(part) ? protect(text, context) : text;
  const filled = context.interpolator.fill(text);
  const problems = problemsOf(part, filled, text, () => context.originOf(path));
  for (const problem of problems) context.report(problem);
  if (filled.unknown || problems.length > 0) return UNKNOWN;
  const value = convert(part.shape, filled.value) ?? filled.value;
  if (!filled.sensitive && !isHidden(part)) return value;
  if (isHidden(part)) for (const piece of filled.pieces) context.interpolator.protect(piece);
  return protect(String(value), context, filled.literal);
}

/**
 * Returns the problems of a filled text in its field. Its place is looked up only if there is a
 * problem.
 */
function problemsOf(
  part: ManifestPart,
  filled: Interpolated,
  text: string,
  originOf: () => Origin,
): readonly ManifestProblem[] {
  const problems = filled.problems.map((problem) => {
    const { severity, code, summary, detail, within, origin = originOf() } = problem;
    return manifestProblem(code, origin, summary, detail, { within, severity });
  });
  const add = (code: string, fault: string, detail: string): void => {
    const origin = originOf();
    const summary = `\`${showPath(origin.path)}\` ${fault}`;
    problems.push(manifestProblem(code, origin, summary, detail, { within: text }));
  };
  if (part.secret === true && !filled.guarded)
    add(
      "secret-in-clear",
      "must come from a secret or a file",
      `\`${text}\` brings in other values. Write \`\${secret:NAME}\` or \`\${file:path}\`; a \`\${var:name}\` is possible if it resolves to nothing but these.`,
    );
  // Secrets are always strings; and a value that others refer to, or that is calculated with, must
  // be visible in the plan.
  else if (filled.sensitive && (part.open === true || !TEXTUAL.has(part.shape.type)))
    add(
      "secret-misplaced",
      "cannot be a secret",
      `\`${text}\` contains a secret, and this value is shown in plans and messages. Use \`\${env:NAME}\` instead.`,
    );
  else if (!filled.unknown && convert(part.shape, filled.value) === undefined) {
    const found = showFound(filled.value, !filled.sensitive && !isHidden(part));
    add("bad-value", `must be ${allowed(part.shape)}`, `\`${text}\` resolved to ${found}.`);
  }
  return problems;
}

const TEXTUAL: ReadonlySet<string> = new Set(["string", "url", "enum", "scalar", "json"]);

function protect(text: string, { interpolator }: ResolveContext, literal?: string): Secret {
  interpolator.protect(text);
  return new Secret(text, literal);
}

function isPlain(json: Json): boolean {
  if (typeof json === "string") return !isTemplate(json);
  if (isArray(json)) return json.every(isPlain);
  return !isObject(json) || Object.values(json).every(isPlain);
}

/**
 * Merges maps key by key; any other value replaces, null too. Values that only one side has are
 * shared, not copied.
 */
export function merge(lower: Json, upper: Json): Json {
  if (!isObject(lower) || !isObject(upper)) return upper;
  const merged: Record<string, Json> = { ...lower };
  for (const [key, value] of Object.entries(upper)) {
    const below = Object.hasOwn(lower, key) ? lower[key] : undefined;
    setOwn(merged, key, below === undefined ? value : merge(below, value));
  }
  return merged;
}

/**
 * Returns the value at a path of the merged layers, lowest first, but merges nothing else;
 * `undefined` if it is missing.
 */
export function mergedAt(
  layers: readonly { readonly value: JsonObject }[],
  path: Path,
): Json | undefined {
  // Goes down from the highest layer to the first value that is not a map, since that replaces all
  // values below it.
  let highest: Json | undefined;
  for (let at = layers.length - 1; at >= 0; at--) {
    const value = look(layers[at]?.value, path);
    if (value === undefined) continue;
    if (value === REPLACED) break;
    if (highest !== undefined)
      return merge(mergedAt(layers.slice(0, at + 1), path) ?? value, highest);
    highest = value;
    if (!isObject(value)) break;
  }
  return highest;
}

/**
 * The result if a value on the way to the path is not a map: it replaces the path in the layers
 * below.
 */
const REPLACED = Symbol("replaced");

function look(value: Json | undefined, path: Path): Json | typeof REPLACED | undefined {
  let node = value;
  for (const step of path) {
    if (node === undefined) return undefined;
    if (!isObject(node)) return REPLACED;
    node = Object.hasOwn(node, step) ? node[step] : undefined;
  }
  return node;
}
