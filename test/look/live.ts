import fc from "fast-check";
import { parseJson } from "../../src/model/json.ts";
import type { LiveElement, LiveTestCase } from "../../src/model/live.ts";
import { element } from "../../src/service/answers.ts";

const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(one, { nil: undefined });
const nullable = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | null | undefined> =>
  fc.oneof(one, fc.constant(null), fc.constant(undefined));

const rawElement = (index: number): fc.Arbitrary<LiveElement> =>
  fc
    .record({
      id: fc.uuid(),
      interaction: fc.oneof(
        fc.constant(null),
        fc.record({ action: fc.constant("CLICK"), calledWith: fc.string() }),
      ),
      assertion: fc.constant(null),
      selectors: fc.array(
        fc.record({
          selectorType: fc.constant("TEXT"),
          selector: fc.string(),
          options: fc.constant({}),
        }),
        { maxLength: 2 },
      ),
      ignoreFailure: fc.boolean(),
      unheardOf: fc.jsonValue().map((value) => parseJson(JSON.stringify(value))),
    })
    .map((raw) => element({ ...raw, index }));

/** Any test case that a service might list. */
export const liveCase: fc.Arbitrary<LiveTestCase> = fc.record({
  id: fc.uuid(),
  description: maybe(fc.string({ unit: "grapheme" })),
  status: maybe(fc.constantFrom("ENABLED", "DISABLED", "DRAFT", "DELETED", "UNHEARD_OF")),
  runStatus: maybe(fc.constantFrom("ON", "OFF")),
  type: nullable(fc.constant("LOGIN")),
  entryPointUrlPath: nullable(fc.webPath()),
  folderId: nullable(fc.uuid()),
  externalId: nullable(fc.string({ minLength: 1 })),
  tags: maybe(fc.array(fc.string(), { maxLength: 3 })),
  prerequisiteId: nullable(fc.uuid()),
  elements: maybe(
    fc
      .integer({ min: 0, max: 3 })
      .chain((n) => fc.tuple(...Array.from({ length: n }, (_, at) => rawElement(at)))),
  ),
  discovery: maybe(
    fc.record({
      status: maybe(fc.constant("CREATED")),
      freePrompt: maybe(fc.string()),
      abortCause: fc.constant(undefined),
      message: fc.constant(undefined),
    }),
  ),
});
