import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openSource, readSlow } from "../../src/manifest/yaml/read-slow.ts";
import { type Json, type Path, isArray, isObject } from "../../src/model/json.ts";
import { tidyTexts, wildTexts } from "./texts.ts";

const MANIFEST = `# a target
target: shop
"quoted key": 'single'
defaults: &shared
  tags: [web, "smoke test"]
testCases:
  login:
    prompt: |
      Log in.
    tags: *shared
    nothing:
    elements:
      - action: CLICK
      -   # later
        action: EXTRACT
      - - deep
      -
`;

describe("positions", () => {
  it.each<[string, Path, string, string]>([
    ["a key and its value", ["target"], "2:1", "2:9"],
    ["a quoted key, a quoted value", ["quoted key"], "3:1", "3:15"],
    [
      "a map in block style begins with its first key, after its anchor",
      ["defaults"],
      "4:1",
      "5:3",
    ],
    ["a list in brackets", ["defaults", "tags"], "5:3", "5:9"],
    ["an item has no key of its own", ["defaults", "tags", 1], "5:15", "5:15"],
    ["a block of text begins with its mark", ["testCases", "login", "prompt"], "8:5", "8:13"],
    ["an alias is the value of its key", ["testCases", "login", "tags"], "10:5", "10:11"],
    [
      "behind an alias it is the place that it refers to",
      ["testCases", "login", "tags", "tags", 0],
      "5:10",
      "5:10",
    ],
    ["where nothing is written it is the key", ["testCases", "login", "nothing"], "11:5", "11:5"],
    ["an item's key", ["testCases", "login", "elements", 0, "action"], "13:9", "13:17"],
    ["an item that begins on a later line", ["testCases", "login", "elements", 1], "15:9", "15:9"],
    ["a list in a list", ["testCases", "login", "elements", 2, 0], "16:11", "16:11"],
    [
      "a missing key is told at the key of what should have it",
      ["testCases", "login", "status"],
      "7:3",
      "7:3",
    ],
    ["however deep it is missing", ["testCases", "login", "elements", 9, "x", "y"], "12:5", "12:5"],
    ["and below a scalar", ["target", "x"], "2:1", "2:1"],
    ["a key missing in the root is reported at the start of the root", ["app"], "2:1", "2:1"],
    [
      "where nothing is written it is the dash",
      ["testCases", "login", "elements", 3],
      "17:7",
      "17:7",
    ],
    ["the root itself", [], "2:1", "2:1"],
  ])("%s", (_, path, key, value) => {
    const source = openSource(MANIFEST);
    expect(show(source.positionOf(path, "key"))).toBe(key);
    expect(show(source.positionOf(path, "value"))).toBe(value);
  });

  it.each<[string, string, Path, string]>([
    ["of two keys with one name it is the last", "a: 1\na: 2\n", ["a"], "2:4"],
    ["after a syntax error", "a: x: y\nb: 1\nc:\n  d: 2\n", ["a", "c", "d"], "4:6"],
    ["before one", "a:\n  b: 1\nc: [\n", ["a", "b"], "2:6"],
    ["in the first of two documents", "a: 1\n---\nb: 2\n", ["a"], "1:4"],
    ["in an empty text", "", ["a"], "1:1"],
    [
      "behind an alias, of two anchors with its name, at the one before it",
      "a: &x { k: 1 }\nb: *x\nc: &x { k: 2 }\n",
      ["b", "k"],
      "1:12",
    ],
    ["below an alias to nothing", "a: *x\n", ["a", "b"], "1:1"],
    ["below an alias to itself", "a: &x\n  b: *x\n", ["a", "b", "b", "b"], "2:3"],
    ["lines of Windows", "a: 1\r\nb:\r\n  c: 2\r\n", ["b", "c"], "3:6"],
    ["columns in UTF-16 units", "{ 😀: 1, b: 2 }\n", ["b"], "1:13"],
  ])("a text with errors still has positions: %s", (_, text, path, value) => {
    expect(show(openSource(text).positionOf(path, "value"))).toBe(value);
  });
});

describe("for random texts", () => {
  it("the position of a key or value is the start of its text", () => {
    fc.assert(
      fc.property(tidyTexts, (text) => {
        const reading = readSlow(text);
        fc.pre(reading.ok);
        const source = openSource(text);
        for (const [path, value] of pathsOf(reading.value)) {
          const valueText = textAt(text, source.positionOf(path, "value"));
          const key = path.at(-1);
          if (typeof key === "string")
            expectScalar(textAt(text, source.positionOf(path, "key")), key);
          if (!startsAlias(valueText)) expectValue(valueText, value, key);
        }
      }),
      { numRuns: 300 },
    );
  });

  it("every path in any text has a position inside the text", () => {
    fc.assert(
      fc.property(
        wildTexts,
        fc.array(fc.oneof(fc.constantFrom("a", "b", "tags"), fc.nat(3))),
        (text, path) => {
          const { line, column } = openSource(text).positionOf(path, "value");
          const lines = text.split(/\r\n?|\n/);
          expect(line).toBeLessThanOrEqual(lines.length);
          expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1);
        },
      ),
    );
  });
});

function show({ line, column }: { line: number; column: number }): string {
  return `${line}:${column}`;
}

function textAt(text: string, { line, column }: { line: number; column: number }): string {
  return text
    .split("\n")
    .slice(line - 1)
    .join("\n")
    .slice(column - 1);
}

function startsAlias(text: string): boolean {
  return text.startsWith("*");
}

/** Every path of a value. The caller skips values that start with an alias. */
function* pathsOf(value: Json, path: Path = []): Generator<[Path, Json]> {
  yield [path, value];
  if (isArray(value)) for (const [at, item] of value.entries()) yield* pathsOf(item, [...path, at]);
  if (isObject(value))
    for (const key of Object.keys(value)) yield* pathsOf(value[key] ?? null, [...path, key]);
}

function expectScalar(text: string, word: string): void {
  const [firstLine = ""] = word.split("\n");
  if (text.startsWith('"')) expect(text).toMatch(startOf(JSON.stringify(word)));
  else if (text.startsWith("'"))
    expect(text.slice(1).replaceAll("''", "'")).toMatch(startOf(firstLine));
  else expect(text).toMatch(startOf(firstLine));
}

function expectValue(text: string, value: Json, key: string | number | undefined): void {
  if (isObject(value) && text.startsWith("{")) return;
  if (isArray(value)) expect(text).toMatch(/^[-[]/);
  // JavaScript moves keys like `1` to the front, so any key can be the first in the text.
  else if (isObject(value))
    expect(Object.keys(value).some((first) => startsKey(text, first))).toBe(true);
  else if (typeof value === "string" && /^[|>]/.test(text)) expect(value).toBeTypeOf("string");
  else if (typeof value === "string") expectScalar(text, value);
  else if (value === null && !/^(~|null)/i.test(text))
    expectScalar(text, typeof key === "number" ? "-" : (key ?? ""));
  else expect(readSlow(text.split(/[\s,\]}]/)[0] ?? "")).toEqual({ ok: true, value });
}

function startsKey(text: string, key: string): boolean {
  const forms = [key, JSON.stringify(key), `'${key.replaceAll("'", "''")}'`];
  return forms.some((form) => text.startsWith(`${form}:`));
}

function startOf(word: string): RegExp {
  return new RegExp(`^${word.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}`);
}
