import type { AnsweredJson } from "./http.ts";
import {
  type Read,
  badValue,
  flag,
  freeForm,
  integerFrom,
  nonEmptyText,
  nullable,
  numbered,
  object,
  text,
  uuid,
} from "./input.ts";
import type { Assertion, Element, Interaction, Selector, TestCase, ServerRuntime } from "./resources.ts";

/*
 * The `elements` of an update (operation 8). The array replaces the stored one whole, and so does every element in
 * it; what an element keeps is who it is. Ids may be left out, and an object without one takes the id of what the
 * stored element has in its place: else a client that writes back an assertion without its id would make a new one.
 */

const writtenInteraction = object((fields) => ({
  id: fields.optional("id", uuid),
  action: fields.required("action", nonEmptyText),
  calledWith: fields.optional("calledWith", text),
  testCaseElementId: fields.optional("testCaseElementId", uuid),
}));

const writtenAssertion = object((fields) => ({
  id: fields.optional("id", uuid),
  expectation: fields.required("expectation", nonEmptyText),
  calledWith: fields.optional("calledWith", text),
  testCaseElementId: fields.optional("testCaseElementId", uuid),
}));

const writtenSelector = (position: number) =>
  object((fields) => ({
    id: fields.optional("id", uuid),
    index: fields.optional("index", integerFrom(0)) ?? position,
    selector: fields.required("selector", text),
    selectorType: fields.required("selectorType", nonEmptyText),
    options: fields.optional("options", freeForm) ?? {},
    testCaseElementId: fields.optional("testCaseElementId", uuid),
  }));

const writtenElement = (position: number) =>
  object((fields) => ({
    id: fields.optional("id", uuid),
    index: fields.optional("index", integerFrom(0)) ?? position,
    interaction: fields.optional("interaction", nullable(writtenInteraction)) ?? null,
    assertion: fields.optional("assertion", nullable(writtenAssertion)) ?? null,
    selectors: fields.optional("selectors", numbered(writtenSelector)) ?? [],
    testCaseId: fields.optional("testCaseId", uuid),
    ignoreFailure: fields.optional("ignoreFailure", flag) ?? false,
  }));

/** Elements as a request has them; `scrollState` is not among the fields a request may carry. */
export const writtenElements = numbered(writtenElement);

type Written = Read<ReturnType<typeof writtenElement>>;

/** The elements the case has afterwards; refuses ids that are not of this case, or come twice. */
export function elementsAfter(
  written: readonly Written[],
  testCase: TestCase,
  world: ServerRuntime,
): Element[] {
  const stored = new Map(testCase.elements.map((each) => [each.id, each]));
  refuseRepeated("elements", "id", written);
  refuseRepeated("elements", "index", written);
  return written
    .map((each, at) => {
      const place = `elements[${at}]`;
      mustBe(`${place}.testCaseId`, each.testCaseId, testCase.id);
      return elementAfter(each, place, known(`${place}.id`, each.id, stored), world);
    })
    .toSorted((a, b) => a.index - b.index);
}

function elementAfter(
  written: Written,
  at: string,
  stored: Element | undefined,
  world: ServerRuntime,
): Element {
  refuseRepeated(`${at}.selectors`, "index", written.selectors);
  refuseRepeated(`${at}.selectors`, "id", written.selectors);
  const part = { at, stored, world };
  return {
    id: stored?.id ?? world.newId(),
    index: written.index,
    interaction: interactionAfter(written, part),
    assertion: assertionAfter(written, part),
    selectors: selectorsAfter(written, part),
    scrollState: stored?.scrollState,
    ignoreFailure: written.ignoreFailure,
    locatorLine: undefined,
  };
}

type Part = { readonly at: string; readonly stored: Element | undefined; readonly world: ServerRuntime };

function interactionAfter(written: Written, { at, stored, world }: Part): Interaction | null {
  if (written.interaction === null) return null;
  const { testCaseElementId, id, ...rest } = written.interaction;
  const place = `${at}.interaction`;
  mustBe(`${place}.testCaseElementId`, testCaseElementId, stored?.id);
  mustBe(`${place}.id`, id, stored?.interaction?.id);
  return { id: stored?.interaction?.id ?? world.newId(), ...rest };
}

function assertionAfter(written: Written, { at, stored, world }: Part): Assertion | null {
  if (written.assertion === null) return null;
  const { testCaseElementId, id, ...rest } = written.assertion;
  const place = `${at}.assertion`;
  mustBe(`${place}.testCaseElementId`, testCaseElementId, stored?.id);
  mustBe(`${place}.id`, id, stored?.assertion?.id);
  return { id: stored?.assertion?.id ?? world.newId(), ...rest };
}

function selectorsAfter(written: Written, { at, stored, world }: Part): Selector[] {
  const before = stored?.selectors ?? [];
  const byId = new Map(before.map((each) => [each.id, each]));
  const named = new Set(written.selectors.map((each) => each.id));
  return written.selectors
    .map(({ testCaseElementId, id, ...rest }, position) => {
      const place = `${at}.selectors[${position}]`;
      mustBe(`${place}.testCaseElementId`, testCaseElementId, stored?.id);
      const inPlace = before[position];
      const same = id === undefined ? inPlace : known(`${place}.id`, id, byId);
      // The one in this place may have moved: then its id is spoken for elsewhere in the request.
      const kept = id === undefined && named.has(inPlace?.id) ? undefined : same;
      return { id: kept?.id ?? world.newId(), ...rest, scrollStateId: kept?.scrollStateId };
    })
    .toSorted((a, b) => a.index - b.index);
}

function known<T>(at: string, id: string | undefined, stored: ReadonlyMap<string, T>): T | undefined {
  if (id === undefined) return undefined;
  const found = stored.get(id);
  if (found === undefined) throw badValue(at, "is not of this test case");
  return found;
}

function mustBe(at: string, given: string | undefined, own: string | undefined): void {
  if (given !== undefined && given !== own) throw badValue(at, "is not of this test case");
}

function refuseRepeated<K extends "id" | "index">(
  at: string,
  name: K,
  items: readonly { readonly [key in K]: string | number | undefined }[],
): void {
  const seen = new Set<string | number>();
  for (const [position, item] of items.entries()) {
    const value = item[name];
    if (value === undefined) continue;
    if (seen.has(value)) throw badValue(`${at}[${position}].${name}`, "comes twice");
    seen.add(value);
  }
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
export function selectorsOf(locatorLine: string, world: ServerRuntime): Selector[] {
  const calls = [...locatorLine.matchAll(CALL)];
  if (calls.length === 0) return [selectorAt(world, 0, "LOCATOR", locatorLine.trim(), undefined)];
  return calls.map(([, call = "", single, double, rest = ""], index) => {
    const name = NAME.exec(rest);
    const type = TYPES.get(call) ?? "LOCATOR";
    return selectorAt(world, index, type, single ?? double ?? "", name?.[1] ?? name?.[2]);
  });
}

function selectorAt(
  world: ServerRuntime,
  index: number,
  selectorType: string,
  selector: string,
  name: string | undefined,
): Selector {
  const options = name === undefined ? {} : { name };
  return { id: world.newId(), index, selector, selectorType, options, scrollStateId: undefined };
}

/** Scroll states are in "list response only" (Test case element). */
export type Shape = "list" | "update";

export function elementView(element: Element, testCaseId: string, shape: Shape): AnsweredJson {
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

function selectorView(selector: Selector, testCaseElementId: string, shape: Shape): AnsweredJson {
  const scrollStateId = shape === "list" ? selector.scrollStateId : undefined;
  return { ...selector, scrollStateId, testCaseElementId };
}
