// What an apply records of what it read.
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { DesiredFields } from "../../src/model/desired.ts";
import type { LiveTestCase } from "../../src/model/live.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { Secret, UNKNOWN, type Value } from "../../src/model/value.ts";
import { batchContent, idsIn } from "../../src/plan/batches.ts";
import { locatorDigest, selectorsDigest } from "../../src/plan/elements.ts";
import { memoryOf, recordField } from "../../src/plan/memory.ts";
import { isPulled, refreshEvents, renewalEvents } from "../../src/plan/record.ts";
import { type Field, fieldsOf } from "../../src/model/fields.ts";
import { applyEvents } from "../../src/state/events.ts";
import {
  type Situation,
  fingerprints,
  liveCase,
  liveElement,
  liveTarget,
  planOf,
  resource,
  stateOf,
} from "./build.ts";
import {
  BY_TEXT,
  CLICK,
  FILL,
  LOGIN,
  SPRING,
  VISIBLE,
  applied,
  bound,
  discovered,
  intent,
  keyed,
  springContent,
  steps,
} from "./situations/parts.ts";

const GONE: Address = "testCase.shop.gone";
const [APP] = fieldsOf("target");
if (APP === undefined) throw new Error("no fields");
/** The target as it is recorded, so that rows tell only of what is in it. */
const SHOP = bound("target.shop", "T", {
  fields: { app: recordField(fingerprints, "T", APP, "Shop") },
});

interface Options {
  readonly inScope?: Parameters<typeof refreshEvents>[2];
  readonly dueOf?: Parameters<typeof refreshEvents>[3];
}

/** What is recorded of the only target. The same is recorded once. */
function eventsOf(situation: Situation, { inScope = () => true, dueOf }: Options = {}) {
  const { matched, states } = planOf(situation);
  const one = matched.get("shop");
  if (one === undefined) throw new Error("not matched");
  const events = refreshEvents(one, fingerprints, inScope, dueOf);
  const [state] = states;
  if (state !== undefined && one.live !== undefined) {
    const again = { ...one, state: applyEvents(state, events) };
    expect(refreshEvents(again, fingerprints, inScope, dueOf)).toEqual([]);
  }
  return events;
}

