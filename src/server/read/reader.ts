import { type Json, isArray, isObject } from "../../model/json.ts";
import { badValue } from "./refusal.ts";

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
