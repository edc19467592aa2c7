import { describe, expect, test } from "vitest";
import { chooseKeys, slug } from "../../src/edit/import-known.ts";
import { fileName, freeFile } from "../../src/edit/import-write.ts";

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
  test.each(rows)("%j is %j", (name, key) => {
    expect(slug(name)).toBe(key);
  });

  test("accents in no order take no time", () => {
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

describe("keys are unique and follow from what is live", () => {
  test("very many ids that are alike to the end take no time", () => {
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

  test("equal names get a piece of their ids, none the plain name", () => {
    expect(keysOf({ "a1b2-x": "Log in", "c3d4-x": "log in!" })).toEqual({
      "a1b2-x": "log-in-a1b2",
      "c3d4-x": "log-in-c3d4",
    });
  });
  test("as much of the id as tells them apart", () => {
    expect(keysOf({ "0000-0000-1": "A", "0000-0000-2": "A" })).toEqual({
      "0000-0000-1": "a-0000",
      "0000-0000-2": "a-00000000",
    });
  });
  test("a key that is taken, in whatever case, is not taken again", () => {
    expect(keysOf({ a1b2: "Log in" }, ["log-in"])).toEqual({ a1b2: "log-in-a1b2" });
  });
  test("a name that looks like another one's key leaves that alone", () => {
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
  test("what has no name, or a name of JavaScript's own, gets one of its kind", () => {
    expect(keysOf({ a1b2: undefined, c3d4: "🛒", e5f6: "constructor" })).toEqual({
      a1b2: "case-a1b2",
      c3d4: "case-c3d4",
      e5f6: "constructor-e5f6",
    });
  });
});

test("files have names that every system takes, and none that is there", () => {
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
