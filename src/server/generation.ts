import type { Json, JsonObject } from "../model/json.ts";
import * as v from "./input.ts";
import * as r from "./resources.ts";
import {
  type Service,
  type TargetOperation,
  folderIdNamed,
  liveCase,
  prerequisiteIdNamed,
  tagsNamed,
} from "./service.ts";

/** The body of operation 10, by its table; a required name or prompt must not be empty. */
const discoveryBody = v.object({
  name: v.nonEmptyText,
  prompt: v.nonEmptyText,
  entryPointUrlPath: v.optional(v.text),
  prerequisiteName: v.optional(v.text),
  externalId: v.optional(v.text),
  tagNames: v.or(v.list(v.text), []),
  folderName: v.optional(v.text),
  type: v.optional(v.oneOf("LOGIN", "COOKIE_BANNER")),
});

/**
 * Operation 10: POST /test-targets/{testTargetId}/discoveries. The test case exists at once,
 * without elements.
 */
export const createDiscovery: TargetOperation = (service, call, { id: testTargetId }) => {
  const { name, prompt, prerequisiteName, folderName, tagNames, ...given } =
    call.body(discoveryBody);
  const testCase = freshTestCase(service, {
    ...given,
    testTargetId,
    description: name,
    ...(prerequisiteName !== undefined && {
      prerequisiteId: prerequisiteIdNamed(service, testTargetId, prerequisiteName),
    }),
    folderId: folderIdNamed(service, testTargetId, folderName ?? null),
    tags: tagsNamed(service, testTargetId, tagNames),
  });
  service.store.testCases.insert(testCase);
  const { id: discoveryId } = startDiscovery(service, testCase, prompt);
  return { discoveryId, testCaseId: testCase.id };
};

function freshTestCase({ runtime, settings }: Service, given: JsonObject): r.TestCase {
  const { createdCaseStatus: status, createdRunStatus: runStatus } = settings;
  return r.fresh(r.testCaseReader, runtime, { status, runStatus, ...r.created(runtime), ...given });
}

/**
 * "Six documented variants", of which only one is shown: any object with a `source`, which says
 * which one it is.
 */
const context: v.Reader<void> = (value, at, runtime) => {
  const { source } = v.freeForm(value, at, runtime);
  v.object({ source: v.nonEmptyText })(source === undefined ? {} : { source }, at, runtime);
};

/**
 * The body of operation 11. All fields are checked, but only those that a later answer can show are
 * kept.
 */
const batchBody = v.object({
  prompt: v.or(v.text, ""),
  imageUrls: v.optional(v.list(v.webUrl)),
  entryPointUrlPath: v.or(v.nullable(v.text), null),
  environmentId: v.or(v.nullable(v.uuid), null),
  prerequisiteId: v.or(v.nullable(v.uuid), null),
  baseUrl: v.optional(v.nullable(v.webUrl)),
  context: v.optional(context),
});

/** Operation 11: POST /test-targets/{testTargetId}/batch-generations. */
export const createBatchGeneration: TargetOperation = (service, call, { id: testTargetId }) => {
  const { store } = service;
  const given = call.body(batchBody);
  const { environmentId, prerequisiteId } = given;
  if (
    environmentId !== null &&
    store.environments.get(environmentId)?.testTargetId !== testTargetId
  )
    throw v.badValue("environmentId", "is not an environment of the test target");
  if (prerequisiteId !== null && liveCase(service, testTargetId, prerequisiteId) === undefined)
    throw v.badValue("prerequisiteId", "is not a test case of the test target");
  const wanted = r.pick(given, "prompt", "entryPointUrlPath", "prerequisiteId");
  const { id: batchGenerationId } = startGeneration(service, {
    ...wanted,
    testTargetId,
    kind: "batch",
  });
  return { batchGenerationId };
};

/**
 * Starts the generation of a stored test case. Cancels a running one, because both would write the
 * same elements.
 */
export function startDiscovery(
  service: Service,
  testCase: r.TestCase,
  freePrompt: string,
): r.Generation {
  const { store, runtime } = service;
  const { id: testCaseId, testTargetId } = testCase;
  for (const running of store.generations.of(testTargetId))
    if (running.testCaseId === testCaseId) store.generations.remove(running.id);
  const discovery = { updatedAt: runtime.now(), freePrompt, status: "CREATED" };
  store.testCases.update({ ...testCase, discovery });
  const wanted = r.pick(testCase, "testTargetId", "entryPointUrlPath", "prerequisiteId");
  return startGeneration(service, { ...wanted, kind: "discovery", prompt: freePrompt, testCaseId });
}

function startGeneration({ store, runtime, settings }: Service, wanted: JsonObject): r.Generation {
  const dueAt = Date.parse(runtime.now()) + settings.discoveryTime;
  const generation = r.fresh(r.generationReader, runtime, { ...wanted, dueAt });
  store.generations.insert(generation);
  return generation;
}

