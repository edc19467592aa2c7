import { isUtf8 } from "node:buffer";
import type { Json } from "../../model/json.ts";

/** `JSON.parse` returns `any`; what it returns is JSON. */
const parse: (text: string) => Json = JSON.parse;

export type Parsed =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly why: "not-json" | "not-utf-8" };

/**
 * Reads JSON from bytes. Wrong UTF-8 is refused rather than replaced: a replaced character would look like a
 * difference in a plan, and could be written back. The parser's own message is dropped, since it quotes the text.
 */
export function parseJson(bytes: Uint8Array): Parsed {
  if (!isUtf8(bytes)) return { ok: false, why: "not-utf-8" };
  return parseJsonText(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8"));
}

export function parseJsonText(text: string): Parsed {
  try {
    return { ok: true, value: parse(text) };
  } catch {
    return { ok: false, why: "not-json" };
  }
}
