import type { TestCase } from "../data/testCase.ts";
import type { Generation } from "../data/generation.ts";
import type { Service } from "../service.ts";

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
