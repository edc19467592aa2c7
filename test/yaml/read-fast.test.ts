// Not `toStrictEqual`: it treats an own key `constructor` as the type of the object.
import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { everydayRoot, readFast } from "../../src/manifest/yaml/fast.ts";
import { Marks } from "../../src/manifest/yaml/marked-tree.ts";
import { parseTree } from "../../src/manifest/yaml/tree.ts";
import { oracle } from "./oracle.ts";
import { tidyTexts, wildTexts } from "./texts.ts";

describe("the fast and the slow reader", () => {
  it("return the same value, unless the fast reader leaves the text to the slow one", () => {
    fc.assert(
      fc.property(fc.oneof(tidyTexts, wildTexts), (text) => {
        const value = readFast(text);
        if (value !== undefined) deepStrictEqual(readSlow(text), { ok: true, value });
      }),
      { numRuns: Number(process.env["RUNS"] ?? 1000) },
    );
  });

  it("return the same tree with the same positions", () => {
    fc.assert(
      fc.property(fc.oneof(tidyTexts, wildTexts), (text) => {
        if (readFast(text, new Marks()) !== undefined)
          deepStrictEqual(everydayRoot(text), parseTree(text).root);
      }),
      { numRuns: Number(process.env["RUNS"] ?? 1000) },
    );
  });

  it("return the same value as the yaml library", () => {
    fc.assert(
      fc.property(fc.oneof(tidyTexts, wildTexts), (text) => {
        const reading = readSlow(text);
        if (reading.ok) deepStrictEqual({ value: reading.value }, oracle(text));
      }),
      { numRuns: 600 },
    );
  });

  it("the fast reader accepts more than 30% of the valid texts", () => {
    const texts = fc.sample(tidyTexts, 200).filter((text) => readSlow(text).ok);
    const fast = texts.filter((text) => readFast(text) !== undefined);
    expect(texts.length).toBeGreaterThan(60);
    expect(fast.length / texts.length).toBeGreaterThan(0.3);
  });
});

describe("the fast reader leaves unusual or invalid YAML to the slow reader", () => {
  it.each([
    ["a tab", "a: x\t# tab\n"],
    ["white space that is a part of a value in brackets", "{a: 1\u00a0}\n"],
    ["the mark of a document in brackets", "{a:\n---\n}\n"],
    ["white space that may be a line end", "a: x\u0085y\n"],
    ["a byte order mark inside", "a: x\ufeffy\n"],
    ["a carriage return alone", "a: x\ry\n"],
    ["a directive", "%YAML 1.2\n---\na: 1\n"],
    ["an unknown directive", "%FOO bar\n---\na: 1\n"],
    ["the end of a document", "a: 1\n...\n"],
    ["a second document", "a: 1\n---\nb: 2\n"],
    ["something behind the mark of a document", "--- # comment\na: 1\n"],
    ["an indented mark of a document", " ---\n[a]\n"],
    ["an escaped line end", 'a: "x\\\n\n  y"\n'],
    ["white space behind the last line end", "a: |+\n  x\n \n   "],
    ["an explicit indentation", "a: |2\n   x\n"],
    ["an explicit key", "? a\n: b\n"],
    ["a text and nothing else", "a\n"],
    ["nothing", "# a comment\n"],
    ["a tag", "a: !!str 1\n"],
    ["a pair without braces", "[a: b]\n"],
    ["a colon apart from its key, in braces", "{ a : b }\n"],
    ["an anchor", "a: &x [1, 2]\n"],
    ["an anchor in brackets", "a: [&x 1]\n"],
    ["an anchored key", "&x a: 1\n"],
    ["an alias", "a: 1\nb: *x\n"],
    ["a key over two lines", "{ a\n  b: 1 }\n"],
    ["an escape beyond Unicode", 'a: "\\U00110000"\n'],
  ])("%s", (_, text) => {
    expect(readFast(text)).toBeUndefined();
  });
});

