import { type Defined, type Json, defined, isArray, isObject, parseJson } from "../model/json.ts";

/**
 * A refusal by the service: an answer, not a defect. Thrown by any code that finds a request
 * invalid.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  /** The invalid field, as a path inside the body: `elements[0].interaction.action`. */
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: Partial<Pick<Refusal, "field" | "headers">> = {},
  ) {
    super(message);
    this.status = status;
    this.field = more.field;
    this.headers = more.headers ?? {};
  }
}

/**
 * Returns the refusal of a value that differs from service-api.md; `at` is its path, empty for the
 * body itself.
 */
export function badValue(at: string, must: string): Refusal {
  return at === ""
    ? new Refusal(400, `the body ${must}`)
    : new Refusal(400, `${at} ${must}`, { field: at });
}

export function notFound(what: string): Refusal {
  return new Refusal(404, `no such ${what}`);
}

/** Refuses a list in which two items have the same id or index. */
export function refuseRepeated<K extends "id" | "index">(
  at: string,
  name: K,
  items: readonly { readonly [key in K]?: string | number }[],
): void {
  const known = new Set<string | number>();
  for (const [position, item] of items.entries()) {
    const value: string | number | undefined = item[name];
    if (value === undefined) continue;
    if (known.has(value)) throw badValue(`${at}[${position}].${name}`, "comes twice");
    known.add(value);
  }
}

export type ServerRuntime = {
  /** The time in ISO 8601, always later than every time before. */
  readonly now: () => string;
  readonly newId: () => string;
};

/**
 * Converts plain data to a typed value, or throws a Refusal that names the place. All input passes
 * through a reader.
 */
export type Reader<T> = (value: Json, at: string, runtime: ServerRuntime) => T;

/**
 * An optional field and its default value; an undefined default leaves the field out of the object.
 */
type Optional<T> = { readonly read: Reader<T>; readonly absent: (runtime: ServerRuntime) => T };

export type Read<F> = F extends Reader<infer T> ? T : F extends Optional<infer T> ? T : never;

type Fields = Readonly<Record<string, Reader<unknown> | Optional<unknown>>>;
type ReadObject<S extends Fields> = Defined<{ [K in keyof S]: Read<S[K]> }>;

export function object<S extends Fields>(fields: S): Reader<ReadObject<S>> {
  return (value, at, runtime) => {
    if (!isObject(value)) throw badValue(at, "must be an object");
    const inside = (name: string): string => (at === "" ? name : `${at}.${name}`);
    const entries = Object.entries(fields).map(([name, field]): [string, unknown] => {
      const sent = Object.hasOwn(value, name) ? value[name] : undefined;
      const { read, absent } = typeof field === "function" ? { read: field } : field;
      if (sent !== undefined) return [name, read(sent, inside(name), runtime)];
      if (absent === undefined) throw badValue(inside(name), "is required");
      return [name, absent(runtime)];
    });
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(fields, name));
    if (unknown !== undefined) throw badValue(inside(unknown), "is not a known field");
    // Each entry was made by the reader of its field.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return defined(Object.fromEntries(entries)) as ReadObject<S>;
  };
}

export function optional<T>(read: Reader<T>): Optional<T | undefined> {
  return { read, absent: () => undefined };
}

export function or<T>(read: Reader<T>, absent: T): Optional<T> {
  return { read, absent: () => absent };
}

export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return numbered(() => read);
}

/**
 * Returns a reader of a list whose items know their position, because their `index` is optional.
 */
export function numbered<T>(read: (position: number) => Reader<T>): Reader<readonly T[]> {
  return (value, at, runtime) => {
    if (!isArray(value)) throw badValue(at, "must be an array");
    return value.map((item, position) => read(position)(item, `${at}[${position}]`, runtime));
  };
}

/** `T|null` in the notation of service-api.md. */
export function nullable<T>(read: Reader<T>): Reader<T | null> {
  return (value, at, runtime) => (value === null ? null : read(value, at, runtime));
}

/** An enumeration that service-api.md lists completely. */
export function oneOf<const T extends string | number>(...values: readonly T[]): Reader<T> {
  return (value, at) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw badValue(at, `must be one of ${values.join(", ")}`);
    return found;
  };
}

function checked<I, T extends I>(
  read: Reader<I>,
  holds: (value: I) => value is T,
  must: string,
): Reader<T>;
function checked<T>(read: Reader<T>, holds: (value: T) => boolean, must: string): Reader<T>;
function checked<T>(read: Reader<T>, holds: (value: T) => boolean, must: string): Reader<T> {
  return (value, at, runtime) => {
    const found = read(value, at, runtime);
    if (!holds(found)) throw badValue(at, must);
    return found;
  };
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** Whether a text is a UUID: "`uuid` is a string in UUID format" (Resources and their fields). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const anything: Reader<Json> = (value) => value;
export const text = checked(anything, (value) => typeof value === "string", "must be a string");
export const nonEmptyText = checked(text, (value) => value.trim() !== "", "must not be empty");
export const uuid = checked(text, isUuid, "must be a UUID");
export const dateTime = checked(
  text,
  (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  "must be an ISO 8601 timestamp",
);
/** URL fields accept what a browser could open: absolute http or https URLs. */
export const webUrl = checked(
  text,
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  "must be an absolute http or https URL",
);
export const flag = checked(
  anything,
  (value) => typeof value === "boolean",
  "must be true or false",
);
export const integer = checked(
  anything,
  (value): value is number => typeof value === "number" && Number.isSafeInteger(value),
  "must be an integer",
);
/** An object whose keys service-api.md does not define. */
export const freeForm = checked(anything, isObject, "must be an object");

export function integerFrom(least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> {
  return checked(
    integer,
    (value) => value >= least && value <= most,
    `must be from ${least} to ${most}`,
  );
}

/** A field that is generated if it is missing. */
export const newId: Optional<string> = { read: uuid, absent: (runtime) => runtime.newId() };
export const now: Optional<string> = { read: dateTime, absent: (runtime) => runtime.now() };
/**
 * A field that is accepted but ignored because it repeats something, such as a parent's id in a
 * nested object.
 */
export const ignored: Optional<undefined> = { read: () => undefined, absent: () => undefined };

/** Parses JSON from outside; `what` names the text in the refusal. */
export function parseForeign(sent: string, what: string): Json {
  try {
    return parseJson(sent);
  } catch {
    throw new Refusal(400, `${what} is not JSON`);
  }
}
