import type { Element } from "../data/element.ts";
import { object } from "../read/reader.ts";
import { notFound } from "../read/refusal.ts";
import { nonEmptyText } from "../read/values.ts";
import { selectorsOf } from "./locator.ts";
import { testCaseOf, testTargetOf } from "./lookup.ts";
import { type Operation, updated } from "./operation.ts";
import { elementView } from "./view/element.ts";

const update = object((fields) => ({ locatorLine: fields.required("locatorLine", nonEmptyText) }));

/** Operation 9: PATCH .../test-cases/{testCaseId}/elements/{elementId}. The line's selectors replace all others. */
export const updateElement: Operation = (service, call) => {
  const testCase = testCaseOf(service, call, testTargetOf(service, call));
  const current = testCase.elements.find((each) => each.id === call.id("elementId"));
  if (current === undefined) throw notFound("test case element");
  const { locatorLine } = update(call.body(), "");
  const selectors = selectorsOf(locatorLine, service.world);
  const element: Element = { ...current, locatorLine, selectors };
  service.store.testCases.update({
    ...testCase,
    elements: testCase.elements.map((each) => (each.id === element.id ? element : each)),
    updatedAt: service.world.now(),
  });
  return updated(service, elementView(element, testCase.id, "update"));
};