describe("the record of a test case", () => {
  interface Row {
    readonly fields?: DesiredFields;
    readonly live?: Partial<LiveTestCase>;
    readonly before?: readonly StateEvent[];
    readonly options?: Options;
    readonly id?: string;
  }
  const name = { description: "Log in" };
  const on = { ...name, status: "ENABLED" };
  const secretName = { description: new Secret("Log in") };
  const secretly = (fields: DesiredFields, ...secrets: readonly string[]) =>
    applied({ ...name, ...fields }, { secrets });
  const elements = [CLICK, VISIBLE];
  const made = { elements: steps(CLICK, VISIBLE) };
  const rows: readonly (readonly [string, Row, readonly StateEvent[]])[] = [
    ["is new", { fields: { status: "ENABLED" } }, [applied(on)]],
    ["is complete", { fields: { status: "ENABLED" }, before: [applied(on)] }, []],
    [
      "has what is declared now as well",
      { fields: { status: "ENABLED" }, before: [applied(name)] },
      [applied(on)],
    ],
    ["lacks what differs", { fields: { status: "DISABLED" } }, [applied(name)]],
    [
      "keeps what was written and differs now",
      { fields: { status: "DISABLED" }, before: [applied({ ...name, status: "DISABLED" })] },
      [],
    ],
    [
      "keeps another value while the live one differs",
      { fields: { status: "DISABLED" }, before: [applied({ ...name, status: "DRAFT" })] },
      [],
    ],
    [
      "takes a value that both sides have now",
      { fields: { status: "ENABLED" }, before: [applied({ ...name, status: "DRAFT" })] },
      [applied(on)],
    ],
    [
      "takes no such value before it is due",
      {
        fields: { status: "ENABLED" },
        before: [applied({ ...name, status: "DRAFT" })],
        options: {
          dueOf:
            () =>
            ({ name: field }) =>
              field !== "status",
        },
      },
      [],
    ],
    [
      "takes a first value whether it is due or not",
      { fields: { status: "ENABLED" }, options: { dueOf: () => undefined } },
      [applied(on)],
    ],
    [
      "takes no first value of what is bound before anything of it is due",
      {
        fields: { status: "ENABLED" },
        before: [applied(name)],
        options: { dueOf: () => undefined },
      },
      [],
    ],
    ["keeps what is undeclared", { before: [applied({ ...on, tags: ["a"] })] }, []],
    [
      "lacks what is never sent",
      { fields: { reason: "r", "discovery.type": "LOGIN" }, live: { type: "LOGIN" } },
      [applied(name)],
    ],
    ["lacks what was never written", { fields: { interactionStatus: "NEW" } }, [applied(name)]],
    ["lacks unknown values", { fields: { tags: [UNKNOWN] } }, [applied(name)]],
    [
      "has a prompt that the service hides, as if it were sent",
      { fields: { "discovery.prompt": "p" } },
      [applied({ ...name, "discovery.prompt": "p" })],
    ],
    [
      "keeps the prompt that was sent",
      {
        fields: { "discovery.prompt": "p" },
        before: [applied({ ...name, "discovery.prompt": "q" })],
      },
      [],
    ],
    [
      "has a null that the service does not show",
      { fields: { folder: null }, live: { folderId: undefined } },
      [applied({ ...name, folder: null })],
    ],
    ["marks a secret", { fields: secretName, id: "C1" }, [secretly(secretName, "description")]],
    [
      "keeps a marked secret",
      { fields: secretName, id: "C1", before: [secretly(secretName, "description")] },
      [],
    ],
    [
      "keeps a marked secret that both sides changed",
      { fields: secretName, id: "C1", before: [secretly({ description: "Z" }, "description")] },
      [secretly(secretName, "description")],
    ],
    [
      "marks what became a secret",
      { fields: secretName, id: "C1", before: [applied(name)] },
      [secretly(secretName, "description")],
    ],
    [
      "is no secret any more once the service shows the declared value",
      { before: [secretly({}, "description")] },
      [applied(name)],
    ],
    [
      "is no secret any more, while the service generates steps",
      {
        live: { elements: steps(CLICK), discovery: discovered({ status: "RUNNING" }) },
        before: [secretly({}, "description"), { type: "generating", address: LOGIN, shown: "" }],
      },
      [applied(name)],
    ],
    [
      "is no secret any more, due or not",
      { before: [secretly({}, "description")], options: { dueOf: () => undefined } },
      [applied(name)],
    ],
    [
      "stays a secret while the service shows another value",
      { fields: { tags: ["a"] }, before: [secretly({ tags: ["b"] }, "tags")] },
      [],
    ],
    [
      "stays a secret where it is not shown",
      {
        fields: { interactionStatus: "A" },
        before: [secretly({ interactionStatus: "A" }, "interactionStatus")],
      },
      [],
    ],
    [
      "stays a secret in a prompt that the service hides",
      { fields: { "discovery.prompt": "p" }, before: [secretly({}, "discovery.prompt")] },
      [secretly({ "discovery.prompt": "p" }, "discovery.prompt", "elements")],
    ],
    ["stays a secret where it is undeclared", { before: [secretly({}, "tags", "folder")] }, []],
    [
      "stops to hide steps that are declared whole",
      { fields: { elements }, live: made, before: [secretly({ elements }, "elements")] },
      [applied({ ...name, elements })],
    ],
    [
      "goes on hiding steps of which parts are undeclared",
      {
        fields: { elements },
        live: { elements: steps({ ...CLICK, selectors: [BY_TEXT] }, VISIBLE) },
        before: [secretly({ elements }, "elements")],
      },
      [],
    ],
    [
      "goes on hiding steps that may be made of an old prompt",
      {
        fields: { elements },
        live: { ...made, discovery: discovered({ status: "RUNNING" }) },
        before: [
          secretly({ elements }, "elements"),
          { type: "generating", address: LOGIN, shown: "" },
        ],
      },
      [],
    ],
    [
      "stops to hide them once the generation has ended",
      {
        fields: { elements },
        live: { ...made, discovery: discovered() },
        before: [
          secretly({ elements }, "elements"),
          { type: "generating", address: LOGIN, shown: "" },
        ],
      },
      [applied({ ...name, elements }), { type: "generated", address: LOGIN }],
    ],
    [
      "is no longer only an import",
      { before: [bound(LOGIN, "C1", { ...applied(name), imported: true })] },
      [applied(name)],
    ],
    ["follows to another id", { before: [bound(LOGIN, "C9")] }, [applied(name)]],
    [
      "has what is known of a test case whose values were dropped",
      {
        fields: { status: "ENABLED", "discovery.prompt": "p", tags: [UNKNOWN] },
        live: { hidden: ["discovery.prompt"], status: undefined },
        before: [applied({ status: "DRAFT" })],
      },
      [applied({ ...on, "discovery.prompt": "p" })],
    ],
    [
      "keeps the prompt of one whose values were dropped",
      {
        fields: { "discovery.prompt": "p" },
        live: { hidden: ["discovery.prompt"] },
        before: [applied({ ...name, "discovery.prompt": "q" })],
      },
      [],
    ],
    ["is not read out of scope", { options: { inScope: (address) => address !== LOGIN } }, []],
    [
      "is made again after a change of the key, in scope or not",
      { before: [keyed], options: { inScope: () => false } },
      [{ type: "keyed", keyCheck: fingerprints.keyCheck }, SHOP, applied(name)],
    ],
    [
      "is removed with its address",
      { before: [applied(name), bound(GONE, "C9")] },
      [{ type: "unbound", address: GONE }],
    ],
    [
      "stays without its address as long as it names secrets",
      { before: [applied(name), bound(GONE, "C9", { secrets: ["tags"] })] },
      [],
    ],
    [
      "goes with its secrets to the address that has the id now",
      { before: [bound(GONE, "C1", { secrets: ["tags"] })] },
      [secretly({}, "tags"), { type: "unbound", address: GONE }],
    ],
    ["of an orphan stays", { live: {}, before: [applied(name), bound(GONE, "C2")] }, []],
  ];
  test.each(rows)("%s", (_, { fields, live, before = [], options, id }, expected) => {
    const situation: Situation = {
      declared: {
        testCases: { login: { ...name, ...fields } },
        ...(id !== undefined && { ids: { login: id } }),
      },
      live: { testCases: [liveCase("C1", { ...name, ...live }), liveCase("C2")] },
      state: [SHOP, ...before],
    };
    expect(eventsOf(situation, options)).toEqual(expected);
  });
});

