import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { type Binding, type State, type StateEvent, emptyState } from "../../src/model/state.ts";
import { applyEvents, unsureEvents } from "../../src/state/events.ts";

/* Events whose effect depends on what state knows: runs, generations, secrets, imports, targets. */

const LOGIN: Address = "testCase.shop.login";
const CART: Address = "testCase.shop.cart";
const TARGET: Address = "target.shop";
const SPRING: Address = "batchGeneration.shop.spring";

const empty = emptyState("staging", "shop", "https://service.example.com");
const after = (...events: readonly StateEvent[]): State => applyEvents(empty, events);
const bound = (address: Address, id: string, more: Partial<Binding> = {}): StateEvent => ({
  type: "bound",
  address,
  id,
  fields: more.fields ?? {},
  ...(more.secrets && { secrets: more.secrets }),
  ...(more.imported && { imported: more.imported }),
});
const ran: StateEvent = {
  type: "batch",
  address: SPRING,
  record: { status: "done", content: "c" },
};
const folder: StateEvent = { type: "folder", name: "Auth", id: "f-1" };
const run = { id: "r-1", at: "2026-01-01T00:00:00Z", who: "ci@host", plan: "digest" };
const began: StateEvent = {
  type: "began",
  run,
  changes: {
    [LOGIN]: { action: "create", calls: 3 },
    "not an address": { action: "update", calls: 1 },
  },
};
const answered = (address: Address): StateEvent => ({ type: "answered", address });

test.each<readonly [string, readonly StateEvent[], Binding | undefined]>([
  [
    "bound with secrets",
    [bound(LOGIN, "1", { secrets: ["tags", "status"] })],
    { id: "1", fields: {}, secrets: ["status", "tags"] },
  ],
  [
    "bound again: what the event records may be without a secret now, the rest stays",
    [
      bound(LOGIN, "1", { secrets: ["tags", "status"] }),
      bound(LOGIN, "1", { fields: { tags: "t" } }),
    ],
    { id: "1", fields: { tags: "t" }, secrets: ["status"] },
  ],
  [
    "bound again with new secrets",
    [bound(LOGIN, "1", { secrets: ["status"] }), bound(LOGIN, "1", { secrets: ["tags"] })],
    { id: "1", fields: {}, secrets: ["status", "tags"] },
  ],
  [
    "bound to another id",
    [bound(LOGIN, "1", { secrets: ["status"] }), bound(LOGIN, "2")],
    { id: "2", fields: {} },
  ],
  ["imported", [bound(LOGIN, "1", { imported: true })], { id: "1", fields: {}, imported: true }],
  [
    "imported twice",
    [bound(LOGIN, "1", { imported: true }), bound(LOGIN, "1", { imported: true })],
    { id: "1", fields: {}, imported: true },
  ],
  [
    "applied after an import",
    [bound(LOGIN, "1", { imported: true }), bound(LOGIN, "1")],
    { id: "1", fields: {} },
  ],
  [
    "imported after an apply",
    [bound(LOGIN, "1"), bound(LOGIN, "1", { imported: true })],
    { id: "1", fields: {} },
  ],
  [
    "wrote adds secrets, and keeps the old ones, as they may still be shown",
    [
      bound(LOGIN, "1", { secrets: ["tags"] }),
      { type: "wrote", address: LOGIN, fields: { status: "s" }, secrets: ["status"] },
    ],
    { id: "1", fields: { status: "s" }, secrets: ["status", "tags"] },
  ],
  [
    "wrote a secret prompt: the elements made of it may show it",
    [
      bound(LOGIN, "1"),
      { type: "wrote", address: LOGIN, fields: {}, secrets: ["discovery.prompt"] },
      { type: "wrote", address: LOGIN, fields: {} },
    ],
    { id: "1", fields: {}, secrets: ["discovery.prompt", "elements"] },
  ],
  [
    "generating",
    [bound(LOGIN, "1"), { type: "generating", address: LOGIN, shown: "m" }],
    { id: "1", fields: {}, generating: "m" },
  ],
  [
    "generated, and failed",
    [
      bound(LOGIN, "1"),
      { type: "generating", address: LOGIN, shown: "" },
      { type: "generated", address: LOGIN, failed: "m" },
    ],
    { id: "1", fields: {}, failed: "m" },
  ],
  [
    "generated well after a failure",
    [
      bound(LOGIN, "1"),
      { type: "generated", address: LOGIN, failed: "m" },
      { type: "generated", address: LOGIN },
    ],
    { id: "1", fields: {} },
  ],
  [
    "nothing of an address that is not bound",
    [
      { type: "generating", address: LOGIN, shown: "" },
      { type: "generated", address: LOGIN },
      { type: "forgot", address: LOGIN, fields: [] },
      { type: "located", address: LOGIN, locators: {} },
    ],
    undefined,
  ],
])("the binding after: %s", (_, events, binding) => {
  expect(after(...events).bindings.get(LOGIN)).toStrictEqual(binding);
});

