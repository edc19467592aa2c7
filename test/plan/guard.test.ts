import { describe, expect, test } from "vitest";
import { asReviewed } from "../../src/app/stale-plan.ts";
import type { Address } from "../../src/model/address.ts";
import { TascError } from "../../src/model/error.ts";
import { Secret } from "../../src/model/value.ts";
import {
  type Staleness,
  changedFields,
  compareGuards,
  guardOf,
  guardsOf,
} from "../../src/plan/staleness.ts";
import { planJson } from "../../src/render/json.ts";
import { createRedactor } from "../../src/render/redact.ts";
import {
  type Situation,
  fingerprints,
  liveCase,
  liveElement,
  liveTarget,
  planOf,
} from "./build.ts";

type Stale = Staleness & { readonly address: Address };

/** Why a plan that was saved in one situation is stale in another. */
function staleness(reviewed: Situation, now: Situation): readonly Stale[] {
  const saved = planOf(reviewed);
  const guards = guardsOf(saved, fingerprints);
  const current = planOf(now);
  return saved.plan.changes.flatMap((change) => {
    const guard = guards[change.address];
    if (guard === undefined) throw new Error(`${change.address} is not guarded`);
    const { address: own } = change;
    const found = compareGuards(guard, guardOf(own, changedFields(change), current, fingerprints));
    return found.map((why) => ({ ...why, address: own }));
  });
}

const click = { interaction: { action: "CLICK", calledWith: "x" } };
const declared = { testCases: { a: { description: "C1", status: "DISABLED", runStatus: "ON" } } };
const live = { testCases: [liveCase("C1"), liveCase("C2")] };
const base: Situation = { declared, live };
const steps: Situation = {
  declared: { testCases: { a: { description: "C1", elements: [click] } } },
  live: { testCases: [liveCase("C1", { elements: [liveElement("1", 0), liveElement("2", 1)] })] },
};
const withSteps = (...elements: readonly ReturnType<typeof liveElement>[]): Situation => ({
  ...steps,
  live: { testCases: [liveCase("C1", { elements })] },
});
const line: Situation = {
  declared: { testCases: { a: { description: "C1", elements: [{ locatorLine: "l" }] } } },
  live: { testCases: [liveCase("C1", { elements: [liveElement("1", 0)] })] },
};
const orphan: Situation = {
  declared: { onRemove: "disable" },
  live,
  state: [{ type: "bound", address: "testCase.shop.gone", id: "C1", fields: {} }],
};
const password = (text: string): Situation => ({
  declared: {
    environments: { p: { discoveryUrl: "https://p", basicAuth: { password: new Secret(text) } } },
  },
  live: { target: liveTarget([{ discoveryUrl: "https://p" }]) },
});
const creation: Situation = {
  declared: { testCases: { a: { description: "New", "discovery.prompt": "p" } } },
  live,
};
const address = "testCase.shop.a";

