import { placesOf } from "./place.ts";
import type { YamlProblem } from "./problem.ts";

export type Decoded =
  | { readonly ok: true; readonly text: string; readonly bom: boolean }
  | { readonly ok: false; readonly problem: YamlProblem };

/**
 * Reads the bytes of a file as UTF-8. Line ends stay as they are.
 * A byte order mark is dropped; `bom` says that there was one, for whoever writes the file back.
 * The problem, if the bytes are not UTF-8, stands at the first byte that cannot be read.
 */
export function decodeUtf8(bytes: Uint8Array): Decoded {
  const bom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const text = decodes(bytes, false);
  return text === undefined ? { ok: false, problem: undecodable(bytes) } : { ok: true, text, bom };
}

/** The same for what is text already. */
export function decodedText(text: string): Decoded {
  const bom = text.startsWith("\ufeff");
  return { ok: true, text: bom ? text.slice(1) : text, bom };
}

/** `partial`: the bytes may end inside a character. */
function decodes(bytes: Uint8Array, partial: boolean): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: partial });
  } catch {
    return undefined;
  }
}

function undecodable(bytes: Uint8Array): YamlProblem {
  const text = readablePrefix(bytes);
  const place = placesOf(text)(text.length);
  return {
    ...place,
    code: "encoding",
    message: "the file is not UTF-8 text: the bytes from here on are no valid character",
    hint: looksLikeUtf16(bytes)
      ? "it looks like UTF-16; save it as UTF-8"
      : "save it as UTF-8; a different encoding or a binary file cannot be read",
  };
}

/**
 * The longest start that decodes. Found by halving, since "these bytes can begin a UTF-8 text" only ever
 * turns from true to false as bytes are added; the decoder itself does not tell where it stumbled.
 */
function readablePrefix(bytes: Uint8Array): string {
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodes(bytes.subarray(0, middle), true) === undefined) bad = middle;
    else good = middle;
  }
  return decodes(bytes.subarray(0, good), true) ?? "";
}

function looksLikeUtf16(bytes: Uint8Array): boolean {
  return (bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff);
}
