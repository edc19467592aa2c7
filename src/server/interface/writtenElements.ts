import type { Assertion, Element, Interaction, Selector } from "../data/element.ts";
import type { TestCase } from "../data/testCase.ts";
import type { World } from "../data/world.ts";
import { type Read, nullable, numbered, object } from "../read/reader.ts";
import { badValue } from "../read/refusal.ts";
import { flag, freeForm, integerFrom, nonEmptyText, text, uuid } from "../read/values.ts";

/*
 * The `elements` of an update (operation 8). The array replaces the stored one whole, and so does every element in
 * it; what an element keeps is who it is. Ids may be left out, and an object without one takes the id of what the
 * stored element has in its place: else a client that writes back an assertion without its id would make a new one.
 */

const interaction = object((fields) => ({
  id: fields.optional("id", uuid),
  action: fields.required("action", nonEmptyText),
  calledWith: fields.optional("calledWith", text),
  testCaseElementId: fields.optional("testCaseElementId", uuid),
}));

const assertion = object((fields) => ({
  id: fields.optional("id", uuid),
  expectation: fields.required("expectation", nonEmptyText),
  calledWith: fields.optional("calledWith", text),
  testCaseElementId: fields.optional("testCaseElementId", uuid),
}));

const selector = (position: number) =>
  object((fields) => ({
    id: fields.optional("id", uuid),
    index: fields.optional("index", integerFrom(0)) ?? position,
    selector: fields.required("selector", text),
    selectorType: fields.required("selectorType", nonEmptyText),
    options: fields.optional("options", freeForm) ?? {},
    testCaseElementId: fields.optional("testCaseElementId", uuid),
  }));

const element = (position: number) =>
  object((fields) => ({
    id: fields.optional("id", uuid),
    index: fields.optional("index", integerFrom(0)) ?? position,
    interaction: fields.optional("interaction", nullable(interaction)) ?? null,
    assertion: fields.optional("assertion", nullable(assertion)) ?? null,
    selectors: fields.optional("selectors", numbered(selector)) ?? [],
    testCaseId: fields.optional("testCaseId", uuid),
    ignoreFailure: fields.optional("ignoreFailure", flag) ?? false,
  }));

/** Elements as a request has them; `scrollState` is not among the fields a request may carry. */
export const writtenElements = numbered(element);

type Written = Read<ReturnType<typeof element>>;

/** The elements the case has afterwards; refuses ids that are not of this case, or come twice. */
export function elementsAfter(written: readonly Written[], testCase: TestCase, world: World): Element[] {
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

function elementAfter(written: Written, at: string, stored: Element | undefined, world: World): Element {
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

type Part = { readonly at: string; readonly stored: Element | undefined; readonly world: World };

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
