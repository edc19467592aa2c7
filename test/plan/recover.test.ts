import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { type DesiredFields, type DesiredResource, byAddress } from "../../src/model/desired.ts";
import { fieldsOf } from "../../src/model/fields.ts";
import { defined } from "../../src/model/json.ts";
import type { Live, LiveTestCase } from "../../src/model/live.ts";
import type { Intent, State, StateEvent } from "../../src/model/state.ts";
import { UNKNOWN } from "../../src/model/value.ts";
import { NO_ID_YET, nameDigests, recordField, recover } from "../../src/plan/memory.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { fingerprints, liveCase, liveTarget, planInput, resource, stateOf } from "./build.ts";

const at = "2026-01-01T00:00:00.000Z";
const named = (name: string, more: Partial<Intent> = {}): Intent => ({
  at,
  existing: [],
  ...nameDigests(fingerprints, "testCase", { name, externalId: undefined }),
  fields: {},
  ...more,
});
const calledA = (id: string, more: Partial<LiveTestCase> = {}): LiveTestCase =>
  liveCase(id, { description: "A", ...more });

/** The result for an interrupted creation: an id, nothing, or a code if it is unclear. */
function found(
  address: Address,
  intent: Intent,
  testCases: readonly LiveTestCase[],
  taken: readonly string[] = [],
): string {
  const state = stateOf([
    { type: "bound", address: "target.shop", id: "T", fields: {} },
    { type: "intended", address, intent },
  ]);
  const target = liveTarget([
    { id: "E1", discoveryUrl: "https://a/" },
    { id: "E2", discoveryUrl: "https://b" },
  ]);
  const { events, diagnostics } = recover(state, {
    live: { targets: [target], testCases: new Map([["T", testCases]]) },
    fingerprints,
    resources: new Map(),
    taken: new Set(taken),
  });
  return diagnostics[0]?.code ?? events.map(outcomeOf).join();
}

function outcomeOf(event: StateEvent): string {
  if (event.type === "bound") return event.id;
  return event.type === "batch" ? event.record.status : event.type;
}

const login: Address = "testCase.shop.login";
const preview: Address = "environment.shop.preview";
const withX = nameDigests(fingerprints, "testCase", { name: "A", externalId: "X" });
const rows: readonly (readonly [string, () => string, string])[] = [
  ["the one with the name", () => found(login, named("A"), [calledA("C1"), liveCase("C2")]), "C1"],
  [
    "the one with the name as the service normalised it",
    () => found(login, named(" A\u0301  b "), [liveCase("C1", { description: "\u00c1 b" })]),
    "C1",
  ],
  ["nothing, where nothing does", () => found(login, named("A"), [liveCase("C2")]), "settled"],
  [
    "not what was there before",
    () => found(login, named("A", { existing: ["C1"] }), [calledA("C1"), calledA("C2")]),
    "C2",
  ],
  [
    "not what another address has",
    () => found(login, named("A"), [calledA("C1"), calledA("C2")], ["C1"]),
    "C2",
  ],
  [
    "not what is deleted",
    () => found(login, named("A"), [calledA("C1", { status: "DELETED" })]),
    "settled",
  ],
  [
    "not one of the name with an external id",
    () => found(login, named("A"), [calledA("C1", { externalId: "Y" })]),
    "settled",
  ],
  [
    "by the external id before the name",
    () => found(login, named("A", withX), [calledA("C1"), liveCase("C2", { externalId: "X" })]),
    "C2",
  ],
  [
    "two candidates are unclear",
    () => found(login, named("A"), [calledA("C1"), calledA("C2")]),
    "creation-unclear",
  ],
  [
    "an environment by its URL, however it is written",
    () =>
      found(
        preview,
        {
          ...named(""),
          ...nameDigests(fingerprints, "environment", {
            name: "https://a/",
            externalId: undefined,
          }),
        },
        [],
      ),
    "E1",
  ],
  [
    "nobody can tell where its name was written with another key",
    () => found(login, { at, existing: [], fields: {} }, [calledA("C1")]),
    "creation-unclear",
  ],
  [
    "a batch generation is uncertain",
    () => found("batchGeneration.shop.b", named(""), []),
    "uncertain",
  ],
];

test.each(rows)("recovery of an interrupted creation: %s", (_, actual, expected) => {
  expect(actual()).toBe(expected);
});

