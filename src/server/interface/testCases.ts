import { type TestCase, interactionStatus, runStatus, settableStatus } from "../data/testCase.ts";
import { startDiscovery } from "../generation/start.ts";
import type { Answered } from "../http/answered.ts";
import { type Read, list, nullable, object } from "../read/reader.ts";
import { nonEmptyText, text } from "../read/values.ts";
import type { Service } from "../service.ts";
import { changed } from "./change.ts";
import { type Filter, readFilter } from "./filter.ts";
import { testCaseOf, testTargetOf } from "./lookup.ts";
import { folderIdNamed, tagsNamed } from "./naming.ts";
import { type Operation, updated } from "./operation.ts";
import { listedTestCaseView, updatedTestCaseView } from "./view/testCase.ts";
import { elementsAfter, writtenElements } from "./writtenElements.ts";

/** Operation 7: GET /test-targets/{testTargetId}/test-cases, in the order of creation. */
export const listTestCases: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const wanted = readFilter(call.query.get("filter"));
  return { kind: "list", status: 200, items: listed(service, target.id, wanted) };
};

function* listed({ store, settings }: Service, testTargetId: string, wanted: Filter): Generator<Answered> {
  for (const testCase of store.testCases.of(testTargetId))
    if (wanted(testCase)) yield listedTestCaseView(testCase, settings());
}

/** "Body (all optional)". */
const update = object((fields) => ({
  elements: fields.optional("elements", writtenElements),
  description: fields.optional("description", text),
  entryPointUrlPath: fields.optional("entryPointUrlPath", nullable(text)),
  status: fields.optional("status", settableStatus),
  runStatus: fields.optional("runStatus", runStatus),
  folderName: fields.optional("folderName", nullable(text)),
  interactionStatus: fields.optional("interactionStatus", interactionStatus),
  createBackendDiscoveryPrompt: fields.optional("createBackendDiscoveryPrompt", nonEmptyText),
  assignedTagNames: fields.optional("assignedTagNames", list(text)),
  externalId: fields.optional("externalId", nullable(text)),
}));

/**
 * Operation 8: PATCH /test-targets/{testTargetId}/test-cases/{testCaseId}. A createBackendDiscoveryPrompt starts a
 * new generation of the case, which keeps the elements it has until that ends.
 */
export const updateTestCase: Operation = (service, call) => {
  const current = testCaseOf(service, call, testTargetOf(service, call));
  const given = update(call.body(), "");
  const testCase = withChanges(service, current, given);
  service.store.testCases.update(testCase);
  const prompt = given.createBackendDiscoveryPrompt;
  if (prompt !== undefined) startDiscovery(service, testCase, prompt);
  return updated(service, updatedTestCaseView(testCase, service.settings()));
};

function withChanges(service: Service, current: TestCase, given: Read<typeof update>): TestCase {
  const { elements, folderName, assignedTagNames: tags } = given;
  const owner = current.testTargetId;
  return {
    ...current,
    elements: elements === undefined ? current.elements : elementsAfter(elements, current, service.world),
    description: changed(given.description, current.description),
    entryPointUrlPath: changed(given.entryPointUrlPath, current.entryPointUrlPath),
    status: changed(given.status, current.status),
    runStatus: changed(given.runStatus, current.runStatus),
    folderId: folderName === undefined ? current.folderId : folderIdNamed(service, owner, folderName),
    interactionStatus: changed(given.interactionStatus, current.interactionStatus),
    tags: tags === undefined ? current.tags : tagsNamed(service, owner, tags),
    externalId: changed(given.externalId, current.externalId),
    updatedAt: service.world.now(),
  };
}
