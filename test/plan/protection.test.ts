// What `policy.protected` refuses, in whole sentences: by which of its names a live resource is
// protected.
import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { Policy } from "../../src/model/settings.ts";
import { type Planned, makePlan } from "../../src/plan/plan.ts";
import { type ProtectedPlan, protectedBreaches } from "../../src/plan/protection.ts";
import { scopeTest } from "../../src/plan/scope.ts";
import {
  type Situation,
  liveCase,
  liveTarget,
  planInput,
  planOf,
  project,
  target,
} from "./build.ts";
import {
  CLICK,
  SHOP_URL,
  VISIBLE,
  bound,
  discovered,
  review,
  steps,
  stray,
} from "./situations/parts.ts";

const PAY: Address = "testCase.shop.pay";
const OTHER: Address = "testCase.shop.other";
const pay = { description: "Pay" };
const live = { testCases: [liveCase("C", pay), liveCase("D", { description: "Else" })] };
const shop = bound("target.shop", "T");
const isPay = [shop, bound(PAY, "C")];

interface Row {
  readonly plan: Situation;
  readonly policy?: Policy;
  readonly removed?: readonly Address[];
  readonly more?: Partial<Omit<ProtectedPlan, "policy" | "base">>;
  readonly base?: readonly Situation[] | "unreadable";
}

const declares = (testCases: Situation["declared"]["testCases"]): Situation => ({
  declared: { testCases: testCases ?? {} },
  live,
  state: isPay,
});
/** What another stage has for the id C. */
const dev = (policy: Policy, address: Address = PAY) => ({
  elsewhere: [{ stage: "dev", policy, bound: [{ address, id: "C" }] }],
});
const onlyPay: Policy = { protected: ["testCase.shop.pay"] };
const moved = { default: { discoveryUrl: "https://evil.example.com" } };
const withShop = {
  target: liveTarget([{ id: "E0", type: "DEFAULT", discoveryUrl: SHOP_URL }]),
  ...live,
};
/** A base in which the addresses of these test cases are declared. */
const based = (testCases: NonNullable<Situation["declared"]["testCases"]>): Situation => ({
  declared: { testCases },
  live,
});
const blog = target(
  { fields: { app: "Blog" }, testCases: { post: { description: "Post" } } },
  "blog",
);
/** A target of the base that no manifest declares now. */
const withBlog: Situation = {
  declared: {},
  live: { target: liveTarget() },
  input: {
    desired: project(blog),
    live: { targets: [{ ...liveTarget(), app: "Blog" }], testCases: new Map() },
  },
};

/** Two live targets, of which only `shop` was read, and a base that means the other one. */
const readShop = {
  targets: [liveTarget(), { ...liveTarget(), id: "B" }],
  testCases: new Map([["T", live.testCases]]),
};
const blogBase: Situation = {
  ...withBlog,
  input: {
    ...withBlog.input,
    live: { targets: [{ ...liveTarget(), id: "B", app: "Blog" }], testCases: new Map() },
  },
};

