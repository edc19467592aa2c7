// What `removed:` makes state forget: laws over plans, which hold for any state and any entries.
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Address, addressOf, targetAddress, targetOf } from "../../src/model/address.ts";
import type { Desired, DesiredFields } from "../../src/model/desired.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import { makePlan } from "../../src/plan/plan.ts";
import {
  countUnmanaged,
  forgetEvents,
  forgets,
  leftOffWarnings,
  renamedWarnings,
  undeclaredBindings,
  undeclaredOrphans,
  withRemovedTargets,
} from "../../src/plan/orphans.ts";
import { knownAddresses } from "../../src/state/edit.ts";
import { applyEvents } from "../../src/state/events.ts";
import {
  type Situation,
  fingerprints,
  liveCase,
  liveTarget,
  planInput,
  planOf,
  project,
  stateOf,
  target,
} from "./build.ts";
import { LOGIN, applied, bound, discovered, stray } from "./situations/parts.ts";

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

describe("targets that no manifest declares", () => {
  const origin = { file: "tasc.yaml", path: [] };
  const [old, gone] = [stray("old", ["target.old", "O"]), stray("gone", ["target.gone", "G"])];
  const remembered = {
    desired: { ...project(target({})), removed: [{ address: targetAddress("gone"), origin }] },
    states: new Map([["shop", stateOf([])]]),
    strays: [gone, old],
  };
  const left = {
    kind: "target",
    address: "target.old",
    key: "old",
    left: true,
    fields: {},
    layers: [],
    onRemove: "disable",
    environments: [],
    testCases: [],
    batchGenerations: [],
    moved: [],
  };

  test("count as declared without anything in them, if what is removed is disabled", () => {
    expect(withRemovedTargets(remembered, true)).toEqual({
      desired: { ...remembered.desired, targets: [...remembered.desired.targets, left] },
      states: new Map([...remembered.states, ["old", old]]),
      strays: [gone],
    });
    const { removed: _, ...desired } = remembered.desired;
    const all = withRemovedTargets({ ...remembered, desired }, true);
    expect([all.desired.targets.map(({ key }) => key), all.strays]).toEqual([
      ["shop", "gone", "old"],
      [],
    ]);
    const two = [...remembered.desired.removed, { address: targetAddress("other"), origin }];
    const both = { ...remembered, desired: { ...remembered.desired, removed: two } };
    expect(withRemovedTargets(both, true).strays).toEqual([gone]);
  });

  test("stay as they are otherwise", () => {
    expect(withRemovedTargets(remembered, false)).toBe(remembered);
    const none = { ...remembered, strays: [] };
    expect(withRemovedTargets(none, true)).toBe(none);
  });

  test("leave what they have behind, where they are live and no declared one means them", () => {
    const own = stray("old", ["testCase.old.a", "A"], ["target.old", "O"]);
    const nameless = stray("none", ["testCase.none.a", "A"]);
    const live = ["O", "X"].map((id) => ({ ...liveTarget(), id }));
    const found = (meant: readonly string[], targets = live) =>
      undeclaredOrphans([own, gone, nameless], targets, new Set(meant));
    expect(found([])).toEqual([
      { address: "testCase.old.a", id: "A" },
      { address: "target.old", id: "O" },
    ]);
    expect([found(["O"]), found(["X"], [])]).toEqual([[], []]);
  });

  test("have their test cases disabled, and count none as unmanaged", () => {
    const lost = stray("old", ["target.old", "T"], ["testCase.old.a", "C1"]);
    const { desired, states, strays } = withRemovedTargets(
      { desired: project(), states: new Map(), strays: [lost] },
      true,
    );
    const { plan } = planOf({
      declared: {},
      live: { target: liveTarget([{ id: "E" }]), testCases: [liveCase("C1"), liveCase("C2")] },
      input: { desired, states, strays, disableRemoved: true },
    });
    expect(plan.changes.map(({ address, action }) => [address, action])).toEqual([
      ["testCase.old.a", "disable"],
    ]);
    expect(plan.orphaned).toEqual([
      { address: "target.old", id: "T" },
      { address: "testCase.old.a", id: "C1" },
    ]);
    expect(plan.summary.unmanaged).toBe(0);
  });
});

/** What a plan has of the only target. */
function matchedIn(situation: Situation) {
  const planned = planOf(situation);
  const matched = planned.matched.get("shop");
  if (matched === undefined) throw new Error("not matched");
  return { ...planned, matched };
}

test("what is undeclared is an orphan while it is live and has no other address", () => {
  const { matched } = matchedIn({
    declared: { testCases: { login: { description: "Log in" } } },
    live: {
      target: liveTarget([{ id: "E1" }, { id: "E2" }]),
      testCases: [
        liveCase("C1", { description: "Log in" }),
        liveCase("C2"),
        liveCase("C3"),
        liveCase("C4", { status: "DELETED" }),
      ],
    },
    state: [
      bound("testCase.shop.renamed", "C1"),
      bound("testCase.shop.a", "C2"),
      bound("testCase.shop.b", "C4"),
      bound("environment.shop.e", "E1"),
      bound("environment.shop.f", "E9"),
    ],
  });
  const found = undeclaredBindings(matched);
  expect(found).toEqual({
    orphans: [
      { address: "testCase.shop.a", id: "C2" },
      { address: "environment.shop.e", id: "E1" },
    ],
    gone: ["testCase.shop.renamed", "testCase.shop.b", "environment.shop.f"],
  });
  expect(countUnmanaged(matched, found.orphans)).toBe(2);
  expect(countUnmanaged({ ...matched, live: undefined }, [])).toBe(2);
  expect(undeclaredBindings({ ...matched, state: undefined })).toEqual({ orphans: [], gone: [] });
});

