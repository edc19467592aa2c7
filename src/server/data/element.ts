import { type Read, nullable, numbered, object } from "../read/reader.ts";
import { flag, freeForm, integer, nonEmptyText, text, uuid } from "../read/values.ts";
import type { World } from "./world.ts";

/*
 * The stored shapes leave out `testCaseId` and `testCaseElementId`: they repeat where an object stands, and answers
 * add them. Readers accept and drop them, so that an answer's elements can be given back as data.
 */

const interactionReader = (world: World) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      action: fields.required("action", nonEmptyText),
      calledWith: fields.optional("calledWith", text),
    };
  });

const assertionReader = (world: World) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      expectation: fields.required("expectation", nonEmptyText),
      calledWith: fields.optional("calledWith", text),
    };
  });

const selectorReader = (world: World, position: number) =>
  object((fields) => {
    fields.ignored("testCaseElementId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      index: fields.optional("index", integer) ?? position,
      selector: fields.required("selector", text),
      selectorType: fields.required("selectorType", nonEmptyText),
      options: fields.optional("options", freeForm) ?? {},
      scrollStateId: fields.optional("scrollStateId", text),
    };
  });

const elementReader = (world: World, position: number) =>
  object((fields) => {
    fields.ignored("testCaseId");
    return {
      id: fields.optional("id", uuid) ?? world.newId(),
      index: fields.optional("index", integer) ?? position,
      interaction: fields.optional("interaction", nullable(interactionReader(world))) ?? null,
      assertion: fields.optional("assertion", nullable(assertionReader(world))) ?? null,
      selectors:
        fields.optional(
          "selectors",
          numbered((at) => selectorReader(world, at)),
        ) ?? [],
      scrollState: fields.optional("scrollState", freeForm),
      ignoreFailure: fields.optional("ignoreFailure", flag) ?? false,
      locatorLine: fields.optional("locatorLine", text),
    };
  });

/** The elements of a test case as stored (Test case element), with the locator line one was last set by. */
export const elementsReader = (world: World) => numbered((position) => elementReader(world, position));

export type Element = Read<ReturnType<typeof elementReader>>;
export type Interaction = Read<ReturnType<typeof interactionReader>>;
export type Assertion = Read<ReturnType<typeof assertionReader>>;
export type Selector = Read<ReturnType<typeof selectorReader>>;
