import type { JsonObject } from "../model/json.ts";
import { startDiscovery } from "./generation.ts";
import type { AnsweredJson, AnsweredObject, HandlerCall } from "./http.ts";
import * as v from "./input.ts";
import * as r from "./resources.ts";
import {
  type Service,
  type TargetOperation,
  folderIdNamed,
  liveCase,
  openEnum,
  ownedBy,
  tagsNamed,
} from "./service.ts";

/** Operation 7: GET /test-targets/{testTargetId}/test-cases, in the order of creation. */
export const listTestCases: TargetOperation = ({ store, settings, runtime }, call, target) => {
  const sent = call.query.get("filter");
  const wanted =
    sent === null ? r.isLive : filter(v.parseForeign(sent, "filter"), "filter", runtime);
  return (function* () {
    for (const testCase of store.testCases.of(target.id))
      if (wanted(testCase)) yield listedTestCaseView(testCase, settings);
  })();
};

// The `elements` of an update (operation 8). The array replaces the stored array as a whole, and so
// does each element. An object without an id takes the id of the stored object in its place:
// otherwise, a client that writes back an assertion without its id would create a new one.

const part = { id: v.optional(v.uuid), testCaseElementId: v.optional(v.uuid) };
const index = (position: number) => v.or(v.integerFrom(0), position);

const writtenElement = (position: number) =>
  v.object({
    id: v.optional(v.uuid),
    index: index(position),
    interaction: v.or(v.nullable(v.object({ ...part, ...r.interaction })), null),
    assertion: v.or(v.nullable(v.object({ ...part, ...r.assertion })), null),
    selectors: v.or(
      v.numbered((at) => v.object({ ...part, index: index(at), ...r.selector })),
      [],
    ),
    testCaseId: v.optional(v.uuid),
    ignoreFailure: v.or(v.flag, false),
  });

const writtenElements = v.numbered(writtenElement);

/** The body of operation 8: "Body (all optional)". */
const update = v.object({
  elements: v.optional(writtenElements),
  description: v.optional(v.text),
  entryPointUrlPath: v.optional(v.nullable(v.text)),
  status: v.optional(r.settableStatus),
  runStatus: v.optional(r.runStatus),
  folderName: v.optional(v.nullable(v.text)),
  interactionStatus: v.optional(r.interactionStatus),
  createBackendDiscoveryPrompt: v.optional(v.nonEmptyText),
  assignedTagNames: v.optional(v.list(v.text)),
  externalId: v.optional(v.nullable(v.text)),
});

/**
 * Operation 8: PATCH …/test-cases/{testCaseId}. A new prompt starts a generation; the elements stay
 * until it ends.
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
  const testCase: r.TestCase = {
    ...current,
    ...given,
    ...(elements && { elements: elementsAfter(elements, current, service.runtime) }),
    ...(folderName !== undefined && { folderId: folderIdNamed(service, owner, folderName) }),
    ...(tags && { tags: tagsNamed(service, owner, tags) }),
    updatedAt: service.runtime.now(),
  };
  service.store.testCases.update(testCase);
  if (prompt !== undefined) startDiscovery(service, testCase, prompt);
  // The answer to an update leaves out the fields that are "list only" (operation 8).
  return common(testCase, "update", service.settings);
};

const elementUpdate = v.object({ locatorLine: v.nonEmptyText });

/**
 * Operation 9: PATCH .../test-cases/{testCaseId}/elements/{elementId}. The selectors of the line
 * replace all others.
 */
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
  return elementView(element, testCase.id, "update");
};

function testCaseOf(service: Service, call: HandlerCall, target: r.TestTarget): r.TestCase {
  return ownedBy(target, liveCase(service, target.id, call.id("testCaseId")), "test case");
}

type Filter = (testCase: r.TestCase) => boolean;

/**
 * Reads the `filter` of the query (operation 7): values of fields, and lists of filters for AND, OR
 * and NOT (none).
 */
