import type { JsonObject } from "../model/json.ts";
import * as v from "./input.ts";

/**
 * Returns a runtime whose clock never repeats a time: all writes have an order, and `createdAt` can
 * be a cursor.
 */
export function serverRuntime(clock: () => number, newId: () => string): v.ServerRuntime {
  let last = 0;
  return {
    now() {
      last = Math.max(clock(), last + 1);
      return new Date(last).toISOString();
    },
    newId,
  };
}

/** Creates a resource from a new id, the given fields, and the defaults of its reader. */
export function fresh<T>(read: v.Reader<T>, runtime: v.ServerRuntime, given: JsonObject): T {
  return read({ id: runtime.newId(), ...given }, "", runtime);
}

export function created(runtime: v.ServerRuntime) {
  const now = runtime.now();
  return { createdAt: now, updatedAt: now };
}

/** Returns some fields of an object; missing fields stay missing. */
export function pick<T extends object, K extends keyof T>(
  from: T,
  ...names: readonly K[]
): Pick<T, K> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are the fields by name
  return Object.fromEntries(
    names.flatMap((name) => (name in from ? [[name, from[name]]] : [])),
  ) as Pick<T, K>;
}

/**
 * "trackerIntegration fields" (Test target). All optional, because service-api.md does not show
 * which are required.
 */
export const trackerIntegration = v.object({
  domain: v.optional(v.webUrl),
  username: v.optional(v.text),
  projectId: v.optional(v.text),
  apiKey: v.optional(v.text),
});

/** A test target as stored: readable and write-only fields (Test target). */
export const testTargetReader = v.object({
  id: v.uuid,
  app: v.text,
  tags: v.or(v.list(v.nullable(v.text)), []),
  testIdAttribute: v.optional(v.text),
  trackerIntegration: v.optional(trackerIntegration),
  timeoutPerStep: v.optional(v.integer),
  updatedAt: v.now,
});

export type TestTarget = v.Read<typeof testTargetReader>;

/** Secrets of an environment, as in requests. */
const basicAuth = { username: v.optional(v.text), password: v.optional(v.text) };
const testAccount = { ...basicAuth, otpInitializerKey: v.optional(v.text) };
export const basicAuthBody = v.object(basicAuth);
export const testAccountBody = v.object(testAccount);

export const privateLocationReader = v.object({
  id: v.newId,
  name: v.text,
  status: v.or(v.text, "ACTIVE"),
  type: v.or(v.text, "PRIVATE"),
});

/** An environment as stored (Environment); `name` is the string from the request. */
export const environmentReader = v.object({
  id: v.uuid,
  testTargetId: v.uuid,
  name: v.or(v.nullable(v.text), null),
  type: v.oneOf("DEFAULT", "ADDITIONAL"),
  discoveryUrl: v.optional(v.webUrl),
  additionalHeaderFields: v.or(v.nullable(v.freeForm), null),
  testAccount: v.or(v.nullable(v.object({ ...testAccount, updatedAt: v.now })), null),
  basicAuth: v.or(v.nullable(v.object({ ...basicAuth, updatedAt: v.now })), null),
  emailDomain: v.optional(v.text),
  emailPrefix: v.optional(v.text),
  enableCrossOriginIframes: v.or(v.flag, false),
  privateLocation: v.optional(privateLocationReader),
  updatedAt: v.now,
});

export type Environment = v.Read<typeof environmentReader>;

/**
 * A folder has no operation of its own: requests contain its name, and answers its id (Test case,
 * `folderId`).
 */
const folderReader = v.object({ id: v.uuid, testTargetId: v.uuid, name: v.text });

// The stored shapes leave out `testCaseId` and `testCaseElementId`, which only repeat the parent's
// id: answers add them, and readers accept and drop them, so that the elements of an answer can be
// used as data.

export const interaction = { action: v.nonEmptyText, calledWith: v.optional(v.text) };
export const assertion = { expectation: v.nonEmptyText, calledWith: v.optional(v.text) };
export const selector = {
  selector: v.text,
  selectorType: v.nonEmptyText,
  options: v.or(v.freeForm, {}),
};

const part = { id: v.newId, testCaseElementId: v.ignored };
const interactionReader = v.object({ ...part, ...interaction });
const assertionReader = v.object({ ...part, ...assertion });
const selectorReader = (position: number) =>
  v.object({
    ...part,
    index: v.or(v.integer, position),
    ...selector,
    scrollStateId: v.optional(v.text),
  });

