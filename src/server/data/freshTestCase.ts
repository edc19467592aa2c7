import type { TestCase } from "./testCase.ts";
import type { World } from "./world.ts";

/** What every new case is given; the rest is as a case without any of it has it. */
export type Given = Pick<TestCase, "testTargetId" | "description" | "status" | "runStatus"> &
  Partial<TestCase>;

export function freshTestCase(world: World, given: Given): TestCase {
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