/** Creates the runner, which ends generations when they are due. */
export function createRunner(service: Service) {
  const { store, runtime } = service;
  const timers = new Map<string, NodeJS.Timeout>();
  /**
   * Ends a generation with success or failure, in one write. Does nothing if it was cancelled
   * meanwhile.
   */
  const end = (id: string): void => {
    clearTimeout(timers.get(id));
    timers.delete(id);
    store.write(() => {
      const generation = store.generations.get(id);
      if (generation === undefined) return;
      store.generations.remove(id);
      const { kind, testCaseId, prompt } = generation;
      const testCase = testCaseId === null ? undefined : store.testCases.get(testCaseId);
      if (kind === "batch") endBatch(service, generation);
      else if (testCase !== undefined) endDiscovery(service, testCase, prompt);
    });
  };
  return {
    /**
     * Sets a timer for every stored generation that has none: after a write, and when the process
     * starts.
     */
    schedule(): void {
      for (const { id, dueAt } of store.generations.all()) {
        if (timers.has(id)) continue;
        const wait = Math.max(0, dueAt - Date.parse(runtime.now()));
        timers.set(id, setTimeout(end, wait, id));
      }
    },
    /**
     * Ends all running generations now, in the order of their requests, and returns their number.
     */
    finishAll(): number {
      const running = [...store.generations.all()];
      for (const { id } of running) end(id);
      return running.length;
    },
    stop(): void {
      for (const timer of timers.values()) clearTimeout(timer);
      timers.clear();
    },
  };
}

/** A prompt that contains this word fails, so that failures can be tested. */
const FAIL = "[fail]";
const FAILURE = { abortCause: "PROMPT_FAILED", message: `the prompt asks for a failure: ${FAIL}` };

function endDiscovery(service: Service, testCase: r.TestCase, freePrompt: string): void {
  const { store, runtime, settings } = service;
  const updatedAt = runtime.now();
  const traceUrl = `https://traces.example.com/${testCase.id}.zip`;
  const made = freePrompt.includes(FAIL)
    ? { discovery: { updatedAt, freePrompt, status: "FAILED", ...FAILURE } }
    : {
        discovery: { updatedAt, freePrompt, status: "FINISHED", traceUrl },
        status: settings.finishedCaseStatus ?? testCase.status,
        elements: generatedElements(freePrompt, runtime),
      };
  store.testCases.update({ ...testCase, ...made, updatedAt });
  notify(service, testCase.testTargetId, "DISCOVERY_FINISHED", { testCaseId: testCase.id });
}

/** Ends a batch: creates two test cases, with one notification for each. */
function endBatch(
  service: Service,
  { id, testTargetId, prompt, ...generation }: r.Generation,
): void {
  const batchGenerationId = id;
  if (prompt.includes(FAIL)) {
    notify(service, testTargetId, "PROPOSAL_FAILED", {
      batchGenerationId,
      message: FAILURE.message,
    });
    return;
  }
  for (const part of [1, 2]) {
    const description = `${prompt} (${part})`.trim();
    const testCase = {
      ...freshTestCase(service, { testTargetId, description, proposalRunId: id }),
      entryPointUrlPath: generation.entryPointUrlPath,
      prerequisiteId: generation.prerequisiteId,
      elements: generatedElements(description, service.runtime),
    };
    service.store.testCases.insert(testCase);
    notify(service, testTargetId, "PROPOSAL_SUCCESS", {
      testCaseId: testCase.id,
      batchGenerationId,
    });
  }
}

/** Maximum number of steps, because a prompt may be a page long. Further steps are left out. */
const MOST_STEPS = 8;

/**
 * "How a discovery ... executes internally" is not shown (Gaps): here, a click for each sentence,
 * and a final assertion.
 */
function generatedElements(prompt: string, runtime: v.ServerRuntime): readonly r.Element[] {
  const steps = prompt
    .split(/[.;\n]+/)
    .map((step) => step.trim())
    .filter((step) => step !== "")
    .slice(0, MOST_STEPS);
  const elementOn = (selector: string, does: JsonObject): Json => {
    const scrollStateId = runtime.newId();
    const selectors = [{ selector, selectorType: "TEXT", scrollStateId }];
    return { ...does, selectors, scrollState: { id: scrollStateId } };
  };
  const elements = [
    ...steps.map((step) => elementOn(step, { interaction: { action: "CLICK" } })),
    elementOn(steps.at(-1) ?? prompt, { assertion: { expectation: "VISIBLE" } }),
  ];
  return r.elementsReader(elements, "", runtime);
}

/** Records an event, which operation 14 returns (Events). */
export function notify(
  { store, runtime }: Service,
  testTargetId: string,
  type: v.Read<typeof r.notificationType>,
  payload: JsonObject,
): void {
  const given = { testTargetId, ...r.created(runtime), payload, type };
  store.notifications.insert(r.fresh(r.notificationReader, runtime, given));
}
