import { describe, expect, test } from "vitest";
import { testBadInputs } from "./bad-input.ts";
import { loaded, PROJECT, target } from "./loading.ts";

const STAGES = `${PROJECT}stages: { dev: {}, prod: {} }\n`;

describe("prerequisites", () => {
  testBadInputs([
    {
      rule: "a prerequisite must exist in the same target",
      document: `target: shop
testCases:
  login: {}
  cart: { discovery: { prerequisite: loign } }
batchGenerations: { g: { prerequisite: nothing-like-it } }
`,
      files: { "targets/blog.yaml": "target: blog\ntestCases: { nothing-like-it: {} }\n" },
      errors: [
        "targets/shop.yaml:4:38 unknown-prerequisite: There is no test case `loign` in target shop / At `testCases.cart.discovery.prerequisite`. `discovery.prerequisite` must be a key of the same target. For a test case that is not managed here, write `{ description: … }`. Did you mean `login`?",
        "targets/shop.yaml:5:40 unknown-prerequisite: There is no test case `nothing-like-it` in target shop / At `batchGenerations.g.prerequisite`. `prerequisite` must be a key of the same target. For a test case that is not managed here, write `{ description: … }`.",
      ],
    },
    {
      rule: "a prerequisite must exist in the selected stage",
      project: STAGES,
      stage: "dev",
      document: `target: shop
testCases: { cart: { discovery: { prerequisite: login } } }
stages: { prod: { testCases: { login: {} } } }
`,
      errors: [
        "targets/shop.yaml:2:49 unknown-prerequisite: There is no test case `login` in target shop / At `testCases.cart.discovery.prerequisite`. `discovery.prerequisite` must be a key of the same target. For a test case that is not managed here, write `{ description: … }`.",
      ],
    },
    {
      rule: "prerequisites cannot be circular, and each circle is reported once",
      document: `target: shop
testCases:
  zero: { discovery: { prerequisite: b } }
  b: { discovery: { prerequisite: c } }
  c: { discovery: { prerequisite: a } }
  a: { discovery: { prerequisite: b } }
  self: { discovery: { prerequisite: self } }
`,
      errors: [
        "targets/shop.yaml:6:35 prerequisite-cycle: Circular prerequisites / At `testCases.a.discovery.prerequisite`. Each of these runs after the next: a → b → c → a. Remove one of them.",
        "targets/shop.yaml:7:38 prerequisite-cycle: Circular prerequisites / At `testCases.self.discovery.prerequisite`. Each of these runs after the next: self → self. Remove one of them.",
      ],
    },
    {
      rule: "a managed prerequisite must be named by its key, not by its description",
      document: `target: shop
testCases:
  login: { description: Log in }
  cart: { discovery: { prerequisite: { description: Log in } } }
`,
      errors: [
        "targets/shop.yaml:4:24 managed-prerequisite: The prerequisite is managed here as `login` / At `testCases.cart.discovery.prerequisite`. `{ description: … }` is for test cases that nothing here manages. Write `discovery.prerequisite: login`.",
      ],
    },
    {
      rule: "an override needs a test case to override, unless it declares one for its stage only",
      document:
        "target: shop\ntestCases: { login: { description: L } }\nstages: { default: { testCases: { logni: { status: DRAFT }, other: { description: O } } } }\n",
      errors: [
        "targets/shop.yaml:3:35 override-without-base: This override has no test case `logni` to override / At `stages.default.testCases.logni`. No document declares it outside `stages`. Correct the key, or remove the override. Did you mean `login`?",
      ],
    },
    {
      rule: "a missing prerequisite is not reported if an invalid file may declare it",
      document: "target: shop\ntestCases: { cart: { discovery: { prerequisite: login } } }\n",
      files: { "targets/more.yaml": "target: [" },
      errors: [
        "targets/more.yaml:1:9 yaml-syntax: The `[` here is never closed / Close it with `]`, and indent every line inside it deeper than its key.",
      ],
    },
    {
      rule: "a missing prerequisite is not reported if a misspelt section may declare it",
      document: "target: shop\ntestCases: { cart: { discovery: { prerequisite: login } } }\n",
      files: { "targets/more.yaml": "target: shop\ntestcases: { login: {} }\n" },
      errors: [
        "targets/more.yaml:2:1 unknown-key: Unknown key `testcases` / At `testcases`. Did you mean `testCases`? Allowed here: `target`, `id`, `onlyStages`, `app`, `testIdAttribute`, `timeoutPerStep`, `trackerIntegration`, `onRemove`, `environments`, `defaults`, `testCases`, `batchGenerations`, `stages`, `moved` and `removed`.",
      ],
    },
    {
      rule: "a missing prerequisite is reported despite a misspelt key in a part of a target's field",
      document:
        "target: shop\ntrackerIntegration: { usrname: bot }\ntestCases: { cart: { discovery: { prerequisite: login } } }\n",
      errors: [
        "targets/shop.yaml:2:23 unknown-key: Unknown key `usrname` / At `trackerIntegration.usrname`. Did you mean `username`? Allowed here: `domain`, `username`, `projectId` and `apiKey`.",
        "targets/shop.yaml:3:49 unknown-prerequisite: There is no test case `login` in target shop / At `testCases.cart.discovery.prerequisite`. `discovery.prerequisite` must be a key of the same target. For a test case that is not managed here, write `{ description: … }`.",
      ],
    },
    {
      rule: "a missing prerequisite is reported despite an error in a field of its test case",
      document:
        "target: shop\ntestCases: { cart: { status: on, discovery: { prerequisite: login } } }\n",
      errors: [
        'targets/shop.yaml:2:30 bad-value: `testCases.cart.status` must be one of `ENABLED`, `DISABLED`, `DRAFT`, `OUTDATED` or `PROVISIONAL`, or an interpolation that resolves to one / At `testCases.cart.status`. Found the string "on".',
        "targets/shop.yaml:2:61 unknown-prerequisite: There is no test case `login` in target shop / At `testCases.cart.discovery.prerequisite`. `discovery.prerequisite` must be a key of the same target. For a test case that is not managed here, write `{ description: … }`.",
      ],
    },
  ]);

  test("an unmanaged test case is referenced by its description", async () => {
    const { testCases } = await target(
      "target: shop\ntestCases: { cart: { discovery: { prerequisite: { description: 'Log in at ${stage}' } } } }\n",
    );
    expect(testCases[0]?.fields).toEqual({
      "discovery.prerequisite": { description: "Log in at default" },
    });
  });
});

