import { KEY_PATTERN } from "../model/address.ts";
import type { Shape } from "../model/fields.ts";
import type { Path } from "../model/json.ts";
import { urlOf } from "../model/shape.ts";
import { listWords } from "./problem.ts";

/**
 * The shape of a value in a manifest: the shapes of the field table, and some that only other
 * settings have.
 */
export type ManifestShape =
  | Exclude<Shape, { readonly type: "list" | "object" | "map" }>
  | { readonly type: "number"; readonly minimum?: number; readonly maximum?: number }
  /** `500ms`, `30s`, `2m`, `1h`. */
  | { readonly type: "duration"; readonly longestDays?: number; readonly least?: 0 }
  /** `20/s`, `600/m`. */
  | { readonly type: "rate" }
  | { readonly type: "scalar" }
  | { readonly type: "key" }
  | { readonly type: "uuid" }
  | { readonly type: "address" }
  | { readonly type: "version"; readonly version: number }
  | { readonly type: "list"; readonly of: ManifestShape; readonly unique?: true }
  | MapShape
  | ObjectShape;

export interface MapShape {
  readonly type: "map";
  readonly of: ManifestShape;
  readonly sensitive?: true;
  /** `logical`: keys are logical keys. If unset, any text except names that JavaScript reserves. */
  readonly keys?: "logical";
}

export interface ObjectShape {
  readonly type: "object";
  readonly parts: Parts;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly branches?: Branches;
}

/** A key whose value decides which other keys are allowed, and which are required. */
export interface Branches {
  readonly key: string;
  readonly default: string;
  readonly of: Readonly<Record<string, Parts>>;
  readonly required: Readonly<Record<string, readonly string[]>>;
}

/** Returns the keys that are not allowed with this value of the deciding key. */
export function foreignKeys({ of }: Branches, value: string): readonly string[] {
  const own = of[value] ?? {};
  return Object.values(of).flatMap((parts) =>
    Object.keys(parts).filter((key) => !Object.hasOwn(own, key)),
  );
}

export type Parts = Readonly<Record<string, ManifestPart>>;

export interface ManifestPart {
  readonly shape: ManifestShape;
  readonly nullable?: boolean;
  /** Its value comes only from `${secret:…}` or `${file:…}` and never shows. */
  readonly secret?: true;
  /** It never shows, wherever it comes from. */
  readonly sensitive?: true;
  /** It shows wherever it is used, so it cannot be a secret. */
  readonly open?: true;
  /** It cannot be interpolated, because it is read before values are filled in. */
  readonly literal?: true;
  readonly default?: string | number;
  readonly description: string;
}

export function bare(shape: ManifestShape): ManifestPart {
  return { shape, description: "" };
}

export const JSON_PART = bare({ type: "json" });
/** The description in a reference's `{ description: … }`. */
const NAME_PART = bare({ type: "string", minLength: 1 });

export function itemOf({ shape, open }: ManifestPart): ManifestPart {
  if (shape.type !== "list") return JSON_PART;
  return open === true ? { ...bare(shape.of), open } : bare(shape.of);
}

/**
 * Returns the part under a key of a map; `undefined` if the key does not exist, or its part is not
 * known.
 */
export function entryOf({ shape }: ManifestPart, key: string): ManifestPart | undefined {
  if (shape.type === "object")
    return Object.hasOwn(shape.parts, key) ? shape.parts[key] : undefined;
  if (shape.type === "map")
    return shape.sensitive === true ? { ...bare(shape.of), sensitive: true } : bare(shape.of);
  return shape.type === "reference" && key === "description" ? NAME_PART : undefined;
}

/**
 * Returns the parts along a path, the root first; it ends early at the first step without a known
 * part.
 */
export function partsAlong(root: ManifestPart, path: Path): readonly ManifestPart[] {
  const parts = [root];
  for (const step of path) {
    const last = parts.at(-1) ?? root;
    const next = typeof step === "number" ? itemOf(last) : entryOf(last, step);
    if (next === undefined) break;
    parts.push(next);
  }
  return parts;
}

export function isHidden(part: ManifestPart): boolean {
  return part.secret === true || part.sensitive === true;
}

