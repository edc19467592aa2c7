import type { Json } from "../../model/json.ts";
import { MAX_KEY_LENGTH } from "../bounds.ts";
import { setOwn } from "../own.ts";
import { blockScalar } from "./block-scalar.ts";
import { defer, HASH, NEWLINE, SPACE, trimmed } from "./cursor.ts";
import type { Cursor } from "./cursor.ts";
import { flow } from "./flow.ts";
import { plain, quoted } from "./scalar.ts";

const DASH = 0x2d;
const COLON = 0x3a;

/** A key of everyday characters, with its colon still to come. */
const PLAIN_KEY = /[\w$~](?:[\w$./ -]*[\w$./-])?(?=:[ \n])/y;

/**
 * The plain key that was last met behind a key, or first in a map that stands so far in. Manifests have the same keys
 * in the same order again and again, and to see that the expected one is there costs a fraction of finding out which.
 */
const EXPECTED = new Map<string | number, string>();
const MOST_EXPECTED = 1000;

/** At the first line of a map or list in block style: all of it, up to the first line that stands further left. */
export function block(cursor: Cursor): Json {
  cursor.enter();
  const value = isDash(cursor) ? blockList(cursor, cursor.indent) : blockMap(cursor, cursor.indent);
  cursor.leave();
  return value;
}

function isDash(cursor: Cursor): boolean {
  if (cursor.code() !== DASH) return false;
  return isSpaceOrEnd(cursor.text.charCodeAt(cursor.at + 1));
}

function blockMap(cursor: Cursor, indent: number): Json {
  const map: Record<string, Json> = {};
  let last: string | number = indent;
  do {
    const key = blockKey(cursor, last);
    if (Object.hasOwn(map, key)) defer();
    setOwn(map, key, valueBehind(cursor, indent, true));
    last = key;
  } while (cursor.indent === indent);
  if (cursor.indent > indent) defer();
  return map;
}

/** The key at the cursor, which then stands behind its colon. */
function blockKey(cursor: Cursor, last: string | number): string {
  const expected = EXPECTED.get(last);
  if (expected !== undefined && isKeyAt(cursor, expected)) {
    cursor.at += expected.length + 1;
    return expected;
  }
  const code = cursor.code();
  if (code === 0x22 || code === 0x27) {
    const key = quoted(cursor);
    const isKey = cursor.code() === COLON && isSpaceOrEnd(cursor.text.charCodeAt(cursor.at + 1));
    if (!isKey || key.length > MAX_KEY_LENGTH / 2) defer();
    cursor.at++;
    return key;
  }
  const key = cursor.take(PLAIN_KEY);
  if (key.length > MAX_KEY_LENGTH / 2) defer();
  cursor.at++;
  if (EXPECTED.size < MOST_EXPECTED || EXPECTED.has(last)) EXPECTED.set(last, key);
  return key;
}

/** Whether a key that `PLAIN_KEY` has found elsewhere stands here too: it holds no colon, so it ends at the first. */
function isKeyAt({ text, at }: Cursor, key: string): boolean {
  const end = at + key.length;
  return text.charCodeAt(end) === COLON && text.startsWith(key, at) && isSpaceOrEnd(text.charCodeAt(end + 1));
}

function blockList(cursor: Cursor, indent: number): Json {
  const items: Json[] = [];
  do {
    if (!isDash(cursor)) defer();
    const dash = cursor.at++;
    cursor.skipSpaces();
    const isInner = isDash(cursor) || cursor.endOf(PLAIN_KEY, cursor.at) > cursor.at;
    if (isInner) {
      cursor.indent = indent + cursor.at - dash;
      items.push(block(cursor));
    } else {
      cursor.at = dash + 1;
      items.push(valueBehind(cursor, indent, false));
    }
  } while (cursor.indent === indent && isDash(cursor));
  if (cursor.indent > indent) defer();
  return trimmed(items);
}

/**
 * What stands behind a key's colon or a dash, in the same line or below.
 * @param flush whether a list may stand as far left as its key does
 */
function valueBehind(cursor: Cursor, indent: number, flush: boolean): Json {
  const from = cursor.at;
  cursor.skipSpaces();
  const code = cursor.code();
  if (code === NEWLINE || (code === HASH && cursor.at > from)) {
    cursor.at = from;
    return valueBelow(cursor, indent, flush);
  }
  if (code === 0x26) return anchoredBehind(cursor, indent, flush);
  if (code === 0x7c || code === 0x3e) return blockScalar(cursor, indent);
  const value = inline(cursor, indent, code);
  cursor.endLine();
  // What goes on in the next line is a text over several lines, or a mistake.
  if (cursor.indent > indent) defer();
  return value;
}

/** Apart from the rest, which would pay for the closure otherwise. */
function anchoredBehind(cursor: Cursor, indent: number, flush: boolean): Json {
  return cursor.anchored(() => valueBehind(cursor, indent, flush));
}

function valueBelow(cursor: Cursor, indent: number, flush: boolean): Json {
  cursor.endLine();
  if (cursor.indent > indent) {
    const code = cursor.code();
    if (code !== 0x5b && code !== 0x7b) return block(cursor);
    const value = flow(cursor, indent);
    cursor.endLine();
    if (cursor.indent > indent) defer();
    return value;
  }
  return flush && cursor.indent === indent && isDash(cursor) ? block(cursor) : null;
}

/** A value that ends in its line, or in brackets. */
function inline(cursor: Cursor, indent: number, code: number): Json {
  switch (code) {
    case 0x22:
    case 0x27:
      return quoted(cursor);
    case 0x5b:
    case 0x7b:
      return flow(cursor, indent);
    case 0x2a:
      return cursor.alias();
    default:
      return plainInLine(cursor);
  }
}

/** Characters that begin something else than a plain scalar. A dash may begin one. */
const INDICATORS = "?:,[]{}#&*!|>'\"%@`";

function plainInLine(cursor: Cursor): Json {
  const { text, at } = cursor;
  if (INDICATORS.includes(text.charAt(at)) || isDash(cursor)) defer();
  // Up to the last character before the line's end, or before a comment, that is no space.
  let end = at;
  for (let next = at; ; next++) {
    const code = text.charCodeAt(next);
    if (code === NEWLINE || (code === HASH && next > end)) break;
    if (code === SPACE) continue;
    if (code === COLON && isSpaceOrEnd(text.charCodeAt(next + 1))) defer();
    end = next + 1;
  }
  cursor.at = end;
  return plain(text.slice(at, end));
}

function isSpaceOrEnd(code: number): boolean {
  return code === SPACE || code === NEWLINE;
}