describe("environments", () => {
  testBadInputs([
    {
      rule: "the environment of a batch generation must exist",
      document: `target: shop
environments: { default: {}, preview: {} }
batchGenerations: { a: { environment: preveiw }, b: { environment: preview } }
`,
      errors: [
        "targets/shop.yaml:3:39 unknown-environment: There is no environment `preveiw` in target shop / At `batchGenerations.a.environment`. `environment` must be a key under the target's `environments`. It has `default` and `preview`. Did you mean `preview`?",
      ],
    },
    {
      rule: "a batch generation cannot name an environment if the target declares none",
      document: "target: shop\nbatchGenerations: { a: { environment: default } }\n",
      errors: [
        "targets/shop.yaml:2:39 unknown-environment: There is no environment `default` in target shop / At `batchGenerations.a.environment`. `environment` must be a key under the target's `environments`. It declares none.",
      ],
    },
    {
      rule: "the key of the default environment must be lowercase",
      document: "target: shop\nenvironments: { DEFAULT: { discoveryUrl: 'https://a.example' } }\n",
      errors: [
        "targets/shop.yaml:2:17 misspelt-default: `DEFAULT` is not the service's DEFAULT environment / At `environments.DEFAULT`. The DEFAULT environment has the key `default`. Choose a different key for an additional environment.",
      ],
    },
  ]);
});

describe("ids", () => {
  testBadInputs([
    {
      rule: "two addresses cannot have the same id, ignoring case",
      document: `target: shop
id: 6f1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11
testCases:
  a: { id: 11111111-1111-4111-8111-111111111111 }
  b: { id: 11111111-1111-4111-8111-111111111111 }
`,
      files: { "targets/z.yaml": "target: z\nid: 6F1D8C1E-0B7A-4C55-9A3E-2F2B8F0C9D11\n" },
      errors: [
        "targets/shop.yaml:5:12 duplicate-id: testCase.shop.a has the same `id` / At `testCases.b.id`. `11111111-1111-4111-8111-111111111111` can only be bound to one address. Correct or remove one of the two. The other place is targets/shop.yaml:4:8.",
        "targets/z.yaml:2:5 duplicate-id: target.shop has the same `id` / At `id`. `6F1D8C1E-0B7A-4C55-9A3E-2F2B8F0C9D11` can only be bound to one address. Correct or remove one of the two. The other place is targets/shop.yaml:2:1.",
      ],
    },
  ]);

  test("a duplicate external id is a warning, unless the test case has an `id`", async () => {
    const document = `target: shop
testCases:
  a: { externalId: S-1 }
  b: { externalId: S-1 }
  c: { externalId: S-1, id: 11111111-1111-4111-8111-111111111111 }
  d: { externalId: S-2 }
`;
    const { diagnostics } = await loaded({ "targets/shop.yaml": document });
    expect(diagnostics.map(({ severity, code, address }) => [severity, code, address])).toEqual([
      ["warning", "duplicate-external-id", "testCase.shop.b"],
    ]);
  });

  test("an id can differ between stages, and can be interpolated", async () => {
    const document = `target: shop
testCases: { a: { id: "\${env:ID}" } }
stages: { prod: { testCases: { a: { id: 22222222-2222-4222-8222-222222222222 } } } }
`;
    const env = { KEY: "k", ID: "11111111-1111-4111-8111-111111111111" };
    const files = { "tasc.yaml": STAGES };
    const [dev, prod] = await Promise.all(
      ["dev", "prod"].map((stage) => target(document, { stage, env, files })),
    );
    expect(dev?.testCases[0]?.id).toBe("11111111-1111-4111-8111-111111111111");
    expect(prod?.testCases[0]?.id).toBe("22222222-2222-4222-8222-222222222222");
  });
});

