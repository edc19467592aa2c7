import {
  type Read,
  dateTime,
  flag,
  freeForm,
  integer,
  list,
  nonEmptyText,
  nullable,
  numbered,
  object,
  oneOf,
  text,
  uuid,
  webUrl,
} from "./input.ts";

/** What enters from outside: time and randomness. Handed in, so that a test can know every byte of an answer. */
export type ServerRuntime = {
  /** An ISO timestamp, later than every one given before. */
  readonly now: () => string;
  readonly newId: () => string;
};

/**
 * A clock that never says the same twice: two writes in one millisecond still get an order, `updatedAt` always
 * moves, and a report's `createdAt` is good as a cursor.
 */
export function serverRuntime(clock: () => number, newId: () => string): ServerRuntime {
  let last = 0;
  return {
    now() {
      last = Math.max(clock(), last + 1);
      return new Date(last).toISOString();
    },
    newId,
  };
}

/** "trackerIntegration fields" (Test target). All optional: which are required is not shown. */
export const trackerIntegration = object((fields) => ({
  domain: fields.optional("domain", webUrl),
  username: fields.optional("username", text),
  projectId: fields.optional("projectId", text),
  apiKey: fields.optional("apiKey", text),
}));

/** A test target as stored: what answers show, and what can only be written (Test target). */
export const testTargetReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    app: fields.required("app", text),
    tags: fields.optional("tags", list(nullable(text))) ?? [],
    testIdAttribute: fields.optional("testIdAttribute", text),
    trackerIntegration: fields.optional("trackerIntegration", trackerIntegration),
    timeoutPerStep: fields.optional("timeoutPerStep", integer),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

export type TestTarget = Read<ReturnType<typeof testTargetReader>>;

export const environmentType = oneOf("DEFAULT", "ADDITIONAL");

const testAccountReader = (world: ServerRuntime) =>
  object((fields) => ({
    username: fields.optional("username", text),
    password: fields.optional("password", text),
    otpInitializerKey: fields.optional("otpInitializerKey", text),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

const basicAuthReader = (world: ServerRuntime) =>
  object((fields) => ({
    username: fields.optional("username", text),
    password: fields.optional("password", text),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

const privateLocationReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    name: fields.required("name", text),
    status: fields.optional("status", text) ?? "ACTIVE",
    type: fields.optional("type", text) ?? "PRIVATE",
  }));

/**
 * An environment as stored (Environment). `name` is what a request gave: the text calls it a string in requests and
 * an enumeration in answers, so what is answered is decided where answers are made.
 */
export const environmentReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    testTargetId: fields.required("testTargetId", uuid),
    name: fields.optional("name", nullable(text)) ?? null,
    type: fields.required("type", environmentType),
    discoveryUrl: fields.optional("discoveryUrl", webUrl),
    additionalHeaderFields: fields.optional("additionalHeaderFields", nullable(freeForm)) ?? null,
    testAccount: fields.optional("testAccount", nullable(testAccountReader(world))) ?? null,
    basicAuth: fields.optional("basicAuth", nullable(basicAuthReader(world))) ?? null,
    emailDomain: fields.optional("emailDomain", text),
    emailPrefix: fields.optional("emailPrefix", text),
    enableCrossOriginIframes: fields.optional("enableCrossOriginIframes", flag) ?? false,
    privateLocation: fields.optional("privateLocation", privateLocationReader(world)),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
  }));

export type Environment = Read<ReturnType<typeof environmentReader>>;
export type PrivateLocation = Read<ReturnType<typeof privateLocationReader>>;

/** A folder has no operation of its own: requests name it, answers give its id (Test case, `folderId`). */
const folderReader = object((fields) => ({
  id: fields.required("id", uuid),
  testTargetId: fields.required("testTargetId", uuid),
  name: fields.required("name", text),
}));

/*
 * The stored shapes leave out `testCaseId` and `testCaseElementId`: they repeat where an object stands, and answers
 * add them. Readers accept and drop them, so that an answer's elements can be given back as data.
 */

const interactionReader = (world: ServerRuntime) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      action: fields.required("action", nonEmptyText),
      calledWith: fields.optional("calledWith", text),
    };
  });

const assertionReader = (world: ServerRuntime) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      expectation: fields.required("expectation", nonEmptyText),
      calledWith: fields.optional("calledWith", text),
    };
  });

