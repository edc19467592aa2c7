import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import {
  type Binding,
  type Intent,
  type State,
  type StateEvent,
  emptyState,
} from "../../src/model/state.ts";
import { applyEvents } from "../../src/state/events.ts";
import { state as anyState, event, events } from "./support/arbitrary.ts";

const LOGIN = "testCase.shop.login";
const CART = "testCase.shop.cart";
const SPRING = "batchGeneration.shop.spring";

const intent: Intent = {
  at: "2026-01-02T03:04:05Z",
  existing: ["id-0"],
  name: "n",
  fields: { status: "s" },
};
const binding: Binding = { id: "id-1", fields: { status: "s", tags: "t" } };

interface Parts {
  readonly keyCheck?: unknown;
  readonly bindings?: unknown;
  readonly folders?: unknown;
  readonly batchGenerations?: unknown;
  readonly intents?: unknown;
}

/** The parts of a state that are not empty. */
function partsOf({ keyCheck, bindings, folders, batchGenerations, intents }: State): Parts {
  return {
    ...(keyCheck === undefined ? {} : { keyCheck }),
    ...part("bindings", bindings),
    ...part("folders", folders),
    ...part("batchGenerations", batchGenerations),
    ...part("intents", intents),
  };
}

function part<V>(
  name: keyof Parts,
  map: ReadonlyMap<string, V>,
): Partial<Record<keyof Parts, unknown>> {
  return map.size === 0 ? {} : { [name]: Object.fromEntries<V>(map) };
}

const empty = emptyState("staging", "shop", "https://service.example.com");
const bound: StateEvent = { type: "bound", address: LOGIN, ...binding };
const located: StateEvent = {
  type: "located",
  address: LOGIN,
  locators: { "e-1": { line: "l1", selectors: "s1" }, "e-2": { line: "l2", selectors: "s2" } },
};

interface Row {
  readonly rule: string;
  readonly events: readonly StateEvent[];
  readonly gives: Parts;
}

