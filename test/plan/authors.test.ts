import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ELEMENTS } from "../../src/model/fields.ts";
import type { JsonObject } from "../../src/model/json.ts";
import type { ValueObject } from "../../src/model/value.ts";
import { recordField } from "../../src/plan/memory.ts";
import { fingerprints, liveCase, liveElement, planOf } from "./build.ts";

/** Who changed which step since the last apply. */

const click: JsonObject = { interaction: { action: "CLICK", calledWith: "" } };
const visible: JsonObject = { assertion: { expectation: "VISIBLE" } };
const hover: JsonObject = { interaction: { action: "HOVER" } };
const selectors = [{ selectorType: "TEXT", selector: "Pay", options: { name: "Pay" } }];

/** Plans `declared` over `live` after an apply of `applied`; returns the author of each change. */
function authors(
  applied: readonly ValueObject[],
  live: readonly JsonObject[],
  declared: readonly ValueObject[],
): readonly string[] {
  const elements = live.map((parts, at) => liveElement(`e${at}`, at, parts));
  const record = recordField(fingerprints, "C", ELEMENTS, applied);
  const { plan } = planOf({
    declared: { testCases: { pay: { description: "Pay", elements: declared } } },
    live: { testCases: [liveCase("C", { description: "Pay", elements })] },
    state: [
      { type: "bound", address: "target.shop", id: "T", fields: {} },
      { type: "bound", address: "testCase.shop.pay", id: "C", fields: { elements: record } },
    ],
  });
  return plan.changes.flatMap(({ fields }) =>
    fields.map(({ path, changedBy }) => `${path.slice(1, 3).join(".")} ${changedBy ?? "unknown"}`),
  );
}

describe("the author of a step's change", () => {
  test.each<{
    name: string;
    applied: readonly ValueObject[];
    live?: readonly JsonObject[];
    declared: readonly ValueObject[];
    expected: readonly string[];
  }>([
    {
      name: "is the manifest, if it drops steps of different kinds",
      applied: [{ interaction: { action: "CLICK" } }, visible, hover],
      live: [{ ...click, selectors }, { ...visible, selectors }, hover],
      declared: [hover],
      expected: ["0 manifest", "1 manifest"],
    },
    {
      name: "is the manifest, if it empties the selectors of one step and edits another",
      applied: [{ interaction: { action: "CLICK" } }, visible],
      live: [{ ...click, selectors }, visible],
      declared: [{ interaction: { action: "CLICK" }, selectors: [] }, hover],
      expected: ["0.selectors manifest", "1.interaction manifest"],
    },
    {
      name: "differs from step to step",
      applied: [hover, visible, { interaction: { action: "TYPE", calledWith: "a" } }],
      live: [hover, { interaction: { action: "TYPE", calledWith: "b" } }],
      declared: [click, hover, visible, { interaction: { action: "TYPE", calledWith: "a" } }],
      expected: ["0 manifest", "2.assertion service", "3 service"],
    },
    {
      name: "is both, if they changed the same step",
      applied: [hover],
      live: [click],
      declared: [{ interaction: { action: "TYPE", calledWith: "a" } }],
      expected: ["0.interaction both", "0.interaction both"],
    },
    {
      name: "is the one who moved it",
      applied: [hover, visible, click],
      live: [hover, visible, click],
      declared: [click, hover, visible],
      expected: ["0 manifest"],
    },
    {
      name: "is each side for the step that it added",
      applied: [hover],
      live: [visible, hover],
      declared: [hover, click],
      expected: ["0 service", "1 manifest"],
    },
    {
      name: "is each side for the step that it removed",
      applied: [hover, visible, click],
      live: [hover, visible],
      declared: [visible, click],
      expected: ["0 manifest", "1 service"],
    },
  ])("$name", ({ applied, live, declared, expected }) => {
    expect(authors(applied, live ?? applied.map(whole), declared)).toEqual(expected);
  });

  const step = fc.record(
    {
      interaction: fc.record({ action: fc.constantFrom("CLICK", "TYPE", "HOVER") }),
      assertion: fc.record({ expectation: fc.constantFrom("VISIBLE", "HIDDEN") }),
      selectors: fc.constantFrom([], selectors, [{ selectorType: "ID", selector: "x" }]),
      ignoreFailure: fc.boolean(),
    },
    { requiredKeys: [] },
  );
  const steps = fc.array(step, { maxLength: 5 });
  /** Another list: of some steps of the first, and others. */
  const edited = fc
    .tuple(steps, steps, fc.array(fc.boolean(), { maxLength: 5 }))
    .map(([first, others, kept]) => ({
      first,
      second: [...first.filter((_, at) => kept[at] ?? true), ...others],
    }));

  test("is always the side that changed, if the other did not", () => {
    fc.assert(
      fc.property(edited, fc.array(step, { maxLength: 5 }), ({ first, second }, more) => {
        // What the manifests do not declare, the service may show as anything.
        const live = first.map((own, at) => ({ ...more[at], ...own }));
        for (const author of authors(first, live, second)) expect(author).toMatch(/ manifest$/);
        const wholes = first.map(whole);
        for (const author of authors(wholes, second, wholes)) expect(author).toMatch(/ service$/);
      }),
    );
  });
});

/** Returns a step with every part declared. */
function whole(parts: ValueObject): JsonObject {
  const all = { interaction: null, assertion: null, selectors: [], ignoreFailure: false, ...parts };
  return all;
}