describe("the end of a generation", () => {
  const at = "2026-01-01T00:00:00Z";
  const ended: StateEvent = { type: "generated", address: LOGIN };
  const failedAt = (mark: string): StateEvent => ({ ...ended, failed: mark });
  const generating = (shown: string): StateEvent => ({ type: "generating", address: LOGIN, shown });
  const rows: readonly (readonly [
    string,
    Partial<LiveTestCase>,
    readonly StateEvent[],
    readonly StateEvent[],
  ])[] = [
    ["under way", { discovery: discovered({ status: "RUNNING" }) }, [generating("")], []],
    ["as awaited", { discovery: discovered() }, [generating("")], [ended]],
    [
      "as a failure",
      { discovery: discovered({ status: "FAILED" }), elements: steps(CLICK) },
      [generating("")],
      [failedAt(`${at} ended`)],
    ],
    [
      "as another failure",
      {
        discovery: discovered({ status: "FAILED", updatedAt: "2026-02-02T00:00:00Z" }),
        elements: steps(CLICK),
      },
      [failedAt(`${at} ended`)],
      [failedAt("2026-02-02T00:00:00Z ended")],
    ],
    [
      "as a failure that is known",
      { discovery: discovered({ status: "FAILED" }) },
      [failedAt(`${at} ended`)],
      [],
    ],
    [
      "as the same failure again",
      { discovery: discovered({ status: "FAILED" }) },
      [failedAt(`${at} ended`), generating(at)],
      [failedAt(`${at} ended`)],
    ],
    [
      "well, after a failure",
      { discovery: discovered({ updatedAt: "2026-02-02T00:00:00Z" }), elements: steps(CLICK) },
      [failedAt(`${at} ended`)],
      [ended],
    ],
    ["well, started by others", { discovery: discovered(), elements: steps(CLICK) }, [], []],
    [
      "as a failure of others that left steps",
      { discovery: discovered({ status: "FAILED" }), elements: steps(CLICK) },
      [],
      [],
    ],
    [
      "as a failure of others where steps are not shown",
      { discovery: discovered({ status: "FAILED" }), elements: undefined },
      [],
      [],
    ],
    [
      "as a failure of others that left nothing",
      { discovery: discovered({ status: "FAILED" }) },
      [],
      [failedAt(`${at} ended`)],
    ],
    ["well, without steps", { discovery: discovered() }, [], []],
  ];
  test.each(rows)("%s", (_, live, before, expected) => {
    const situation: Situation = {
      declared: { testCases: { login: { description: "Log in" } } },
      live: { testCases: [liveCase("C1", { description: "Log in", ...live })] },
      state: [SHOP, applied({ description: "Log in" }), ...before],
    };
    expect(eventsOf(situation)).toEqual(expected);
  });
});