const rows: readonly Row[] = [
  { rule: "bound binds an address", events: [bound], gives: { bindings: { [LOGIN]: binding } } },
  {
    rule: "bound replaces all fields",
    events: [bound, { type: "bound", address: LOGIN, id: "id-1", fields: { folder: "f" } }],
    gives: { bindings: { [LOGIN]: { id: "id-1", fields: { folder: "f" } } } },
  },
  {
    rule: "bound keeps the locators of the same id",
    events: [bound, located, { type: "bound", address: LOGIN, id: "id-1", fields: {} }],
    gives: { bindings: { [LOGIN]: { id: "id-1", fields: {}, locators: located.locators } } },
  },
  {
    rule: "bound drops the locators of another id",
    events: [bound, located, { type: "bound", address: LOGIN, id: "id-2", fields: {} }],
    gives: { bindings: { [LOGIN]: { id: "id-2", fields: {} } } },
  },
  {
    rule: "bound settles only the intent of its own address",
    events: [
      { type: "intended", address: LOGIN, intent },
      { type: "intended", address: CART, intent },
      bound,
    ],
    gives: { bindings: { [LOGIN]: binding }, intents: { [CART]: intent } },
  },
  {
    rule: "wrote replaces a field with all its parts and keeps the other fields",
    events: [
      {
        type: "bound",
        address: LOGIN,
        id: "id-1",
        fields: { account: { user: "u", password: "p" }, tags: "t" },
      },
      { type: "wrote", address: LOGIN, fields: { account: { user: "v" } } },
    ],
    gives: { bindings: { [LOGIN]: { id: "id-1", fields: { account: { user: "v" }, tags: "t" } } } },
  },
  {
    rule: "wrote without a binding changes nothing",
    events: [{ type: "wrote", address: LOGIN, fields: { tags: "t" } }],
    gives: {},
  },
  {
    rule: "forgot removes fields",
    events: [bound, { type: "forgot", address: LOGIN, fields: ["tags", "folder"] }],
    gives: { bindings: { [LOGIN]: { id: "id-1", fields: { status: "s" } } } },
  },
  {
    rule: "located adds locators",
    events: [
      bound,
      located,
      { type: "located", address: LOGIN, locators: { "e-3": { line: "l3", selectors: "s3" } } },
    ],
    gives: {
      bindings: {
        [LOGIN]: {
          ...binding,
          locators: { ...located.locators, "e-3": { line: "l3", selectors: "s3" } },
        },
      },
    },
  },
  {
    rule: "located drops locators of elements that no longer exist",
    events: [
      bound,
      located,
      { type: "located", address: LOGIN, locators: {}, elements: ["e-2", "e-9"] },
    ],
    gives: {
      bindings: { [LOGIN]: { ...binding, locators: { "e-2": { line: "l2", selectors: "s2" } } } },
    },
  },
  {
    rule: "located leaves no empty record of locators",
    events: [bound, located, { type: "located", address: LOGIN, locators: {}, elements: [] }],
    gives: { bindings: { [LOGIN]: binding } },
  },
  {
    rule: "unbound removes the binding and the batch record",
    events: [
      bound,
      { type: "batch", address: SPRING, record: { status: "done", content: "c" } },
      { type: "unbound", address: LOGIN },
      { type: "unbound", address: SPRING },
    ],
    gives: {},
  },
  {
    // A creation may have been sent: only its outcome may end the intent.
    rule: "unbound keeps an intent",
    events: [
      { type: "intended", address: LOGIN, intent },
      { type: "unbound", address: LOGIN },
    ],
    gives: { intents: { [LOGIN]: intent } },
  },
  {
    rule: "moved transfers the binding",
    events: [bound, { type: "moved", from: LOGIN, to: CART }],
    gives: { bindings: { [CART]: binding } },
  },
  {
    rule: "moved transfers the batch record and the intent",
    events: [
      { type: "batch", address: SPRING, record: { status: "done", content: "c" } },
      { type: "intended", address: SPRING, intent },
      { type: "moved", from: SPRING, to: "batchGeneration.shop.summer" },
    ],
    gives: {
      batchGenerations: { "batchGeneration.shop.summer": { status: "done", content: "c" } },
      intents: { "batchGeneration.shop.summer": intent },
    },
  },
  {
    rule: "moved replaces the binding of the new address",
    events: [
      bound,
      { type: "bound", address: CART, id: "id-2", fields: {} },
      { type: "moved", from: LOGIN, to: CART },
    ],
    gives: { bindings: { [CART]: binding } },
  },
  {
    rule: "moved from an address without records changes nothing",
    events: [bound, { type: "moved", from: CART, to: LOGIN }],
    gives: { bindings: { [LOGIN]: binding } },
  },
  {
    rule: "moved onto itself changes nothing",
    events: [bound, { type: "moved", from: LOGIN, to: LOGIN }],
    gives: { bindings: { [LOGIN]: binding } },
  },
  {
    rule: "folder records a name and removes the old name of a renamed folder",
    events: [
      { type: "folder", name: "Old", id: "f-1" },
      { type: "folder", name: "Other", id: "f-2" },
      { type: "folder", name: "New", id: "f-1" },
    ],
    gives: { folders: { Other: "f-2", New: "f-1" } },
  },
  {
    rule: "folder replaces the id of a known name",
    events: [
      { type: "folder", name: "Auth", id: "f-1" },
      { type: "folder", name: "Auth", id: "f-2" },
    ],
    gives: { folders: { Auth: "f-2" } },
  },
  {
    rule: "batch records the outcome of a generation and settles its intent",
    events: [
      { type: "intended", address: SPRING, intent },
      { type: "batch", address: SPRING, record: { status: "uncertain", content: "c" } },
    ],
    gives: { batchGenerations: { [SPRING]: { status: "uncertain", content: "c" } } },
  },
  {
    rule: "settled removes an intent",
    events: [
      { type: "intended", address: LOGIN, intent },
      { type: "settled", address: LOGIN },
    ],
    gives: {},
  },
  {
    rule: "keyed the first time keeps fingerprints",
    events: [bound, { type: "keyed", keyCheck: "k1" }],
    gives: { keyCheck: "k1", bindings: { [LOGIN]: binding } },
  },
  {
    rule: "keyed with the same key keeps fingerprints",
    events: [{ type: "keyed", keyCheck: "k1" }, bound, { type: "keyed", keyCheck: "k1" }],
    gives: { keyCheck: "k1", bindings: { [LOGIN]: binding } },
  },
  {
    rule: "keyed with another key drops all fingerprints made with the old key",
    events: [
      { type: "keyed", keyCheck: "k1" },
      bound,
      located,
      { type: "batch", address: SPRING, record: { status: "done", content: "c" } },
      { type: "intended", address: CART, intent },
      { type: "folder", name: "Auth", id: "f-1" },
      { type: "keyed", keyCheck: "k2" },
    ],
    gives: {
      keyCheck: "k2",
      bindings: { [LOGIN]: { id: "id-1", fields: {} } },
      batchGenerations: { [SPRING]: { status: "done" } },
      intents: { [CART]: { at: intent.at, existing: intent.existing, fields: {} } },
      folders: { Auth: "f-1" },
    },
  },
];

describe("the fold", () => {
  test.each(rows)("$rule", ({ events: list, gives }) => {
    expect(partsOf(applyEvents(empty, list))).toEqual(gives);
  });

  it("gives the same result for all events at once as one by one", () => {
    fc.assert(
      fc.property(anyState, events, (start, list) => {
        const oneByOne = list.reduce((state, one) => applyEvents(state, [one]), start);
        expect(applyEvents(start, list)).toEqual(oneByOne);
      }),
    );
  });

  it("does not mutate the state or the events", () => {
    fc.assert(
      fc.property(anyState, events, (start, list) => {
        const before = structuredClone({ start, list });
        applyEvents(start, list);
        expect({ start, list }).toEqual(before);
      }),
    );
  });

  it("changes nothing if an event is repeated immediately", () => {
    fc.assert(
      fc.property(anyState, event, (start, one) => {
        const once = applyEvents(start, [one]);
        expect(applyEvents(once, [one])).toEqual(once);
      }),
    );
  });

  it("keeps one name for each folder id", () => {
    fc.assert(
      fc.property(anyState, ({ folders }) => {
        expect(new Set(folders.values()).size).toBe(folders.size);
      }),
    );
  });

  it("shares the maps that no event touched", () => {
    const start = applyEvents(empty, [bound, { type: "folder", name: "Auth", id: "f-1" }]);
    const next = applyEvents(start, [{ type: "folder", name: "Auth", id: "f-1" }]);
    expect(next.bindings).toBe(start.bindings);
    expect(next.folders).toBe(start.folders);
  });
});
