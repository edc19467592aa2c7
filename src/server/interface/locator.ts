import type { Selector } from "../data/element.ts";
import type { World } from "../data/world.ts";

/** The calls a locator line is made of, and the selector type each stands for. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ["getByRole", "ROLE"],
  ["getByText", "TEXT"],
  ["getByLabel", "LABEL"],
  ["getByPlaceholder", "PLACEHOLDER"],
  ["getByAltText", "ALT_TEXT"],
  ["getByTitle", "TITLE"],
  ["getByTestId", "TEST_ID"],
  ["locator", "CSS"],
]);

/** A known call with a quoted first argument, and the text up to its closing bracket. */
const CALL = new RegExp(
  String.raw`\b(${[...TYPES.keys()].join("|")})\(\s*(?:'([^']*)'|"([^"]*)")\s*([^)]*)\)`,
  "g",
);
const NAME = /\bname\s*:\s*(?:'([^']*)'|"([^"]*)")/;

/**
 * "How the locator line maps onto selectors: not shown" (operation 9). Here every call of the line that finds
 * something is one selector, in order, and a line without any is a selector as it stands.
 */
export function selectorsOf(locatorLine: string, world: World): Selector[] {
  const calls = [...locatorLine.matchAll(CALL)];
  if (calls.length === 0) return [selectorAt(world, 0, "LOCATOR", locatorLine.trim(), undefined)];
  return calls.map(([, call = "", single, double, rest = ""], index) => {
    const name = NAME.exec(rest);
    const type = TYPES.get(call) ?? "LOCATOR";
    return selectorAt(world, index, type, single ?? double ?? "", name?.[1] ?? name?.[2]);
  });
}

function selectorAt(
  world: World,
  index: number,
  selectorType: string,
  selector: string,
  name: string | undefined,
): Selector {
  const options = name === undefined ? {} : { name };
  return { id: world.newId(), index, selector, selectorType, options, scrollStateId: undefined };
}
