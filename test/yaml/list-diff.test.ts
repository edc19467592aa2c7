import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLists } from "../../src/manifest/yaml/edit.ts";
import type { Json } from "../../src/model/json.ts";

/** Makes the steps, and shows them as `=` keep, `~` replace, `-` delete, `+` insert. */
function follow(before: readonly Json[], after: readonly Json[]): { list: Json[]; signs: string } {
  const signs = { keep: "=", replace: "~", delete: "-", insert: "+" };
  const steps = diffLists(before, after);
  const list = steps.flatMap((step) => {
    if (step.kind === "delete") return [];
    return [(step.kind === "keep" ? before[step.from] : after[step.to]) ?? null];
  });
  return { list, signs: steps.map(({ kind }) => signs[kind]).join("") };
}

describe("how one list becomes another", () => {
  it.each<[string, string, string, string]>([
    ["nothing", "abc", "abc", "==="],
    ["one more at the end", "ab", "abc", "==+"],
    ["one less in the middle", "abc", "ac", "=-="],
    ["one in the place of another", "abc", "axc", "=~="],
    ["two for one", "abc", "axyc", "=~+="],
    ["one for two", "abcd", "axd", "=~-="],
    ["one that moves", "abc", "bca", "-==+"],
    ["everything", "ab", "xy", "~~"],
    ["from empty", "", "ab", "++"],
    ["to empty", "ab", "", "--"],
    ["the same item twice", "aab", "ab", "=-="],
  ])("%s", (_, before, after, signs) => {
    expect(follow(before.split(""), after.split(""))).toEqual({ list: after.split(""), signs });
  });

  it("is by value", () => {
    expect(diffLists([{ a: 1, b: [2] }], [{ b: [2], a: 1 }])).toEqual([{ kind: "keep", from: 0, to: 0 }]);
  });

  it("is found for very long lists, too, if not in the fewest steps", () => {
    const before = Array.from({ length: 2000 }, (_, at) => at);
    const after = before.map((at) => (at % 2 === 0 ? at : -at));
    expect(follow(before, after).list).toEqual(after);
  });

  it("always leads to the other list, and uses every item once and in order", () => {
    const lists = fc.array(fc.constantFrom("a", "b", "c", 1, null), { maxLength: 8 });
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        deepStrictEqual(follow(before, after).list, after);
        const used = diffLists(before, after).flatMap((step) => (step.kind === "insert" ? [] : [step.from]));
        deepStrictEqual(used, [...before.keys()]);
      }),
    );
  });
});
