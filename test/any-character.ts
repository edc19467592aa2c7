import * as fc from "fast-check";

/** The characters that UTF-16 needs to write others, which are no characters alone. */
const [SURROGATE, SURROGATES] = [0xd800, 0x800];

/**
 * Any character of Unicode, for strings. The unit "binary" of fast-check gives the same, but first
 * makes a table of all of them, which takes a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(0x10ffff - SURROGATES).map(
  (at) => String.fromCodePoint(at < SURROGATE ? at : at + SURROGATES),
  (character) => {
    const code = typeof character === "string" ? (character.codePointAt(0) ?? -1) : -1;
    if (String.fromCodePoint(Math.max(code, 0)) !== character) throw new Error("no character");
    if (code >= SURROGATE && code < SURROGATE + SURROGATES) throw new Error("half a character");
    return code < SURROGATE ? code : code - SURROGATES;
  },
);
