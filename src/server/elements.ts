import type { AnsweredJson } from "./http.ts";
import * as v from "./input.ts";
import {
  type Element,
  type Selector,
  type TestCase,
  assertion,
  interaction,
  pick,
  selector,
} from "./resources.ts";

/*
 * The `elements` of an update (operation 8). The array replaces the stored one whole, and so does every element in
 * it; what an element keeps is who it is. Ids may be left out, and an object without one takes the id of what the
 * stored element has in its place: else a client that writes back an assertion without its id would make a new one.
 */

const part = { id: v.optional(v.uuid), testCaseElementId: v.optional(v.uuid) };
const index = (position: number) => v.or(v.integerFrom(0), position);

const writtenElement = (position: number) =>
  v.object({
    id: v.optional(v.uuid),
    index: index(position),
    interaction: v.or(v.nullable(v.object({ ...part, ...interaction })), null),
    assertion: v.or(v.nullable(v.object({ ...part, ...assertion })), null),
    selectors: v.or(
      v.numbered((at) => v.object({ ...part, index: index(at), ...selector })),
      [],
    ),
    testCaseId: v.optional(v.uuid),
    ignoreFailure: v.or(v.flag, false),
  });

/** Elements as a request has them; `scrollState` is not among the fields a request may carry. */
export const writtenElements = v.numbered(writtenElement);

type Written = v.Read<ReturnType<typeof writtenElement>>;

/** The elements the case has afterwards; refuses ids that are not of this case, or come twice. */
export function elementsAfter(
  written: readonly Written[],
  testCase: TestCase,
  runtime: v.ServerRuntime,
): Element[] {
  v.refuseRepeated("elements", "id", written);
  v.refuseRepeated("elements", "index", written);
  return written
    .map((each, at) => {
      const place = `elements[${at}]`;
      mustBe(`${place}.testCaseId`, each.testCaseId, testCase.id);
      return elementAfter(each, place, known(`${place}.id`, each.id, testCase.elements), runtime);
    })
    .toSorted((a, b) => a.index - b.index);
}

function elementAfter(
  written: Written,
  at: string,
  stored: Element | undefined,
  runtime: v.ServerRuntime,
): Element {
  v.refuseRepeated(`${at}.selectors`, "index", written.selectors);
  v.refuseRepeated(`${at}.selectors`, "id", written.selectors);
  const id = stored?.id ?? runtime.newId();
  const { interaction: does, assertion: checks } = written;
  const partAfter = (name: "interaction" | "assertion"): string => {
    const before = stored?.[name]?.id;
    mustBe(`${at}.${name}.testCaseElementId`, written[name]?.testCaseElementId, stored?.id);
    mustBe(`${at}.${name}.id`, written[name]?.id, before);
    return before ?? runtime.newId();
  };
  return {
    id,
    index: written.index,
    interaction: does && { ...pick(does, "action", "calledWith"), id: partAfter("interaction") },
    assertion: checks && { ...pick(checks, "expectation", "calledWith"), id: partAfter("assertion") },
    selectors: selectorsAfter(written, at, stored, runtime),
    ...(stored?.scrollState === undefined ? {} : { scrollState: stored.scrollState }),
    ignoreFailure: written.ignoreFailure,
  };
}

function selectorsAfter(
  { selectors }: Written,
  at: string,
  stored: Element | undefined,
  runtime: v.ServerRuntime,
): Selector[] {
  const before = stored?.selectors ?? [];
  const named = new Set(selectors.map((each) => each.id));
  return selectors
    .map((written, position) => {
      const place = `${at}.selectors[${position}]`;
      mustBe(`${place}.testCaseElementId`, written.testCaseElementId, stored?.id);
      const inPlace = before[position];
      // The one in this place may have moved: then its id is spoken for elsewhere in the request.
      const free = named.has(inPlace?.id) ? undefined : inPlace;
      const kept = written.id === undefined ? free : known(`${place}.id`, written.id, before);
      const { id = runtime.newId(), scrollStateId } = kept ?? {};
      return {
        ...pick(written, "index", "selector", "selectorType", "options"),
        id,
        ...(scrollStateId === undefined ? {} : { scrollStateId }),
      };
    })
    .toSorted((a, b) => a.index - b.index);
}

/** The stored one of that id, where an id is given. */
function known<T extends { readonly id: string }>(
  at: string,
  id: string | undefined,
  stored: readonly T[],
): T | undefined {
  const found = stored.find((each) => each.id === id);
  if (id !== undefined && found === undefined) throw v.badValue(at, "is not of this test case");
  return found;
}

function mustBe(at: string, given: string | undefined, own: string | undefined): void {
  if (given !== undefined && given !== own) throw v.badValue(at, "is not of this test case");
}

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
export function selectorsOf(locatorLine: string, runtime: v.ServerRuntime): Selector[] {
  const calls = [...locatorLine.matchAll(CALL)];
  const found =
    calls.length === 0
      ? [{ selectorType: "LOCATOR", selector: locatorLine.trim(), options: {} }]
      : calls.map(([, call = "", single, double, rest = ""]) => {
          const [, inSingle, inDouble] = NAME.exec(rest) ?? [];
          const name = inSingle ?? inDouble;
          const selectorType = TYPES.get(call) ?? "LOCATOR";
          return {
            selectorType,
            selector: single ?? double ?? "",
            options: name === undefined ? {} : { name },
          };
        });
  return found.map((each, index) => ({ id: runtime.newId(), index, ...each }));
}

/** Scroll states are in "list response only" (Test case element). */
export type ElementShape = "list" | "update";

export function elementView(element: Element, testCaseId: string, shape: ElementShape): AnsweredJson {
  const { id: testCaseElementId, interaction: does, assertion: checks } = element;
  const isListed = shape === "list";
  return {
    ...pick(element, "id", "index", "ignoreFailure"),
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
