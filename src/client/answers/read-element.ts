import type { Json, JsonObject } from "../../model/json.ts";
import type { LiveElement, LiveSelector } from "../../model/live.ts";
import { anObject, flag, list, number, object, plainObject, text } from "./shape.ts";

/** A reader for `shape.ts`: test case elements in the order of their `index` (service-api.md). */
export function elements(holder: JsonObject, field: string): readonly LiveElement[] | undefined {
  return listInOrder(holder, field, element);
}

/** A reader for `shape.ts`: one test case element. */
export function element(json: Json): LiveElement {
  const raw = anObject(json);
  return {
    id: text(raw, "id"),
    interaction: object(raw, "interaction", interaction) ?? null,
    assertion: object(raw, "assertion", assertion) ?? null,
    selectors: listInOrder(raw, "selectors", selector) ?? [],
    ignoreFailure: flag(raw, "ignoreFailure"),
    raw,
  };
}

function interaction(fields: JsonObject): LiveElement["interaction"] {
  return { action: text(fields, "action"), calledWith: fields["calledWith"] ?? null };
}

function assertion(fields: JsonObject): LiveElement["assertion"] {
  return { expectation: text(fields, "expectation"), calledWith: fields["calledWith"] ?? null };
}

function selector(json: Json): LiveSelector {
  const fields = anObject(json);
  return {
    selectorType: text(fields, "selectorType"),
    selector: text(fields, "selector"),
    options: plainObject(fields, "options"),
  };
}

function listInOrder<T>(
  holder: JsonObject,
  field: string,
  read: (item: Json) => T,
): readonly T[] | undefined {
  const items = list(holder, field, read);
  return items === undefined ? undefined : inOrder(items, list(holder, field, index) ?? []);
}

function index(item: Json): number | undefined {
  return number(anObject(item), "index");
}

/** Sorted by `index`; where an item has none, the order of the list is all there is, and it stands. */
function inOrder<T>(items: readonly T[], indexes: readonly (number | undefined)[]): readonly T[] {
  const isSorted = indexes.every((at, nth) => at === undefined || at >= (indexes[nth - 1] ?? at));
  if (isSorted || indexes.includes(undefined)) return items;
  return items
    .map((item, nth) => ({ item, at: indexes[nth] ?? 0 }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
