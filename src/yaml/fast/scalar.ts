import type { Json } from "../../model/json.ts";
import { NOT_PLAIN_DATA, plainValue } from "../core-schema.ts";
import { defer } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";

const QUOTE = 0x22;
const DOUBLE_QUOTED = /"(?:[^"\\\n]|\\[^\n])*"/y;
const SINGLE_QUOTED = /'(?:[^'\n]|'')*'/y;

/** Escapes that mean in YAML what they mean in JSON. */
const JSON_ESCAPES = /^(?:[^\\]|\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4}))*$/;

/** At a quote: the text up to its other end in the same line. */
export function quoted(cursor: Cursor): string {
  return cursor.code() === QUOTE ? doubleQuoted(cursor) : singleQuoted(cursor);
}

function doubleQuoted(cursor: Cursor): string {
  const token = cursor.take(DOUBLE_QUOTED);
  const text = token.slice(1, -1);
  if (!text.includes("\\")) return text;
  if (!JSON_ESCAPES.test(text)) defer();
  const parsed: unknown = JSON.parse(token);
  return typeof parsed === "string" ? parsed : defer();
}

function singleQuoted(cursor: Cursor): string {
  const token = cursor.take(SINGLE_QUOTED);
  return token.slice(1, -1).replaceAll("''", "'");
}

/** A plain scalar as it is written, with what it means. */
export function plain(text: string): Json {
  const value = plainValue(text.length > LONGEST_REPEATED ? text : once(text));
  return value === NOT_PLAIN_DATA ? defer() : value;
}

/** Texts that manifests repeat, a status or a tag, are kept once; longer ones are but windows into the file's text. */
const REPEATED = new Map<string, string>();
const LONGEST_REPEATED = 12;
const MOST_REPEATED = 1000;

function once(text: string): string {
  const known = REPEATED.get(text);
  if (known === undefined && REPEATED.size < MOST_REPEATED) REPEATED.set(text, text);
  return known ?? text;
}
