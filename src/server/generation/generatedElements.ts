import type { Assertion, Element, Interaction } from "../data/element.ts";
import type { World } from "../data/world.ts";

/** Steps beyond these are left out: a prompt may be a page long. */
const MOST_STEPS = 8;

/**
 * The elements a prompt leads to: a click for each of its sentences, and a look whether the last one's text is
 * there. "How a discovery ... executes internally" is not shown (Gaps); this only has to be the same every time.
 */
export function generatedElements(prompt: string, world: World): Element[] {
  const steps = prompt
    .split(/[.;\n]+/)
    .map((step) => step.trim())
    .filter((step) => step !== "")
    .slice(0, MOST_STEPS);
  const last = steps.at(-1) ?? prompt;
  return [
    ...steps.map((step, index) => elementOn(world, index, step, { interaction: click(world) })),
    elementOn(world, steps.length, last, { assertion: visible(world) }),
  ];
}

function click(world: World): Interaction {
  return { id: world.newId(), action: "CLICK", calledWith: undefined };
}

function visible(world: World): Assertion {
  return { id: world.newId(), expectation: "VISIBLE", calledWith: undefined };
}

function elementOn(
  world: World,
  index: number,
  words: string,
  does: { readonly interaction?: Interaction; readonly assertion?: Assertion },
): Element {
  const scrollStateId = world.newId();
  return {
    id: world.newId(),
    index,
    interaction: does.interaction ?? null,
    assertion: does.assertion ?? null,
    selectors: [
      { id: world.newId(), index: 0, selector: words, selectorType: "TEXT", options: {}, scrollStateId },
    ],
    scrollState: { id: scrollStateId },
    ignoreFailure: false,
    locatorLine: undefined,
  };
}