describe("a new test case looks renamed", () => {
  const old: Address = "testCase.shop.old";
  const shown = { description: "Old", tags: ["a"], discovery: discovered() };
  const fresh = { description: "New", "discovery.prompt": "Log in" };
  const rows: readonly (readonly [string, DesiredFields, object, boolean])[] = [
    ["of the same prompt", {}, {}, true],
    ["of another prompt", { "discovery.prompt": "Pay" }, {}, false],
    ["of the same tags", { tags: ["a"] }, {}, true],
    ["of other tags", { tags: ["b"] }, {}, false],
    ["of a field that is never shown", { interactionStatus: "NEW" }, {}, true],
    ["of a note", { reason: "r" }, {}, true],
    ["of a secret", { entryPointUrlPath: new Secret("/a") }, { entryPointUrlPath: "/a" }, false],
    ["of another external id", { externalId: "X" }, { externalId: "Y" }, false],
    ["of a folder whose name is known", { folder: "F" }, { folderId: "1" }, true],
    ["of a folder whose name is unknown", { folder: "G" }, { folderId: "2" }, false],
  ];
  const situation = (fields: DesiredFields, live: object, more: object = {}): Situation => ({
    declared: { testCases: { fresh: { ...fresh, ...fields } } },
    live: { testCases: [liveCase("C1", { ...shown, ...live })] },
    state: [bound(old, "C1", more), { type: "folder", name: "F", id: "1" }],
  });
  const told = ({ plan }: ReturnType<typeof planOf>) =>
    plan.diagnostics.filter(({ code }) => code === "looks-renamed").map(({ address }) => address);
  test.each(rows)("%s", (_, fields, live, expected) => {
    const found = told(planOf(situation(fields, live)));
    expect(found).toEqual(expected ? ["testCase.shop.fresh"] : []);
  });

  test("but not by what may be an old secret", () => {
    expect(told(planOf(situation({ tags: ["a"] }, {}, { secrets: ["tags"] })))).toEqual([]);
    expect(told(planOf(situation({}, {}, { secrets: ["tags"] })))).toEqual(["testCase.shop.fresh"]);
  });

  test("unless there are too many to compare", () => {
    const { matched, plan } = matchedIn(situation({}, {}));
    const [change] = plan.changes;
    if (change === undefined) throw new Error("nothing is created");
    const orphans = (count: number) =>
      Array.from({ length: count }, (_, at) => ({ address: old, id: at === 0 ? "C1" : "none" }));
    const found = (changes: number, count: number) =>
      renamedWarnings(
        matched,
        Array.from({ length: changes }, () => change),
        orphans(count),
      ).length;
    expect([
      found(1, 100_000),
      found(1, 100_001),
      found(2, 50_001),
      found(0, 1),
      found(1, 0),
    ]).toEqual([1, 0, 0, 0, 0]);
    expect(renamedWarnings(matched, [{ ...change, action: "update" }], orphans(1))).toEqual([]);
  });
});

test.each([
  ["set off by tasc", { status: "DISABLED" }, {}, { status: "DISABLED" }, ["status"]],
  [
    "set off twice",
    { status: "DISABLED", runStatus: "OFF" },
    {},
    { status: "DISABLED", runStatus: "OFF" },
    ["status", "runStatus"],
  ],
  ["on again", { status: "DISABLED" }, {}, {}, []],
  ["declared", { status: "DISABLED" }, { status: "DISABLED" }, { status: "DISABLED" }, []],
  ["set off by others", { status: "ENABLED" }, {}, { status: "DISABLED" }, []],
  ["set off by others, and not known", {}, {}, { runStatus: "OFF" }, []],
] as const)("whether it is left off: %s", (_, before, fields, live, names) => {
  const { matched } = matchedIn({
    declared: { testCases: { login: { description: "Log in", ...fields } } },
    live: { testCases: [liveCase("C1", { description: "Log in", ...live })] },
    state: [applied(before)],
  });
  expect(leftOffWarnings(matched)).toEqual(
    names.map((name) => ({
      severity: "warning",
      code: "left-off",
      address: LOGIN,
      summary: `${name} is still ${name === "status" ? "DISABLED" : "OFF"}, as tasc set it`,
      detail: `tasc set it when the test case left the manifests or was declared so. No manifest declares \`${name}\` now, so the test case stays out of runs. Declare \`${name}\` to decide whether it runs.`,
    })),
  );
  expect(leftOffWarnings({ ...matched, fingerprints: undefined })).toEqual([]);
  expect(leftOffWarnings({ ...matched, state: undefined })).toEqual([]);
});

test("a forgotten address keeps its id, if it has one", () => {
  const state = stateOf([bound(LOGIN, "C1")]);
  const nothing = { fields: [], calls: [], followUps: [], dependsOn: [] };
  expect(forgets(state, [LOGIN, "testCase.shop.b"])).toStrictEqual([
    { address: LOGIN, action: "forget", id: "C1", ...nothing },
    { address: "testCase.shop.b", action: "forget", ...nothing },
  ]);
});
