import { freshTestCase } from "../data/freshTestCase.ts";
import { type TestCase, isLive } from "../data/testCase.ts";
import { startDiscovery, startGeneration } from "../generation/start.ts";
import { type Read, list, nullable, object } from "../read/reader.ts";
import { badValue } from "../read/refusal.ts";
import { freeForm, nonEmptyText, oneOf, text, uuid, webUrl } from "../read/values.ts";
import type { Service } from "../service.ts";
import { testTargetOf } from "./lookup.ts";
import { folderIdNamed, prerequisiteIdNamed, tagsNamed } from "./naming.ts";
import { type Operation, created } from "./operation.ts";

/** The table of operation 10; a required name or prompt has to say something. */
const discovery = object((fields) => ({
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
  const given = discovery(call.body(), "");
  const testCase = caseToDiscover(service, target.id, given);
  service.store.testCases.insert(testCase);
  const { id: discoveryId } = startDiscovery(service, testCase, given.prompt);
  return created(service, { discoveryId, testCaseId: testCase.id });
};

function caseToDiscover(service: Service, testTargetId: string, given: Read<typeof discovery>): TestCase {
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
const batch = object((fields) => ({
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
  const given = batch(call.body(), "");
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

function refuseForeign({ store }: Service, testTargetId: string, given: Read<typeof batch>): void {
  const { environmentId, prerequisiteId } = given;
  if (environmentId !== null && store.environments.get(environmentId)?.testTargetId !== testTargetId)
    throw badValue("environmentId", "is no environment of the test target");
  if (prerequisiteId === null) return;
  const prerequisite = store.testCases.get(prerequisiteId);
  if (prerequisite?.testTargetId !== testTargetId || !isLive(prerequisite))
    throw badValue("prerequisiteId", "is no test case of the test target");
}