const filter: v.Reader<Filter> = (...sent) => {
  const { AND = [], OR, NOT = [], ...wanted } = filterFields(...sent);
  return (testCase) =>
    Object.entries(wanted).every(([name, value]) => Reflect.get(testCase, name) === value) &&
    AND.every((condition) => condition(testCase)) &&
    (OR === undefined || OR.some((condition) => condition(testCase))) &&
    !NOT.some((condition) => condition(testCase));
};

const filters = v.optional(v.list<Filter>((...sent) => filter(...sent)));
const filterFields = v.object({
  id: v.optional(v.uuid),
  testTargetId: v.optional(v.uuid),
  description: v.optional(v.text),
  status: v.optional(r.caseStatus),
  runStatus: v.optional(r.runStatus),
  folderId: v.optional(v.nullable(v.text)),
  externalId: v.optional(v.nullable(v.text)),
  AND: filters,
  OR: filters,
  NOT: filters,
});

/** Returns the list shape: all response fields of the table (Test case, operation 7). */
function listedTestCaseView(testCase: r.TestCase, settings: r.Settings): AnsweredJson {
  const { status = "", freePrompt, ...discovery } = testCase.discovery ?? {};
  const shown = testCase.discovery && {
    ...discovery,
    status: status === "CREATED" ? status : openEnum(status, settings),
    freePrompt: settings.showPrompt ? freePrompt : undefined,
  };
  return {
    ...common(testCase, "list", settings),
    ...r.pick(testCase, "type", "prerequisiteId", "proposalRunId", "teardownTestCaseId"),
    createdBy: openEnum(testCase.createdBy, settings),
    discovery: settings.showDiscovery ? shown : undefined,
  };
}

function common(testCase: r.TestCase, shape: ElementShape, settings: r.Settings): AnsweredObject {
  return {
    ...r.pick(
      testCase,
      "id",
      "testTargetId",
      "description",
      "status",
      "runStatus",
      "createdAt",
      "updatedAt",
    ),
    ...r.pick(testCase, "entryPointUrlPath", "folderId", "externalId"),
    elements: testCase.elements.map((element) => elementView(element, testCase.id, shape)),
    tags: settings.tagOrder === "sorted" ? testCase.tags.toSorted() : testCase.tags,
  };
}

/**
 * Returns the elements after the update. Refuses ids that are not of this test case, and repeated
 * ids.
 */
function elementsAfter(
  elements: readonly v.Read<ReturnType<typeof writtenElement>>[],
  testCase: r.TestCase,
  runtime: v.ServerRuntime,
): r.Element[] {
  v.refuseRepeated("elements", "id", elements);
  v.refuseRepeated("elements", "index", elements);
  const after = elements.map((written, position): r.Element => {
    const at = `elements[${position}]`;
    const { interaction: does, assertion: checks, index, ignoreFailure } = written;
    mustBe(`${at}.testCaseId`, written.testCaseId, testCase.id);
    const stored = known(`${at}.id`, written.id, testCase.elements);
    v.refuseRepeated(`${at}.selectors`, "index", written.selectors);
    v.refuseRepeated(`${at}.selectors`, "id", written.selectors);
    const id = stored?.id ?? runtime.newId();
    const partId = (name: "interaction" | "assertion"): string => {
      const before = stored?.[name]?.id;
      mustBe(`${at}.${name}.testCaseElementId`, written[name]?.testCaseElementId, stored?.id);
      mustBe(`${at}.${name}.id`, written[name]?.id, before);
      return before ?? runtime.newId();
    };
    return {
      id,
      index,
      interaction: does && { ...r.pick(does, "action", "calledWith"), id: partId("interaction") },
      assertion: checks && {
        ...r.pick(checks, "expectation", "calledWith"),
        id: partId("assertion"),
      },
      selectors: selectorsAfter(written.selectors, at, stored, runtime),
      ...(stored && r.pick(stored, "scrollState")),
      ignoreFailure,
    };
  });
  return after.toSorted((a, b) => a.index - b.index);
}

