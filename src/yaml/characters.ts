import type { Finding } from "./finding.ts";

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
    message: `the control character U+${code.toUpperCase().padStart(4, "0")} may not stand in a YAML file`,
    hint: `delete it; if it is meant, write it as \`${escape}\` in double quotes`,
  };
}

/** Told once: a file either has such line ends everywhere, or by an accident that is easily seen. */
function loneReturn(offset: number): Finding {
  return {
    offset,
    code: "line-break",
    message: "a line ends in a carriage return alone, which YAML parsers do not agree on",
    hint: "save the file with LF or CRLF line ends",
  };
}