const elementReader = (position: number) =>
  v.object({
    id: v.newId,
    testCaseId: v.ignored,
    index: v.or(v.integer, position),
    interaction: v.or(v.nullable(interactionReader), null),
    assertion: v.or(v.nullable(assertionReader), null),
    selectors: v.or(v.numbered(selectorReader), []),
    scrollState: v.optional(v.freeForm),
    ignoreFailure: v.or(v.flag, false),
    locatorLine: v.optional(v.text),
  });

/**
 * The elements of a test case as stored (Test case element), with the last locator line that was
 * set.
 */
export const elementsReader = v.numbered(elementReader);

export type Element = v.Read<ReturnType<typeof elementReader>>;
export type Selector = v.Read<ReturnType<typeof selectorReader>>;

const settable = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;

/** The statuses that are accepted on update (States and transitions). */
export const settableStatus = v.oneOf(...settable);
/** "DELETED appears only in the list filter". */
export const caseStatus = v.oneOf(...settable, "DELETED");
export const runStatus = v.oneOf("ON", "OFF");
export const interactionStatus = v.oneOf("NEW", "EDITED", "APPROVED", "REJECTED");

const discoveryReader = v.object({
  updatedAt: v.now,
  freePrompt: v.optional(v.text),
  traceUrl: v.optional(v.text),
  status: v.text,
  abortCause: v.optional(v.text),
  message: v.optional(v.text),
});

/**
 * A test case as stored (Test case). Its description is the name that discoveries and prerequisites
 * use.
 */
export const testCaseReader = v.object({
  id: v.uuid,
  testTargetId: v.uuid,
  type: v.or(v.nullable(v.text), null),
  description: v.text,
  status: v.or(caseStatus, "DRAFT"),
  runStatus: v.or(runStatus, "OFF"),
  interactionStatus: v.optional(interactionStatus),
  createdAt: v.now,
  updatedAt: v.now,
  entryPointUrlPath: v.or(v.nullable(v.text), null),
  elements: v.or(elementsReader, []),
  folderId: v.or(v.nullable(v.uuid), null),
  externalId: v.or(v.nullable(v.text), null),
  tags: v.or(v.list(v.text), []),
  createdBy: v.or(v.text, "EDIT"),
  prerequisiteId: v.or(v.nullable(v.uuid), null),
  proposalRunId: v.or(v.nullable(v.uuid), null),
  teardownTestCaseId: v.or(v.nullable(v.uuid), null),
  discovery: v.or(v.nullable(discoveryReader), null),
});

export type TestCase = v.Read<typeof testCaseReader>;

/**
 * Whether users still see a test case. A DELETED one is kept, but only the list with a filter
 * returns it.
 */
export function isLive(testCase: TestCase): boolean {
  return testCase.status !== "DELETED";
}

export const breakpoint = v.or(v.oneOf("MOBILE", "TABLET", "DESKTOP"), "DESKTOP");
export const browser = v.or(v.oneOf("CHROMIUM", "FIREFOX", "SAFARI"), "CHROMIUM");

const testResultReader = v.object({
  id: v.newId,
  testCaseId: v.uuid,
  name: v.or(v.text, ""),
  createdAt: v.now,
  updatedAt: v.now,
  status: v.or(v.nonEmptyText, "WAITING"),
  errorMessage: v.or(v.nullable(v.text), null),
  traceUrl: v.or(v.nullable(v.text), null),
});

/**
 * A test report as stored (Test report). Its status is not stored, but derived from the results.
 */
export const testReportReader = v.object({
  id: v.uuid,
  testTargetId: v.uuid,
  createdAt: v.now,
  updatedAt: v.now,
  executionUrl: v.optional(v.webUrl),
  context: v.or(v.freeForm, {}),
  breakpoint,
  browser,
  testResults: v.or(v.list(testResultReader), []),
});

export type TestReport = v.Read<typeof testReportReader>;
export type TestResult = v.Read<typeof testResultReader>;

/**
 * Derives a report's status by the table of "States and transitions". A status other than the three
 * known ones counts as done, but not as failed or passed: without a failed result, the report stays
 * WAITING, as no row of the table fits.
 */
export function derivedStatus(results: readonly Pick<TestResult, "status">[]) {
  const statuses = results.map((result) => result.status);
  if (statuses.includes("WAITING")) return "WAITING";
  if (statuses.includes("FAILED")) return "FAILED";
  return statuses.every((status) => status === "PASSED") ? "PASSED" : "WAITING";
}

/** "Notification types" (Events). */
export const notificationType = v.oneOf(
  "VALIDATION_PASSED",
  "VALIDATION_FAILED",
  "DISCOVERY_FINISHED",
  "PROPOSAL_SUCCESS",
  "PROPOSAL_FAILED",
  "REPORT_EXECUTION_FINISHED",
);