describe("a saved plan is stale only if something that it relies on has changed", () => {
  const rows: readonly (readonly [string, Situation, Situation, readonly Stale[]])[] = [
    ["nothing has changed", base, base, []],
    [
      "a field that it does not change has another value",
      base,
      { ...base, live: { testCases: [liveCase("C1", { tags: ["new"], runStatus: "ON" })] } },
      [],
    ],
    [
      "a field that it changes has another value",
      base,
      { ...base, live: { testCases: [liveCase("C1", { status: "DRAFT" })] } },
      [{ kind: "value", address, field: "status" }],
    ],
    [
      "a field that it changes is as wanted by now",
      base,
      { ...base, live: { testCases: [liveCase("C1", { status: "DISABLED" })] } },
      [{ kind: "value", address, field: "status" }],
    ],
    [
      "the manifest says something else, also of another field",
      base,
      { ...base, declared: { testCases: { a: { ...declared.testCases.a, runStatus: "OFF" } } } },
      [{ kind: "manifest", address }],
    ],
    [
      "another resource has changed",
      base,
      { ...base, live: { testCases: [liveCase("C1"), liveCase("C2", { status: "DRAFT" })] } },
      [],
    ],
    [
      "a secret has changed",
      password("old"),
      password("new"),
      [{ kind: "manifest", address: "environment.shop.p" }],
    ],
    [
      "what is to be created is there",
      creation,
      { ...creation, live: { testCases: [liveCase("C9", { description: "New" })] } },
      [{ kind: "existence", address, reviewed: null, now: "C9" }],
    ],
    [
      "what is to be changed is gone",
      base,
      { ...base, live: { testCases: [liveCase("C2")] } },
      [{ kind: "existence", address, reviewed: "C1", now: null }],
    ],
    ["an orphan is as it was", orphan, orphan, []],
    [
      "an orphan is gone",
      orphan,
      { ...orphan, live: { testCases: [] } },
      [{ kind: "existence", address: "testCase.shop.gone", reviewed: "C1", now: null }],
    ],
    [
      "an element that is to go has changed",
      steps,
      withSteps(liveElement("1", 0), liveElement("2", 1, { ignoreFailure: true })),
      [{ kind: "value", address, field: "elements" }],
    ],
    [
      "what is not declared of an element that stays has changed",
      steps,
      withSteps(liveElement("1", 0, { ignoreFailure: true }), liveElement("2", 1)),
      [],
    ],
    [
      "the selectors have changed that a locator line is to make",
      line,
      {
        ...line,
        live: {
          testCases: [
            liveCase("C1", {
              elements: [
                liveElement("1", 0, {
                  selectors: [{ selectorType: "TEXT", selector: "by hand" }],
                }),
              ],
            }),
          ],
        },
      },
      [{ kind: "value", address, field: "elements" }],
    ],
  ];
  test.each(rows)("%s", (_, reviewed, now, expected) => {
    expect(planOf(reviewed).plan.changes.length).toBeGreaterThan(0);
    expect(staleness(reviewed, now)).toEqual(expected);
  });

  test("guards contain no values", () => {
    const guards = JSON.stringify(guardsOf(planOf(password("s3cret")), fingerprints));
    expect(guards).not.toContain("s3cret");
  });
});

describe("a saved plan that switches a test case on", () => {
  const shown = (abortCause: string | undefined): Situation => ({
    declared: {
      testCases: { a: { description: "C1", status: "ENABLED", runStatus: "ON", tags: ["new"] } },
    },
    live: {
      testCases: [
        liveCase("C1", {
          status: "DRAFT",
          runStatus: "OFF",
          discovery: { status: "CREATED", freePrompt: "p", abortCause, message: undefined },
        }),
      ],
    },
  });
  const planned = planOf(shown(undefined));
  const saved = {
    only: [],
    exclude: [],
    run: [],
    rediscover: [],
    extras: {},
    targets: { shop: "T" },
    plan: planJson(planned.plan, { tool: "", createdAt: "" }),
    guards: guardsOf(planned, fingerprints),
  };
  const applied = (now: Situation) =>
    asReviewed(saved, planOf(now), fingerprints, createRedactor([]));

  test("is applied as it is while the generation is under way", () => {
    expect(applied(shown(undefined)).plan.changes[0]?.calls[0]?.body).toEqual({
      status: "ENABLED",
      runStatus: "ON",
      assignedTagNames: ["new"],
    });
  });

  test("is stale once the generation has failed", () => {
    let told = "";
    try {
      applied(shown("PROMPT_FAILED"));
    } catch (error) {
      if (!(error instanceof TascError)) throw error;
      told = `${error.reason}: ${error.diagnostics[0]?.detail}`;
    }
    expect(told).toMatch(/^stale: /);
    expect(told).toMatch(/testCase\.shop\.a, status\n.*"DRAFT"\n.*its generation has failed/);
    expect(told).toMatch(/testCase\.shop\.a, runStatus\n.*"OFF"\n/);
    expect(told).not.toContain("tags");
  });
});
