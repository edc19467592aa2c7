import { describe, expect, test } from "vitest";
import { testBadInputs } from "./bad-input.ts";
import { type DesiredResource, resourcesOf } from "../../src/model/desired.ts";
import { load, loaded, PROJECT, target } from "./loading.ts";

const SHOP = "target: shop\n";
const THREE = `${PROJECT}stages: { dev: {}, staging: {}, production: {} }\n`;

describe("the stage is", () => {
  const withDefault = `${THREE}defaultStage: staging\n`;
  const named = `${PROJECT}stages: { dev: {}, default: {} }\n`;
  test.each([
    ["the one of --stage, which has precedence", withDefault, "dev", "production", "dev"],
    ["else that of TASC_STAGE", withDefault, undefined, "production", "production"],
    [
      "else the defaultStage, also where TASC_STAGE is empty",
      withDefault,
      undefined,
      "",
      "staging",
    ],
    ["else the one named default", named, undefined, undefined, "default"],
    ["else the only one", `${PROJECT}stages: { dev: {} }\n`, undefined, undefined, "dev"],
    ["named default if the project has no stages", PROJECT, undefined, undefined, "default"],
    [
      "named default if `stages` is empty",
      `${PROJECT}stages: {}\n`,
      undefined,
      undefined,
      "default",
    ],
  ])("%s", async (_, project, stage, variable, expected) => {
    const env = { KEY: "key", ...(variable === undefined ? {} : { TASC_STAGE: variable }) };
    const { settings, desired } = await loaded(
      { "tasc.yaml": project, "targets/shop.yaml": SHOP },
      { stage, env },
    );
    expect([settings.stage, desired.stage]).toEqual([expected, expected]);
  });

  test("listed in the settings together with all others, in the order of the file", async () => {
    const { settings } = await loaded(
      { "tasc.yaml": THREE, "targets/shop.yaml": SHOP },
      { stage: "dev" },
    );
    expect(settings.stages).toEqual(["dev", "staging", "production"]);
  });

  testBadInputs([
    {
      rule: "reported as missing, with a list of all stages, if nothing selects one",
      project: THREE,
      document: SHOP,
      errors: [
        "tasc.yaml:3:1 no-stage: No stage is selected / At `stages`. The project has the stages `dev`, `staging` and `production`. Choose one with `--stage`, TASC_STAGE, or `defaultStage:` in tasc.yaml.",
      ],
    },
    {
      rule: "rejected if --stage names an unknown one",
      project: THREE,
      document: SHOP,
      stage: "stagin",
      errors: [
        "tasc.yaml:3:1 unknown-stage: There is no stage `stagin` / At `stages`. `--stage` asks for it. The project has the stages `dev`, `staging` and `production`. Did you mean `staging`?",
      ],
    },
    {
      rule: "rejected if TASC_STAGE names an unknown one",
      project: THREE,
      document: SHOP,
      env: { KEY: "k", TASC_STAGE: "prod" },
      errors: [
        "tasc.yaml:3:1 unknown-stage: There is no stage `prod` / At `stages`. `TASC_STAGE` asks for it. The project has the stages `dev`, `staging` and `production`. Did you mean `production`?",
      ],
    },
    {
      rule: "rejected if defaultStage names an unknown one",
      project: `${THREE}defaultStage: live\n`,
      document: SHOP,
      errors: [
        "tasc.yaml:4:15 unknown-stage: There is no stage `live` / At `defaultStage`. `defaultStage` asks for it. The project has the stages `dev`, `staging` and `production`.",
      ],
    },
    {
      rule: "rejected if --stage names one and the project declares none",
      document: SHOP,
      stage: "dev",
      errors: [
        "tasc.yaml:1:1 unknown-stage: There is no stage `dev` / `--stage` asks for it. The project has the stage `default`.",
      ],
    },
    {
      rule: "rejected if unknown in an override, even if another stage is selected",
      project: THREE,
      stage: "dev",
      document: "target: shop\nstages:\n  dev: {}\n  prodution: {}\n",
      errors: [
        "targets/shop.yaml:4:3 unknown-stage: There is no stage `prodution` / At `stages.prodution`. The project has the stages `dev`, `staging` and `production`. Did you mean `production`?",
      ],
    },
  ]);
});