/**
 * Whether a part, or any part inside it, must not show, whatever its source. Cached, since it is
 * asked for every value.
 */
export function holdsHidden(part: ManifestPart): boolean {
  const known = HOLDING.get(part);
  if (known !== undefined) return known;
  const holds = isHidden(part) || shapeHoldsHidden(part.shape);
  HOLDING.set(part, holds);
  return holds;
}

const HOLDING = new WeakMap<ManifestPart, boolean>();

function shapeHoldsHidden(shape: ManifestShape): boolean {
  if (shape.type === "list") return shapeHoldsHidden(shape.of);
  if (shape.type === "map") return shape.sensitive === true || shapeHoldsHidden(shape.of);
  return shape.type === "object" && Object.values(shape.parts).some(holdsHidden);
}

/** Describes what a part allows, in words that follow "must be". */
export function allowedIn({ shape, nullable, literal }: ManifestPart): string {
  const words = allowed(shape);
  const isConverted = literal !== true && /^(?:integer|number|boolean|enum)$/.test(shape.type);
  const interpolation = isConverted ? ", or an interpolation that resolves to one" : "";
  return `${words}${nullable === true ? ", or null" : ""}${interpolation}`;
}

export function allowed(shape: ManifestShape): string {
  if (isTextual(shape))
    return shape.type === "duration" && shape.longestDays !== undefined
      ? `a duration of up to ${shape.longestDays} days, e.g. \`24h\` or \`7d\``
      : TEXTS[shape.type].words;
  if (shape.type === "string")
    return (shape.minLength ?? 0) > 0 ? "a string that is not empty" : "a string";
  if (shape.type === "integer") return `an integer${bounds(shape.minimum)}`;
  if (shape.type === "number") return `a number${bounds(shape.minimum, shape.maximum)}`;
  if (shape.type === "version") return String(shape.version);
  if (shape.type === "boolean") return "`true` or `false`";
  if (shape.type === "enum")
    return `${shape.values.length > 1 ? "one of " : ""}${listWords(shape.values, "or")}`;
  if (shape.type === "scalar") return "a string, a number or a boolean";
  if (shape.type === "list") return "a list";
  if (shape.type !== "reference") return "a map";
  return shape.to === "environment"
    ? "the key of an environment of the same target"
    : "the key of a test case of the same target, or `{ description: … }` of one that is not managed here";
}