describe("what is recorded of a creation that is found", () => {
  const T: Address = "target.shop";
  const record = (kind: "testCase" | "target", id: string, fields: DesiredFields) =>
    Object.fromEntries(
      fieldsOf(kind).flatMap((field) => {
        const value = fields[field.name];
        return value === undefined
          ? []
          : [[field.name, recordField(fingerprints, id, field, value)] as const];
      }),
    );
  const digests = (kind: Parameters<typeof nameDigests>[1], name: string) =>
    nameDigests(fingerprints, kind, { name, externalId: undefined });
  const intended = (address: Address, kind: Parameters<typeof nameDigests>[1], name: string) =>
    ({
      type: "intended",
      address,
      intent: { at, existing: [], fields: {}, ...digests(kind, name) },
    }) satisfies StateEvent;
  const outcome = (
    events: readonly StateEvent[],
    resources: readonly DesiredResource[] = [],
    live: Partial<Live> = {},
  ) => {
    const taken = new Set(["C0"]);
    const found = recover(stateOf(events), {
      live: {
        targets: [
          liveTarget([
            { id: "E0", type: "DEFAULT", discoveryUrl: "https://a" },
            { id: "E1", discoveryUrl: "https://a" },
          ]),
          {
            id: "O",
            app: "Other",
            environments: [{ id: "E9", type: "ADDITIONAL", discoveryUrl: "https://a" }],
          },
        ],
        testCases: new Map([["T", [calledA("C1")]]]),
        ...live,
      },
      fingerprints,
      resources: byAddress(resources),
      taken,
    });
    return { ...found, taken: [...taken] };
  };
  const events = (...all: readonly StateEvent[]) => ({
    events: all,
    diagnostics: [],
    taken: ["C0", ...all.flatMap((one) => (one.type === "bound" ? [one.id] : []))],
  });
  const bind = (address: Address, id: string, more: object = {}): StateEvent => ({
    type: "bound",
    address,
    id,
    fields: {},
    ...more,
  });

  test("a target, and then what is in it", () => {
    const intents = [
      intended(T, "target", "Shop"),
      intended(preview, "environment", "https://a/"),
      intended(login, "testCase", "A"),
    ];
    expect(outcome(intents)).toEqual(events(bind(T, "T"), bind(preview, "E1"), bind(login, "C1")));
  });

  test("nothing in a target that is not found", () => {
    const intents = [
      intended(preview, "environment", "https://a/"),
      intended(login, "testCase", "A"),
    ];
    expect(outcome(intents)).toEqual(
      events({ type: "settled", address: preview }, { type: "settled", address: login }),
    );
    const bound = [bind(T, "GONE"), ...intents];
    expect(outcome(bound)).toEqual(
      events({ type: "settled", address: preview }, { type: "settled", address: login }),
    );
  });

  test("nothing by the name of a second one", () => {
    const intents = [
      intended(login, "testCase", "A"),
      intended("testCase.shop.b", "testCase", "A"),
    ];
    expect(outcome([bind(T, "T"), ...intents])).toEqual(
      events(bind(login, "C1"), { type: "settled", address: "testCase.shop.b" }),
    );
  });

  test("a batch generation with what was sent", () => {
    const address: Address = "batchGeneration.shop.b";
    const intents = ["x", undefined].map((content): StateEvent => ({
      type: "intended",
      address,
      intent: { at, existing: [], fields: {}, ...defined({ content }) },
    }));
    expect(intents.map((one) => outcome([one]).events)).toEqual([
      [{ type: "batch", address, record: { status: "uncertain", content: "x" } }],
      [{ type: "batch", address, record: { status: "uncertain" } }],
    ]);
  });

  test("the sent values that are still declared, and a changed prompt as it was sent", () => {
    const sent = {
      description: "A",
      "discovery.prompt": "old",
      tags: ["a"],
      externalId: "X",
      folder: "F",
    };
    const declared = resource("testCase", "login", {
      description: "A",
      "discovery.prompt": "new",
      tags: ["b"],
      externalId: UNKNOWN,
      status: "ENABLED",
    });
    const { type, address, intent } = intended(login, "testCase", "A");
    const noId = record("testCase", NO_ID_YET, sent);
    const full = { ...intent, fields: noId, secrets: ["tags", "folder"] };
    const found = (resources: readonly DesiredResource[]) =>
      outcome([bind(T, "T"), { type, address, intent: full }], resources);
    expect(found([declared])).toEqual(
      events(
        bind(login, "C1", {
          fields: {
            ...record("testCase", "C1", { description: "A" }),
            "discovery.prompt": noId["discovery.prompt"],
          },
          secrets: ["folder", "tags"],
        }),
      ),
    );
    expect(found([])).toEqual(events(bind(login, "C1", { secrets: ["folder", "tags"] })));
  });

  test("nothing but the id after a change of the key, found by the declared names", () => {
    const other = intended(login, "testCase", "Z");
    const declared = resource("testCase", "login", { description: "A" });
    const rekeyed: StateEvent = { type: "keyed", keyCheck: "other" };
    expect(outcome([bind(T, "T"), other, rekeyed], [declared])).toEqual(events(bind(login, "C1")));
    expect(outcome([bind(T, "T"), other, rekeyed]).diagnostics).toEqual([
      {
        severity: "error",
        code: "creation-unclear",
        address: login,
        summary: "The outcome of an interrupted creation is unknown",
        detail: `A creation was interrupted at ${at}, and the key of state has changed since, so its name cannot be read.\nIf it was made:     tasc state bind ${login} ID\nIf it was not made: tasc state rm ${login}`,
      },
    ]);
  });
});

test("a plan recovers no id that any target's state has, and nothing without the key", () => {
  const intent = named("A");
  const shop = stateOf([
    { type: "bound", address: "target.shop", id: "T", fields: {} },
    { type: "intended", address: login, intent },
  ]);
  const other = stateOf([{ type: "bound", address: "testCase.other.x", id: "C1", fields: {} }]);
  const eventsOf = (more: object, ...states: readonly (readonly [string, State])[]) => {
    const input = planInput({ declared: {}, live: { testCases: [calledA("C1")] } });
    const found = makePlan({ ...input, states: new Map(states), ...more });
    return [...found.stateEvents.values()].flat().map((one) => `${one.type} ${outcomeOf(one)}`);
  };
  expect([
    eventsOf({}, ["shop", shop]),
    eventsOf({}, ["shop", shop], ["other", other]),
    eventsOf({ fingerprints: undefined }, ["shop", shop]),
  ]).toEqual([["bound C1"], ["settled settled"], []]);
});
