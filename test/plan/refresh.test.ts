// What a read asks for, and what it keeps of each test case: memory holds no more than a plan needs.
import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { DesiredFields, DesiredResource } from "../../src/model/desired.ts";
import { defined } from "../../src/model/json.ts";
import type { LiveTestCase, Reader } from "../../src/model/live.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { UNKNOWN } from "../../src/model/value.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { type RefreshOptions, desiredInScope, keeping, refresh } from "../../src/plan/refresh.ts";
import type { Scope } from "../../src/plan/scope.ts";
import {
  type TargetParts,
  liveCase,
  liveTarget,
  planInput,
  project,
  stateOf,
  target,
} from "./build.ts";
import { created } from "./situations/created.ts";
import { elements } from "./situations/elements.ts";
import { known } from "./situations/known.ts";
import {
  CLICK,
  LOGIN,
  VISIBLE,
  bound,
  discovered,
  intent,
  located,
  review,
  selectorsOf,
  steps,
} from "./situations/parts.ts";
import { seen } from "./situations/seen.ts";

/** Reads what a plan was made from, and notes which lists of test cases are asked for. */
function readerOf({ targets, testCases }: ReturnType<typeof planInput>["live"], asked: string[]) {
  return {
    listTargets: async () => Promise.resolve(targets),
    listTestCases: async (id, keep) => {
      asked.push(id);
      return Promise.resolve((testCases.get(id) ?? []).map(keep));
    },
  } satisfies Reader;
}

describe("a plan from what a read keeps is the plan from everything", () => {
  const rows = Object.entries({ ...created, ...elements, ...known, ...seen });
  test.each(rows)("%s", async (_, situation) => {
    const input = planInput(situation);
    const { plan } = makePlan(input);
    for (const needs of ["values", "records", "plan"] as const) {
      const { planned } = await refresh(readerOf(input.live, []), { ...input, needs });
      expect(planned.plan).toEqual(plan);
    }
  });
});

/** What a read may keep of a test case, beside its acceptance. */
const KEPT = {
  names: (live, asDeclared) => names(live, asDeclared, []),
  "names, prompt hidden": (live, asDeclared) => names(live, asDeclared, ["discovery.prompt"]),
  "as declared, no elements": (live, own) => ({ ...without(live), asDeclared: own }),
  "as declared, bare elements": (live, own) => ({ ...bare(live), asDeclared: own }),
  "as declared, everything": (live, own) => ({ ...whole(live), asDeclared: own }),
  "no elements": without,
  "bare elements": bare,
  everything: whole,
} satisfies Record<string, (live: LiveTestCase, own: DesiredResource<"testCase">) => object>;

function whole(live: LiveTestCase) {
  return { ...live, hasSteps: live.elements && live.elements.length > 0 };
}
function bare(live: LiveTestCase) {
  const elements = live.elements?.map(({ id, parts }) => ({ id, parts, raw: {} }));
  return { ...whole(live), elements };
}
function without(live: LiveTestCase) {
  return { ...whole(live), elements: undefined };
}
function names(
  { id, description, externalId, status, runStatus }: LiveTestCase,
  asDeclared: DesiredResource<"testCase">,
  hidden: readonly string[],
) {
  return { id, description, externalId, status, runStatus, asDeclared, hidden };
}

interface Row {
  /** Beside the declared fields that C1 shows. */
  readonly fields?: DesiredFields;
  readonly live?: Partial<LiveTestCase>;
  readonly state?: readonly StateEvent[];
  readonly more?: Omit<TargetParts, "testCases">;
  readonly others?: Readonly<Record<string, DesiredFields>>;
  readonly input?: Partial<RefreshOptions>;
}

function keptOf({ fields, live, state, more, others, input }: Row, needs: RefreshOptions["needs"]) {
  const text = { description: "Log in", externalId: "X", status: "ENABLED" };
  const declared = target({
    ...more,
    testCases: { ...others, login: { ...text, ...fields } },
  });
  const options: RefreshOptions = {
    ...planInput({ declared: {} }),
    desired: project(declared),
    ...input,
    ...(needs && { needs }),
  };
  const shown = liveCase("C1", {
    ...text,
    elements: steps(CLICK),
    discovery: discovered(),
    ...live,
  });
  const { acceptance, ...kept } = keeping(declared, state && stateOf(state), options)(shown);
  const own = declared.testCases.find(({ key }) => key === "login");
  const found = Object.entries(KEPT).find(
    ([, make]) => own && isDeepStrictEqual(defined(kept), defined(make(shown, own))),
  );
  return `${found?.[0] ?? JSON.stringify(kept)}${acceptance ? `, ${acceptance.state}` : ""}`;
}

const isBound = { state: [bound(LOGIN, "C1")] };
const gone: Address = "testCase.shop.gone";
const locatedLine = located("line", selectorsOf(CLICK));
const intended = (address: Address): StateEvent => ({
  type: "intended",
  address,
  intent: intent("x"),
});

