import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import type { JsonObject } from "../model/json.ts";
import type { Entry } from "./draft.ts";
import { valueIn, withoutValue, withValue } from "./paths.ts";

const FIELD = TEST_CASE_FIELDS.find(({ shape }) => shape.type === "reference" && shape.to === "testCase");

/**
 * Adds to test cases the keys of their prerequisites. One that has no key here is left out, and so is one that closes
 * a circle: the service may have such, but a manifest cannot, since in no order could they be made anew.
 *
 * @param wanted test case id → id of its prerequisite.
 * @param managed id → key of test cases that manifests declare already.
 * @param declared key → key of its prerequisite, as they declare it.
 */
export function linkPrerequisites(
  entries: readonly Entry[],
  wanted: ReadonlyMap<string, string | null>,
  managed: ReadonlyMap<string, string>,
  declared: ReadonlyMap<string, string>,
): readonly Entry[] {
  const keys = new Map([...managed, ...entries.map(({ id, key }) => [id, key] as const)]);
  const next = new Map(declared);
  return entries.map((entry) => {
    const id = wanted.get(entry.id);
    if (FIELD === undefined || id === undefined || id === null) return entry;
    const key = keys.get(id);
    if (key === undefined)
      return noted(entry, `the service has ${id}, which is not among the test cases here.`);
    if (leadsTo(entry.key, key, next))
      return noted(
        entry,
        `the service has ${key}, which in turn runs after this one; a manifest cannot declare that.`,
      );
    next.set(entry.key, key);
    return { ...entry, fields: inOrder(withValue(entry.fields, FIELD.path, key)) };
  });
}

/** The fields in the order of the table, as the others are. */
function inOrder(fields: JsonObject): JsonObject {
  const order = [...new Set(TEST_CASE_FIELDS.map(({ path }) => String(path[0])))];
  return Object.fromEntries(
    Object.entries(fields).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** Test cases without those prerequisites that are not declared after all. */
export function withoutPrerequisites(entries: readonly Entry[], lost: ReadonlySet<string>): readonly Entry[] {
  if (lost.size === 0 || FIELD === undefined) return entries;
  const { path } = FIELD;
  return entries.map((entry) => {
    const key = valueIn(entry.fields, path);
    if (typeof key !== "string" || !lost.has(key)) return entry;
    return noted(
      { ...entry, fields: withoutValue(entry.fields, path) },
      "the service has one that is left out here.",
    );
  });
}

/** Whether going from one test case to the prerequisite of it, and on, comes by another. */
function leadsTo(wanted: string, start: string, next: ReadonlyMap<string, string>): boolean {
  const seen = new Set<string>();
  for (let key: string | undefined = start; key !== undefined && !seen.has(key); key = next.get(key)) {
    if (key === wanted) return true;
    seen.add(key);
  }
  return false;
}

function noted(entry: Entry, reason: string): Entry {
  return { ...entry, notes: [...entry.notes, `${FIELD?.name ?? ""}: ${reason}`] };
}