const rows: Readonly<Record<string, Row>> = {
  "nothing is protected": { plan: declares({}), policy: {} },
  "another is protected": { plan: declares({}), policy: { protected: [PAY.replace("pay", "p")] } },
  "it stays": { plan: declares({ pay }) },
  "it leaves the manifests": { plan: declares({}) },
  "it leaves the manifests, and was protected by several globs": {
    plan: declares({}),
    policy: { protected: ["testCase.blog.*", "*.pay", "testCase.*"], pinned: ["testCase.*"] },
  },
  "it is gone on the service": {
    plan: { ...declares({}), live: { testCases: [liveCase("C", { ...pay, status: "DELETED" })] } },
  },
  "it is disabled and started elsewhere": {
    plan: declares({ pay: { ...pay, status: "DISABLED", entryPointUrlPath: "/x" } }),
  },
  "it is renamed, and generated again": {
    plan: {
      ...declares({ pay: { description: "Buy", "discovery.prompt": "New" } }),
      live: { testCases: [liveCase("C", { ...pay, discovery: discovered() })] },
    },
  },
  "it is changed where the manifests declare it": {
    plan: declares({ pay: { ...pay, status: "DISABLED" } }),
    more: {},
    policy: { protected: ["testCase.shop.p`ay*", "testCase.*"] },
  },
  "it checks less": {
    plan: {
      ...declares({ pay: { ...pay, elements: [CLICK] } }),
      live: { testCases: [liveCase("C", { ...pay, elements: steps(CLICK, VISIBLE, CLICK) })] },
    },
  },
  "it is left without steps": {
    plan: {
      ...declares({ pay: { ...pay, elements: [] } }),
      live: { testCases: [liveCase("C", { ...pay, elements: steps(CLICK) })] },
    },
  },
  "its key changes": { plan: declares({ other: pay }) },
  "its key changes, and it is disabled": {
    plan: declares({ other: { ...pay, status: "DISABLED" } }),
  },
  "its key changes to a protected one": {
    plan: declares({ other: pay }),
    policy: { protected: ["testCase.shop.*"] },
  },
  "its key changes, and only manifests protect it then": {
    plan: declares({ other: pay }),
    policy: { protected: ["testCase.*", PAY], pinned: [PAY] },
  },
  "another test case takes its key": {
    plan: { ...declares({ pay: { description: "Else" } }), state: [shop, bound(PAY, "C")] },
  },
  "another test case takes its key by id": {
    plan: { ...declares({ pay: {} }), declared: { testCases: { pay: {} }, ids: { pay: "D" } } },
  },
  "it is forgotten": { plan: declares({}), removed: [PAY] },
  "it is forgotten with its target": { plan: declares({}), removed: ["target.shop"] },
  "it is forgotten, but declared under another key": {
    plan: declares({ other: pay }),
    removed: [PAY],
  },
  "it is out of scope": {
    plan: { ...declares({}), input: { scope: { only: [OTHER], exclude: [] } } },
  },
  "it is out of scope, and its key changes": {
    plan: { ...declares({ other: pay }), input: { scope: { only: ["target.*"], exclude: [] } } },
  },
  "its steps are weakened": {
    plan: { ...declares({ pay }), input: review("weakened") },
  },
  "its steps are weakened out of scope": {
    plan: {
      ...declares({ pay }),
      input: { ...review("weakened"), scope: { only: [OTHER], exclude: [] } },
    },
  },
  "the target itself is protected and gets another name": {
    plan: { declared: { fields: { app: "Shop 2" } }, live, state: [shop] },
    policy: { protected: ["target.*"] },
  },
  "its default environment moves": {
    plan: {
      declared: { testCases: { pay, a: { description: "Else" } }, environments: moved },
      live: withShop,
      state: isPay,
    },
  },
  "its default environment moves, and is protected too": {
    plan: { declared: { testCases: { pay }, environments: moved }, live: withShop, state: isPay },
    policy: { protected: ["environment.*", "testCase.*"] },
  },
  "its default environment moves while its key changes": {
    plan: {
      declared: { testCases: { other: pay }, environments: moved },
      live: withShop,
      state: isPay,
    },
  },
  "another environment moves": {
    plan: {
      declared: { testCases: { pay }, environments: { preview: moved.default } },
      live: { target: liveTarget([{ id: "E1", discoveryUrl: SHOP_URL }]), ...live },
      state: [...isPay, bound("environment.shop.preview", "E1")],
    },
  },
  "another environment moves, and is protected": {
    plan: {
      declared: { environments: { preview: moved.default } },
      live: { target: liveTarget([{ id: "E1", discoveryUrl: SHOP_URL }]), ...live },
      state: [shop, bound("environment.shop.preview", "E1")],
    },
    policy: { protected: ["environment.*"] },
  },
  "another environment leaves the manifests": {
    plan: {
      declared: {},
      live: { target: liveTarget([{ id: "E1", discoveryUrl: SHOP_URL }]), ...live },
      state: [shop, bound("environment.shop.preview", "E1")],
    },
    policy: { protected: ["environment.*"] },
  },
  "another stage protects it": {
    plan: declares({ pay: { ...pay, status: "DISABLED" } }),
    policy: {},
    more: dev(onlyPay),
  },
  "another stage protects it under another address": {
    plan: declares({ pay: { ...pay, status: "DISABLED" } }),
    policy: {},
    more: dev({ protected: ["testCase.shop.buy"] }, "testCase.shop.buy"),
  },
  "another stage has it and does not protect it": {
    plan: declares({ pay: { ...pay, status: "DISABLED" } }),
    policy: {},
    more: dev({ protected: ["testCase.blog.*"] }),
  },
  "it is taken from another stage": {
    plan: { ...declares({ mine: pay }), state: [shop] },
    policy: {},
    more: dev(onlyPay),
  },
  "it is taken from another stage, whose trust file protects it": {
    plan: { ...declares({ mine: pay }), state: [shop] },
    policy: { protected: ["testCase.shop.mine"] },
    more: dev({ ...onlyPay, pinned: [PAY] }),
  },
  "it is orphaned here, and another stage protects it": {
    plan: declares({}),
    policy: {},
    more: dev(onlyPay),
  },
  "the base has it under a protected address": {
    plan: { ...declares({ other: pay }), state: [shop] },
    base: [based({ pay })],
  },
  "the base has it, and no manifest does now": {
    plan: { ...declares({}), state: [shop] },
    base: [based({ pay }), based({ pay })],
  },
  "the base declares what is not live": {
    plan: { ...declares({}), state: [shop] },
    base: [based({ pay: { description: "Never", "discovery.prompt": "p" } })],
  },
  "the base has a target that no manifest declares now": {
    plan: {
      ...declares({}),
      input: {
        live: {
          targets: [liveTarget(), { ...liveTarget(), id: "B" }],
          testCases: new Map([["T", live.testCases]]),
        },
      },
    },
    policy: { protected: ["*.blog", "*.blog.*"] },
    base: [
      {
        ...withBlog,
        input: {
          ...withBlog.input,
          live: { targets: [{ ...liveTarget(), id: "B", app: "Blog" }], testCases: new Map() },
        },
      },
    ],
  },
  "the base has a target of which one test case is protected": {
    plan: { ...declares({}), input: { live: readShop } },
    policy: { protected: ["testCase.blog.post"] },
    base: [blogBase],
  },
  "the base has a target that is out of scope": {
    plan: {
      ...declares({}),
      input: { live: readShop, scope: { only: ["target.shop"], exclude: [] } },
    },
    policy: { protected: ["*.blog", "*.blog.*"] },
    base: [blogBase],
  },
  "the base has a target that is read under another key": {
    plan: declares({}),
    policy: { protected: ["*.blog", "*.blog.*"] },
    base: [withBlog],
  },
  "the base cannot be read": {
    plan: declares({ pay, other: { description: "Else" } }),
    base: "unreadable",
  },
  "the base cannot be read, and nothing is bound": {
    plan: { declared: { environments: { default: { discoveryUrl: SHOP_URL } } } },
    base: "unreadable",
  },
  "the base cannot be read, and most is out of scope": {
    plan: { ...declares({ pay }), input: { scope: { only: ["target.*"], exclude: [] } } },
    base: "unreadable",
  },
  "an undeclared target had it": {
    plan: {
      ...declares({ other: pay }),
      state: [shop],
      input: { strays: [stray("old", ["testCase.old.pay", "C"])] },
    },
    policy: { protected: ["testCase.old.*"] },
  },
  "an undeclared target had it, and a declared one has it as well": {
    plan: {
      ...declares({ other: pay }),
      state: [shop, bound(OTHER, "C")],
      input: { strays: [stray("old", ["testCase.old.pay", "C"])] },
    },
    policy: { protected: ["testCase.old.*"] },
  },
  "an undeclared target left it": {
    plan: {
      ...declares({}),
      state: [shop],
      input: { strays: [stray("old", ["target.old", "T"], ["testCase.old.pay", "C"])] },
    },
    policy: { protected: ["testCase.old.*"] },
  },
  "its target means another live one now": {
    plan: {
      declared: { fields: { app: "New" } },
      state: [shop, bound(PAY, "C")],
      input: {
        live: {
          targets: [liveTarget(), { id: "N", app: "New", environments: [] }],
          testCases: new Map([["N", []]]),
        },
        desired: project({ ...target({ fields: { app: "New" } }), id: "N" }),
      },
    },
  },
  "its target is gone on the service": {
    plan: {
      declared: { fields: { app: "New" } },
      state: [shop, bound(PAY, "C")],
      input: {
        live: {
          targets: [{ id: "N", app: "New", environments: [] }],
          testCases: new Map([["N", []]]),
        },
        desired: project({ ...target({ fields: { app: "New" } }), id: "N" }),
      },
    },
  },
};

