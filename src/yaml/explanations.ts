import type { Finding, Scene } from "./finding.ts";

type Explanation = (scene: Scene) => Finding | undefined;

/**
 * The mistakes that manifests really have, the first that applies. They look at the text, since the parser's
 * words say what it could not go on with, which is often a line after the mistake and rarely the reason.
 */
export const EXPLANATIONS: readonly Explanation[] = [
  tabAsIndent,
  nestedTooDeeply,
  neverClosed,
  unknownEscape,
  reservedFirstCharacter,
  unquotedInterpolation,
  textOnTheBlockHeader,
  commentWithoutSpace,
  commaWithoutItem,
  missingComma,
  afterTheEnd,
  textAfterTheValue,
  secondColon,
  indentedUnderAValue,
  itemAmongKeys,
  noSpaceAfterTheColon,
  neitherKeyNorText,
  unevenIndent,
];

function tabAsIndent({ line, lineStart }: Scene): Finding | undefined {
  const tab = line.search(/(?<=^[ ]*)\t/);
  if (tab === -1) return undefined;
  return {
    offset: lineStart + tab,
    code: "tab",
    message: "a tab is used to indent this line; YAML allows only spaces there",
    hint: "replace the tab by spaces",
  };
}

function nestedTooDeeply({ code, offset }: Scene): Finding | undefined {
  if (code !== "RESOURCE_EXHAUSTION") return undefined;
  return { offset, code: "too-deep", message: "maps and lists are nested too deeply to be read" };
}

const CLOSERS: Readonly<Record<string, string>> = {
  "[": "close it with `]`, and indent every line inside it deeper than its key",
  "{": "close it with `}`, and indent every line inside it deeper than its key",
  '"': 'close it with `"`; inside the text a `"` is written `\\"`',
  "'": "close it with `'`; inside the text a `'` is written twice",
};

function neverClosed({ opener, text }: Scene): Finding | undefined {
  if (opener === undefined) return undefined;
  const mark = text.charAt(opener);
  const hint = CLOSERS[mark];
  const message = `the \`${mark}\` here is never closed`;
  return { offset: opener, code: "syntax", message, ...(hint === undefined ? {} : { hint }) };
}

function unknownEscape({ code, offset, text }: Scene): Finding | undefined {
  if (code !== "BAD_DQ_ESCAPE") return undefined;
  return {
    offset,
    code: "syntax",
    message: `\`${text.slice(offset, offset + 2)}\` is no escape that a text in double quotes may have`,
    hint: "write `\\\\` for a backslash, or put the text in single quotes",
  };
}

function reservedFirstCharacter({ code, offset, text }: Scene): Finding | undefined {
  if (code !== "BAD_SCALAR_START") return undefined;
  return {
    offset,
    code: "syntax",
    message: `an unquoted text cannot begin with ${quoted(text.charAt(offset))}`,
    hint: "put the text in quotes",
  };
}

function quoted(character: string): string {
  return character === "`" ? "a backtick" : `\`${character}\``;
}

function unquotedInterpolation({ offset, text }: Scene): Finding | undefined {
  if (text.slice(offset - 1, offset + 1) !== "${") return undefined;
  return {
    offset: offset - 1,
    code: "syntax",
    message: "inside `{ }` and `[ ]` an unquoted text ends at a brace, so `${…}` cannot be read",
    hint: 'put the whole text in quotes, as in "${…}"',
  };
}

function textOnTheBlockHeader({ code, offset, line, lineStart }: Scene): Finding | undefined {
  if (code !== "UNEXPECTED_TOKEN" || !/(?:^|[\s:-])[|>][-+0-9]*$/.test(line.slice(0, offset - lineStart)))
    return undefined;
  return {
    offset,
    code: "syntax",
    message: "a block of text begins on the line after its `|` or `>`",
    hint: "move this text to the next line and indent it; put a text that itself begins with `|` or `>` in quotes",
  };
}

function commentWithoutSpace({ code, offset, rest }: Scene): Finding | undefined {
  if (code !== "MISSING_CHAR" || !rest.startsWith("#")) return undefined;
  return {
    offset,
    code: "syntax",
    message: "a comment needs a space before its `#`",
    hint: "add a space; if the `#` belongs to the text, put the whole text in quotes",
  };
}