describe("moved", () => {
  testBadInputs([
    {
      rule: "entries must be maps with valid addresses as `from` and `to`",
      document:
        "target: shop\nmoved: [{ from: shop.a, to: testCase.shop.b }, { from: testCase.shop.c }, 5]\n",
      errors: [
        'targets/shop.yaml:2:17 bad-value: `moved[0].from` must be an address, e.g. `testCase.shop.login` / At `moved[0].from`. Found the string "shop.a".',
        "targets/shop.yaml:2:48 missing-key: `moved[1].to` is missing / At `moved[1]`. The key `to` is required. It must be an address, e.g. `testCase.shop.login`.",
        "targets/shop.yaml:2:75 bad-value: `moved[2]` must be a map / At `moved[2]`. Found the number 5.",
      ],
    },
    {
      rule: "a move must stay within its target",
      document: `target: shop
moved:
  - { from: testCase.blog.a, to: testCase.shop.a }
  - { from: target.old, to: target.shop }
`,
      errors: [
        "targets/shop.yaml:3:13 move-elsewhere: testCase.blog.a does not belong to target shop / At `moved[0].from`. `moved` renames within one target. Between targets, or for a target itself, run `tasc state mv FROM TO`.",
        "targets/shop.yaml:4:13 move-elsewhere: target.old does not belong to target shop / At `moved[1].from`. `moved` renames within one target. Between targets, or for a target itself, run `tasc state mv FROM TO`.",
      ],
    },
    {
      rule: "a move must keep the kind of resource",
      document: "target: shop\nmoved: [{ from: testCase.shop.a, to: environment.shop.a }]\n",
      errors: [
        "targets/shop.yaml:2:38 move-kind: testCase.shop.a cannot become environment.shop.a / At `moved[0].to`. They are different kinds of resource.",
      ],
    },
    {
      rule: "moves cannot be circular",
      document: `target: shop
moved:
  - { from: testCase.shop.b, to: testCase.shop.a }
  - { from: testCase.shop.a, to: testCase.shop.b }
  - { from: testCase.shop.self, to: testCase.shop.self }
`,
      errors: [
        "targets/shop.yaml:4:13 move-cycle: Circular moves / At `moved[1].from`. Each of these is moved to the next: testCase.shop.a → testCase.shop.b → testCase.shop.a. Remove one of them.",
        "targets/shop.yaml:5:13 move-cycle: Circular moves / At `moved[2].from`. Each of these is moved to the next: testCase.shop.self → testCase.shop.self. Remove one of them.",
      ],
    },
    {
      rule: "a moved address must not be declared any more",
      document:
        "target: shop\ntestCases: { a: {} }\nmoved: [{ from: testCase.shop.a, to: testCase.shop.b }]\n",
      errors: [
        "targets/shop.yaml:3:17 move-of-declared: testCase.shop.a is still declared / At `moved[0].from`. `moved` says that it is now testCase.shop.b. Remove its declaration, or the move.",
      ],
    },
    {
      rule: "two moves cannot have the same source or destination, even in different documents",
      document: `target: shop
moved: [{ from: testCase.shop.a, to: testCase.shop.b }]
`,
      files: {
        "targets/shop2.yaml":
          "target: shop\nmoved:\n  - { from: testCase.shop.a, to: testCase.shop.c }\n  - { from: testCase.shop.d, to: testCase.shop.b }\n",
      },
      errors: [
        "targets/shop2.yaml:3:13 move-twice: testCase.shop.a is moved twice / At `moved[0].from`. It cannot become both testCase.shop.b and testCase.shop.c. The other place is targets/shop.yaml:2:9.",
        "targets/shop2.yaml:4:34 move-twice: Two addresses are moved to testCase.shop.b / At `moved[1].to`. testCase.shop.a and testCase.shop.d cannot both become it. The other place is targets/shop.yaml:2:9.",
      ],
    },
  ]);

  test("moves can be chained", async () => {
    const { moved } = await target(`target: shop
testCases: { c: {} }
moved: [{ from: testCase.shop.a, to: testCase.shop.b }, { from: testCase.shop.b, to: testCase.shop.c }]
`);
    expect(moved).toEqual([
      {
        from: "testCase.shop.a",
        to: "testCase.shop.b",
        origin: { file: "targets/shop.yaml", path: ["moved", 0] },
      },
      {
        from: "testCase.shop.b",
        to: "testCase.shop.c",
        origin: { file: "targets/shop.yaml", path: ["moved", 1] },
      },
    ]);
  });
});