describe("layers", () => {
  const document = `target: shop
app: Shop
defaults: { testCases: { status: DRAFT, runStatus: ON, tags: [web] } }
testCases:
  a: { tags: [a], folder: A, discovery: { prompt: one, type: LOGIN } }
  b: { status: ENABLED }
environments: { default: { testAccount: { username: qa, password: "\${secret:KEY}" } } }
stages:
  production:
    app: Live shop
    defaults: { testCases: { status: DISABLED } }
    testCases:
      a: { tags: [], folder: null, discovery: { prompt: two }, status: ENABLED }
      only: { description: Only here }
    environments: { default: { testAccount: { username: live } } }
`;

  test("without stage overrides, declared values override defaults", async () => {
    const { fields, testCases } = await target(document, {
      files: { "tasc.yaml": THREE },
      stage: "dev",
    });
    expect(fields).toEqual({ app: "Shop" });
    expect(testCases.map(({ key, fields: own }) => [key, own])).toEqual([
      [
        "a",
        {
          status: "DRAFT",
          runStatus: "ON",
          tags: ["a"],
          folder: "A",
          "discovery.prompt": "one",
          "discovery.type": "LOGIN",
        },
      ],
      ["b", { status: "ENABLED", runStatus: "ON", tags: ["web"] }],
    ]);
  });

  test("stage overrides merge maps, replace everything else, and can add resources", async () => {
    const shop = await target(document, { files: { "tasc.yaml": THREE }, stage: "production" });
    expect(shop.fields).toEqual({ app: "Live shop" });
    expect(shop.testCases.map(({ key, fields }) => [key, fields])).toEqual([
      [
        "a",
        {
          status: "ENABLED",
          runStatus: "ON",
          tags: [],
          folder: null,
          "discovery.prompt": "two",
          "discovery.type": "LOGIN",
        },
      ],
      // Its own values override all defaults, including the stage's.
      ["b", { status: "ENABLED", runStatus: "ON", tags: ["web"] }],
      ["only", { description: "Only here", status: "DISABLED", runStatus: "ON", tags: ["web"] }],
    ]);
    expect(JSON.stringify(shop.environments[0]?.fields)).toBe(
      '{"testAccount":{"username":"live","password":"(sensitive)"}}',
    );
  });

  test("are listed lowest first, and test cases share the layers of defaults", async () => {
    const { testCases } = await target(document, {
      files: { "tasc.yaml": THREE },
      stage: "production",
    });
    const [a, b, only] = testCases.map(({ layers }) => layers);
    expect(a?.map(({ kind, path }) => `${kind}: ${path.join(".")}`)).toEqual([
      "defaults: defaults.testCases",
      "stage defaults: stages.production.defaults.testCases",
      "base: testCases.a",
      "stage: stages.production.testCases.a",
    ]);
    expect(only?.map(({ kind }) => kind)).toEqual(["defaults", "stage defaults", "stage"]);
    expect(b?.[0]).toBe(a?.[0]);
    expect(b?.[1]).toBe(a?.[1]);
  });
});

describe("a target of several documents", () => {
  const project = `${THREE}defaults: { testCases: { tags: [all] } }\npolicy: { onRemove: disable }\n`;
  const files = {
    "tasc.yaml": project,
    "targets/z.yaml": `target: shop
app: Shop
id: 123e4567-e89b-12d3-a456-426614174000
onRemove: ignore
environments:
  preview: { discoveryUrl: "https://preview.example.com", onlyStages: [staging] }
  default: { discoveryUrl: "https://shop.example.com" }
defaults: { testCases: { folder: F } }
testCases:
  b: { description: B }
  a: { description: A, onlyStages: [dev] }
moved: [{ from: testCase.shop.x, to: testCase.shop.b }]
stages:
  dev:
    defaults: { testCases: { status: ENABLED } }
    testCases: { b: { runStatus: "OFF" }, c: { description: C } }
---
target: blog
app: Blog
onlyStages: [production]
---
target: also
app: Also
`,
    "targets/a.yaml": "target: shop\ntestCases: { d: { description: D } }\n",
  };
  const resolved = async (stage: string): Promise<string> => {
    const { desired } = await loaded(files, { stage });
    const line = ({ address, id, fields, layers }: DesiredResource): string =>
      [
        `${address} ${id ?? "-"} ${JSON.stringify(fields)}`,
        ...layers.map(({ kind, file, path }) => `  ${kind} ${file} ${path.join(".")}`),
      ].join("\n");
    return desired.targets
      .flatMap((one) => [
        `${one.key} ${one.onRemove} ${JSON.stringify(one.moved)}`,
        ...resourcesOf(one).map(line),
      ])
      .join("\n");
  };
  test.each(["dev", "production"])("is one in the stage %s", async (stage) => {
    expect(`\n${await resolved(stage)}\n`).toMatchSnapshot();
  });

  test("tells a problem of a default once, and one of a resource at its address", async () => {
    const result = await load(
      {
        "tasc.yaml": `${THREE}defaults: { testCases: { folder: "\${env:ONE}" } }\n`,
        "targets/z.yaml": `target: shop
app: Shop
environments: { default: { discoveryUrl: "\${env:TWO}" } }
defaults: { testCases: { entryPointUrlPath: "\${env:THREE}" } }
testCases: { a: { description: "\${env:FOUR}" }, b: { description: "B" } }
stages: { dev: { defaults: { testCases: { externalId: "\${env:FIVE}" } }, testCases: { b: { description: "\${env:SIX}" } } } }
`,
        "targets/y.yaml": `target: blog
app: Blog
---
target: desk
app: Desk
defaults: { testCases: { folder: "\${env:SEVEN}" } }
testCases: { a: { description: "A" }, b: { description: "\${env:EIGHT}" } }
`,
      },
      { stage: "dev" },
    );
    const told = result.ok
      ? []
      : result.diagnostics.map(({ summary, address }) => `${summary}: ${address ?? "shared"}`);
    expect(told.toSorted()).toEqual(
      [
        ["ONE", "shared"],
        ["TWO", "environment.shop.default"],
        ["THREE", "shared"],
        ["FOUR", "testCase.shop.a"],
        ["FIVE", "shared"],
        ["SIX", "testCase.shop.b"],
        ["SEVEN", "shared"],
        ["EIGHT", "testCase.desk.b"],
      ]
        .map(([name, where]) => `The environment variable ${name} is not set: ${where}`)
        .toSorted(),
    );
  });
});