function commaWithoutItem({ code, inFlow, offset, rest }: Scene): Finding | undefined {
  if (code !== "UNEXPECTED_TOKEN" || !inFlow || !rest.startsWith(",")) return undefined;
  return { offset, code: "syntax", message: "there is nothing before this `,`", hint: "take the comma away" };
}

function missingComma({ code, inFlow, offset }: Scene): Finding | undefined {
  if (!inFlow || (code !== "MISSING_CHAR" && code !== "BLOCK_IN_FLOW")) return undefined;
  return {
    offset,
    code: "syntax",
    message:
      "inside `{ }` and `[ ]` a `,` must stand between the parts, and `: ` between a key and its value",
    hint: "add it, or put a text with `,`, `:`, brackets or braces in it in quotes",
  };
}

function textAfterTheValue({ code, offset }: Scene): Finding | undefined {
  if (code !== "UNEXPECTED_TOKEN") return undefined;
  return {
    offset,
    code: "syntax",
    message: "the value ends before this, so nothing but a comment may follow on its line",
    hint: "if this belongs to the value, put the whole value in quotes",
  };
}

function secondColon({ code, offset, rest }: Scene): Finding | undefined {
  if (code !== "BLOCK_AS_IMPLICIT_KEY" || !/:(?:\s|$)/.test(rest)) return undefined;
  return {
    offset,
    code: "syntax",
    message: "the value has a `: ` in it, which makes its first part a key, and a key cannot begin here",
    hint: "put the value in quotes; or, if a map is meant, begin it on the next line",
  };
}

function indentedUnderAValue({ code, offset, text }: Scene): Finding | undefined {
  if (code !== "BLOCK_AS_IMPLICIT_KEY") return undefined;
  const below = text.indexOf("\n", offset);
  return {
    offset: below === -1 ? offset : below + 1 + text.slice(below + 1).search(/\S|$/),
    code: "syntax",
    message: "this line is indented under a line that already has a value",
    hint: "begin it in the same column as the keys it belongs to",
  };
}

const NO_KEY_VALUE = new Set(["MISSING_CHAR", "MULTILINE_IMPLICIT_KEY"]);

function itemAmongKeys({ code, offset, rest }: Scene): Finding | undefined {
  if (!NO_KEY_VALUE.has(code) || !/^-(?:\s|$)/.test(rest)) return undefined;
  return {
    offset,
    code: "syntax",
    message: "a list item stands among the keys of a map",
    hint: "indent it under the key that it belongs to",
  };
}

function noSpaceAfterTheColon({ code, offset, rest }: Scene): Finding | undefined {
  if (!NO_KEY_VALUE.has(code) || !/^[^\s:]+:[^\s:/]/.test(rest)) return undefined;
  return {
    offset,
    code: "syntax",
    message: "there is no space after the colon, so this is read as one text and not as a key and its value",
    hint: "write a space after the colon",
  };
}

function neitherKeyNorText({ code, offset }: Scene): Finding | undefined {
  if (!NO_KEY_VALUE.has(code)) return undefined;
  return {
    offset,
    code: "syntax",
    message: "this line is no `key: value`",
    hint: "add the colon; or, if it continues the text above, indent it deeper than the key of that text",
  };
}

function unevenIndent({ code, lineStart, line }: Scene): Finding | undefined {
  if (code !== "BAD_INDENT") return undefined;
  return {
    offset: lineStart + line.search(/\S|$/),
    code: "syntax",
    message: "the indentation of this line fits none of the lines above it",
    hint: "the keys of one map, and the items of one list, begin in the same column; what is in them begins further right",
  };
}

function afterTheEnd({ code, offset, lineStart, text }: Scene): Finding | undefined {
  const beginsItsLine = text.slice(lineStart, offset).trim() === "";
  if (code !== "STRAY_TOKEN" && !(code === "UNEXPECTED_TOKEN" && beginsItsLine)) return undefined;
  return {
    offset,
    code: "syntax",
    message: "this line belongs to nothing above it: the list, map or text before it has ended",
    hint: "check its indentation; the items of a list and the keys of a map cannot stand side by side",
  };
}