test.each<readonly [string, readonly StateEvent[], "done" | "held" | undefined]>([
  ["the target is bound for the first time", [bound(TARGET, "T1")], "done"],
  ["the target is bound to the same id", [bound(TARGET, "T1"), bound(TARGET, "T1")], "done"],
  ["the target is bound to another id", [bound(TARGET, "T1"), bound(TARGET, "T2")], "held"],
  ["a test case is bound to another id", [bound(LOGIN, "1"), bound(LOGIN, "2")], "done"],
  ["a test case is unbound", [bound(LOGIN, "1"), { type: "unbound", address: LOGIN }], "done"],
  ["it is unbound", [{ type: "unbound", address: SPRING }], undefined],
])("a batch generation that ran, after %s", (_, events, status) => {
  const content = { content: "c" };
  const record = status && { status, ...content };
  expect(after(ran, ...events).batchGenerations.get(SPRING)).toStrictEqual(record);
});

test("only the end of a target's binding ends its folders", () => {
  const folders = (...events: readonly StateEvent[]) => [
    ...after(folder, ...events).folders.keys(),
  ];
  expect(folders({ type: "unbound", address: LOGIN })).toEqual(["Auth"]);
  expect(folders({ type: "unbound", address: "batchGeneration.shop.spring" })).toEqual(["Auth"]);
  expect(folders({ type: "unbound", address: TARGET })).toEqual([]);
  expect(folders({ type: "unbound", address: TARGET }, folder)).toEqual(["Auth"]);
});

test("a run counts the answers of its changes, and patches that it had not planned", () => {
  const changes = (...events: readonly StateEvent[]) => {
    const found = after(...events).run;
    return found && { ...found, changes: Object.fromEntries(found.changes) };
  };
  const planned = { action: "create", calls: 3, answered: 0 };
  expect(changes(began)).toStrictEqual({ ...run, changes: { [LOGIN]: planned } });
  expect(changes(began, answered(LOGIN), answered(LOGIN), answered(CART))).toStrictEqual({
    ...run,
    changes: {
      [LOGIN]: { ...planned, answered: 2 },
      [CART]: { action: "update", calls: 1, answered: 1 },
    },
  });
  expect(changes(began, { type: "answered", address: LOGIN, last: true })?.changes).toStrictEqual({
    [LOGIN]: { ...planned, answered: 3 },
  });
  expect(changes(began, { type: "ended" })).toBeUndefined();
  expect(after(began, { type: "ended" })).toStrictEqual(empty);
  expect(changes(answered(LOGIN))).toBeUndefined();
  expect(changes(began, answered(LOGIN), { type: "ended" }, began)?.changes).toStrictEqual({
    [LOGIN]: planned,
  });
  // Answers that a later call records go on from those before.
  const state = after(began, answered(LOGIN));
  const next = applyEvents(state, [answered(LOGIN)]);
  expect(next.run?.changes.get(LOGIN)?.answered).toBe(2);
  expect(state.run?.changes.get(LOGIN)?.answered).toBe(1);
});

test("what changes nothing gives the same state and the same maps", () => {
  const state = after(bound(LOGIN, "1"), folder, ran);
  expect(applyEvents(state, [])).toBe(state);
  const next = applyEvents(state, [
    { type: "settled", address: LOGIN },
    { type: "unbound", address: CART },
  ]);
  for (const part of ["bindings", "folders", "batchGenerations", "intents"] as const)
    expect(next[part]).toBe(state[part]);
  const bare = after(bound(LOGIN, "1"));
  expect(applyEvents(bare, [{ type: "unbound", address: TARGET }]).folders).toBe(bare.folders);
});

test("an unsure write is forgotten, but a prompt and locator lines keep a record that fits nothing", () => {
  expect(unsureEvents(LOGIN, ["tags", "status"])).toStrictEqual([
    { type: "forgot", address: LOGIN, fields: ["tags", "status"] },
  ]);
  expect(
    unsureEvents(LOGIN, ["tags", "discovery.prompt", "description"], ["e1", "e2"]),
  ).toStrictEqual([
    { type: "forgot", address: LOGIN, fields: ["tags", "discovery.prompt", "description"] },
    { type: "wrote", address: LOGIN, fields: { "discovery.prompt": "" } },
    {
      type: "located",
      address: LOGIN,
      locators: { e1: { line: "", selectors: "" }, e2: { line: "", selectors: "" } },
    },
  ]);
});
