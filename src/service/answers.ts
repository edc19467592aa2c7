import { ELEMENT, type ObjectShape, type Shape } from "../model/fields.ts";
import { type Json, type JsonObject, isArray, isObject } from "../model/json.ts";
import type { LiveDiscovery, LiveElement, LiveEnvironment, LiveTarget, LiveTestCase } from "../model/live.ts";
import { MAX_PAGES, MAX_REPORTS, type AnswerProblem, type Result, bad, good, isSegment } from "./request.ts";

/**
 * Readers of fields for the checks of answers. Inside, a misfit is thrown: it is rare, tens of thousands of
 * fields are read per second, and the place is put together on the way out. `checked` turns it into a value, and
 * nothing else may call readers.
 *
 * One rule for all optional fields: null is taken as absent where service-api.md does not allow it, and a wrong
 * type is a misfit.
 */
function checked<T>(read: () => T): Result<T, AnswerProblem> {
  try {
    return good(read());
  } catch (error) {
    if (error instanceof MisfitError) return bad(error.misfit);
    throw error;
  }
}

class MisfitError extends Error {
  readonly misfit: AnswerProblem;

  constructor(where: AnswerProblem) {
    super("an answer has another shape than described");
    this.misfit = where;
  }
}

function misfit(at: string | number | undefined, expected: string, found: Json | undefined): MisfitError {
  return new MisfitError({ at: at === undefined ? [] : [at], expected, found: typeName(found) });
}

function typeName(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" && value !== ""
    ? "a string"
    : value === ""
      ? "an empty string"
      : `a ${typeof value}`;
}

/** Reads a part; a misfit in it is placed below `key`. */
function within<T>(key: string | number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw placed(error, key);
  }
}

function placed(error: unknown, key: string | number): unknown {
  if (!(error instanceof MisfitError)) return error;
  return new MisfitError({ ...error.misfit, at: [key, ...error.misfit.at] });
}

function anObject(value: Json | undefined): JsonObject {
  if (isObject(value)) return value;
  throw misfit(undefined, "an object", value);
}

/** Reads every item of a list. */
function aList<T>(value: Json | undefined, read: (item: Json) => T): readonly T[] {
  if (!isArray(value)) throw misfit(undefined, "a list", value);
  const items: T[] = [];
  let at = 0;
  try {
    for (; at < value.length; at++) items.push(read(value[at] ?? null));
  } catch (error) {
    throw placed(error, at);
  }
  return items;
}

/** A required id: one that can stand in a path. */
function id(holder: JsonObject, field: string): string {
  const value = holder[field];
  if (typeof value === "string" && isSegment(value)) return value;
  throw misfit(field, "an id", value);
}

function requiredText(holder: JsonObject, field: string): string {
  const value = holder[field];
  if (typeof value === "string") return value;
  throw misfit(field, "a string", value);
}

function text(holder: JsonObject, field: string): string | undefined {
  return nullableText(holder, field) ?? undefined;
}

/** For fields of type `string or null`. */
function nullableText(holder: JsonObject, field: string): string | null | undefined {
  const value = holder[field];
  if (typeof value === "string" || value === null || value === undefined) return value;
  throw misfit(field, "a string", value);
}

function flag(holder: JsonObject, field: string): boolean | undefined {
  const value = holder[field];
  if (typeof value === "boolean") return value;
  if (value === null || value === undefined) return undefined;
  throw misfit(field, "a boolean", value);
}

function number(holder: JsonObject, field: string): number | undefined {
  const value = holder[field];
  if (typeof value === "number") return value;
  if (value === null || value === undefined) return undefined;
  throw misfit(field, "a number", value);
}

/** A free-form object, as it came. */
function plainObject(holder: JsonObject, field: string): JsonObject | undefined {
  return object(holder, field, (fields) => fields);
}

function object<T>(holder: JsonObject, field: string, read: (fields: JsonObject) => T): T | undefined {
  const value = holder[field];
  if (value === null || value === undefined) return undefined;
  return within(field, () => read(anObject(value)));
}

function list<T>(holder: JsonObject, field: string, read: (item: Json) => T): readonly T[] | undefined {
  const value = holder[field];
  if (value === null || value === undefined) return undefined;
  return within(field, () => aList(value, read));
}

/** A list of strings; nulls in it are dropped (service-api.md allows them in a target's tags). */
function texts(holder: JsonObject, field: string): readonly string[] | undefined {
  return list(holder, field, textOrNull)?.filter((item) => item !== null);
}

