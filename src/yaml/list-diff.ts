import { type Json, sameJson } from "../model/json.ts";

/** How one list becomes another, in the order of both. */
export type ListStep =
  | { readonly kind: "keep"; readonly from: number; readonly to: number }
  | { readonly kind: "replace"; readonly from: number; readonly to: number }
  | { readonly kind: "delete"; readonly from: number }
  | { readonly kind: "insert"; readonly to: number };

/**
 * Up to here, the product of two lengths, the best way is looked for; beyond, items are compared place by
 * place.
 */
const LARGEST_TABLE = 1_000_000;

/** The fewest deletions and insertions; where both meet, they are replacements. */
export function diffLists(before: readonly Json[], after: readonly Json[]): ListStep[] {
  let head = 0;
  while (head < before.length && head < after.length && sameJson(before[head], after[head])) head++;
  let tail = 0;
  while (
    tail < Math.min(before.length, after.length) - head &&
    sameJson(before[before.length - 1 - tail], after[after.length - 1 - tail])
  )
    tail++;
  const middle = commonItems(
    before.slice(head, before.length - tail),
    after.slice(head, after.length - tail),
  );
  const kept = [
    ...Array.from({ length: head }, (_, at): Match => [at, at]),
    ...middle.map(([from, to]): Match => [from + head, to + head]),
    ...Array.from({ length: tail }, (_, at): Match => [before.length - tail + at, after.length - tail + at]),
  ];
  return stepsBetween(kept, before.length, after.length);
}

type Match = readonly [from: number, to: number];

/** A longest common subsequence. */
function commonItems(before: readonly Json[], after: readonly Json[]): Match[] {
  if (before.length * after.length > LARGEST_TABLE) return [];
  const lengths = Array.from({ length: before.length + 1 }, () => new Uint32Array(after.length + 1));
  const at = (from: number, to: number) => lengths[from]?.[to] ?? 0;
  for (let from = before.length - 1; from >= 0; from--) {
    const row = lengths[from] ?? new Uint32Array();
    for (let to = after.length - 1; to >= 0; to--)
      row[to] = sameJson(before[from], after[to])
        ? at(from + 1, to + 1) + 1
        : Math.max(at(from + 1, to), at(from, to + 1));
  }
  const matches: Match[] = [];
  for (let from = 0, to = 0; from < before.length && to < after.length;) {
    if (sameJson(before[from], after[to])) matches.push([from++, to++]);
    else if (at(from + 1, to) >= at(from, to + 1)) from++;
    else to++;
  }
  return matches;
}

function stepsBetween(kept: readonly Match[], before: number, after: number): ListStep[] {
  const steps: ListStep[] = [];
  let from = 0;
  let to = 0;
  for (const [nextFrom, nextTo] of [...kept, [before, after] as const]) {
    while (from < nextFrom && to < nextTo) steps.push({ kind: "replace", from: from++, to: to++ });
    while (from < nextFrom) steps.push({ kind: "delete", from: from++ });
    while (to < nextTo) steps.push({ kind: "insert", to: to++ });
    if (from < before && to < after) steps.push({ kind: "keep", from: from++, to: to++ });
  }
  return steps;
}
