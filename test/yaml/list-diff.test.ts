import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchLists } from "../../src/manifest/yaml/list-diff.ts";
import type { Json } from "../../src/model/json.ts";

/** One sign per item: `=` is kept, `~` is replaced, `-` is removed, `+` is added. */
function signsOf(before: readonly Json[], after: readonly Json[]): string {
  const matches = [...matchLists(before, after), [before.length, after.length] as const];
  return matches
    .map(([from, to], at) => {
      const [lastFrom, lastTo] = matches[at - 1] ?? [-1, -1];
      const gap = "-".repeat(from - lastFrom - 1) + "+".repeat(to - lastTo - 1);
      if (from === before.length) return gap;
      return gap + (isDeepStrictEqual(before[from], after[to]) ? "=" : "~");
    })
    .join("");
}

describe("the diff of two lists", () => {
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
    expect(signsOf(before.split(""), after.split(""))).toBe(signs);
  });

  it("compares items by value", () => {
    expect(signsOf([{ a: 1, b: [2] }], [{ b: [2], a: 1 }])).toBe("=");
  });

  it("pairs the items of very long lists by position", () => {
    const before = Array.from({ length: 2000 }, (_, at) => at);
    const after = before.map((at) => (at % 2 === 0 ? at : -at));
    expect(matchLists(before, after)).toEqual(before.map((at) => [at, at]));
  });

  it("keeps the order of both lists, and never removes and adds items at the same place", () => {
    const lists = fc.array(fc.constantFrom("a", "b", "c", 1, null), { maxLength: 8 });
    fc.assert(
      fc.property(lists, lists, (before, after) => {
        const matches = matchLists(before, after);
        const froms = matches.map(([from]) => from);
        const tos = matches.map(([, to]) => to);
        for (const list of [froms, tos])
          expect(list).toEqual([...new Set(list)].toSorted((a, b) => a - b));
        expect(matches.length).toBeLessThanOrEqual(Math.min(before.length, after.length));
        expect(signsOf(before, after)).not.toMatch(/-\+|\+-/);
      }),
    );
  });
});
