import { describe, expect, test } from "vitest";
import { parseDuration } from "../../src/manifest/shape.ts";
import { Secret } from "../../src/model/value.ts";
import { testBadInputs } from "./bad-input.ts";
import { PROJECT, load, loaded } from "./loading.ts";

const SHOP = { "targets/shop.yaml": "target: shop\n" };

describe("settings", () => {
  test("have default values", async () => {
    const { settings } = await loaded(SHOP);
    expect(settings).toEqual({
      otherPolicies: new Map(),
      otherBaseUrls: new Map(),
      stage: "default",
      stages: ["default"],
      baseUrl: "http://127.0.0.1:4010",
      apiKey: new Secret("the-api-key"),
      concurrency: 8,
      requestTimeout: 30_000,
      retries: 5,
      state: { backend: "local", options: {} },
      policy: {},
    });
    expect(settings.apiKey?.reveal()).toBe("the-api-key");
  });

  test("know the policies of other stages; one that cannot be resolved here protects everything", async () => {
    const { settings } = await loaded(
      {
        ...SHOP,
        "tasc.yaml": `${PROJECT}policy: { protected: [target.a] }
stages:
  here: {}
  there: { vars: { key: b }, policy: { protected: ["target.\${var:key}"] } }
  unclear: { policy: { protected: ["\${env:ONLY_THERE}"] } }
`,
      },
      { stage: "here" },
    );
    expect(Object.fromEntries(settings.otherPolicies)).toEqual({
      there: { protected: ["target.a", "target.b"] },
      unclear: { protected: ["*"] },
    });
  });

  test("come from the project and the stage, converted and interpolated", async () => {
    const { settings } = await loaded(
      {
        ...SHOP,
        "tasc.yaml": `version: 1
service: { baseUrl: "https://\${var:host}/base/", apiKey: "\${secret:KEY}", concurrency: "\${env:CALLS}", requestTimeout: 500ms }
vars: { host: a.example }
state: { backend: postgres, url: "postgres://\${secret:PG}@db/tasc", table: "t_\${stage}", fingerprintKey: "\${secret:FP}" }
policy: { maxChanges: 10, maxDisabledPercent: 12.5, protected: ["testCase.*.login"], requireTags: [owner], onRemove: disable }
stages:
  prod:
    vars: { host: b.example }
    service: { apiKey: "\${file:key.txt}", retries: 0 }
    state: { table: prod }
    policy: { maxChanges: 3, maxDisabledPercent: 50, protected: [] }
`,
        "key.txt": "file-key\n",
      },
      { env: { CALLS: "3", PG: "user:pass", FP: "fingerprints-of-state" } },
    );
    expect(settings).toEqual({
      otherPolicies: new Map(),
      otherBaseUrls: new Map(),
      stage: "prod",
      stages: ["prod"],
      baseUrl: "https://b.example/base",
      apiKey: new Secret("file-key"),
      concurrency: 3,
      requestTimeout: 500,
      retries: 0,
      state: {
        backend: "postgres",
        fingerprintKey: new Secret("fingerprints-of-state"),
        options: { url: new Secret("x"), table: "prod" },
      },
      policy: {
        maxChanges: 3,
        maxDisabledPercent: 12.5,
        protected: ["testCase.*.login"],
        requireTags: ["owner"],
        onRemove: "disable",
      },
    });
    const { url } = settings.state.options;
    expect(settings.apiKey?.reveal()).toBe("file-key");
    expect(url instanceof Secret && url.reveal()).toBe("postgres://user:pass@db/tasc");
    expect(settings.state.fingerprintKey?.reveal()).toBe("fingerprints-of-state");
  });

  test("report an unknown fingerprint key", async () => {
    const project = `${PROJECT}state: { fingerprintKey: "\${secret:FP}" }\n`;
    const { settings } = await loaded(
      { ...SHOP, "tasc.yaml": project },
      { allowMissingSecrets: true },
    );
    expect(settings.state).toEqual({ backend: "local", fingerprintKeyUnknown: true, options: {} });
  });

  testBadInputs([
    {
      rule: "require a base address and an API key, from the project or the stage",
      project: "version: 1\nstages: { dev: { service: { retries: 1 } } }\n",
      files: SHOP,
      errors: [
        'tasc.yaml:2:18 missing-key: `service.baseUrl` is missing / At `stages.dev.service`. Every request needs it. Add it to tasc.yaml, for the project or for the stage: `service: { baseUrl: "https://service.example.com" }`.',
        'tasc.yaml:2:18 missing-key: `service.apiKey` is missing / At `stages.dev.service`. Every request needs it. Add it to tasc.yaml, for the project or for the stage: `service: { apiKey: "${secret:TASC_API_KEY}" }`.',
      ],
    },
    {
      rule: "require a base address and an API key even if `service` is missing",
      project: "version: 1\n",
      files: SHOP,
      errors: [
        'tasc.yaml:1:1 missing-key: `service.baseUrl` is missing / Every request needs it. Add it to tasc.yaml, for the project or for the stage: `service: { baseUrl: "https://service.example.com" }`.',
        'tasc.yaml:1:1 missing-key: `service.apiKey` is missing / Every request needs it. Add it to tasc.yaml, for the project or for the stage: `service: { apiKey: "${secret:TASC_API_KEY}" }`.',
      ],
    },
    {
      rule: "of a stage that is not selected are not resolved",
      project: `${PROJECT}stages: { dev: { service: { baseUrl: "\${env:DEV}" } }, prod: { service: { baseUrl: "\${env:PROD}" } } }\n`,
      stage: "dev",
      files: SHOP,
      errors: [
        "tasc.yaml:3:39 missing-env: The environment variable DEV is not set / At `stages.dev.service.baseUrl`. `${env:DEV}` takes its value from it. Set it, or add a fallback: `${env:DEV:-…}`.",
      ],
    },
  ]);

  test("require the base address even if no API key is needed", async () => {
    const { diagnostics } = await load(
      { ...SHOP, "tasc.yaml": "version: 1\n" },
      { needsApiKey: false },
    );
    expect(diagnostics.map(({ summary }) => summary)).toEqual(["`service.baseUrl` is missing"]);
  });
});

describe("onRemove is", () => {
  const policy = `${PROJECT}vars: { keep: ignore }\npolicy: { onRemove: disable }\n`;
  test.each([
    ["ignore by default", PROJECT, "", "ignore"],
    ["the policy's", policy, "", "disable"],
    ["the target's, before the policy's", policy, "onRemove: ignore\n", "ignore"],
    ["the target's own", PROJECT, "onRemove: disable\n", "disable"],
    ["filled in", policy, "onRemove: ${var:keep}\n", "ignore"],
  ])("%s", async (_, project, line, expected) => {
    const { desired } = await loaded({
      "tasc.yaml": project,
      "targets/shop.yaml": `target: shop\n${line}`,
    });
    expect(desired.targets[0]?.onRemove).toBe(expected);
  });
});

test.each([
  ["500ms", 500],
  ["30s", 30_000],
  ["2m", 120_000],
  ["1.5h", 5_400_000],
  ["24h", 86_400_000],
  ["25h", undefined],
  ["0s", undefined],
  ["0.1ms", undefined],
  ["30", undefined],
  ["30 s", undefined],
  ["-1s", undefined],
  ["1s2m", undefined],
  ["", undefined],
])("the duration %j is %s milliseconds", (text, expected) => {
  expect(parseDuration(text)).toBe(expected);
});