function textOrNull(item: Json): string | null {
  if (typeof item === "string" || item === null) return item;
  throw misfit(undefined, "a string", item);
}

/** The answer of operation 1 (service-api.md, "Test target"). */
export function readTargets(answer: Json): Result<readonly LiveTarget[], AnswerProblem> {
  return checked(() => aList(answer, target));
}

/** The answer of operation 3. */
export function readTarget(answer: Json): Result<LiveTarget, AnswerProblem> {
  return checked(() => target(answer));
}

function target(json: Json): LiveTarget {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    app: requiredText(fields, "app"),
    environments: list(fields, "environments", environment) ?? [],
  };
}

/** A reader for `shape.ts`: one item of a target's `environments`. */
function environment(json: Json): LiveEnvironment {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    type: text(fields, "type"),
    discoveryUrl: text(fields, "discoveryUrl"),
  };
}

/** One item of the answer of operation 7 (service-api.md, "Test case", list shape). */
export function readTestCase(item: Json): Result<LiveTestCase, AnswerProblem> {
  return checked(() => testCase(item));
}

function testCase(json: Json): LiveTestCase {
  const fields = anObject(json);
  // Required in the list, and a sign that the list is what it should be; nothing else needs it.
  id(fields, "testTargetId");
  return {
    id: id(fields, "id"),
    description: text(fields, "description"),
    status: text(fields, "status"),
    runStatus: text(fields, "runStatus"),
    type: nullableText(fields, "type"),
    entryPointUrlPath: nullableText(fields, "entryPointUrlPath"),
    folderId: nullableText(fields, "folderId"),
    externalId: nullableText(fields, "externalId"),
    tags: texts(fields, "tags"),
    prerequisiteId: nullableText(fields, "prerequisiteId"),
    elements: elements(fields, "elements"),
    discovery: object(fields, "discovery", discovery),
  };
}

function discovery(fields: JsonObject): LiveDiscovery {
  return {
    updatedAt: text(fields, "updatedAt"),
    status: text(fields, "status"),
    freePrompt: text(fields, "freePrompt"),
    abortCause: text(fields, "abortCause"),
    message: text(fields, "message"),
  };
}

/** A reader for `shape.ts`: test case elements in the order of their `index` (service-api.md). */
function elements(holder: JsonObject, field: string): readonly LiveElement[] | undefined {
  return listInOrder(holder, field, element);
}

/** A reader for `shape.ts`: one test case element. */
export function element(json: Json): LiveElement {
  const raw = anObject(json);
  return { id: text(raw, "id"), parts: parts(ELEMENT, raw), raw };
}

/** The parts that the field table has, in a manifest's words; what may be null says by it that there is none. */
function parts(shape: ObjectShape, holder: JsonObject): JsonObject {
  const read: Record<string, Json> = {};
  for (const name in shape.parts) {
    const part = shape.parts[name];
    if (part === undefined) continue;
    const strict = shape.required?.includes(name) === true;
    const value = part.writeOnly ? null : partOf(part.shape, holder, name, strict);
    if (value !== null || part.nullable) read[name] = value;
  }
  return read;
}

/** Left out counts as none, no items, or what the service takes for it. */
function partOf(shape: Shape, holder: JsonObject, name: string, strict: boolean): Json {
  if (shape.type === "object") return object(holder, name, (fields) => parts(shape, fields)) ?? null;
  if (shape.type === "boolean") return flag(holder, name) ?? false;
  if (shape.type === "json") return plainObject(holder, name) ?? {};
  if (shape.type !== "list") return (strict ? text(holder, name) : holder[name]) ?? null;
  const { of } = shape;
  return listInOrder(holder, name, (item) => (of.type === "object" ? parts(of, anObject(item)) : item)) ?? [];
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

/** The answer of operation 14. */
export function readNotifications(answer: Json): Result<readonly LiveNotification[], AnswerProblem> {
  return checked(() => aList(answer, notification));
}

function notification(json: Json): LiveNotification {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    testTargetId: id(fields, "testTargetId"),
    createdAt: requiredText(fields, "createdAt"),
    updatedAt: requiredText(fields, "updatedAt"),
    type: requiredText(fields, "type"),
    payload: within("payload", () => anObject(fields["payload"])),
    ack: text(fields, "ack"),
  };
}