function plannedOf(plan: Situation, removed: readonly Address[] = []): Planned {
  const { desired, ...input } = planInput(plan);
  const origin = { file: "tasc.yaml", path: [] };
  return makePlan({
    ...input,
    desired: { ...desired, removed: removed.map((address) => ({ address, origin })) },
  });
}

test("a breach is told at the place that declares the resource", () => {
  const layer = { kind: "base", file: "a.yaml", path: ["testCases", "pay"], value: {} } as const;
  const declared = target({ testCases: { pay: { ...pay, status: "DISABLED" } } });
  const testCases = declared.testCases.map((one) => ({ ...one, layers: [layer] }));
  const planned = planOf({
    declared: {},
    live,
    input: { desired: project({ ...declared, testCases }) },
  });
  const input = { ...planned, policy: onlyPay, now: 0, inScope: () => true };
  expect(protectedBreaches(input, undefined).map(({ origin }) => origin)).toEqual([layer]);
});

test.each(Object.entries(rows))("%s", (_, { plan, policy = onlyPay, removed, more, base }) => {
  const found = protectedBreaches(
    {
      ...plannedOf(plan, removed),
      policy,
      now: 0,
      inScope: scopeTest(planInput(plan).scope),
      ...(base && { base: base === "unreadable" ? base : base.map((one) => planOf(one).matched) }),
      ...more,
    },
    { file: "tasc.yaml", path: ["policy"] },
  );
  const told = found.map(({ address = "", summary, detail, origin }) =>
    [
      `${address}: ${summary}`,
      ...detail.split("\n"),
      ...(origin ? [`at ${origin.file}`] : []),
    ].join("\n  "),
  );
  expect(`\n${told.join("\n")}\n`).toMatchSnapshot();
});
