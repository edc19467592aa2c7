import { type Shape, elementView, elementsAfter, selectorsOf, writtenElements } from "./elements.ts";
import { startDiscovery } from "./generation.ts";
import type { AnsweredJson, AnsweredObject } from "./http.ts";
import {
  type Read,
  type Reader,
  list,
  nonEmptyText,
  notFound,
  nullable,
  object,
  parseForeign,
  text,
  uuid,
} from "./input.ts";
import {
  type Operation,
  type Service,
  changed,
  folderIdNamed,
  openEnum,
  tagsNamed,
  testCaseOf,
  testTargetOf,
  updated,
} from "./service.ts";
import {
  type Discovery,
  type Element,
  type TestCase,
  caseStatus,
  interactionStatus,
  isLive,
  runStatus,
  settableStatus,
} from "./resources.ts";
import type { Settings } from "./settings.ts";

/** Operation 7: GET /test-targets/{testTargetId}/test-cases, in the order of creation. */
export const listTestCases: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const wanted = readFilter(call.query.get("filter"));
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

const updateElements = object((fields) => ({ locatorLine: fields.required("locatorLine", nonEmptyText) }));

/** Operation 9: PATCH .../test-cases/{testCaseId}/elements/{elementId}. The line's selectors replace all others. */
export const updateElement: Operation = (service, call) => {
  const testCase = testCaseOf(service, call, testTargetOf(service, call));
  const current = testCase.elements.find((each) => each.id === call.id("elementId"));
  if (current === undefined) throw notFound("test case element");
  const { locatorLine } = updateElements(call.body(), "");
  const selectors = selectorsOf(locatorLine, service.world);
  const element: Element = { ...current, locatorLine, selectors };
  service.store.testCases.update({
    ...testCase,
    elements: testCase.elements.map((each) => (each.id === element.id ? element : each)),
    updatedAt: service.world.now(),
  });
  return updated(service, elementView(element, testCase.id, "update"));
};

type Filter = (testCase: TestCase) => boolean;

/**
 * The query's `filter` (operation 7). "Operator syntax per field: not shown", so a field takes a plain value, which
 * must be equal, and AND, OR and NOT take arrays of filters; NOT holds when none of its filters does. Without a
 * filter everything but DELETED is listed; a filter says all of what it wants.
 */
function readFilter(sent: string | null): Filter {
  return sent === null ? isLive : filter(parseForeign(sent, "filter"), "filter");
}

const filter: Reader<Filter> = object((fields) => {
  const equal = <K extends keyof TestCase>(name: K, read: Reader<TestCase[K]>): Filter => {
    const wanted = fields.optional(name, read);
    return (testCase) => wanted === undefined || testCase[name] === wanted;
  };
  const conditions = [
    equal("id", uuid),
    equal("testTargetId", uuid),
    equal("description", text),
    equal("status", caseStatus),
    equal("runStatus", runStatus),
    equal("folderId", nullable(text)),
    equal("externalId", nullable(text)),
  ];
  const combined = {
    and: fields.optional("AND", list(nested)) ?? [],
    or: fields.optional("OR", list(nested)),
    not: fields.optional("NOT", list(nested)) ?? [],
  };
  return (testCase) =>
    [...conditions, ...combined.and].every((condition) => condition(testCase)) &&
    (combined.or === undefined || combined.or.some((condition) => condition(testCase))) &&
    !combined.not.some((condition) => condition(testCase));
});

/** Filters nest; the reader of the nested ones is looked up when one is met. */
function nested(...given: Parameters<Reader<Filter>>): Filter {
  return filter(...given);
}

/** The list shape: all response fields of the table (Test case, operation 7). */
function listedTestCaseView(testCase: TestCase, settings: Settings): AnsweredJson {
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
function updatedTestCaseView(testCase: TestCase, settings: Settings): AnsweredJson {
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

function discoveryView(discovery: Discovery | null, settings: Settings): AnsweredJson {
  if (discovery === null) return null;
  const { status, freePrompt, ...rest } = discovery;
  return {
    ...rest,
    status: status === "CREATED" ? status : openEnum(status, settings),
    freePrompt: settings.showPrompt ? freePrompt : undefined,
  };
}
