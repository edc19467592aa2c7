import { diffArrays } from "diff";

/** The pairs of two lists, the one of the manifest or file and the live one. */
export interface Alignment {
  /** Position in the first list → position in the second. */
  readonly partners: ReadonlyMap<number, number>;
  /** Positions in the first list whose partner is equal, but at another place. */
  readonly moved: ReadonlySet<number>;
}

/**
 * Aligns two lists. It pairs first the equal items in the same order, then the equal items that have
 * moved, and last the remaining items between two unmoved ones, in order.
 * @param isMoved whether two equal items are one that moved
 */
export function alignLists(
  n: number,
  m: number,
  same: (i: number, j: number) => boolean,
  isMoved = same,
): Alignment {
  const stays = inOrderPairs(n, m, same);
  const partners = new Map(stays);
  const taken = new Set(partners.values());
  const pair = (i: number, j: number): void => {
    partners.set(i, j);
    taken.add(j);
  };
  const moved = new Set<number>();
  for (let i = 0; i < n && taken.size < m; i++) {
    if (partners.has(i)) continue;
    for (let j = 0; j < m; j++) {
      if (taken.has(j) || !isMoved(i, j)) continue;
      moved.add(i);
      pair(i, j);
      break;
    }
  }
  let [i, j] = [0, 0];
  for (const [nextI, nextJ] of [...stays, [n, m] as const]) {
    for (; i < nextI; i++) {
      if (partners.has(i)) continue;
      while (taken.has(j)) j++;
      if (j < nextJ) pair(i, j);
    }
    [i, j] = [nextI + 1, nextJ + 1];
  }
  return { partners, moved };
}

/**
 * Returns a longest list of equal positions in the same order. Equal elements at both ends are
 * paired first.
 */
export function inOrderPairs(
  n: number,
  m: number,
  same: (i: number, j: number) => boolean,
): readonly (readonly [number, number])[] {
  let start = 0;
  while (start < n && start < m && same(start, start)) start++;
  let tail = 0;
  while (tail < n - start && tail < m - start && same(n - 1 - tail, m - 1 - tail)) tail++;
  const items = (side: "declared" | "live", length: number): { side: typeof side; at: number }[] =>
    Array.from({ length: length - start - tail }, (_, at) => ({ side, at: start + at }));
  const pairs = Array.from({ length: start }, (_, at): [number, number] => [at, at]);
  let [i, j] = [start, start];
  // The usual case: what is left over is nothing, or one item of each list, which differ.
  const isDone = (n - start - tail) * (m - start - tail) <= 1;
  const parts = isDone
    ? []
    : diffArrays(items("live", m), items("declared", n), {
        comparator: (a, b) => (a.side === "live" ? same(b.at, a.at) : same(a.at, b.at)),
      });
  for (const { added, removed, value } of parts)
    if (added) i += value.length;
    else if (removed) j += value.length;
    else for (const _ of value) pairs.push([i++, j++]);
  for (let k = tail; k > 0; k--) pairs.push([n - k, m - k]);
  return pairs;
}