describe("several documents of one target", () => {
  testBadInputs([
    {
      rule: "cannot declare the same address, and the error names both places",
      document: "target: shop\ntestCases:\n  a: {}\n  b: {}\nenvironments: { default: {} }\n",
      files: {
        "targets/more.yaml":
          "target: shop\n# more\ntestCases:\n  b: {}\nenvironments: { default: {} }\n",
      },
      errors: [
        "targets/shop.yaml:4:3 duplicate: testCase.shop.b is declared twice / At `testCases.b`. Rename one of them, or merge the two. The other place is targets/more.yaml:4:3.",
        "targets/shop.yaml:5:17 duplicate: environment.shop.default is declared twice / At `environments.default`. Rename one of them, or merge the two. The other place is targets/more.yaml:5:17.",
      ],
    },
    {
      rule: "cannot set the same field, onRemove or default of the target",
      document: `target: shop
app: Shop
onRemove: ignore
defaults: { testCases: { status: DRAFT, discovery: { type: LOGIN } } }
`,
      files: {
        "targets/more.yaml": `target: shop
app: Shop
onRemove: disable
id: 11111111-1111-4111-8111-111111111111
defaults: { testCases: { status: ENABLED, tags: [], discovery: { prompt: x } } }
`,
      },
      errors: [
        "targets/shop.yaml:2:1 duplicate: `app` of target shop is set twice / At `app`. Documents of one target share its fields and defaults. Remove one of the two. The other place is targets/more.yaml:2:1.",
        "targets/shop.yaml:3:1 duplicate: `onRemove` of target shop is set twice / At `onRemove`. Documents of one target share its fields and defaults. Remove one of the two. The other place is targets/more.yaml:3:1.",
        "targets/shop.yaml:4:26 duplicate: `status` of the defaults of target shop is set twice / At `defaults.testCases.status`. Documents of one target share its fields and defaults. Remove one of the two. The other place is targets/more.yaml:5:26.",
      ],
    },
    {
      rule: "cannot give the same override, even for a stage that is not selected",
      project: STAGES,
      stage: "dev",
      document:
        "target: shop\ntestCases: { a: {} }\nstages: { prod: { app: P, testCases: { a: {} } } }\n",
      files: {
        "targets/more.yaml": "target: shop\nstages: { prod: { app: Q, testCases: { a: {} } } }\n",
      },
      errors: [
        "targets/shop.yaml:3:19 duplicate: `app` of target shop is set twice / At `stages.prod.app`. Documents of one target share its fields and defaults. Remove one of the two. The other place is targets/more.yaml:2:19.",
        "targets/shop.yaml:3:40 duplicate: testCase.shop.a is declared twice / At `stages.prod.testCases.a`. Rename one of them, or merge the two. The other place is targets/more.yaml:2:40.",
      ],
    },
  ]);

  test("add to the same target and share their defaults", async () => {
    const { testCases, fields, layers } = await target(
      "target: shop\napp: Shop\ntestCases: { b: {} }\n",
      {
        files: {
          "targets/a.yaml":
            "target: shop\ndefaults: { testCases: { status: DRAFT } }\ntestCases: { a: {} }\n",
          "targets/c.yaml":
            "target: shop\ntestIdAttribute: id\ndefaults: { testCases: { runStatus: ON } }\ntestCases: { c: {} }\n",
        },
      },
    );
    expect(fields).toEqual({ app: "Shop", testIdAttribute: "id" });
    expect(layers.map(({ file }) => file)).toEqual(["targets/c.yaml", "targets/shop.yaml"]);
    expect(testCases.map(({ key, fields: own }) => [key, own])).toEqual(
      ["a", "b", "c"].map((key) => [key, { status: "DRAFT", runStatus: "ON" }]),
    );
  });

  test("can override resources that another of them declares", async () => {
    const { testCases } = await target("target: shop\ntestCases: { a: { status: DRAFT } }\n", {
      stage: "prod",
      files: {
        "tasc.yaml": STAGES,
        "targets/prod.yaml":
          "target: shop\nstages: { prod: { testCases: { a: { status: ENABLED } } } }\n",
      },
    });
    expect(testCases[0]?.fields).toEqual({ status: "ENABLED" });
    expect(testCases[0]?.layers.map(({ kind, file }) => [kind, file])).toEqual([
      ["base", "targets/shop.yaml"],
      ["stage", "targets/prod.yaml"],
    ]);
  });
});