function bounds(minimum: number | undefined, maximum?: number): string {
  if (minimum === undefined) return "";
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

// Regular expressions shared by JSON Schema and the checks after interpolation, with the `u` flag
// that JSON Schema uses.

/** Names with a meaning in JavaScript; no manifest needs them. */
export const RESERVED_KEYS = ["__proto__", "constructor", "prototype"] as const;

/** Matches a logical key that is not a reserved name. */
export const LOGICAL_KEY = KEY_PATTERN.replace("^", `^(?!(?:${RESERVED_KEYS.join("|")})$)`);

/** Matches any key except reserved names and texts with `${`, since keys are not interpolated. */
export const ANY_KEY = `^(?!(?:${RESERVED_KEYS.join("|")})$)(?![\\s\\S]*\\$\\{)`;

const ADDRESS_KEY = KEY_PATTERN.slice(1, -1);

export const TEXTS = {
  /** A scheme, `://` and something after it; or a `data:` URL, which images may be. */
  url: {
    pattern: "^(?:[A-Za-z][A-Za-z0-9+.-]*://[^\\s/]|data:)\\S*$",
    words: "a URL, e.g. `https://shop.example.com`",
  },
  date: {
    pattern: "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])$",
    words: "a date, e.g. `2026-12-15`",
  },
  duration: {
    pattern: "^[0-9]+(?:\\.[0-9]+)?(?:ms|s|m|h|d)$",
    words: "a duration of up to a day, e.g. `500ms`, `30s` or `2m`",
  },
  rate: {
    pattern: "^(?=.*[1-9])[0-9]{1,9}(?:\\.[0-9]{1,3})?/[smh]$",
    words: "a number of calls and a unit of time, e.g. `20/s` or `600/m`",
  },
  key: {
    pattern: LOGICAL_KEY,
    words: "a key: letters, digits, `_` and `-`, the first a letter or a digit",
  },
  uuid: {
    pattern: "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$",
    words: "a UUID, e.g. `6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11`",
  },
  address: {
    pattern: `^(?:target\\.${ADDRESS_KEY}|(?:environment|testCase|batchGeneration)\\.${ADDRESS_KEY}\\.${ADDRESS_KEY})$`,
    words: "an address, e.g. `testCase.shop.login`",
  },
} as const;

type TextShape = ManifestShape & { readonly type: keyof typeof TEXTS };

export function isTextual(shape: ManifestShape): shape is TextShape {
  return Object.hasOwn(TEXTS, shape.type);
}

function isOfType(shape: TextShape, text: string): boolean {
  if (shape.type === "duration")
    return parseDuration(text, shape.longestDays, shape.least) !== undefined;
  const isMatch = new RegExp(TEXTS[shape.type].pattern, "u").test(text);
  if (shape.type === "date") return isMatch && isDay(text);
  return isMatch && (shape.type !== "url" || urlOf(text) !== undefined);
}

/** Whether a date is in the calendar: JavaScript reads 30 February as 2 March. */
export function isDay(date: string): boolean {
  const time = Date.parse(`${date}T00:00:00Z`);
  return Number.isFinite(time) && new Date(time).toISOString().startsWith(date);
}

export type Scalar = string | number | boolean;

const INTEGER = /^[-+]?[0-9]+$/;
const NUMBER = /^[-+]?[0-9]+(?:\.[0-9]+)?$/;

/**
 * Converts an interpolated value to a shape, e.g. `"10"` to 10 for an integer. Returns `undefined`
 * if it does not fit.
 */
export function convert(shape: ManifestShape, value: Scalar): Scalar | undefined {
  const text = String(value);
  if (isTextual(shape)) return isOfType(shape, text) ? text : undefined;
  if (shape.type === "string") return text.length >= (shape.minLength ?? 0) ? text : undefined;
  if (shape.type === "integer")
    return inside(INTEGER.test(text) ? Number(text) : Number.NaN, shape, Number.isSafeInteger);
  if (shape.type === "number")
    return inside(NUMBER.test(text) ? Number(text) : Number.NaN, shape, Number.isFinite);
  if (shape.type === "version") return Number(text) === shape.version ? shape.version : undefined;
  if (shape.type === "boolean")
    return text === "true" ? true : text === "false" ? false : undefined;
  if (shape.type === "enum") return shape.values.includes(text) ? text : undefined;
  if (shape.type === "reference") return isOfType({ type: "key" }, text) ? text : undefined;
  return shape.type === "scalar" || shape.type === "json" ? value : undefined;
}

function inside(
  number: number,
  {
    minimum = -Infinity,
    maximum = Infinity,
  }: { readonly minimum?: number; readonly maximum?: number },
  holds: (number: number) => boolean,
): number | undefined {
  return holds(number) && number >= minimum && number <= maximum ? number : undefined;
}

const UNITS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/**
 * Returns the milliseconds of a duration. The default limit is a day: a timer of more than 31 bits
 * would fire at once.
 */
export function parseDuration(text: string, longestDays = 1, least = 1): number | undefined {
  const [, count, unit] = /^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)$/.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const milliseconds = Math.round(Number(count) * (UNITS[unit] ?? Number.NaN));
  const isFitting = milliseconds >= least && milliseconds <= longestDays * 86_400_000;
  return isFitting ? milliseconds : undefined;
}

export function parseRate(text: string): number | undefined {
  const [count = "", unit = ""] = text.split("/");
  return isOfType({ type: "rate" }, text)
    ? (Number(count) * 1000) / (UNITS[unit] ?? Number.NaN)
    : undefined;
}

/** A validator generated by ajv. It stores its findings in `errors` until the next call. */
export interface Validate {
  (value: unknown): boolean;
  errors?: readonly SchemaFinding[] | null;
}

/** A keyword of a schema that a value does not satisfy. */
export interface SchemaFinding {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
}
