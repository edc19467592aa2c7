// Words, addresses and advice: what the same text is made of everywhere.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Address,
  KINDS,
  addressOf,
  compareAddresses,
  compareText,
  isAddress,
  parseAddress,
  placeOf,
  targetAddress,
  targetOf,
} from "../../src/model/address.ts";
import { cached, countValues, groupBy } from "../../src/model/collections.ts";
import { inStage, oneLine, wordOf } from "../../src/model/diagnostic.ts";
import { count, filled, kindNoun, list, nonZero, serviceNoun } from "../../src/model/words.ts";

test("counts, lists and kinds in words", () => {
  expect([0, 1, 2].map((amount) => count(amount, "step"))).toEqual([
    "0 steps",
    "1 step",
    "2 steps",
  ]);
  expect([1, 2].map((amount) => count(amount, "entry", "entries"))).toEqual([
    "1 entry",
    "2 entries",
  ]);
  expect(nonZero("0 steps", "10 steps", "1 test")).toEqual(["10 steps", "1 test"]);
  expect([[], ["a"], ["a", "b"], ["a", "b", "c"]].map((parts) => list(parts))).toEqual([
    "",
    "a",
    "a and b",
    "a, b and c",
  ]);
  expect(list(["a", "b"], "or")).toBe("a or b");
  expect(KINDS.map(kindNoun)).toEqual(["target", "environment", "test case", "batch generation"]);
  expect(KINDS.map(serviceNoun)).toEqual([
    "test target",
    "environment",
    "test case",
    "batch generation",
  ]);
});

test("parts fill lines, and never break", () => {
  expect(filled(["aa", "bb", "cc", "d", "eeeeeeeee"], 5)).toEqual([
    "aa bb",
    "  cc",
    "  d",
    "  eeeeeeeee",
  ]);
  expect(filled(["aa", "bb", "c"], 8, ", ", "....", "> ")).toEqual(["> aa, bb", "....c"]);
  expect(filled([], 5)).toEqual([]);
});

const key = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,5}$/);
const address: fc.Arbitrary<Address> = fc
  .tuple(fc.constantFrom(...KINDS), key, key)
  .map(([kind, target, own]) =>
    kind === "target" ? targetAddress(target) : addressOf(kind, target, own),
  );

describe("an address", () => {
  test("has a kind, a target and a key", () => {
    fc.assert(
      fc.property(fc.constantFrom(...KINDS), key, key, (kind, target, own) => {
        const at = kind === "target" ? targetAddress(target) : addressOf(kind, target, own);
        const parts = { kind, target, key: kind === "target" ? target : own };
        expect(parseAddress(at)).toEqual(parts);
        expect(placeOf(at)).toEqual(parts);
        expect([isAddress(at), targetOf(at)]).toEqual([true, target]);
      }),
    );
  });

  test.each([
    "",
    "shop",
    "target",
    "target.",
    "target.a.b",
    "testCase.a",
    "testCase.a.b.c",
    "x.a.b",
    "testCase._.b",
    "testCase.a.b c",
    "Target.a",
    " target.a",
    "target.a\n",
  ])("is not %j", (text) => {
    expect([parseAddress(text), isAddress(text)]).toEqual([undefined, false]);
    expect(placeOf(text)).toEqual({ kind: "target", target: text });
  });

  test("is not something else", () => {
    expect([isAddress(5), isAddress(undefined), isAddress(["target.a"])]).toEqual([
      false,
      false,
      false,
    ]);
  });

  test("stands in the order of targets, kinds and keys", () => {
    fc.assert(
      fc.property(address, address, (one, two) => {
        const [a, b] = [parseAddress(one), parseAddress(two)];
        if (a === undefined || b === undefined) throw new Error("not parsed");
        const wanted =
          compareText(a.target, b.target) ||
          KINDS.indexOf(a.kind) - KINDS.indexOf(b.kind) ||
          compareText(a.key, b.key);
        expect(Math.sign(compareAddresses(one, two))).toBe(Math.sign(wanted) || 0);
        expect(compareAddresses(one, two) === 0).toBe(one === two);
      }),
    );
    const sorted = [
      "target.a",
      "environment.a.z",
      "testCase.a.a",
      "batchGeneration.a.a",
      "target.b",
    ];
    const odd = sorted.toReversed().filter(isAddress).toSorted(compareAddresses);
    expect(odd).toEqual(sorted);
    expect(["b", "a", "B", "a"].toSorted(compareText)).toEqual(["B", "a", "a", "b"]);
  });
});

describe("advice", () => {
  test.each([
    ["tasc plan", "tasc plan --stage dev"],
    ["  tasc apply FILE", "  tasc apply FILE --stage dev"],
    [
      "If it ran:      tasc state mark X done",
      "If it ran:      tasc state mark X done --stage dev",
    ],
    ["Run `tasc import shop` first.", "Run `tasc import shop --stage dev` first."],
    ["echo | tasc doctor", "echo | tasc doctor --stage dev"],
    ["a\ntasc drift\ntasc pull", "a\ntasc drift --stage dev\ntasc pull --stage dev"],
    ["tasc plan --stage prod", "tasc plan --stage prod"],
    ["tasc validate", "tasc validate"],
    ["It is tasc plan", "It is tasc plan"],
    ["tasc planned", "tasc planned"],
    ["tasc snapshot --out FILE", "tasc snapshot --out FILE --stage dev"],
  ])("%j in a stage is %j", (advice, expected) => {
    expect(inStage(advice, "dev")).toBe(expected);
    expect(inStage(advice, undefined)).toBe(advice);
  });

  test("quotes foreign text on one line, and as a word only if it is one", () => {
    expect(oneLine("a\r\n\ntasc apply\rb")).toBe("a tasc apply b");
    expect(
      ["a", "a-b_1", "-a", "a b", "$(a)", "", "a;b"].map((text) => wordOf(text, "NAME")),
    ).toEqual(["a", "a-b_1", "NAME", "NAME", "NAME", "NAME", "NAME"]);
  });
});

test("values are grouped, counted and made once", () => {
  expect([...groupBy(["b1", "a1", "b2"], (one) => one.slice(0, 1))]).toEqual([
    ["b", ["b1", "b2"]],
    ["a", ["a1"]],
  ]);
  expect([...countValues(["a", "b", "a"])]).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  const known = new Map<string, number>([["none", 0]]);
  let made = 0;
  const next = (name: string) => cached(known, name, () => ++made);
  expect([next("a"), next("b"), next("a"), next("none")]).toEqual([1, 2, 1, 0]);
});
