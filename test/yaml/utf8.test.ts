import { describe, expect, it } from "vitest";
import { decodeUtf8 } from "../../src/manifest/yaml/text.ts";

const bytes = (...parts: (string | number)[]) =>
  Uint8Array.from(
    parts.flatMap((part) =>
      typeof part === "number" ? [part] : [...new TextEncoder().encode(part)],
    ),
  );

describe("UTF-8 text is decoded", () => {
  it.each([
    ["plain", bytes("a: 1\n"), { ok: true, text: "a: 1\n", bom: false }],
    ["beyond ASCII, up to four bytes", bytes("é日😀"), { ok: true, text: "é日😀", bom: false }],
    [
      "line ends of Windows stay",
      bytes("a: 1\r\nb: 2\r\n"),
      { ok: true, text: "a: 1\r\nb: 2\r\n", bom: false },
    ],
    [
      "a byte order mark goes, and is told",
      bytes(0xef, 0xbb, 0xbf, "a: 1"),
      { ok: true, text: "a: 1", bom: true },
    ],
    [
      "a second byte order mark is text",
      bytes("\ufeff\ufeffa"),
      { ok: true, text: "\ufeffa", bom: true },
    ],
    ["nothing", bytes(), { ok: true, text: "", bom: false }],
  ])("%s", (_, input, decoded) => {
    expect(decodeUtf8(input)).toEqual(decoded);
  });
});

describe("invalid UTF-8 is rejected with its position", () => {
  it.each([
    ["a byte of Latin-1", bytes("a: 1\nb: caf", 0xe9, "\n"), 2, 7],
    ["a continuation byte alone", bytes(0x80), 1, 1],
    ["an overlong form", bytes("ab\r\ncd", 0xc0, 0xaf), 2, 3],
    ["a surrogate", bytes("a", 0xed, 0xa0, 0x80), 1, 2],
    ["a character cut off by the end of the file", bytes("a: ", 0xe6, 0x97), 1, 4],
    ["after characters of two UTF-16 units", bytes("😀😀", 0xff), 1, 5],
  ])("%s", (_, input, line, column) => {
    expect(decodeUtf8(input)).toEqual({
      ok: false,
      missing: false,
      reason: "It is not UTF-8 text.",
      problem: {
        line,
        column,
        code: "encoding",
        message: "the file is not UTF-8 text: the bytes from here on are not a valid character",
        hint: "save it as UTF-8; a different encoding or a binary file cannot be read",
      },
    });
  });

  it.each([
    ["little-endian", bytes(0xff, 0xfe, "a", 0)],
    ["big-endian", bytes(0xfe, 0xff, 0, "a")],
  ])("UTF-16 is recognised, %s", (_, input) => {
    const decoded = decodeUtf8(input);
    expect(decoded).toMatchObject({
      ok: false,
      problem: { line: 1, column: 1, hint: "it looks like UTF-16; save it as UTF-8" },
    });
  });
});
