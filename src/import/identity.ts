import { convert } from "../manifest/shape/convert.ts";

/** Whether `id:` of a manifest can hold a live id. */
export function canBind(id: string): boolean {
  return convert({ type: "uuid" }, id) !== undefined;
}

export const NOT_BINDABLE =
  "nothing that it shows tells it from all others, and its id is no UUID, so that `id:` cannot bind it";

export const UNCLEAR =
  "a manifest may mean it, which is not clear; `tasc plan` says what it takes to make it so";

/** How often each value occurs. */
export function countValues<T>(values: Iterable<T>): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
