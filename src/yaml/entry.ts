import type { Item, Pair } from "./tree.ts";

/** A pair of a map or an item of a list, as far as both are alike. */
export type Entry = { readonly start: number; readonly end: number };

export function entryOfPair({ start, key, colon, value }: Pair): Entry {
  return { start, end: Math.max(key.end, colon === undefined ? 0 : colon + 1, value.end) };
}

/** In block style the item begins with its dash, and may be nothing but that. */
export function entryOfItem({ start, value }: Item, flow: boolean): Entry {
  return { start, end: Math.max(value.end, flow ? start : start + 1) };
}

/** What becomes of the entries of one map or list. */
export type EntryChange = {
  readonly entries: readonly Entry[];
  /** Which of them go. At least one stays. */
  readonly deleted: ReadonlySet<number>;
  /** What comes in behind an entry that stays, or at -1 before the first one. */
  readonly inserted: readonly { readonly after: number; readonly content: Inserted }[];
};

/** In block style, whole lines; in flow style, what stands between the commas. */
export type Inserted = { readonly lines: readonly string[]; readonly flow: string };