describe("the selectors of locator lines", () => {
  const line = (id: string, selectors: string) => ({
    [id]: { line: locatorDigest(fingerprints, id, "l"), selectors },
  });
  const live = steps({ ...CLICK, selectors: [BY_TEXT] }, FILL);
  const [first = liveElement("", 0)] = live;
  const read = selectorsDigest(fingerprints, first);
  const rows: readonly (readonly [
    string,
    LiveTestCase["elements"],
    ReturnType<typeof line>,
    object | undefined,
  ])[] = [
    ["are read", live, line("e0", ""), { locators: line("e0", read), elements: ["e0", "e1"] }],
    ["were read", live, line("e0", "x"), undefined],
    ["are unknown", live, {}, undefined],
    ["are not shown", undefined, line("e0", ""), undefined],
    ["of removed steps go", live, line("e9", "x"), { locators: {}, elements: ["e0", "e1"] }],
    [
      "of some removed steps go",
      live,
      { ...line("e0", "x"), ...line("e9", "x") },
      { locators: {}, elements: ["e0", "e1"] },
    ],
    [
      "are read of one, and go of another",
      live,
      { ...line("e0", ""), ...line("e1", "x"), ...line("e9", "") },
      { locators: line("e0", read), elements: ["e0", "e1"] },
    ],
    [
      "of steps without an id are not read",
      live.map((one) => ({ ...one, id: undefined })),
      line("", ""),
      { locators: {}, elements: [] },
    ],
  ];
  test.each(rows)("%s", (_, elements, locators, expected) => {
    const situation: Situation = {
      declared: { testCases: { login: { description: "Log in" } } },
      live: { testCases: [liveCase("C1", { description: "Log in", elements })] },
      state: [
        SHOP,
        applied({ description: "Log in" }),
        { type: "located", address: LOGIN, locators },
      ],
    };
    expect(eventsOf(situation)).toEqual(
      expected === undefined ? [] : [{ type: "located", address: LOGIN, ...expected }],
    );
  });
});

describe("the record of a batch generation", () => {
  const fields = { prompt: "Spring", environment: "preview" };
  const declared = resource("batchGeneration", "spring", fields);
  const content = (id: string | undefined) => batchContent(fingerprints, declared, () => id);
  const event = (status: "held" | "done" | "uncertain", of?: string): StateEvent => ({
    type: "batch",
    address: SPRING,
    record: { status, ...(of !== undefined && { content: of }) },
  });
  const rows: readonly (readonly [
    string,
    readonly StateEvent[] | undefined,
    readonly StateEvent[],
  ])[] = [
    ["of an adopted target is held", undefined, [event("held", content("E1"))]],
    [
      "of a target that was never bound is held",
      [event("done", content("E1")), { type: "unbound", address: SPRING }],
      [event("held", content("E1"))],
    ],
    ["of a bound target is none before it runs", [SHOP], []],
    ["is complete", [SHOP, event("done", content("E1"))], []],
    ["of another content stays", [SHOP, event("done", "other")], []],
    ["gets the content that it lacks", [SHOP, event("done")], [event("done", content("E1"))]],
    ["gets no content while it is unclear", [SHOP, event("uncertain")], []],
    [
      "by keys gets the ids",
      [SHOP, event("done", content(undefined))],
      [event("done", content("E1"))],
    ],
    [
      "is made again after a change of the key",
      [SHOP, event("done", "other"), keyed],
      [event("done", content("E1"))],
    ],
  ];
  const recorded = (before: readonly StateEvent[] | undefined, prompt: Value = "Spring") => {
    const situation: Situation = {
      declared: {
        environments: { preview: { discoveryUrl: "https://a" } },
        batchGenerations: { spring: { ...fields, prompt } },
      },
      live: { target: liveTarget([{ id: "E1", discoveryUrl: "https://a" }]) },
      ...(before && { state: before }),
    };
    return eventsOf(situation, { inScope: () => false }).filter(({ type }) => type === "batch");
  };
  test.each(rows)("%s", (_, before, expected) => {
    expect(recorded(before)).toEqual(expected);
  });
  test("with an unknown value stays", () => {
    expect(recorded([SHOP, event("done")], UNKNOWN)).toEqual([]);
  });

  test("is told by a digest of what is sent, and by the keys while an id is unknown", () => {
    const ids = idsIn(stateOf([bound("environment.shop.preview", "E1")]));
    expect([batchContent(fingerprints, declared, ids), content(undefined)]).toEqual(
      [{ prompt: "Spring", environment: { id: "E1" } }, fields].map((sent) =>
        fingerprints.of("batchGeneration", sent),
      ),
    );
    expect(springContent).toBe(fingerprints.of("batchGeneration", { prompt: "Spring" }));
    expect(idsIn(undefined)("environment.shop.preview")).toBe(undefined);
  });
});