function selectorsAfter(
  selectors: v.Read<ReturnType<typeof writtenElement>>["selectors"],
  at: string,
  stored: r.Element | undefined,
  runtime: v.ServerRuntime,
): r.Selector[] {
  const before = stored?.selectors ?? [];
  const named = new Set(selectors.map((each) => each.id));
  const after = selectors.map((written, position) => {
    const place = `${at}.selectors[${position}]`;
    mustBe(`${place}.testCaseElementId`, written.testCaseElementId, stored?.id);
    // The stored selector in this place may have moved: then its id is used elsewhere in the
    // request.
    const free = named.has(before[position]?.id) ? undefined : before[position];
    const kept = written.id === undefined ? free : known(`${place}.id`, written.id, before);
    return {
      ...r.pick(written, "index", "selector", "selectorType", "options"),
      id: kept?.id ?? runtime.newId(),
      ...(kept && r.pick(kept, "scrollStateId")),
    };
  });
  return after.toSorted((a, b) => a.index - b.index);
}

function known<T extends { readonly id: string }>(
  at: string,
  id: string | undefined,
  stored: readonly T[],
) {
  const found = stored.find((each) => each.id === id);
  if (id !== undefined && found === undefined) throw v.badValue(at, "is not of this test case");
  return found;
}

function mustBe(at: string, given: string | undefined, own: string | undefined): void {
  if (given !== undefined && given !== own) throw v.badValue(at, "is not of this test case");
}

/** The calls in locator lines, with the selector type for each. */
const TYPES: Readonly<Record<string, string>> = {
  getByRole: "ROLE",
  getByText: "TEXT",
  getByLabel: "LABEL",
  getByPlaceholder: "PLACEHOLDER",
  getByAltText: "ALT_TEXT",
  getByTitle: "TITLE",
  getByTestId: "TEST_ID",
  locator: "CSS",
};

const CALL = new RegExp(
  String.raw`\b(${Object.keys(TYPES).join("|")})\(\s*(?:'([^']*)'|"([^"]*)")\s*([^)]*)\)`,
  "g",
);
const NAME = /\bname\s*:\s*(?:'([^']*)'|"([^"]*)")/;

/**
 * "How the locator line maps onto selectors: not shown" (operation 9): here, the calls that find
 * something, in order.
 */
function selectorsOf(locatorLine: string, runtime: v.ServerRuntime): r.Selector[] {
  const found = [...locatorLine.matchAll(CALL)].map(([, call = "", single, double, rest = ""]) => {
    const [, inSingle, inDouble] = NAME.exec(rest) ?? [];
    const name = inSingle ?? inDouble;
    const options: JsonObject = name === undefined ? {} : { name };
    return { selectorType: TYPES[call] ?? "LOCATOR", selector: single ?? double ?? "", options };
  });
  if (found.length === 0)
    found.push({ selectorType: "LOCATOR", selector: locatorLine.trim(), options: {} });
  return found.map((each, index) => ({ id: runtime.newId(), index, ...each }));
}

/** Scroll states are in "list response only" (Test case element). */
type ElementShape = "list" | "update";

function elementView(element: r.Element, testCaseId: string, shape: ElementShape): AnsweredJson {
  const { id: testCaseElementId, interaction: does, assertion: checks } = element;
  const isListed = shape === "list";
  return {
    ...r.pick(element, "id", "index", "ignoreFailure"),
    interaction: does && { ...does, testCaseElementId },
    assertion: checks && { ...checks, testCaseElementId },
    scrollState: isListed ? element.scrollState : undefined,
    selectors: element.selectors.map(({ scrollStateId, ...each }) => ({
      ...each,
      scrollStateId: isListed ? scrollStateId : undefined,
      testCaseElementId,
    })),
    testCaseId,
  };
}
