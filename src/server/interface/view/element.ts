import type { Answered } from "../../http/answered.ts";
import type { Element, Selector } from "../../data/element.ts";

/** Scroll states are in "list response only" (Test case element). */
export type Shape = "list" | "update";

export function elementView(element: Element, testCaseId: string, shape: Shape): Answered {
  const { interaction, assertion, id: testCaseElementId } = element;
  return {
    id: element.id,
    index: element.index,
    interaction: interaction && { ...interaction, testCaseElementId },
    assertion: assertion && { ...assertion, testCaseElementId },
    scrollState: shape === "list" ? element.scrollState : undefined,
    selectors: element.selectors.map((selector) => selectorView(selector, testCaseElementId, shape)),
    testCaseId,
    ignoreFailure: element.ignoreFailure,
  };
}

function selectorView(selector: Selector, testCaseElementId: string, shape: Shape): Answered {
  const scrollStateId = shape === "list" ? selector.scrollStateId : undefined;
  return { ...selector, scrollStateId, testCaseElementId };
}
