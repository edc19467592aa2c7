import { compareText } from "../model/address.ts";
import type { BatchRecord, Binding, FieldRecord, Intent, LocatorRecord } from "../model/state.ts";

/**
 * The records of a document, each on one line, all keys sorted. A document may hold a
 * hundred thousand of them, and nearly all come sorted from the last one, so they are copied only where not.
 * Absent members are given as undefined, which JSON leaves out.
 */

export function bindingText({ id, fields, locators }: Binding): string {
  const ordered = locators && sorted(locators, orderedLocator);
  return JSON.stringify({ fields: sortedFields(fields), id, locators: ordered });
}

export function batchText({ status, content }: BatchRecord): string {
  return JSON.stringify({ content, status });
}

export function intentText({ at, existing, name, externalId, fields, content }: Intent): string {
  return JSON.stringify({ at, content, existing, externalId, fields: sortedFields(fields), name });
}

function orderedLocator({ line, selectors }: LocatorRecord): LocatorRecord {
  return { line, selectors };
}

function sortedFields(fields: Binding["fields"]): Binding["fields"] {
  return sorted(fields, (field: FieldRecord) =>
    typeof field === "string" ? field : sorted(field, (part) => part),
  );
}

/** The record with its names in order and its values in theirs: itself, if it is so already. */
function sorted<V>(
  record: Readonly<Record<string, V>>,
  inOrder: (value: V) => V,
): Readonly<Record<string, V>> {
  const names = Object.keys(record);
  let previous = "";
  for (const name of names) {
    const value = record[name];
    if (name < previous || (value !== undefined && inOrder(value) !== value))
      return sortedCopy(record, inOrder);
    previous = name;
  }
  return record;
}

function sortedCopy<V>(record: Readonly<Record<string, V>>, inOrder: (value: V) => V): Record<string, V> {
  const entries = Object.entries(record).toSorted(([a], [b]) => compareText(a, b));
  return Object.fromEntries(entries.map(([name, value]) => [name, inOrder(value)]));
}
