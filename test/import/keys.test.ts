import { describe, expect, test } from "vitest";
import { chooseKeys, slug } from "../../src/edit/import/keys.ts";
import { fileName, freeFile } from "../../src/edit/import/layout.ts";

describe("a name becomes a key", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["Log in with valid credentials", "log-in-with-valid-credentials"],
    ["  Übergröße / Maße: 100 %  ", "ubergrosse-masse-100"],
    ["Don't panic", "dont-panic"],
    ["🛒 Cart", "cart"],
    ["🛒", ""],
    ["日本語", ""],
    ["__proto__", "proto"],
    ["${HOME}/a.b", "home-a-b"],
    ["ﬁ ½", "fi-1-2"],
    ["word ".repeat(20), "word-word-word-word-word-word-word-word-word-word-word-word"],
    ["x".repeat(100), "x".repeat(60)],
  ];
  test.each(rows)("%j: %j", (name, key) => {
    expect(slug(name)).toBe(key);
  });

  test("200,000 unordered accents are handled quickly", () => {
    const started = process.cpuUsage();
    expect(slug(`e${"\u0301\u0316".repeat(100_000)}`)).toBe("e");
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
  });
});

const keysOf = (
  names: Readonly<Record<string, string | undefined>>,
  taken: readonly string[] = [],
): unknown => {
  const wishes = Object.entries(names).map(([id, name]) => ({ id, name, noun: "case" }));
  return Object.fromEntries(chooseKeys(wishes, (key) => taken.includes(key)));
};

describe("keys are unique and depend only on what is live", () => {
  test("30,000 ids that cannot be told apart in a key are numbered quickly", () => {
    const ids = Array.from({ length: 30_000 }, (_, at) => String.fromCodePoint(0x20000 + at));
    const started = process.cpuUsage();
    const keys = keysOf(Object.fromEntries(ids.map((id) => [id, undefined])));
    expect(process.cpuUsage(started).user).toBeLessThan(2_000_000);
    expect(keys).toMatchObject({
      [ids[0] ?? ""]: "case",
      [ids[1] ?? ""]: "case-2",
      [ids[29_999] ?? ""]: "case-30000",
    });
  });

  test("equal names all get a suffix from their ids", () => {
    expect(keysOf({ "a1b2-x": "Log in", "c3d4-x": "log in!" })).toEqual({
      "a1b2-x": "log-in-a1b2",
      "c3d4-x": "log-in-c3d4",
    });
  });
  test("the suffix is as long as needed to be unique", () => {
    expect(keysOf({ "0000-0000-1": "A", "0000-0000-2": "A" })).toEqual({
      "0000-0000-1": "a-0000",
      "0000-0000-2": "a-00000000",
    });
  });
  test("a key that is already taken is not used again", () => {
    expect(keysOf({ a1b2: "Log in" }, ["log-in"])).toEqual({ a1b2: "log-in-a1b2" });
  });
  test("a name that equals another one's key with suffix makes that suffix longer", () => {
    expect(keysOf({ a1b2c: "y", a1b3c: "y", zzzz: "y a1b2" })).toEqual({
      a1b2c: "y-a1b2c",
      a1b3c: "y-a1b3",
      zzzz: "y-a1b2",
    });
  });
  test("no key begins with `x-`, which manifests ignore", () => {
    expect(keysOf({ a1b2: "X 0", c3d4: "x", e5f6: "x" })).toEqual({
      a1b2: "x_0",
      c3d4: "x_-c3d4",
      e5f6: "x_-e5f6",
    });
  });
  test("a missing or unusable name is replaced by the noun, and a reserved name gets a suffix", () => {
    expect(keysOf({ a1b2: undefined, c3d4: "🛒", e5f6: "constructor" })).toEqual({
      a1b2: "case-a1b2",
      c3d4: "case-c3d4",
      e5f6: "constructor-e5f6",
    });
  });
});

test("file names are valid on every system, and differ from existing files", () => {
  expect(["shop", "con", "COM1", "console"].map(fileName)).toEqual([
    "shop",
    "con-tests",
    "COM1-tests",
    "console",
  ]);
  const there = new Set(["t/a.yaml", "t/a-imported.yaml"]);
  expect(freeFile("t/a.yaml", (file) => there.has(file))).toBe("t/a-imported-2.yaml");
  expect(freeFile("t/b.yaml", (file) => there.has(file))).toBe("t/b.yaml");
});