/** A notification, which is stored as it is answered (Notification). */
export const notificationReader = v.object({
  id: v.newId,
  testTargetId: v.uuid,
  createdAt: v.now,
  updatedAt: v.now,
  payload: v.or(v.freeForm, {}),
  type: notificationType,
  ack: v.or(v.nullable(v.oneOf("IN_WEB_APP")), null),
});

/**
 * A discovery or batch generation in progress. It is stored before its request is answered, so it
 * survives the process.
 */
export const generationReader = v.object({
  id: v.uuid,
  testTargetId: v.uuid,
  kind: v.oneOf("discovery", "batch"),
  prompt: v.text,
  dueAt: v.integer,
  /** The test case whose elements a discovery generates; null for a batch. */
  testCaseId: v.or(v.nullable(v.uuid), null),
  entryPointUrlPath: v.or(v.nullable(v.text), null),
  prerequisiteId: v.or(v.nullable(v.uuid), null),
});

export type Generation = v.Read<typeof generationReader>;

/** All stored data as one document: the format of `GET /control/data` and of seeds. */
export const dataReader = v.object({
  testTargets: v.or(v.list(testTargetReader), []),
  environments: v.or(v.list(environmentReader), []),
  folders: v.or(v.list(folderReader), []),
  testCases: v.or(v.list(testCaseReader), []),
  testReports: v.or(v.list(testReportReader), []),
  notifications: v.or(v.list(notificationReader), []),
  generations: v.or(v.list(generationReader), []),
});

export type Data = v.Read<typeof dataReader>;
export type Collection = keyof Data;

/** The kinds whose rows each belong to a test target. */
export const OWNED = [
  "environments",
  "folders",
  "testCases",
  "testReports",
  "notifications",
  "generations",
] as const satisfies readonly Collection[];

const LONGEST_WAIT = 2 ** 31 - 1;

/**
 * Behaviour for which service-api.md says "not shown", or two things. A client must work with every
 * combination.
 */
const settings = v.object({
  /** Status of the POST operations. */
  createStatus: v.or(v.oneOf(200, 201), 201),
  /**
   * Status of operations 4, 8 and 9; 204 has no body. Operation 6 is described as 200, so that is
   * fixed.
   */
  updateStatus: v.or(v.oneOf(200, 204), 200),
  /** "Response body ... not shown" (operation 4). */
  patchTargetBody: v.or(v.oneOf("resource", "empty"), "resource"),
  /** Whether the list of test cases contains `discovery.freePrompt`, and `discovery` at all. */
  showPrompt: v.or(v.flag, true),
  showDiscovery: v.or(v.flag, true),
  /** Adds an unknown field to every answered object, except to free-form objects. */
  extraFields: v.or(v.flag, false),
  /**
   * Answers unlisted values for enumerations that service-api.md leaves open, and as notification
   * types.
   */
  unknownEnums: v.or(v.flag, false),
  errorBody: v.or(v.oneOf("json", "text", "html", "empty"), "json"),
  /** For a wrong key; a missing key is always 401. */
  wrongKeyStatus: v.or(v.oneOf(401, 403), 403),
  /** Values of test cases that discoveries and batch generations create. */
  createdCaseStatus: v.or(settableStatus, "DRAFT"),
  createdRunStatus: v.or(runStatus, "OFF"),
  /** The status that a test case gets when its discovery ends; null leaves it unchanged. */
  finishedCaseStatus: v.or(v.nullable(settableStatus), null),
  /** Milliseconds from the request of a discovery or batch generation to its end. */
  discoveryTime: v.or(v.integerFrom(0, LONGEST_WAIT), 2000),
  /** Reports per page, and the query parameter that requests the next page. */
  pageSize: v.or(v.integerFrom(1), 20),
  pageParameter: v.or(v.oneOf("key", "createdAt", "none"), "key"),
  /**
   * The `name` in answers of environments: "enum" as in the response table, "given" as in the
   * request.
   */
  environmentName: v.or(v.oneOf("enum", "given"), "enum"),
  tagOrder: v.or(v.oneOf("given", "sorted"), "given"),
});

export type Settings = v.Read<typeof settings>;

/** Returns a reader of the settings in a request; missing ones are as in `defaults`. */
export function settingsReader(defaults: Partial<Settings>): v.Reader<Settings> {
  return (given, at, runtime) =>
    settings({ ...defaults, ...v.freeForm(given, at, runtime) }, at, runtime);
}
