import type { Discovery, TestCase } from "../../data/testCase.ts";
import type { Answered, AnsweredObject } from "../../http/answered.ts";
import type { Settings } from "../../settings.ts";
import { type Shape, elementView } from "./element.ts";
import { openEnum } from "./openEnum.ts";

/** The list shape: all response fields of the table (Test case, operation 7). */
export function listedTestCaseView(testCase: TestCase, settings: Settings): Answered {
  return {
    ...common(testCase, "list", settings),
    type: testCase.type,
    createdBy: openEnum(testCase.createdBy, settings),
    prerequisiteId: testCase.prerequisiteId,
    proposalRunId: testCase.proposalRunId,
    teardownTestCaseId: testCase.teardownTestCaseId,
    discovery: settings.showDiscovery ? discoveryView(testCase.discovery, settings) : undefined,
  };
}

/** The shape of an update's answer, which leaves out what is "list only" (operation 8). */
export function updatedTestCaseView(testCase: TestCase, settings: Settings): Answered {
  return common(testCase, "update", settings);
}

function common(testCase: TestCase, shape: Shape, settings: Settings): AnsweredObject {
  return {
    id: testCase.id,
    testTargetId: testCase.testTargetId,
    description: testCase.description,
    status: testCase.status,
    runStatus: testCase.runStatus,
    createdAt: testCase.createdAt,
    updatedAt: testCase.updatedAt,
    entryPointUrlPath: testCase.entryPointUrlPath,
    elements: testCase.elements.map((element) => elementView(element, testCase.id, shape)),
    folderId: testCase.folderId,
    externalId: testCase.externalId,
    tags: settings.tagOrder === "sorted" ? testCase.tags.toSorted() : testCase.tags,
  };
}

function discoveryView(discovery: Discovery | null, settings: Settings): Answered {
  if (discovery === null) return null;
  const { status, freePrompt, ...rest } = discovery;
  return {
    ...rest,
    status: status === "CREATED" ? status : openEnum(status, settings),
    freePrompt: settings.showPrompt ? freePrompt : undefined,
  };
}