test("of a target that is not live, only the key is recorded", () => {
  const declared = { environments: { default: { discoveryUrl: "https://a" } } };
  const key = { type: "keyed", keyCheck: fingerprints.keyCheck };
  expect(eventsOf({ declared })).toEqual([key]);
  expect(eventsOf({ declared, state: [] })).toEqual([]);
  expect(eventsOf({ declared, state: [keyed] })).toEqual([key]);
});

test("the target is recorded in scope or not, and nothing else out of it", () => {
  const situation = {
    declared: { environments: { preview: { discoveryUrl: "https://a" } } },
    live: { target: liveTarget([{ id: "E1", discoveryUrl: "https://a" }]) },
    state: [{ type: "intended", address: GONE, intent: intent("x") } as const],
  };
  expect(eventsOf(situation, { inScope: () => false })).toEqual([SHOP]);
});

test("records that are not due are renewed later, in scope, whatever is known of generations", () => {
  const name = { description: "Log in" };
  const before = { ...name, status: "DRAFT", elements: [FILL] };
  const after = { ...name, status: "ENABLED", elements: [CLICK, VISIBLE] };
  const { matched } = planOf({
    declared: { testCases: { login: after, other: { description: "Other" } } },
    live: {
      testCases: [
        liveCase("C1", { ...after, elements: steps(CLICK, VISIBLE), discovery: discovered() }),
      ],
    },
    state: [SHOP, applied(before), { type: "generating", address: LOGIN, shown: "" }],
  });
  const renewed = (
    inScope: (address: Address) => boolean,
    isDue: (field: Field) => boolean = () => true,
  ) =>
    [...matched.values()].flatMap((one) =>
      [...renewalEvents(one, fingerprints, inScope, () => isDue)].flat(),
    );
  const { status, elements } = stateOf([applied(after)]).bindings.get(LOGIN)?.fields ?? {};
  const wrote = (fields: object) => ({ type: "wrote", address: LOGIN, fields });
  expect(renewed(() => true)).toEqual([wrote({ status, elements })]);
  expect(
    renewed(
      () => true,
      ({ name: field }) => field !== "elements",
    ),
  ).toEqual([wrote({ status })]);
  expect(renewed((address) => address !== LOGIN)).toEqual([]);
});

test("a renewed record of a value that has become a secret says so", () => {
  const { matched } = planOf({
    declared: { testCases: { login: { description: new Secret("Log in") } } },
    live: { testCases: [liveCase("C1", { description: "Log in" })] },
    state: [SHOP, applied({ description: "Sign in" })],
  });
  const { description } =
    stateOf([applied({ description: "Log in" })]).bindings.get(LOGIN)?.fields ?? {};
  expect(
    [...matched.values()].flatMap((one) =>
      [
        ...renewalEvents(
          one,
          fingerprints,
          () => true,
          () => () => true,
        ),
      ].flat(),
    ),
  ).toEqual([{ type: "wrote", address: LOGIN, fields: { description }, secrets: ["description"] }]);
});

const pulled: readonly (readonly [string, DesiredFields, Partial<LiveTestCase>, boolean])[] = [
  ["nothing has changed", { status: "ENABLED" }, {}, false],
  ["both sides changed alike", { status: "DISABLED" }, { status: "DISABLED" }, true],
  ["only the manifest has changed", { status: "DISABLED" }, {}, false],
  ["only the service has changed", { status: "ENABLED" }, { status: "DISABLED" }, false],
  ["a field without a record is alike", { status: "ENABLED", tags: [] }, {}, false],
  ["a recorded field is undeclared", {}, { status: "DISABLED" }, false],
];
test.each(pulled)("whether a change was pulled: %s", (_, fields, live, expected) => {
  const declared = resource("testCase", "login", fields);
  const state = stateOf([applied({ status: "ENABLED", description: "Log in" })]);
  const shown = liveCase("C1", live);
  expect(isPulled(declared, shown, memoryOf(LOGIN, "C1", { state, fingerprints }))).toBe(expected);
  const keyless = memoryOf(LOGIN, "C1", { state, fingerprints: undefined });
  expect(isPulled(declared, shown, keyless)).toBe(false);
});
