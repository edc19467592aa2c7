// What `removed:` makes state forget: laws over plans, which hold for any state and any entries.
import * as fc from "fast-check";
import { expect, test } from "vitest";
import { type Address, addressOf, targetAddress, targetOf } from "../../src/model/address.ts";
import type { Desired } from "../../src/model/desired.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { forgetEvents } from "../../src/plan/orphans.ts";
import { knownAddresses } from "../../src/state/edit.ts";
import { applyEvents } from "../../src/state/events.ts";
import { fingerprints, liveCase, liveTarget, planInput, stateOf } from "./build.ts";

const KEYS = ["a", "b", "c", "d"] as const;
const cases = KEYS.map((key) => addressOf("testCase", "shop", key));
const others: readonly Address[] = [
  targetAddress("shop"),
  addressOf("environment", "shop", "default"),
  addressOf("batchGeneration", "shop", "spring"),
];

/** State that binds the target and some test cases, and knows a batch generation and a creation. */
function stateWith(bound: readonly Address[]) {
  const bind = (address: Address): StateEvent => {
    const id = address === targetAddress("shop") ? "T" : address;
    return { type: "bound", address, id, fields: { description: "print" } };
  };
  return stateOf([
    ...[targetAddress("shop"), addressOf("environment", "shop", "default"), ...bound].map(bind),
    { type: "folder", name: "Auth", id: "F" },
    {
      type: "batch",
      address: addressOf("batchGeneration", "shop", "spring"),
      record: { status: "done" },
    },
    {
      type: "intended",
      address: addressOf("testCase", "shop", "new"),
      intent: { at: "2026-01-01T00:00:00.000Z", existing: [], fields: {}, name: "n" },
    },
  ]);
}

function planFor(
  bound: readonly Address[],
  removed: readonly Address[],
  isDeclared: boolean,
  more: { readonly disable?: boolean; readonly only?: readonly string[] } = {},
) {
  const state = stateWith(bound);
  const { desired } = planInput({ declared: {} });
  const origin = { file: "tasc.yaml", path: [] };
  const wanted: Desired = {
    ...desired,
    targets: isDeclared ? desired.targets : [],
    removed: removed.map((address) => ({ address, origin })),
  };
  const input = planInput({
    declared: {},
    live: { target: liveTarget(), testCases: cases.map((address) => liveCase(address)) },
    input: {
      desired: wanted,
      states: isDeclared ? new Map([["shop", state]]) : new Map(),
      strays: isDeclared ? [] : [state],
      disableRemoved: more.disable ?? false,
      scope: { only: more.only ?? [], exclude: [] },
    },
  });
  return { state, ...makePlan(input) };
}

const situation = fc.record({
  bound: fc.uniqueArray(fc.constantFrom(...cases)),
  removed: fc.uniqueArray(fc.constantFrom(...cases, ...others.slice(1))),
  whole: fc.boolean(),
  disable: fc.boolean(),
});

test("a plan forgets what state knows and `removed:` names, sends nothing for it, and lists it once", () => {
  fc.assert(
    fc.property(situation, ({ bound, removed, whole, disable }) => {
      const named = whole ? [...removed, targetAddress("shop")] : removed;
      const { plan, state } = planFor(bound, named, !whole, { disable });
      const wanted = knownAddresses(state).filter((one) => whole || removed.includes(one));
      const forgotten = plan.changes.filter(({ action }) => action === "forget");
      expect(forgotten.map(({ address }) => address)).toEqual(wanted);
      expect(plan.summary.forget).toBe(wanted.length);
      expect(forgotten.every(({ calls, fields }) => calls.length + fields.length === 0)).toBe(true);
      const left = new Set([...plan.orphaned, ...plan.changes].map(({ address }) => address));
      for (const address of bound) expect(left.has(address)).toBe(true);
      const orphaned = plan.orphaned.map(({ address }) => address);
      expect(orphaned.filter((address) => wanted.includes(address))).toEqual([]);
      const row = plan.attention.find(({ code }) => code === "leaves-management");
      expect(new Set(row?.addresses ?? [])).toEqual(new Set([...wanted, ...orphaned]));
      // Once state has forgotten them, the entries are quiet, and nothing of them is left.
      const after = applyEvents(state, forgetEvents(wanted));
      expect(knownAddresses(after).filter((one) => wanted.includes(one))).toEqual([]);
      expect(after.folders.size).toBe(whole ? 0 : 1);
      const again = makePlan({
        ...planInput({ declared: {} }),
        desired: { stage: "default", targets: [], removed: [] },
        strays: [after],
      });
      expect(again.plan.changes).toEqual([]);
    }),
  );
});

test("`--only` narrows what is forgotten, and the rest stays as it was", () => {
  const named = [targetAddress("shop")];
  const { plan } = planFor(cases, named, false, { only: ["testCase.shop.a"] });
  expect(plan.changes.map(({ address, action }) => [address, action])).toEqual([
    ["testCase.shop.a", "forget"],
  ]);
  expect(plan.orphaned).toEqual([]);
});

test("an address that moved is forgotten under its new name", () => {
  const [a = targetAddress("shop"), b = a] = cases;
  const origin = { file: "targets/shop.yaml", path: [] };
  const input = planInput({
    declared: { moved: [[a, b]] },
    live: { testCases: [liveCase(a)] },
    state: [{ type: "bound", address: a, id: a, fields: {} }],
  });
  const desired = { ...input.desired, removed: [{ address: b, origin }] };
  const { plan } = makePlan({ ...input, desired, fingerprints });
  const [forgotten] = plan.changes.filter(({ action }) => action === "forget");
  expect([forgotten?.address, forgotten?.id, targetOf(b)]).toEqual([b, a, "shop"]);
});
