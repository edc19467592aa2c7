import { diffArrays } from "diff";
import { type Json, sameJson } from "../../model/json.ts";

/** Maximum number of differences; beyond it, items are compared by position. */
const MOST_CHANGES = 2000;

type Match = readonly [from: number, to: number];

/**
 * Returns which items of one list become which items of another, in the order of both; the rest are
 * removed or added. Their number is minimal, and where both occur, one becomes the other. Of equal
 * items the outermost are kept.
 */
export function matchLists(before: readonly Json[], after: readonly Json[]): Match[] {
  const shorter = Math.min(before.length, after.length);
  let head = 0;
  while (head < shorter && sameJson(before[head], after[head])) head++;
  let tail = 0;
  while (tail < shorter - head && sameJson(before.at(-1 - tail), after.at(-1 - tail))) tail++;
  const [middle = [], wanted = []] = [before, after].map((list) =>
    list.slice(head, list.length - tail),
  );
  const same = Array.from({ length: head }, (_, at): Match => [at, at]);
  let [from, to] = [head, head];
  const options = { comparator: sameJson, maxEditLength: MOST_CHANGES };
  for (const { added, removed, count } of diffArrays(middle, wanted, options) ?? [])
    if (removed) from += count;
    else if (added) to += count;
    else for (let left = count; left > 0; left--) same.push([from++, to++]);
  for (let left = tail; left > 0; left--) same.push([before.length - left, after.length - left]);
  const matches: Match[] = [];
  [from, to] = [0, 0];
  for (const [nextFrom, nextTo] of [...same, [before.length, after.length] as const]) {
    while (from < nextFrom && to < nextTo) matches.push([from++, to++]);
    if (nextFrom < before.length && nextTo < after.length) matches.push([nextFrom, nextTo]);
    [from, to] = [nextFrom + 1, nextTo + 1];
  }
  return matches;
}