const selectorReader = (world: ServerRuntime, position: number) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      index: fields.optional("index", integer) ?? position,
      selector: fields.required("selector", text),
      selectorType: fields.required("selectorType", nonEmptyText),
      options: fields.optional("options", freeForm) ?? {},
      scrollStateId: fields.optional("scrollStateId", text),
    };
  });

const elementReader = (world: ServerRuntime, position: number) =>
  object((fields) => {
    fields.ignored("testCaseId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      index: fields.optional("index", integer) ?? position,
      interaction: fields.optional("interaction", nullable(interactionReader(world))) ?? null,
      assertion: fields.optional("assertion", nullable(assertionReader(world))) ?? null,
      selectors:
        fields.optional(
          "selectors",
          numbered((at) => selectorReader(world, at)),
        ) ?? [],
      scrollState: fields.optional("scrollState", freeForm),
      ignoreFailure: fields.optional("ignoreFailure", flag) ?? false,
      locatorLine: fields.optional("locatorLine", text),
    };
  });

/** The elements of a test case as stored (Test case element), with the locator line one was last set by. */
const elementsReader = (world: ServerRuntime) => numbered((position) => elementReader(world, position));

export type Element = Read<ReturnType<typeof elementReader>>;
export type Interaction = Read<ReturnType<typeof interactionReader>>;
export type Assertion = Read<ReturnType<typeof assertionReader>>;
export type Selector = Read<ReturnType<typeof selectorReader>>;

const settable = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;

/** Accepted on update (States and transitions). */
export const settableStatus = oneOf(...settable);
/** What a case can be in: "DELETED appears only in the list filter". */
export const caseStatus = oneOf(...settable, "DELETED");
export const runStatus = oneOf("ON", "OFF");
export const interactionStatus = oneOf("NEW", "EDITED", "APPROVED", "REJECTED");

const discoveryReader = (world: ServerRuntime) =>
  object((fields) => ({
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    freePrompt: fields.optional("freePrompt", text),
    traceUrl: fields.optional("traceUrl", text),
    status: fields.required("status", text),
    abortCause: fields.optional("abortCause", text),
    message: fields.optional("message", text),
  }));

/**
 * A test case as stored (Test case). It has no name of its own: the name a discovery gives is its description, and
 * a prerequisite's name is looked for there.
 */
export const testCaseReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    testTargetId: fields.required("testTargetId", uuid),
    type: fields.optional("type", nullable(text)) ?? null,
    description: fields.required("description", text),
    status: fields.optional("status", caseStatus) ?? "DRAFT",
    runStatus: fields.optional("runStatus", runStatus) ?? "OFF",
    interactionStatus: fields.optional("interactionStatus", interactionStatus),
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    entryPointUrlPath: fields.optional("entryPointUrlPath", nullable(text)) ?? null,
    elements: fields.optional("elements", elementsReader(world)) ?? [],
    folderId: fields.optional("folderId", nullable(uuid)) ?? null,
    externalId: fields.optional("externalId", nullable(text)) ?? null,
    tags: fields.optional("tags", list(text)) ?? [],
    createdBy: fields.optional("createdBy", text) ?? "EDIT",
    prerequisiteId: fields.optional("prerequisiteId", nullable(uuid)) ?? null,
    proposalRunId: fields.optional("proposalRunId", nullable(uuid)) ?? null,
    teardownTestCaseId: fields.optional("teardownTestCaseId", nullable(uuid)) ?? null,
    discovery: fields.optional("discovery", nullable(discoveryReader(world))) ?? null,
  }));

export type TestCase = Read<ReturnType<typeof testCaseReader>>;
export type Discovery = Read<ReturnType<typeof discoveryReader>>;

/** A case a user still sees; a DELETED one is kept, but no operation reaches it any more. */
export function isLive(testCase: TestCase): boolean {
  return testCase.status !== "DELETED";
}

/** What every new case is given; the rest is as a case without any of it has it. */
export type ProvidedTestCase = Pick<TestCase, "testTargetId" | "description" | "status" | "runStatus"> &
  Partial<TestCase>;

export function freshTestCase(world: ServerRuntime, given: ProvidedTestCase): TestCase {
  const now = world.now();
  return {
    id: world.newId(),
    type: null,
    interactionStatus: undefined,
    createdAt: now,
    updatedAt: now,
    entryPointUrlPath: null,
    elements: [],
    folderId: null,
    externalId: null,
    tags: [],
    createdBy: "EDIT",
    prerequisiteId: null,
    proposalRunId: null,
    teardownTestCaseId: null,
    discovery: null,
    ...given,
  };
}