/** The answer of operation 12. A missing `hasNextPage` is read from whether there is a key. */
export function readReportPage(answer: Json): Result<ReportPage, AnswerProblem> {
  return checked(() => {
    const fields = anObject(answer);
    const key = fields["key"] ?? undefined;
    return {
      reports: within("data", () => aList(fields["data"], report)),
      key,
      hasNextPage: flag(fields, "hasNextPage") ?? key !== undefined,
    };
  });
}

/** The answer of operation 13. */
export function readReport(answer: Json): Result<LiveReport, AnswerProblem> {
  return checked(() => report(answer));
}

function report(json: Json): LiveReport {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    testTargetId: text(fields, "testTargetId"),
    createdAt: text(fields, "createdAt"),
    updatedAt: text(fields, "updatedAt"),
    executionUrl: text(fields, "executionUrl"),
    status: text(fields, "status"),
    context: plainObject(fields, "context"),
    breakpoint: text(fields, "breakpoint"),
    browser: text(fields, "browser"),
    results: results(fields),
  };
}

/**
 * The list's sample wraps results in further report-shaped objects (service-api.md, operation 12): an entry that
 * has `testResults` of its own and names no test case is such a wrapper.
 */
function results(holder: JsonObject): readonly LiveResult[] {
  return list(holder, "testResults", resultsOf)?.flat() ?? [];
}

function resultsOf(json: Json): readonly LiveResult[] {
  const fields = anObject(json);
  const isWrapper = isArray(fields["testResults"]) && typeof fields["testCaseId"] !== "string";
  return isWrapper ? results(fields) : [result(fields)];
}

function result(fields: JsonObject): LiveResult {
  return {
    id: text(fields, "id"),
    testCaseId: text(fields, "testCaseId"),
    name: text(fields, "name"),
    createdAt: text(fields, "createdAt"),
    updatedAt: text(fields, "updatedAt"),
    status: text(fields, "status"),
    errorMessage: text(fields, "errorMessage"),
    traceUrl: text(fields, "traceUrl"),
  };
}

/** service-api.md, "Test report". Undefined: the answer did not show it. */
export interface LiveReport {
  readonly id: string;
  readonly testTargetId: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly executionUrl: string | undefined;
  readonly status: string | undefined;
  /** The trigger context, as it came. */
  readonly context: JsonObject | undefined;
  readonly breakpoint: string | undefined;
  readonly browser: string | undefined;
  /** The plain results, also where a list wraps them in report-shaped entries. */
  readonly results: readonly LiveResult[];
}

/** service-api.md, "Test result". */
export interface LiveResult {
  readonly id: string | undefined;
  readonly testCaseId: string | undefined;
  readonly name: string | undefined;
  readonly createdAt: string | undefined;
  readonly updatedAt: string | undefined;
  readonly status: string | undefined;
  readonly errorMessage: string | undefined;
  readonly traceUrl: string | undefined;
}

/** One answer of operation 12. */
export interface ReportPage {
  readonly reports: readonly LiveReport[];
  /** What the next page is asked for with. */
  readonly key: Json | undefined;
  readonly hasNextPage: boolean;
}

/** What follows a page when all are read one after the other. */
export type PageEnd =
  /** Another page. */
  | "more"
  /** Nothing: this was the last one. */
  | "end"
  /** Nothing, though the service says that there is more: this page brought no report that was not known. */
  | "nothing-new"
  /** Nothing, though the service says that there is more: it gave no key to ask for it. */
  | "no-key"
  /** Nothing, though the service says that there is more: no service has so many. */
  | "too-many";

export interface NewReports {
  /** Those that no earlier page had. */
  readonly reports: readonly LiveReport[];
  readonly next: PageEnd;
}

/** Which reports of a page are new, and whether to ask for another; adds their ids to those seen. @param pages so far */
export function newReports(page: ReportPage, seen: Set<string>, pages: number): NewReports {
  const reports = page.reports.filter(({ id }) => !seen.has(id) && seen.add(id));
  const isTooMuch = pages >= MAX_PAGES || seen.size >= MAX_REPORTS;
  const next = whatFollows(page, reports.length);
  return { reports, next: next === "more" && isTooMuch ? "too-many" : next };
}

function whatFollows(page: ReportPage, fresh: number): PageEnd {
  if (!page.hasNextPage) return "end";
  if (fresh === 0) return "nothing-new";
  return page.key === undefined ? "no-key" : "more";
}

/** service-api.md, "Notification". */
export interface LiveNotification {
  readonly id: string;
  readonly testTargetId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly type: string;
  /** What it holds depends on the event; `testCaseId` is the only key that is described. */
  readonly payload: JsonObject;
  readonly ack: string | undefined;
}
