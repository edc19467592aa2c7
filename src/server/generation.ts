import type { JsonObject } from "../model/json.ts";
import {
  type Read,
  badValue,
  freeForm,
  list,
  nonEmptyText,
  nullable,
  object,
  oneOf,
  text,
  uuid,
  webUrl,
} from "./input.ts";
import {
  type Assertion,
  type Discovery,
  type Element,
  type Generation,
  type Interaction,
  type Notification,
  type TestCase,
  type ServerRuntime,
  freshTestCase,
  isLive,
} from "./resources.ts";
import {
  type Operation,
  type Service,
  created,
  folderIdNamed,
  prerequisiteIdNamed,
  tagsNamed,
  testTargetOf,
} from "./service.ts";

/** The table of operation 10; a required name or prompt has to say something. */
const discoveryBody = object((fields) => ({
  name: fields.required("name", nonEmptyText),
  prompt: fields.required("prompt", nonEmptyText),
  entryPointUrlPath: fields.optional("entryPointUrlPath", text),
  prerequisiteName: fields.optional("prerequisiteName", text),
  externalId: fields.optional("externalId", text),
  tagNames: fields.optional("tagNames", list(text)) ?? [],
  folderName: fields.optional("folderName", text),
  type: fields.optional("type", oneOf("LOGIN", "COOKIE_BANNER")),
}));

/** Operation 10: POST /test-targets/{testTargetId}/discoveries. The case is there at once, without elements. */
export const createDiscovery: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const given = discoveryBody(call.body(), "");
  const testCase = caseToDiscover(service, target.id, given);
  service.store.testCases.insert(testCase);
  const { id: discoveryId } = startDiscovery(service, testCase, given.prompt);
  return created(service, { discoveryId, testCaseId: testCase.id });
};

function caseToDiscover(service: Service, testTargetId: string, given: Read<typeof discoveryBody>): TestCase {
  const { prerequisiteName, folderName } = given;
  return freshTestCase(service.world, {
    testTargetId,
    description: given.name,
    status: service.settings().createdCaseStatus,
    runStatus: service.settings().createdRunStatus,
    type: given.type ?? null,
    entryPointUrlPath: given.entryPointUrlPath ?? null,
    externalId: given.externalId ?? null,
    prerequisiteId:
      prerequisiteName === undefined ? null : prerequisiteIdNamed(service, testTargetId, prerequisiteName),
    folderId: folderIdNamed(service, testTargetId, folderName ?? null),
    tags: tagsNamed(service, testTargetId, given.tagNames),
  });
}

/** Of the fields of operation 11 only those a later answer can show are kept; all are checked. */
const batchBody = object((fields) => ({
  prompt: fields.optional("prompt", text) ?? "",
  imageUrls: fields.optional("imageUrls", list(webUrl)),
  entryPointUrlPath: fields.optional("entryPointUrlPath", nullable(text)) ?? null,
  environmentId: fields.optional("environmentId", nullable(uuid)) ?? null,
  prerequisiteId: fields.optional("prerequisiteId", nullable(uuid)) ?? null,
  baseUrl: fields.optional("baseUrl", nullable(webUrl)),
  context: fields.optional("context", context),
}));

/** Operation 11: POST /test-targets/{testTargetId}/batch-generations. */
export const createBatchGeneration: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const given = batchBody(call.body(), "");
  refuseForeign(service, target.id, given);
  const generation = startGeneration(service, {
    testTargetId: target.id,
    kind: "batch",
    prompt: given.prompt,
    testCaseId: null,
    entryPointUrlPath: given.entryPointUrlPath,
    prerequisiteId: given.prerequisiteId,
  });
  return created(service, { batchGenerationId: generation.id });
};

/** "Six documented variants", of which one is shown: any object that says by its `source` which one it is. */
function context(...[value, at]: Parameters<typeof freeForm>): void {
  const { source } = freeForm(value, at);
  if (source === undefined) throw badValue(`${at}.source`, "is required");
  nonEmptyText(source, `${at}.source`);
}

