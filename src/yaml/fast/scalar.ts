import type { Json } from "../../model/json.ts";
import { NOT_PLAIN_DATA, plainValue } from "../core-schema.ts";
import { defer } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Escapes that mean in YAML what they mean in JSON. */
const JSON_ESCAPES = /\\(?:["\\/bfnrt]|u(?![dD][89a-fA-F])[0-9a-fA-F]{4})/g;

/** At a quote: the text up to its other end in the same line. */
export function quoted(cursor: Cursor): string {
  return cursor.code() === QUOTE ? doubleQuoted(cursor) : singleQuoted(cursor);
}

function doubleQuoted(cursor: Cursor): string {
  const token = takeQuoted(cursor, stepIfEscaped);
  const text = token.slice(1, -1);
  if (!text.includes("\\")) return text;
  if (text.replaceAll(JSON_ESCAPES, "").includes("\\")) defer();
  const parsed: unknown = JSON.parse(token);
  return typeof parsed === "string" ? parsed : defer();
}

function singleQuoted(cursor: Cursor): string {
  return takeQuoted(cursor, stepIfDoubled).slice(1, -1).replaceAll("''", "'");
}

/**
 * From one quote to the one that ends it. Searched for and not matched: a regular expression with alternatives runs out
 * of stack in a text of some megabytes.
 */
function takeQuoted(cursor: Cursor, stepBehind: (text: string, quote: number) => number): string {
  const { text, at: from } = cursor;
  const quote = text.charAt(from);
  let end = from;
  let step = 1;
  while (step > 0) {
    end = text.indexOf(quote, end + step);
    if (end < 0) defer();
    step = stepBehind(text, end);
  }
  const token = text.slice(from, end + 1);
  if (token.includes("\n")) defer();
  cursor.at = end + 1;
  return token;
}

/** How far behind a quote of the text the search goes on; 0 for the quote that ends it. */
function stepIfEscaped(text: string, quote: number): 0 | 1 {
  let first = quote;
  while (text.charCodeAt(first - 1) === BACKSLASH) first--;
  return (quote - first) % 2 === 0 ? 0 : 1;
}

function stepIfDoubled(text: string, quote: number): 0 | 2 {
  return text.charAt(quote + 1) === "'" ? 2 : 0;
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
