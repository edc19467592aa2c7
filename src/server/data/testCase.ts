import { type Read, list, nullable, object } from "../read/reader.ts";
import { dateTime, oneOf, text, uuid } from "../read/values.ts";
import { elementsReader } from "./element.ts";
import type { World } from "./world.ts";

const settable = ["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"] as const;

/** Accepted on update (States and transitions). */
export const settableStatus = oneOf(...settable);
/** What a case can be in: "DELETED appears only in the list filter". */
export const caseStatus = oneOf(...settable, "DELETED");
export const runStatus = oneOf("ON", "OFF");
export const interactionStatus = oneOf("NEW", "EDITED", "APPROVED", "REJECTED");

export type CaseStatus = Read<typeof caseStatus>;

const discoveryReader = (world: World) =>
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
export const testCaseReader = (world: World) =>
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
