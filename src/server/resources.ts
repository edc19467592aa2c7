import type { JsonObject } from "../model/json.ts";
import * as v from "./input.ts";

/** Its clock never says the same twice: two writes in one millisecond get an order, and `createdAt` is good as a cursor. */
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

/** A new resource: an id, what it is given, and the defaults of its reader. */
export function fresh<T>(read: v.Reader<T>, runtime: v.ServerRuntime, given: JsonObject): T {
  return read({ id: runtime.newId(), ...given }, "", runtime);
}

export function created(runtime: v.ServerRuntime) {
  const now = runtime.now();
  return { createdAt: now, updatedAt: now };
}

/** Some fields of an object; one that it does not have stays away. */
export function pick<T extends object, K extends keyof T>(from: T, ...names: readonly K[]): Pick<T, K> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- these are the fields by name
  return Object.fromEntries(names.flatMap((name) => (name in from ? [[name, from[name]]] : []))) as Pick<
    T,
    K
  >;
}

/** "trackerIntegration fields" (Test target). All optional: which are required is not shown. */
export const trackerIntegration = v.object({
  domain: v.optional(v.webUrl),
  username: v.optional(v.text),
  projectId: v.optional(v.text),
  apiKey: v.optional(v.text),
});

/** A test target as stored: what answers show, and what can only be written (Test target). */
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

/** Secrets of an environment, as requests carry them. */
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

/** An environment as stored (Environment); `name` is what a request gave, any string. */
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

/** A folder has no operation of its own: requests name it, answers give its id (Test case, `folderId`). */
const folderReader = v.object({ id: v.uuid, testTargetId: v.uuid, name: v.text });

// The stored shapes leave out `testCaseId` and `testCaseElementId`, which repeat where an object stands: answers add
// them, and readers accept and drop them, so that an answer's elements can be given back as data.

export const interaction = { action: v.nonEmptyText, calledWith: v.optional(v.text) };
export const assertion = { expectation: v.nonEmptyText, calledWith: v.optional(v.text) };
export const selector = { selector: v.text, selectorType: v.nonEmptyText, options: v.or(v.freeForm, {}) };

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

/** The elements of a test case as stored (Test case element), with the locator line one was last set by. */
export const elementsReader = v.numbered(elementReader);

export type Element = v.Read<ReturnType<typeof elementReader>>;
export type Selector = v.Read<ReturnType<typeof selectorReader>>;

const settable = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;

/** Accepted on update (States and transitions). */
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

/** A test case as stored (Test case). The name that a discovery gives, or that a prerequisite is known by, is its description. */
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

/** A case a user still sees; a DELETED one is kept, but no operation reaches it any more. */
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

/** A test report as stored (Test report). It has no status: that is derived from the results. */
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
 * The derivation table of "States and transitions". A status beyond the three seen counts as done, but neither as
 * failed nor as succeeded: beside no failed result the report keeps WAITING, as no row of the table lets it pass.
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

/** A notification as stored, which is as answered (Notification). */
export const notificationReader = v.object({
  id: v.newId,
  testTargetId: v.uuid,
  createdAt: v.now,
  updatedAt: v.now,
  payload: v.or(v.freeForm, {}),
  type: notificationType,
  ack: v.or(v.nullable(v.oneOf("IN_WEB_APP")), null),
});

/** A discovery or batch generation that still runs: stored with the answer to its request, it survives the process. */
export const generationReader = v.object({
  id: v.uuid,
  testTargetId: v.uuid,
  kind: v.oneOf("discovery", "batch"),
  prompt: v.text,
  dueAt: v.integer,
  /** The case a discovery makes the elements of; null for a batch. */
  testCaseId: v.or(v.nullable(v.uuid), null),
  entryPointUrlPath: v.or(v.nullable(v.text), null),
  prerequisiteId: v.or(v.nullable(v.uuid), null),
});

export type Generation = v.Read<typeof generationReader>;

/** Everything the service keeps, as one document: what `GET /control/data` shows and seeds are written in. */
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

/** The kinds of which each row belongs to a test target. */
export const OWNED = [
  "environments",
  "folders",
  "testCases",
  "testReports",
  "notifications",
  "generations",
] as const satisfies readonly Collection[];

const LONGEST_WAIT = 2 ** 31 - 1;

/** How the service behaves where the text says "not shown", or two things. A client has to work under any combination. */
const settings = v.object({
  /** Of the POST operations. */
  createStatus: v.or(v.oneOf(200, 201), 201),
  /** Of operations 4, 8 and 9; 204 answers no body. Operation 6 says 200, so it stays. */
  updateStatus: v.or(v.oneOf(200, 204), 200),
  /** "Response body ... not shown" (operation 4). */
  patchTargetBody: v.or(v.oneOf("resource", "empty"), "resource"),
  /** Whether the list of test cases carries `discovery.freePrompt`, and `discovery` at all. */
  showPrompt: v.or(v.flag, true),
  showDiscovery: v.or(v.flag, true),
  /** Adds a field the text does not know to every object answered, free-form objects excepted. */
  extraFields: v.or(v.flag, false),
  /** Answers values the text does not list where it leaves an enumeration open, and as notification types. */
  unknownEnums: v.or(v.flag, false),
  errorBody: v.or(v.oneOf("json", "text", "html", "empty"), "json"),
  /** A missing key is 401 always. */
  wrongKeyStatus: v.or(v.oneOf(401, 403), 403),
  /** Of the cases that discoveries and batch generations make. */
  createdCaseStatus: v.or(settableStatus, "DRAFT"),
  createdRunStatus: v.or(runStatus, "OFF"),
  /** What a discovery's end sets its case to; null leaves the status alone. */
  finishedCaseStatus: v.or(v.nullable(settableStatus), null),
  /** Milliseconds from the request of a discovery or batch generation to its end. */
  discoveryTime: v.or(v.integerFrom(0, LONGEST_WAIT), 2000),
  /** Reports per page, and the query parameter that asks for the next page. */
  pageSize: v.or(v.integerFrom(1), 20),
  pageParameter: v.or(v.oneOf("key", "createdAt", "none"), "key"),
  /** An environment's answered name: "enum" as the response table has it, "given" as the request said. */
  environmentName: v.or(v.oneOf("enum", "given"), "enum"),
  tagOrder: v.or(v.oneOf("given", "sorted"), "given"),
});

export type Settings = v.Read<typeof settings>;

/** Settings as a request gives them: what is left out is as in `defaults`. */
export function settingsReader(defaults: Partial<Settings>): v.Reader<Settings> {
  return (given, at, runtime) => settings({ ...defaults, ...v.freeForm(given, at, runtime) }, at, runtime);
}
