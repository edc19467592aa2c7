import { type Json, type JsonObject, isArray, isObject } from "../model/json.ts";

/**
 * The service says no. The one exception of the server that is an answer rather than a defect: whoever finds a
 * request wrong throws it, and the exchange turns it into an error answer.
 */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly status: number;
  /** The field at fault, as a path inside the body: `elements[0].interaction.action`. */
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    more: { field?: string; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.status = status;
    this.field = more.field;
    this.headers = more.headers ?? {};
  }
}

/** A value that is not as the text describes it; `at` is its place in the body, empty for the body itself. */
export function badValue(at: string, must: string): Refusal {
  return at === "" ? new Refusal(400, `the body ${must}`) : new Refusal(400, `${at} ${must}`, { field: at });
}

export function notFound(what: string): Refusal {
  return new Refusal(404, `no such ${what}`);
}

/**
 * Turns plain data into a typed value or throws a Refusal that names the place. Bodies, stored rows and seeds all
 * enter through readers, so behind them nothing asks again whether a field is there or of the right type.
 */
export type Reader<T> = (value: Json, at: string) => T;

/** What a reader makes. */
export type Read<R> = R extends Reader<infer T> ? T : never;

/** The fields of one object while it is read; every field asked for counts as known. */
export type Fields = {
  required<T>(name: string, read: Reader<T>): T;
  optional<T>(name: string, read: Reader<T>): T | undefined;
  /** A field that may be there and says nothing new, as a parent's id in a nested object. */
  ignored(name: string): void;
};

/** An object with exactly the fields that `build` asks for: a field nobody asked for is refused by name. */
export function object<T>(build: (fields: Fields) => T): Reader<T> {
  return (value, at) => {
    if (!isObject(value)) throw badValue(at, "must be an object");
    const known = new Set<string>();
    const field = (name: string): Json | undefined => {
      known.add(name);
      return Object.hasOwn(value, name) ? value[name] : undefined;
    };
    const built = build(fieldsOf(field, at));
    const unknown = Object.keys(value).find((name) => !known.has(name));
    if (unknown !== undefined) throw badValue(inside(at, unknown), "is not a known field");
    return built;
  };
}

function fieldsOf(field: (name: string) => Json | undefined, at: string): Fields {
  const optional: Fields["optional"] = (name, read) => {
    const value = field(name);
    return value === undefined ? undefined : read(value, inside(at, name));
  };
  return {
    optional,
    required(name, read) {
      const value = optional(name, read);
      if (value === undefined) throw badValue(inside(at, name), "is required");
      return value;
    },
    ignored: (name) => void field(name),
  };
}

function inside(at: string, name: string): string {
  return at === "" ? name : `${at}.${name}`;
}

/** A list whose items all satisfy `read`. */
export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return numbered(() => read);
}

/** A list whose items know their position, for those that may leave their `index` out. */
export function numbered<T>(read: (position: number) => Reader<T>): Reader<readonly T[]> {
  return (value, at) => {
    if (!isArray(value)) throw badValue(at, "must be an array");
    return value.map((item, position) => read(position)(item, `${at}[${position}]`));
  };
}

/** `T|null` of the text's notation. */
export function nullable<T>(read: Reader<T>): Reader<T | null> {
  return (value, at) => (value === null ? null : read(value, at));
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

/** "`uuid` is a string in UUID format" (Resources and their fields). */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

export const text: Reader<string> = (value, at) => {
  if (typeof value !== "string") throw badValue(at, "must be a string");
  return value;
};

export const nonEmptyText: Reader<string> = checked(
  text,
  (value) => value.trim() !== "",
  "must not be empty",
);

export const uuid: Reader<string> = checked(text, isUuid, "must be a UUID");

export const dateTime: Reader<string> = checked(
  text,
  (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  "must be an ISO 8601 timestamp",
);

/** URL fields take what a browser could open: absolute, http or https. */
export const webUrl: Reader<string> = checked(
  text,
  (value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol),
  "must be an absolute http or https URL",
);

export const flag: Reader<boolean> = (value, at) => {
  if (typeof value !== "boolean") throw badValue(at, "must be true or false");
  return value;
};

export const integer: Reader<number> = (value, at) => {
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw badValue(at, "must be an integer");
  return value;
};

export function integerFrom(least: number, most = Number.MAX_SAFE_INTEGER): Reader<number> {
  const range = (value: number) => value >= least && value <= most;
  return checked(integer, range, `must be from ${least} to ${most}`);
}

/** An object whose keys the text leaves open. */
export const freeForm: Reader<JsonObject> = (value, at) => {
  if (!isObject(value)) throw badValue(at, "must be an object");
  return value;
};

/** An enumeration whose whole list the text gives. */
export function oneOf<const T extends string | number>(...values: readonly T[]): Reader<T> {
  return (value, at) => {
    const found = values.find((each) => each === value);
    if (found === undefined) throw badValue(at, `must be one of ${values.join(", ")}`);
    return found;
  };
}

function checked<T>(read: Reader<T>, holds: (value: T) => boolean, must: string): Reader<T> {
  return (value, at) => {
    const found = read(value, at);
    if (!holds(found)) throw badValue(at, must);
    return found;
  };
}

/** What JSON.parse makes is Json by definition; saying so once keeps `any` out of every caller. */
const parse: (text: string) => Json = JSON.parse;

/** JSON this service wrote itself. */
export function parseOwn(written: string): Json {
  return parse(written);
}

/** JSON from outside; `what` says in the refusal which text is not JSON. */
export function parseForeign(sent: string, what: string): Json {
  try {
    return parse(sent);
  } catch {
    throw new Refusal(400, `${what} is not JSON`);
  }
}
