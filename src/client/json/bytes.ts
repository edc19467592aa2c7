/** The bytes that JSON is structured by; all of them are ASCII, so no byte of a longer character equals one. */
export const COMMA = 0x2c;
export const OPEN_LIST = 0x5b;
export const CLOSE_LIST = 0x5d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** With this bit set, `[` is `{` and `]` is `}`; no other byte becomes one of the two. */
const CASE_BIT = 0x20;
const OPEN = 0x7b;
const CLOSE = 0x7d;

export function opens(byte: number): boolean {
  return (byte | CASE_BIT) === OPEN;
}

export function closes(byte: number): boolean {
  return (byte | CASE_BIT) === CLOSE;
}

export function isQuote(byte: number): boolean {
  return byte === QUOTE;
}

/** Space, tab, line feed, carriage return. */
export function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/**
 * Position of the quote that ends a string. In a text that ends before the string does it is the text's length,
 * or one more when a backslash comes last: what is left over is where to go on in the next piece of the text.
 */
export function stringEnd(bytes: Uint8Array, from: number): number {
  // Asked for once: the length of a view is looked up anew each time.
  const { length } = bytes;
  let at = from;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at++;
  }
  return at;
}

/** The byte order mark, which some servers send. */
const BOM: readonly number[] = [0xef, 0xbb, 0xbf];

export function isBom(byte: number, position: number): boolean {
  return byte === BOM[position];
}

export function withoutBom(bytes: Uint8Array): Uint8Array {
  return BOM.every((byte, at) => bytes[at] === byte) ? bytes.subarray(BOM.length) : bytes;
}

/**
 * Whether lists and objects are nested deeper than the limit. Asked before parsing, as the parser would build
 * any depth, and everything that walks the result afterwards is recursive.
 */
export function isDeeper(bytes: Uint8Array, limit: number): boolean {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0;
    if (isQuote(byte)) at = stringEnd(bytes, at + 1);
    else if (closes(byte)) depth--;
    else if (opens(byte) && ++depth > limit) return true;
  }
  return false;
}