/**
 * What is kept if values are needed, for the records of an apply, and for a plan; one text if it is
 * the same for all.
 */
const rows: readonly (readonly [string, Row, kept: readonly string[]])[] = [
  ["bound by state", isBound, ["as declared, no elements", "names", "names"]],
  [
    "bound by its manifest",
    { more: { ids: { login: "C1" } } },
    ["as declared, no elements", "names", "names"],
  ],
  ["of its name", {}, ["no elements", "names", "names"]],
  ["of its external id", { live: { description: "Log in" } }, ["no elements", "names", "names"]],
  [
    "whose only name is its external id",
    { fields: { description: "Other" }, others: { other: { description: "Log in" } } },
    ["no elements"],
  ],
  ["of a removed one's name", { state: [bound(LOGIN, "C9")] }, ["no elements", "names", "names"]],
  ["of the name of two", { others: { b: { description: "Log in" } } }, ["no elements"]],
  [
    "bound to two",
    { state: [bound(LOGIN, "C1"), bound("testCase.shop.b", "C1")], others: { b: {} } },
    ["no elements"],
  ],
  ["that is undeclared", { live: { description: "Z", externalId: null } }, ["no elements"]],
  [
    "that is undeclared, where elements are declared",
    { live: { description: "Z", externalId: null }, fields: { elements: [CLICK] } },
    ["no elements"],
  ],
  ["that differs", { ...isBound, fields: { status: "DISABLED" } }, ["no elements"]],
  [
    "that refers to another",
    { ...isBound, fields: { "discovery.prerequisite": "b" }, others: { b: {} } },
    ["no elements"],
  ],
  [
    "of the fixed type",
    { ...isBound, fields: { "discovery.type": "LOGIN" }, live: { type: "LOGIN" } },
    ["as declared, no elements", "names", "names"],
  ],
  [
    "of another fixed type",
    { ...isBound, fields: { "discovery.type": "LOGIN" }, live: { type: "SEARCH" } },
    ["no elements"],
  ],
  [
    "with a prompt that is not shown",
    {
      ...isBound,
      fields: { "discovery.prompt": "p" },
      live: { discovery: discovered({ freePrompt: undefined }) },
    },
    ["as declared, no elements", "names, prompt hidden", "names, prompt hidden"],
  ],
  [
    "with its prompt",
    { ...isBound, fields: { "discovery.prompt": "Log in" } },
    ["as declared, no elements", "names", "names"],
  ],
  [
    "to be generated again",
    { ...isBound, input: { rediscover: new Set([LOGIN]) } },
    ["as declared, no elements"],
  ],
  [
    "whose values are asked for",
    { ...isBound, input: { whole: new Set([LOGIN]) } },
    ["as declared, no elements"],
  ],
  [
    "beside one whose values are asked for",
    { ...isBound, input: { whole: new Set([gone]), rediscover: new Set([gone]) } },
    ["as declared, no elements", "names", "names"],
  ],
  [
    "with recorded locators",
    { state: [bound(LOGIN, "C1"), locatedLine] },
    ["as declared, no elements", "as declared, no elements", "names"],
  ],
  [
    "with recorded secrets",
    { state: [bound(LOGIN, "C1", { secrets: ["tags"] })] },
    ["as declared, no elements", "as declared, no elements", "names"],
  ],
  [
    "whose generation is under way",
    { state: [bound(LOGIN, "C1"), { type: "generating", address: LOGIN, shown: "x" }] },
    ["as declared, no elements", "as declared, no elements", "names"],
  ],
  [
    "whose generation failed",
    {
      state: [bound(LOGIN, "C1"), { type: "generated", address: LOGIN, failed: "x" }],
      live: { discovery: discovered({ status: "FAILED" }) },
    },
    ["no elements"],
  ],
  ["without steps that is on", { ...isBound, live: { elements: [] } }, ["no elements"]],
  [
    "that shows no elements",
    { ...isBound, live: { elements: undefined } },
    ["as declared, no elements", "names", "names"],
  ],
  [
    "with its elements",
    { ...isBound, fields: { elements: [CLICK] } },
    ["as declared, bare elements", "names", "names"],
  ],
  [
    "of its name with its elements",
    { fields: { elements: [CLICK] } },
    ["bare elements", "names", "names"],
  ],
  ["with other elements", { ...isBound, fields: { elements: [VISIBLE] } }, ["everything"]],
  ["of its name with other elements", { fields: { elements: [VISIBLE] } }, ["everything"]],
  [
    "of the name of two, of which one has its elements",
    {
      fields: { elements: [CLICK] },
      others: { b: { description: "Log in", elements: [VISIBLE] } },
    },
    ["everything"],
  ],
  [
    "of the name of two, of which one declares elements",
    { fields: { elements: [CLICK] }, others: { b: { description: "Log in" } } },
    ["bare elements"],
  ],
  [
    "with unknown elements",
    {
      ...isBound,
      fields: { elements: [{ interaction: { action: "FILL", calledWith: UNKNOWN } }] },
    },
    ["as declared, everything", "names", "names"],
  ],
  [
    "that shows no elements, where one without any is declared",
    { ...isBound, fields: { elements: [], status: "DISABLED" }, live: { elements: undefined } },
    ["no elements"],
  ],
  [
    "with a locator line that must be sent",
    { ...isBound, fields: { elements: [{ ...CLICK, locatorLine: "getByText('x')" }] } },
    ["bare elements"],
  ],
  [
    "with a locator line that was sent",
    {
      state: [bound(LOGIN, "C1"), located("getByText('x')", selectorsOf(CLICK))],
      fields: { elements: [{ ...CLICK, locatorLine: "getByText('x')" }] },
    },
    ["as declared, bare elements", "as declared, bare elements", "names"],
  ],
  ["of an orphan with a declared name", { state: [bound(gone, "C1")] }, ["no elements"]],
  [
    "of an orphan, where elements are declared",
    { state: [bound(gone, "C1")], others: { b: { elements: [VISIBLE] } } },
    ["everything"],
  ],
  [
    "while a creation is unclear",
    { state: [intended("testCase.shop.b")], fields: { elements: [CLICK] } },
    ["everything"],
  ],
  [
    "that is bound, while a creation is unclear",
    { state: [bound(LOGIN, "C1"), intended("testCase.shop.b")], fields: { elements: [CLICK] } },
    ["bare elements"],
  ],
  [
    "while the creation of an environment is unclear",
    { state: [intended("environment.shop.b")], fields: { elements: [CLICK] } },
    ["bare elements"],
  ],
  [
    "with accepted steps",
    { ...isBound, input: review("accepted") },
    ["as declared, no elements, accepted", "names, accepted", "names, accepted"],
  ],
  [
    "of its name with accepted steps",
    { input: review("accepted") },
    ["no elements, accepted", "names, accepted", "names, accepted"],
  ],
  [
    "that differs, with accepted steps",
    { ...isBound, fields: { status: "DISABLED" }, input: review("changed") },
    ["no elements, changed"],
  ],
  [
    "of the name of two, with accepted steps",
    { others: { b: { description: "Log in" } }, input: review("accepted") },
    ["everything"],
  ],
  [
    "that is undeclared, with accepted steps",
    { live: { description: "Z", externalId: null }, input: review("accepted") },
    ["no elements"],
  ],
];