function refuseForeign({ store }: Service, testTargetId: string, given: Read<typeof batchBody>): void {
  const { environmentId, prerequisiteId } = given;
  if (environmentId !== null && store.environments.get(environmentId)?.testTargetId !== testTargetId)
    throw badValue("environmentId", "is no environment of the test target");
  if (prerequisiteId === null) return;
  const prerequisite = store.testCases.get(prerequisiteId);
  if (prerequisite?.testTargetId !== testTargetId || !isLive(prerequisite))
    throw badValue("prerequisiteId", "is no test case of the test target");
}

/**
 * Begins the generation of a case that is stored already, and says so in its `discovery` (Test case). A generation
 * of it that still runs is given up: two ends would write the same elements.
 */
export function startDiscovery(service: Service, testCase: TestCase, prompt: string): Generation {
  const { store, world } = service;
  for (const running of store.generations.of(testCase.testTargetId))
    if (running.testCaseId === testCase.id) store.generations.remove(running.id);
  store.testCases.update({ ...testCase, discovery: startedDiscovery(world.now(), prompt) });
  return startGeneration(service, {
    testTargetId: testCase.testTargetId,
    kind: "discovery",
    prompt,
    testCaseId: testCase.id,
    entryPointUrlPath: testCase.entryPointUrlPath,
    prerequisiteId: testCase.prerequisiteId,
  });
}

/** Stores a generation; the runner finds it there once the request's transaction is done. */
export function startGeneration(
  { store, world, settings }: Service,
  wanted: Omit<Generation, "id" | "dueAt">,
): Generation {
  const dueAt = Date.parse(world.now()) + settings().discoveryTime;
  const generation = { ...wanted, id: world.newId(), dueAt };
  store.generations.insert(generation);
  return generation;
}

function startedDiscovery(updatedAt: string, freePrompt: string): TestCase["discovery"] {
  return {
    updatedAt,
    freePrompt,
    status: "CREATED",
    traceUrl: undefined,
    abortCause: undefined,
    message: undefined,
  };
}

/** Ends generations when their time has come. */
export type Runner = {
  /** Sets a timer for every stored generation that has none: after a write, and when the process starts. */
  schedule(): void;
  /** Ends all that run, now, in the order of their requests; says how many. */
  finishAll(): number;
  stop(): void;
};

