// How two lists of steps are paired: laws over short lists with many equal items.
import fc from "fast-check";
import { expect, test } from "vitest";
import { alignLists, inOrderPairs } from "../../src/plan/align.ts";

const list = fc.array(fc.constantFrom("a", "b", "c"), { maxLength: 7 });
type List = readonly string[];
const sameIn = (one: List, two: List) => (i: number, j: number) =>
  i < one.length && j < two.length && one[i] === two[j];

/** The length of the longest common part, found by trying all. */
function longest([a, ...one]: List, [b, ...two]: List): number {
  if (a === undefined || b === undefined) return 0;
  if (a === b) return 1 + longest(one, two);
  return Math.max(longest([a, ...one], two), longest(one, [b, ...two]));
}

test("pairs in order are equal, rise in both lists, and are as many as there can be", () => {
  fc.assert(
    fc.property(list, list, (one, two) => {
      const pairs = inOrderPairs(one.length, two.length, sameIn(one, two));
      expect(pairs).toHaveLength(longest(one, two));
      for (const [at, [i, j]] of pairs.entries()) {
        expect(one[i]).toBe(two[j]);
        const [before, below] = pairs[at - 1] ?? [-1, -1];
        expect(i > before && j > below).toBe(true);
      }
    }),
  );
});

test("equal ends are paired first", () => {
  const pairs = (one: string, two: string) =>
    inOrderPairs(one.length, two.length, (i, j) => one[i] === two[j]).map((pair) => pair.join(""));
  expect(pairs("aa", "a")).toEqual(["00"]);
  expect(pairs("ba", "aa")).toEqual(["11"]);
  expect(pairs("xa", "aya")).toEqual(["12"]);
  expect(pairs("abxb", "abyb")).toEqual(["00", "11", "33"]);
  expect(pairs("", "a")).toEqual([]);
});

test("items that stay, then equal ones that moved, then the rest between two that stay", () => {
  fc.assert(
    fc.property(list, list, fc.constantFrom("", "a", "ab", "abc"), (one, two, movable) => {
      const same = sameIn(one, two);
      const mayMove = (i: number, j: number) => same(i, j) && movable.includes(one[i] ?? "");
      const { partners, moved } = alignLists(one.length, two.length, same, mayMove);
      const stays = new Map(inOrderPairs(one.length, two.length, same));

      // Those that moved: each takes the first free one, and none is left that could move.
      const taken = new Set(stays.values());
      const wanted = new Map(stays);
      for (const i of one.keys()) {
        const j = stays.has(i) ? -1 : two.findIndex((_, at) => !taken.has(at) && mayMove(i, at));
        if (j < 0) continue;
        taken.add(j);
        wanted.set(i, j);
      }
      expect([...moved]).toEqual([...wanted.keys()].filter((i) => !stays.has(i)));

      // The rest: between two that stay, the first with the first, until one side is used up.
      const bounds = [...stays, [one.length, two.length] as const];
      let [from, start] = [0, 0];
      for (const [to, end] of bounds) {
        const free = [...one.keys()].slice(from, to).filter((i) => !wanted.has(i));
        const open = [...two.keys()].slice(start, end).filter((j) => !taken.has(j));
        for (const [at, i] of free.entries()) {
          const j = open[at];
          if (j !== undefined) wanted.set(i, j);
        }
        [from, start] = [to + 1, end + 1];
      }
      expect(new Map(partners)).toEqual(wanted);
    }),
  );
});

test("without a word about moves, equal items move", () => {
  const { partners, moved } = alignLists(2, 2, (i, j) => i !== j);
  expect([[...partners], [...moved]]).toEqual([
    [
      [0, 1],
      [1, 0],
    ],
    [1],
  ]);
});
