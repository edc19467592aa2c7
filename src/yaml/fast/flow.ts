import type { Json } from "../../model/json.ts";
import { setOwn } from "../own.ts";
import { defer, NEWLINE, SPACE, trimmed } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { plain, quoted } from "./scalar.ts";

const PLAIN_KEY = /[\w$](?:[\w$./ -]*[\w$./-])?/y;
const PLAIN = /(?:[^\s\-?:,[\]{}#&*!|>'"%@`]|-(?=[^\s,[\]{}]))[^\n,[\]{}]*/y;

/**
 * Lists as they were read, by how they are written: manifests repeat their tags, and share what they repeat. None has
 * a bracket in it, so each ends at its first, nor an anchor or an alias, which would mean something else elsewhere.
 */
const LISTS = new Map<string, Json>();
const MOST_LISTS = 1000;
const LONGEST_LIST = 200;
const DEPENDS = /[&*\n]/;

/** At `[` or `{`: the list or map. Its further lines must be indented deeper than `parent`. */
export function flow(cursor: Cursor, parent: number): Json {
  cursor.enter();
  const value = cursor.code() === 0x5b ? repeatedList(cursor, parent) : flowMap(cursor, parent);
  cursor.leave();
  return value;
}

function repeatedList(cursor: Cursor, parent: number): Json {
  const from = cursor.at;
  const end = cursor.text.indexOf("]", from) + 1;
  if (end === 0 || end - from > LONGEST_LIST) return flowList(cursor, parent);
  const written = cursor.text.slice(from, end);
  const known = LISTS.get(written);
  if (known !== undefined) {
    cursor.at = end;
    return known;
  }
  const list = flowList(cursor, parent);
  if (cursor.at === end && LISTS.size < MOST_LISTS && !DEPENDS.test(written)) LISTS.set(written, list);
  return list;
}

function flowList(cursor: Cursor, parent: number): Json {
  const items: Json[] = [];
  cursor.at++;
  for (;;) {
    skipGap(cursor, parent);
    if (closes(cursor, "]")) return trimmed(items);
    items.push(flowValue(cursor, parent));
    skipGap(cursor, parent);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.text[cursor.at] !== "]") defer();
  }
}

function flowMap(cursor: Cursor, parent: number): Json {
  const map: Record<string, Json> = {};
  cursor.at++;
  for (;;) {
    skipGap(cursor, parent);
    if (closes(cursor, "}")) return map;
    const key = flowKey(cursor);
    if (Object.hasOwn(map, key)) defer();
    skipGap(cursor, parent);
    const isEmpty = /[,}]/.test(cursor.text.charAt(cursor.at));
    setOwn(map, key, isEmpty ? null : flowValue(cursor, parent));
    skipGap(cursor, parent);
    if (cursor.text[cursor.at] === ",") cursor.at++;
    else if (cursor.text[cursor.at] !== "}") defer();
  }
}

function closes(cursor: Cursor, bracket: string): boolean {
  if (cursor.text[cursor.at] !== bracket) return false;
  cursor.at++;
  return true;
}

/** Up to and with its colon, which must stand apart from what follows. */
function flowKey(cursor: Cursor): string {
  const { text } = cursor;
  const isQuoted = text[cursor.at] === '"' || text[cursor.at] === "'";
  const key = isQuoted ? quoted(cursor) : cursor.take(PLAIN_KEY);
  if (text[cursor.at] !== ":" || !/[ \n,}]/.test(text.charAt(cursor.at + 1))) defer();
  cursor.at++;
  return key;
}

function flowValue(cursor: Cursor, parent: number): Json {
  switch (cursor.text.charAt(cursor.at)) {
    case "[":
    case "{":
      return flow(cursor, parent);
    case '"':
    case "'":
      return quoted(cursor);
    case "&":
      return anchoredValue(cursor, parent);
    case "*":
      return cursor.alias();
    default:
      return flowPlain(cursor);
  }
}

/** Apart from the rest, which would pay for the closure otherwise. */
function anchoredValue(cursor: Cursor, parent: number): Json {
  return cursor.anchored(() => flowValue(cursor, parent));
}

function flowPlain(cursor: Cursor): Json {
  const token = cursor.take(PLAIN);
  if (/: |:$| #/.test(token)) defer();
  return plain(token.trimEnd());
}

/** Spaces and line ends; comments between brackets are left to the careful parser. */
function skipGap(cursor: Cursor, parent: number): void {
  const { text } = cursor;
  let lineStart = -1;
  for (;;) {
    const code = text.charCodeAt(cursor.at);
    if (code === NEWLINE) lineStart = cursor.at + 1;
    else if (code !== SPACE) break;
    cursor.at++;
  }
  if (lineStart >= 0 && cursor.at - lineStart <= parent) defer();
}