export const breakpoint = oneOf("MOBILE", "TABLET", "DESKTOP");
export const browser = oneOf("CHROMIUM", "FIREFOX", "SAFARI");

const testResultReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    testCaseId: fields.required("testCaseId", uuid),
    name: fields.optional("name", text) ?? "",
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    status: fields.optional("status", nonEmptyText) ?? "WAITING",
    errorMessage: fields.optional("errorMessage", nullable(text)) ?? null,
    traceUrl: fields.optional("traceUrl", nullable(text)) ?? null,
  }));

/** A test report as stored (Test report). It has no status: that is derived from the results. */
const testReportReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.required("id", uuid),
    testTargetId: fields.required("testTargetId", uuid),
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    executionUrl: fields.optional("executionUrl", webUrl),
    context: fields.optional("context", freeForm) ?? {},
    breakpoint: fields.optional("breakpoint", breakpoint) ?? "DESKTOP",
    browser: fields.optional("browser", browser) ?? "CHROMIUM",
    testResults: fields.optional("testResults", list(testResultReader(world))) ?? [],
  }));

export type TestReport = Read<ReturnType<typeof testReportReader>>;
export type TestResult = Read<ReturnType<typeof testResultReader>>;

export type ReportStatus = "WAITING" | "PASSED" | "FAILED";

/**
 * The derivation table of "States and transitions". A status beyond the three seen counts as done, but neither as
 * failed nor as succeeded: such a report fails beside a failed result and otherwise keeps WAITING, as no row of the
 * table lets it pass.
 */
export function derivedStatus(results: readonly Pick<TestResult, "status">[]): ReportStatus {
  const statuses = results.map((result) => result.status);
  if (statuses.includes("WAITING")) return "WAITING";
  if (statuses.includes("FAILED")) return "FAILED";
  return statuses.every((status) => status === "PASSED") ? "PASSED" : "WAITING";
}

/** "Notification types" (Events). */
export const notificationType = oneOf(
  "VALIDATION_PASSED",
  "VALIDATION_FAILED",
  "DISCOVERY_FINISHED",
  "PROPOSAL_SUCCESS",
  "PROPOSAL_FAILED",
  "REPORT_EXECUTION_FINISHED",
);

/** A notification as stored, which is as answered (Notification). */
const notificationReader = (world: ServerRuntime) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    testTargetId: fields.required("testTargetId", uuid),
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    payload: fields.optional("payload", freeForm) ?? {},
    type: fields.required("type", notificationType),
    ack: fields.optional("ack", nullable(oneOf("IN_WEB_APP"))) ?? null,
  }));

export type Notification = Read<ReturnType<typeof notificationReader>>;

/**
 * A discovery or batch generation that still runs. It is a stored row like any other, made in the transaction that
 * answers its request: so it survives the process, and resumes.
 */
const generationReader = object((fields) => ({
  id: fields.required("id", uuid),
  testTargetId: fields.required("testTargetId", uuid),
  kind: fields.required("kind", oneOf("discovery", "batch")),
  prompt: fields.required("prompt", text),
  /** Milliseconds since the epoch. */
  dueAt: fields.required("dueAt", integer),
  /** The case a discovery makes the elements of; null for a batch. */
  testCaseId: fields.optional("testCaseId", nullable(uuid)) ?? null,
  entryPointUrlPath: fields.optional("entryPointUrlPath", nullable(text)) ?? null,
  prerequisiteId: fields.optional("prerequisiteId", nullable(uuid)) ?? null,
}));

export type Generation = Read<typeof generationReader>;

/**
 * Everything the service keeps, as one document: what `GET /control/data` shows and seeds are written in. Most
 * fields may be left out; the readers fill in what a fresh resource would have.
 */
export const dataReader = (world: ServerRuntime) =>
  object((fields) => ({
    testTargets: fields.optional("testTargets", list(testTargetReader(world))) ?? [],
    environments: fields.optional("environments", list(environmentReader(world))) ?? [],
    folders: fields.optional("folders", list(folderReader)) ?? [],
    testCases: fields.optional("testCases", list(testCaseReader(world))) ?? [],
    testReports: fields.optional("testReports", list(testReportReader(world))) ?? [],
    notifications: fields.optional("notifications", list(notificationReader(world))) ?? [],
    generations: fields.optional("generations", list(generationReader)) ?? [],
  }));

export type Data = Read<ReturnType<typeof dataReader>>;
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
