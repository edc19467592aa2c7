import { freshTestCase } from "../data/freshTestCase.ts";
import type { Generation } from "../data/generation.ts";
import type { Discovery, TestCase } from "../data/testCase.ts";
import { notify } from "../notify.ts";
import type { Service } from "../service.ts";
import { generatedElements } from "./generatedElements.ts";

/** A prompt with this word in it comes to nothing, so that failures can be tried. */
const FAIL = "[fail]";
const FAILURE = { abortCause: "PROMPT_FAILED", message: `the prompt asks for a failure: ${FAIL}` };

/** Ends a generation, well or badly, in one write. One that was given up meanwhile does nothing. */
export function endGeneration(service: Service, id: string): void {
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
