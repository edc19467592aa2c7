import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import { YAML11_SCHEMA, load } from "js-yaml";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { writeYaml } from "../../src/manifest/yaml/write.ts";
import { readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { readFast } from "../../src/manifest/yaml/fast.ts";
import type { Json } from "../../src/model/json.ts";
import { anyCharacter } from "../any-character.ts";
import { WORDS } from "./texts.ts";

describe("a value is written as a person would write it", () => {
  it("maps, lists, multi-line texts, and empty maps and lists", () => {
    const value = {
      target: "shop",
      timeoutPerStep: 10000,
      testIdAttribute: null,
      testCases: {
        login: {
          description: "Log in with valid credentials",
          runStatus: "ON",
          tags: ["smoke", "auth"],
          discovery: { prompt: "Log in.\n\nThen check the greeting.\n" },
          elements: [
            { action: "EXTRACT", selectors: [{ selector: "Total" }] },
            ["a", ["b"]],
            [],
            {},
          ],
        },
      },
    };
    expect(writeYaml(value)).toBe(`target: shop
timeoutPerStep: 10000
testIdAttribute: null
testCases:
  login:
    description: Log in with valid credentials
    runStatus: "ON"
    tags: [smoke, auth]
    discovery:
      prompt: |
        Log in.

        Then check the greeting.
    elements:
      - action: EXTRACT
        selectors:
          - selector: Total
      - - a
        - - b
      - []
      - {}
`);
  });

  it.each<[string, Json, string]>([
    ["no line end at the end of the text", { a: "b\nc" }, "a: |-\n  b\n  c\n"],
    [
      "line ends at its end would take in those that follow",
      ["b\nc\n\n", "d"],
      '- "b\\nc\\n\\n"\n- d\n',
    ],
    ["a text that begins with a space is quoted", { a: " b\nc" }, 'a: " b\\nc"\n'],
    ["as is one whose last line is blank", { a: "b\n  " }, 'a: "b\\n  "\n'],
    ["and one that a block would end early", "b\n---\nc\n", "|\n  b\n  ---\n  c\n"],
    ["a long key", { ["k".repeat(1100)]: { a: 1 } }, `? ${"k".repeat(1100)}\n:\n  a: 1\n`],
    [
      "the key that sets prototypes elsewhere",
      JSON.parse('{"__proto__":{"a":1}}'),
      "__proto__:\n  a: 1\n",
    ],
    [
      "numbers that YAML 1.1 and 1.2 write differently",
      [1e21, 1e-7, 2 ** 53, -0, 0.5],
      "- 1.0e+21\n- 1.0e-7\n- 9007199254740992.0\n- -0\n- 0.5\n",
    ],
  ])("%s", (_, value, text) => {
    expect(writeYaml(value)).toBe(text);
    deepStrictEqual(readSlow(text), { ok: true, value });
  });
});

describe("quotes", () => {
  it.each([
    ["words that are boolean in YAML 1.1", ["ON", "off", "yes", "No", "y", "N", "TRUE", "tRUE"]],
    ["null", ["null", "~", "NULL", ""]],
    [
      "numbers of any version",
      [
        "1",
        "-1",
        "+1",
        "1.5",
        "1e3",
        "08",
        "0x1F",
        "0o17",
        "0b1",
        "1_000",
        ".5",
        "1.",
        ".inf",
        "-.INF",
        ".nan",
      ],
    ],
    ["times and dates", ["12:30", "1:02:03.5", "2024-01-01", "2001-12-14t21:59:43.10-05:00"]],
    [
      "signs of YAML's own",
      [
        "- a",
        "-",
        "--- a",
        "? a",
        ": a",
        ":a",
        "a: b",
        "a:",
        "a #b",
        "#a",
        "&a",
        "*a",
        "!a",
        "|",
        ">",
        "%a",
        "@a",
        "`a",
        "[a",
        "{a",
        "'a",
        '"a',
        "=",
        "<<",
        "...",
      ],
    ],
    [
      "white space that would be lost or not be seen",
      [" a", "a ", "a\tb", "a\u00a0b", "\ufeffa", "a\u2028b"],
    ],
    [
      "characters that must be escaped",
      ["a\u0007", "a\u001b[0m", "\u007f", "a\rb", "a\r\nb", "\ud800", "\uffff"],
    ],
  ])("are set around %s", (_, texts) => {
    for (const text of texts) {
      const written = writeYaml({ key: text });
      expect(written).toMatch(/^key: ["']/);
      expect(readSlow(written)).toEqual({ ok: true, value: { key: text } });
    }
  });

  it.each([
    [
      "words, sentences and paths",
      [
        "ENABLED",
        "Log in.",
        "/login?a=b#c",
        "https://a.example/b",
        "a-b",
        "-x",
        "shop: none".replace(": ", ":"),
      ],
    ],
    ["what only looks like a number", ["1.2.3", "7 days", "1a", "0xG", "v1"]],
    ["what has quotes or brackets inside", ["it's", 'say "x"', "a[0]", "a, b", "f(x) { y }"]],
    ["interpolations", ["${env:X}", "https://${var:host}", "$${x}"]],
    ["other scripts", ["é", "日本語", "😀"]],
  ])("are not set around %s", (_, texts) => {
    for (const text of texts) expect(writeYaml({ key: text })).toBe(`key: ${text}\n`);
  });

  it("contain escapes for characters that change the text direction", () => {
    expect(writeYaml(["a\u202eb", "a\n\u2066b"])).toBe(
      String.raw`- "a\u202eb"` + "\n" + String.raw`- "a\n\u2066b"` + "\n",
    );
    expect(writeYaml({ a: 1 }, () => "x\u202ey")).toMatch(/^# x\ufffdy\n/);
  });

  it("are single if that avoids escapes", () => {
    expect(writeYaml([String.raw`"C:\x"`, `"it's"`])).toBe(`- '"C:\\x"'\n- "\\"it's\\""\n`);
  });
});

describe("comments", () => {
  it("are written above their key or item, and at the top of the file", () => {
    const comments: Record<string, string> = {
      "[]": "the head\n\nof the file",
      '["a"]': "above a",
      '["a","b"]': "above b",
      '["a","b",0]': "above the first",
      '["a","b",0,"c"]': "inside of it",
    };
    const text = writeYaml({ a: { b: [{ c: 1 }, 2] } }, (path) => comments[JSON.stringify(path)]);
    expect(text).toBe(
      "# the head\n#\n# of the file\n# above a\na:\n  # above b\n  b:\n    # above the first\n    - # inside of it\n      c: 1\n    - 2\n",
    );
    expect(readSlow(text)).toEqual({ ok: true, value: { a: { b: [{ c: 1 }, 2] } } });
  });

  it("stay comments, whatever characters they contain", () => {
    const text = writeYaml({ a: 1 }, () => "x\nb: 2\r\nc: 3\rd: 4\u2028e: 5\u001b[31m\ud800");
    expect(text).toContain("# c: 3\n# d: 4\n# e: 5\ufffd[31m\ufffd\n");
    expect(readSlow(text)).toEqual({ ok: true, value: { a: 1 } });
  });
});

const texts = fc.oneof(
  fc.constantFrom(...WORDS),
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(...Array.from("ab01.:-+_#, \n\t'\"\\{[|>&*!?%@~=<eExX")),
    maxLength: 8,
  }),
);

const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(
      fc.constant(null),
      fc.boolean(),
      fc.integer(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      texts,
    ),
    fc.array(tie("json"), { maxLength: 4 }),
    fc.dictionary(texts, tie("json"), { maxKeys: 4, noNullPrototype: true }),
  ),
})).json;

describe("for random values", () => {
  it("the fast and the slow reader read a written value back unchanged", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = writeYaml(value);
        deepStrictEqual(readSlow(text), { ok: true, value });
        const fast = readFast(text);
        if (fast !== undefined) deepStrictEqual(fast, value);
      }),
      { numRuns: 500 },
    );
  });

  it("readers of YAML 1.1 read every text back unchanged", () => {
    fc.assert(
      fc.property(fc.array(texts), (value) => {
        const text = writeYaml(value);
        deepStrictEqual(parse(text, { version: "1.1" }), value);
        deepStrictEqual(load(text, { schema: YAML11_SCHEMA }), value);
      }),
      { numRuns: 500 },
    );
  });
});