describe("unquoted scalars follow the YAML 1.2 core schema", () => {
  it.each([
    [
      "words of YAML 1.1 are text",
      "[yes, no, on, off, ON, OFF, y, n]",
      ["yes", "no", "on", "off", "ON", "OFF", "y", "n"],
    ],
    [
      "dates and times are text",
      "[2024-01-01, 12:30, 2001-12-14t21:59:43.10-05:00]",
      ["2024-01-01", "12:30", "2001-12-14t21:59:43.10-05:00"],
    ],
    [
      "underscores, binary and old octal make no numbers, a leading zero does",
      "[1_000, 0b1, 010, 08]",
      ["1_000", "0b1", 10, 8],
    ],
    [
      "hexadecimal and octal are numbers without a sign only",
      "[0x1F, 0o17, -0x1F, 0X1F]",
      [31, 15, "-0x1F", "0X1F"],
    ],
    [
      "three spellings of a word and no more",
      "[true, True, TRUE, tRUE, null, Null, NULL, nULL, ~]",
      [true, true, true, "tRUE", null, null, null, "nULL", null],
    ],
    [
      "fractions and exponents",
      "[1., .5, -.5e3, 1e3, 1e, e3, 1.2.3]",
      [1, 0.5, -500, 1000, "1e", "e3", "1.2.3"],
    ],
    ["a sign alone is text, and minus zero a number", "['-', +, -0, +1]", ["-", "+", -0, 1]],
    ["nothing is null", "{ a: , b: }", { a: null, b: null }],
    [
      "interpolations are text in block style",
      "a: ${secret:KEY}\nb: $${x}\n",
      { a: "${secret:KEY}", b: "$${x}" },
    ],
  ])("%s", (_, text, value) => {
    expect(readFast(text)).toStrictEqual(value);
    expect(readSlow(text)).toStrictEqual({ ok: true, value });
  });
});

it("the fast reader does not confuse lists that are too long for its cache", () => {
  const list = (item: string): string => `[${Array.from({ length: 100 }, () => item).join(", ")}]`;
  expect(readFast(`a: ${list("x")}\n`)).toEqual({ a: Array.from({ length: 100 }, () => "x") });
  expect(readFast(`a: ${list("y")}\n`)).toEqual({ a: Array.from({ length: 100 }, () => "y") });
});

describe("keys are read as the text that is written", () => {
  it.each([
    [
      "numbers, words and nothing-like words",
      "1.0: a\ntrue: b\n0x10: c\nnull: d\n~: e\n",
      ["1.0", "true", "0x10", "null", "~"],
    ],
    ["quoted and unquoted", `'a b': 1\n"c\\td": 2\ne f: 3\n`, ["a b", "c\td", "e f"]],
  ])("%s", (_, text, keys) => {
    const value = readFast(text);
    expect(Object.keys(value ?? {})).toEqual(keys);
    expect(readSlow(text)).toStrictEqual({ ok: true, value });
  });

  it.each(["__proto__", "constructor", "prototype", "toString"])("%s is an ordinary key", (key) => {
    const text = `${key}: { polluted: true }\n`;
    for (const value of [readFast(text), readSlow(text)])
      expect(JSON.stringify(value)).toContain(`"${key}":{"polluted":true}`);
    expect(Object.getPrototypeOf(readFast(text))).toBe(Object.prototype);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("aliases", () => {
  it.each([
    ["stand for what they refer to", "a: &x [1, 2]\nb: *x\n", { a: [1, 2], b: [1, 2] }],
    [
      "refer to the last anchor of the name",
      "a: &x 1\nb: *x\nc: &x 2\nd: *x\n",
      { a: 1, b: 1, c: 2, d: 2 },
    ],
    [
      "refer to an inner anchor once the outer one of that name has begun",
      "a: &x { b: &x 1 }\nc: *x\n",
      { a: { b: 1 }, c: 1 },
    ],
  ])("%s", (_, text, value) => {
    expect(readSlow(text)).toStrictEqual({ ok: true, value });
  });

  it("are accepted in large numbers if they expand to little text", () => {
    const text = `a: &x [web, smoke]\n${Array.from({ length: 3000 }, (_, at) => `k${at}: *x\n`).join("")}`;
    const reading = readSlow(text);
    expect(Object.keys((reading.ok && reading.value) || {})).toHaveLength(3001);
  });
});