test.each(rows)("a read keeps of a test case %s", (_, row, expected) => {
  const kept = (["values", "records", "plan"] as const).map((needs) => keptOf(row, needs));
  expect(kept).toEqual(expected.length === 1 ? kept.map(() => expected[0]) : expected);
  expect(keptOf(row, undefined)).toBe(kept[0]);
});

describe("what is read of a project", () => {
  const both = project(target({ testCases: { login: {} } }), target({}, "other"));
  const states = new Map([["other", stateOf([bound("testCase.other.gone", "G")])]]);
  const scopes: readonly (readonly [string, Scope, readonly string[]])[] = [
    ["everything", { only: [], exclude: [] }, ["shop", "other"]],
    ["one test case", { only: [LOGIN], exclude: [] }, ["shop"]],
    ["a target without its test cases", { only: ["target.other"], exclude: [] }, ["other"]],
    ["what only state knows", { only: ["testCase.other.gone"], exclude: [] }, ["other"]],
    ["nothing", { only: ["testCase.none.x"], exclude: [] }, []],
    ["all but one target", { only: [], exclude: ["*.other", "*.other.*"] }, ["shop"]],
    [
      "a target whose address is left out",
      { only: [], exclude: ["target.shop"] },
      ["shop", "other"],
    ],
  ];
  test.each(scopes)("%s", (_, scope, expected) => {
    const found = desiredInScope(both, scope, states);
    expect(found).toEqual({
      ...both,
      targets: both.targets.filter(({ key }) => expected.includes(key)),
    });
  });

  test("each live target once, and none that is out of scope", async () => {
    const live = {
      targets: [liveTarget(), { id: "O", app: "Other", environments: [] }],
      testCases: new Map([["T", [liveCase("C1")]]]),
    };
    const twice = { ...target({}, "twice"), id: "T" };
    const other = target({ fields: { app: "Other" } }, "other");
    const fresh = target({ fields: { app: "New" } }, "fresh");
    const asked: string[] = [];
    const input = planInput({
      declared: {},
      input: { scope: { only: ["*.shop", "*.twice", "*.fresh"], exclude: [] } },
    });
    const desired = project(target({}), twice, fresh, other);
    const found = await refresh(readerOf(live, asked), { ...input, desired });
    expect(asked).toEqual(["T"]);
    expect(found.input.elsewhere).toEqual([other]);
    expect(found.input.desired.targets.map(({ key }) => key)).toEqual(["shop", "twice", "fresh"]);
    expect(found.input.live).toEqual({
      targets: live.targets,
      testCases: new Map([["T", [{ ...liveCase("C1"), elements: undefined, hasSteps: false }]]]),
    });
  });
});
