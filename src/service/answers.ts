import { ELEMENT, type ObjectShape, type Shape } from "../model/fields.ts";
import { type Json, type JsonObject, isArray, isObject } from "../model/json.ts";
import type { LiveElement, LiveTarget, LiveTestCase } from "../model/live.ts";
import { FaultError } from "./failure.ts";
import { MAX_PAGES, MAX_REPORTS, isSegment } from "./request.ts";

/*
 * Reading answers. An answer that differs from service-api.md is thrown as a FaultError. Its path is built while the error
 * propagates, since that is rare. Null counts as absent in every optional field where service-api.md does not allow null.
 */

function misfit(expected: string, found: Json | undefined): FaultError {
  return new FaultError({ kind: "misshapen", at: [], expected, found: typeName(found) });
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (value === "") return "an empty string";
  if (isArray(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function placed(error: unknown, key: string | number): unknown {
  if (!(error instanceof FaultError) || error.fault.kind !== "misshapen") return error;
  return new FaultError({ ...error.fault, at: [key, ...error.fault.at] });
}

type Read<T> = (value: Json | undefined) => T;

function required<T extends Json>(
  expected: string,
  test: (value: Json | undefined) => value is T,
): Read<T> {
  return (value) => {
    if (test(value)) return value;
    throw misfit(expected, value);
  };
}

function optional<T>(read: Read<T>): Read<T | undefined> {
  return (value) => (value === null || value === undefined ? undefined : read(value));
}

const anObject = required("an object", isObject);
const aString = required("a string", (value) => typeof value === "string");
/** An id that is valid in a URL path. */
const anId = required("an id", isSegment);
const text = optional(aString);
const flag = optional(required("a boolean", (value) => typeof value === "boolean"));
const number = optional(required("a number", (value) => typeof value === "number"));
const object = optional(anObject);
/** For fields of type `string or null`. */
const nullableText: Read<string | null | undefined> = (value) =>
  value === null ? null : text(value);
/** Like `nullableText`, for ids: an empty one counts as null. */
const nullableId: Read<string | null | undefined> = (value) =>
  value === "" ? null : nullableText(value);

function listOf<T>(read: Read<T>): Read<readonly T[]> {
  return (value) => {
    if (!isArray(value)) throw misfit("a list", value);
    let at = 0;
    const items: T[] = [];
    try {
      for (; at < value.length; at++) items.push(read(value[at]));
    } catch (error) {
      throw placed(error, at);
    }
    return items;
  };
}

type Fields = Readonly<Record<string, Read<unknown>>>;
type Made<F extends Fields> = { readonly [K in keyof F]: ReturnType<F[K]> };

/**
 * Returns a reader of an object with these fields, each read by its own reader; other fields are
 * ignored.
 */
function shape<const F extends Fields>(fields: F): Read<Made<F>> {
  const names = Object.keys(fields);
  return (value) => {
    const holder = anObject(value);
    const made: Record<string, unknown> = {};
    let name = "";
    try {
      for (name of names) made[name] = fields[name]?.(holder[name]);
    } catch (error) {
      throw placed(error, name);
    }
    // Each field was made by the reader of its name.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return made as Made<F>;
  };
}

/** Reads the answer of operation 3 (service-api.md, "Test target"). */
export const readTarget: Read<LiveTarget> = shape({
  id: anId,
  app: aString,
  environments: orNone(listOf(shape({ id: anId, type: text, discoveryUrl: text }))),
});

export const readTargets = listOf(readTarget);

function orNone<T>(read: Read<readonly T[]>): Read<readonly T[]> {
  const readAny = optional(read);
  return (value) => readAny(value) ?? [];
}

/**
 * Reads one item of operation 7 (service-api.md, "Test case", list shape).
 * @param at its index in the list
 */
export function readTestCase(item: Json, at?: number): LiveTestCase {
  try {
    // Checked only as a sign that this is a list of test cases, where the field is required;
    // nothing else needs it.
    belonging(item);
    return testCase(item);
  } catch (error) {
    throw at === undefined ? error : placed(error, at);
  }
}

const tags = listOf(nullableText);

const belonging = shape({ testTargetId: anId });

const testCase: Read<LiveTestCase> = shape({
  id: anId,
  description: text,
  status: text,
  runStatus: text,
  type: nullableText,
  entryPointUrlPath: nullableText,
  folderId: nullableId,
  externalId: nullableId,
  // service-api.md allows nulls in lists of tags.
  tags: optional((value) => tags(value).filter((tag) => typeof tag === "string")),
  prerequisiteId: nullableId,
  elements: optional(inOrder(element)),
  updatedAt: text,
  discovery: optional(
    shape({ updatedAt: text, status: text, freePrompt: text, abortCause: text, message: text }),
  ),
});

export function element(value: Json | undefined): LiveElement {
  const raw = anObject(value);
  return { id: at(raw, "id", optional(anId)), parts: elementParts(raw), raw };
}

function at<T>(holder: JsonObject, name: string, read: Read<T>): T {
  try {
    return read(holder[name]);
  } catch (error) {
    throw placed(error, name);
  }
}

/**
 * Returns a reader of the parts in the field table, named as in a manifest. Null is kept only in
 * nullable parts.
 */
function partsOf({ parts, required: strict }: ObjectShape): (holder: JsonObject) => JsonObject {
  const readers = Object.entries(parts).map(
    ([name, { shape: of, writeOnly, nullable = false }]) => {
      const read: Read<Json> = writeOnly ? () => null : partOf(of, strict?.includes(name) === true);
      return { name, read, nullable };
    },
  );
  return (holder) => {
    const made: Record<string, Json> = {};
    for (const { name, read, nullable } of readers) {
      const value = at(holder, name, read);
      if (value !== null || nullable) made[name] = value;
    }
    return made;
  };
}

/**
 * Returns the reader of one part. A missing part is read as null, an empty list, or the service's
 * default.
 */
function partOf(of: Shape, strict: boolean): Read<Json> {
  if (of.type === "boolean") return (value) => flag(value) ?? false;
  if (of.type === "json") return (value) => object(value) ?? {};
  if (of.type === "object") {
    const read = partsOf(of);
    return (value) => (value === null || value === undefined ? null : read(anObject(value)));
  }
  if (of.type !== "list") return (value) => (strict ? text(value) : value) ?? null;
  const item = of.of.type === "object" ? partsOf(of.of) : undefined;
  return orNone(inOrder((one) => (item === undefined ? (one ?? null) : item(anObject(one)))));
}

/**
 * Returns a reader of a list that sorts it by `index`. If an item has no index, the list keeps its
 * order.
 */
function inOrder<T>(read: Read<T>): Read<readonly T[]> {
  const [readItems, readIndexes] = [
    listOf(read),
    listOf((item) => at(anObject(item), "index", number)),
  ];
  return (value) => {
    const items = readItems(value);
    const indexes = readIndexes(value);
    const isSorted = indexes.every(
      (own, nth) => own === undefined || own >= (indexes[nth - 1] ?? own),
    );
    if (isSorted || indexes.includes(undefined)) return items;
    return items
      .map((item, nth) => ({ item, own: indexes[nth] ?? 0 }))
      .toSorted((one, other) => one.own - other.own)
      .map(({ item }) => item);
  };
}

const elementParts = partsOf(ELEMENT);

/**
 * service-api.md, "Notification". The payload depends on the event; only `testCaseId` is described.
 */
const notification = shape({
  id: anId,
  testTargetId: anId,
  createdAt: aString,
  updatedAt: aString,
  type: aString,
  payload: anObject,
  ack: text,
});
export type LiveNotification = ReturnType<typeof notification>;

export const readNotifications = listOf(notification);

/** service-api.md, "Test result". A field is undefined if the answer does not contain it. */
const result = shape({
  id: text,
  testCaseId: text,
  name: text,
  createdAt: text,
  updatedAt: text,
  status: text,
  errorMessage: text,
  traceUrl: text,
});
export type LiveResult = ReturnType<typeof result>;

const reportFields = shape({
  id: anId,
  testTargetId: text,
  createdAt: text,
  updatedAt: text,
  executionUrl: text,
  status: text,
  context: object,
  breakpoint: text,
  browser: text,
});

export type LiveReport = ReturnType<typeof reportFields> & {
  /** The results without wrappers, even if a list wraps them in report-shaped entries. */
  readonly results: readonly LiveResult[];
};

export function readReport(answer: Json | undefined): LiveReport {
  return { ...reportFields(answer), results: results(anObject(answer)) };
}

/**
 * Returns the results of a report. In the sample of the list, further report-shaped objects wrap
 * them (service-api.md, operation 12): an entry with `testResults` of its own and without a
 * `testCaseId` is such a wrapper.
 */
function results(holder: JsonObject): readonly LiveResult[] {
  const read = listOf((json) => {
    const fields = anObject(json);
    const isWrapper = isArray(fields["testResults"]) && typeof fields["testCaseId"] !== "string";
    return isWrapper ? results(fields) : [result(fields)];
  });
  return at(holder, "testResults", orNone(read)).flat();
}

export type ReportPage = ReturnType<typeof readReportPage>;

/** Reads one page of reports. If `hasNextPage` is missing, the presence of `key` decides. */
export function readReportPage(answer: Json) {
  const { data, hasNextPage } = reportPage(answer);
  const key = anObject(answer)["key"] ?? undefined;
  return { reports: data, key, hasNextPage: hasNextPage ?? key !== undefined };
}

const reportPage = shape({ data: listOf(readReport), hasNextPage: flag });

/** Whether another page of reports follows, and if not, why. */
export type PageEnd =
  | "more"
  /** This was the last page. */
  | "end"
  /** The service reports another page, but this one contained no new report. */
  | "nothing-new"
  /** The service reports another page, but returned no key to request it. */
  | "no-key"
  /** There are more pages or reports than any service has. */
  | "too-many";

export type NewReports = { readonly reports: readonly LiveReport[]; readonly next: PageEnd };

/**
 * Returns the new reports of a page, and whether to request another page. Adds their ids to `seen`.
 */
export function newReports(page: ReportPage, seen: Set<string>, pages: number): NewReports {
  const reports = page.reports.filter(({ id }) => !seen.has(id) && seen.add(id));
  const isTooMuch = pages >= MAX_PAGES || seen.size >= MAX_REPORTS;
  let next: PageEnd = isTooMuch ? "too-many" : "more";
  if (page.key === undefined) next = "no-key";
  if (reports.length === 0) next = "nothing-new";
  if (!page.hasNextPage) next = "end";
  return { reports, next };
}
