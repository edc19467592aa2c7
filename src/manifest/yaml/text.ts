import { placesOf } from "./tree.ts";

/**
 * What can be wrong with a YAML text. `code` is for programs, `message` and `hint` are for the person who has
 * to repair the file: what was found and why it is refused, then what to write instead.
 */
export type YamlProblem = {
  /** 1-based. */
  readonly line: number;
  /** 1-based, in UTF-16 units: what editors, SARIF and GitHub annotations count in. */
  readonly column: number;
  readonly code: YamlProblemCode;
  readonly message: string;
  readonly hint?: string;
};

type YamlProblemCode =
  | "encoding"
  | "control-character"
  | "line-break"
  | "empty"
  | "syntax"
  | "tab"
  | "directive"
  | "multiple-documents"
  | "duplicate-key"
  | "key"
  | "merge-key"
  | "tag"
  | "number"
  | "unknown-alias"
  | "cyclic-alias"
  | "alias-budget"
  | "too-deep";

/** A problem that still counts in offsets. */
export type Finding = {
  readonly offset: number;
  readonly code: YamlProblemCode;
  readonly message: string;
  readonly hint?: string;
};

const CONTROL = new RegExp(String.raw`[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ufffe\uffff]`, "g");
const LONE_RETURN = /\r(?!\n)/g;

/**
 * Characters that YAML forbids, and line ends that its parsers disagree on. `cleaned` is the text without
 * them, of the same length, so that the rest of it can be parsed and keeps its places.
 */
export function findCharacters(text: string): {
  readonly cleaned: string;
  readonly findings: readonly Finding[];
} {
  const controls = [...text.matchAll(CONTROL)].map(({ 0: character, index }) => control(character, index));
  const returns = [...text.matchAll(LONE_RETURN)].slice(0, 1).map(({ index }) => loneReturn(index));
  const cleaned = text.replace(CONTROL, "\ufffd").replace(LONE_RETURN, "\n");
  return { cleaned, findings: [...controls, ...returns] };
}

function control(character: string, offset: number): Finding {
  const code = character.charCodeAt(0).toString(16);
  const escape = code.length > 2 ? `\\u${code}` : `\\x${code.padStart(2, "0")}`;
  return {
    offset,
    code: "control-character",
    message: `the control character U+${code.toUpperCase().padStart(4, "0")} is not allowed in a YAML file`,
    hint: `delete it, or write it as \`${escape}\` in double quotes`,
  };
}

/** Told once: a file either has such line ends everywhere, or by an accident that is easily seen. */
function loneReturn(offset: number): Finding {
  return {
    offset,
    code: "line-break",
    message: "a line ends in a carriage return alone, which YAML parsers do not agree on",
    hint: "save the file with LF or CRLF line endings",
  };
}

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
