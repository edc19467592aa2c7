/** A field of a PATCH: one that is absent leaves the current value alone, null included it replaces it. */
export function changed<T>(given: T | undefined, current: T): T {
  return given === undefined ? current : given;
}

/** The same for a field that is absent when it has no value. */
export function changedOrCleared<T>(given: T | null | undefined, current: T | undefined): T | undefined {
  return given === undefined ? current : (given ?? undefined);
}
