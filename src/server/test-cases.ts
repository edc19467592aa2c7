import { type ElementShape, elementView, elementsAfter, selectorsOf, writtenElements } from "./elements.ts";
import { startDiscovery } from "./generation.ts";
import type { AnsweredJson, AnsweredObject, HandlerCall } from "./http.ts";
import * as v from "./input.ts";
import {
  type Discovery,
  type TestCase,
  type TestTarget,
  caseStatus,
  interactionStatus,
  isLive,
  pick,
  runStatus,
  settableStatus,
} from "./resources.ts";
import {
  type Service,
  type TargetOperation,
  folderIdNamed,
  openEnum,
  ownedBy,
  tagsNamed,
  updatedReply,
} from "./service.ts";
import type { Settings } from "./settings.ts";

/** Operation 7: GET /test-targets/{testTargetId}/test-cases, in the order of creation. */
export const listTestCases: TargetOperation = (service, call, target) => {
  const wanted = readFilter(service, call.query.get("filter"));
  return { kind: "list", status: 200, items: listed(service, target.id, wanted) };
};

function* listed(
  { store, settings }: Service,
  testTargetId: string,
  wanted: Filter,
): Generator<AnsweredJson> {
  for (const testCase of store.testCases.of(testTargetId))
    if (wanted(testCase)) yield listedTestCaseView(testCase, settings());
}

/** "Body (all optional)". */
const update = v.object({
  elements: v.optional(writtenElements),
  description: v.optional(v.text),
  entryPointUrlPath: v.optional(v.nullable(v.text)),
  status: v.optional(settableStatus),
  runStatus: v.optional(runStatus),
  folderName: v.optional(v.nullable(v.text)),
  interactionStatus: v.optional(interactionStatus),
  createBackendDiscoveryPrompt: v.optional(v.nonEmptyText),
  assignedTagNames: v.optional(v.list(v.text)),
  externalId: v.optional(v.nullable(v.text)),
});

/**
 * Operation 8: PATCH /test-targets/{testTargetId}/test-cases/{testCaseId}. A createBackendDiscoveryPrompt starts a
 * new generation of the case, which keeps the elements it has until that ends.
 */
export const updateTestCase: TargetOperation = (service, call, target) => {
  const current = testCaseOf(service, call, target);
  const {
    elements,
    folderName,
    assignedTagNames: tags,
    createBackendDiscoveryPrompt: prompt,
    ...given
  } = call.body(update);
  const owner = current.testTargetId;
  const testCase: TestCase = {
    ...current,
    ...given,
    ...(elements && { elements: elementsAfter(elements, current, service.runtime) }),
    ...(folderName !== undefined && { folderId: folderIdNamed(service, owner, folderName) }),
    ...(tags && { tags: tagsNamed(service, owner, tags) }),
    updatedAt: service.runtime.now(),
  };
  service.store.testCases.update(testCase);
  if (prompt !== undefined) startDiscovery(service, testCase, prompt);
  // The shape of an update's answer leaves out what is "list only" (operation 8).
  return updatedReply(service, common(testCase, "update", service.settings()));
};

const elementUpdate = v.object({ locatorLine: v.nonEmptyText });

/** Operation 9: PATCH .../test-cases/{testCaseId}/elements/{elementId}. The line's selectors replace all others. */
export const updateElement: TargetOperation = (service, call, target) => {
  const testCase = testCaseOf(service, call, target);
  const current = testCase.elements.find((each) => each.id === call.id("elementId"));
  if (current === undefined) throw v.notFound("test case element");
  const { locatorLine } = call.body(elementUpdate);
  const element = { ...current, locatorLine, selectors: selectorsOf(locatorLine, service.runtime) };
  service.store.testCases.update({
    ...testCase,
    elements: testCase.elements.map((each) => (each === current ? element : each)),
    updatedAt: service.runtime.now(),
  });
  return updatedReply(service, elementView(element, testCase.id, "update"));
};

function testCaseOf({ store }: Service, call: HandlerCall, target: TestTarget): TestCase {
  const found = store.testCases.get(call.id("testCaseId"));
  return ownedBy(target, found && isLive(found) ? found : undefined, "test case");
}

type Filter = (testCase: TestCase) => boolean;

/**
 * The query's `filter` (operation 7). "Operator syntax per field: not shown", so a field takes a plain value, which
 * must be equal, and AND, OR and NOT take arrays of filters; NOT holds when none of its filters does. Without a
 * filter everything but DELETED is listed; a filter says all of what it wants.
 */
function readFilter({ runtime }: Service, sent: string | null): Filter {
  return sent === null ? isLive : filter(v.parseForeign(sent, "filter"), "filter", runtime);
}

const filter: v.Reader<Filter> = (...sent) => {
  const { AND = [], OR, NOT = [], ...wanted } = filterFields(...sent);
  return (testCase) =>
    Object.entries(wanted).every(([name, value]) => Reflect.get(testCase, name) === value) &&
    AND.every((condition) => condition(testCase)) &&
    (OR === undefined || OR.some((condition) => condition(testCase))) &&
    !NOT.some((condition) => condition(testCase));
};

/** Filters nest; the reader of the nested ones is looked up when one is met. */
const filters = v.optional(v.list<Filter>((...sent) => filter(...sent)));
const filterFields = v.object({
  id: v.optional(v.uuid),
  testTargetId: v.optional(v.uuid),
  description: v.optional(v.text),
  status: v.optional(caseStatus),
  runStatus: v.optional(runStatus),
  folderId: v.optional(v.nullable(v.text)),
  externalId: v.optional(v.nullable(v.text)),
  AND: filters,
  OR: filters,
  NOT: filters,
});

/** The list shape: all response fields of the table (Test case, operation 7). */
function listedTestCaseView(testCase: TestCase, settings: Settings): AnsweredJson {
  return {
    ...common(testCase, "list", settings),
    ...pick(testCase, "type", "prerequisiteId", "proposalRunId", "teardownTestCaseId"),
    createdBy: openEnum(testCase.createdBy, settings),
    discovery: settings.showDiscovery ? discoveryView(testCase.discovery, settings) : undefined,
  };
}

function common(testCase: TestCase, shape: ElementShape, settings: Settings): AnsweredObject {
  return {
    ...pick(testCase, "id", "testTargetId", "description", "status", "runStatus", "createdAt", "updatedAt"),
    ...pick(testCase, "entryPointUrlPath", "folderId", "externalId"),
    elements: testCase.elements.map((element) => elementView(element, testCase.id, shape)),
    tags: settings.tagOrder === "sorted" ? testCase.tags.toSorted() : testCase.tags,
  };
}

function discoveryView(discovery: Discovery | null, settings: Settings): AnsweredJson {
  if (discovery === null) return null;
  const { status, freePrompt, ...rest } = discovery;
  return {
    ...rest,
    status: status === "CREATED" ? status : openEnum(status, settings),
    freePrompt: settings.showPrompt ? freePrompt : undefined,
  };
}