export function createRunner(service: Service): Runner {
  const timers = new Map<string, NodeJS.Timeout>();
  const end = (id: string) => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    endGeneration(service, id);
  };
  return {
    schedule() {
      for (const { id, dueAt } of service.store.generations.all()) {
        if (timers.has(id)) continue;
        const wait = Math.max(0, dueAt - Date.parse(service.world.now()));
        timers.set(
          id,
          setTimeout(() => end(id), wait),
        );
      }
    },
    finishAll() {
      const running = [...service.store.generations.all()];
      for (const { id } of running) end(id);
      return running.length;
    },
    stop() {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** A prompt with this word in it comes to nothing, so that failures can be tried. */
const FAIL = "[fail]";
const FAILURE = { abortCause: "PROMPT_FAILED", message: `the prompt asks for a failure: ${FAIL}` };

/** Ends a generation, well or badly, in one write. One that was given up meanwhile does nothing. */
function endGeneration(service: Service, id: string): void {
  service.store.write(() => {
    const generation = service.store.generations.get(id);
    if (generation === undefined) return;
    service.store.generations.remove(id);
    if (generation.kind === "discovery") endDiscovery(service, generation);
    else endBatch(service, generation);
  });
}

function endDiscovery(service: Service, { testTargetId, testCaseId, prompt }: Generation): void {
  const testCase = testCaseId === null ? undefined : service.store.testCases.get(testCaseId);
  if (testCase === undefined) return;
  service.store.testCases.update(discovered(service, testCase, prompt));
  notify(service, testTargetId, "DISCOVERY_FINISHED", { testCaseId: testCase.id });
}

function discovered({ world, settings }: Service, testCase: TestCase, prompt: string): TestCase {
  const updatedAt = world.now();
  const failed = prompt.includes(FAIL);
  const discovery: Discovery = {
    updatedAt,
    freePrompt: prompt,
    traceUrl: failed ? undefined : `https://traces.example.com/${testCase.id}.zip`,
    status: failed ? "FAILED" : "FINISHED",
    abortCause: failed ? FAILURE.abortCause : undefined,
    message: failed ? FAILURE.message : undefined,
  };
  if (failed) return { ...testCase, discovery, updatedAt };
  const status = settings().finishedCaseStatus ?? testCase.status;
  return { ...testCase, discovery, updatedAt, status, elements: generatedElements(prompt, world) };
}

/** A batch makes two cases, each told of in a notification of its own. */
function endBatch(service: Service, generation: Generation): void {
  const { testTargetId, prompt, id: batchGenerationId } = generation;
  if (prompt.includes(FAIL)) {
    notify(service, testTargetId, "PROPOSAL_FAILED", { batchGenerationId, message: FAILURE.message });
    return;
  }
  for (const part of [1, 2]) {
    const testCase = proposedCase(service, generation, `${prompt} (${part})`.trim());
    service.store.testCases.insert(testCase);
    notify(service, testTargetId, "PROPOSAL_SUCCESS", { testCaseId: testCase.id, batchGenerationId });
  }
}

function proposedCase({ world, settings }: Service, from: Generation, description: string): TestCase {
  return freshTestCase(world, {
    testTargetId: from.testTargetId,
    description,
    status: settings().createdCaseStatus,
    runStatus: settings().createdRunStatus,
    entryPointUrlPath: from.entryPointUrlPath,
    prerequisiteId: from.prerequisiteId,
    proposalRunId: from.id,
    elements: generatedElements(description, world),
  });
}

/** Steps beyond these are left out: a prompt may be a page long. */
const MOST_STEPS = 8;

/**
 * The elements a prompt leads to: a click for each of its sentences, and a look whether the last one's text is
 * there. "How a discovery ... executes internally" is not shown (Gaps); this only has to be the same every time.
 */
function generatedElements(prompt: string, world: ServerRuntime): Element[] {
  const steps = prompt
    .split(/[.;\n]+/)
    .map((step) => step.trim())
    .filter((step) => step !== "")
    .slice(0, MOST_STEPS);
  const last = steps.at(-1) ?? prompt;
  return [
    ...steps.map((step, index) => elementOn(world, index, step, { interaction: click(world) })),
    elementOn(world, steps.length, last, { assertion: visible(world) }),
  ];
}

function click(world: ServerRuntime): Interaction {
  return { id: world.newId(), action: "CLICK", calledWith: undefined };
}

function visible(world: ServerRuntime): Assertion {
  return { id: world.newId(), expectation: "VISIBLE", calledWith: undefined };
}

function elementOn(
  world: ServerRuntime,
  index: number,
  words: string,
  does: { readonly interaction?: Interaction; readonly assertion?: Assertion },
): Element {
  const scrollStateId = world.newId();
  return {
    id: world.newId(),
    index,
    interaction: does.interaction ?? null,
    assertion: does.assertion ?? null,
    selectors: [
      { id: world.newId(), index: 0, selector: words, selectorType: "TEXT", options: {}, scrollStateId },
    ],
    scrollState: { id: scrollStateId },
    ignoreFailure: false,
    locatorLine: undefined,
  };
}

/** Records an event, to be read with operation 14 (Events). */
export function notify(
  { store, world }: Service,
  testTargetId: string,
  type: Notification["type"],
  payload: JsonObject,
): void {
  const now = world.now();
  store.notifications.insert({
    id: world.newId(),
    testTargetId,
    createdAt: now,
    updatedAt: now,
    payload,
    type,
    ack: null,
  });
}
