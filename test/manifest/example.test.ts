import { expect, test } from "vitest";
import { reveal } from "../../src/model/value.ts";
import { loaded } from "./loading.ts";
import type { MemoryFiles } from "./memory-folder.ts";

/** A complete project, as the documentation shows it. */
const FILES: MemoryFiles = {
  "tasc.yaml": `version: 1
manifests: ["targets/**/*.yaml"]
service:
  baseUrl: \${env:TASC_BASE_URL:-http://127.0.0.1:4010}
  apiKey: \${secret:TASC_API_KEY}
  concurrency: 8
state: { backend: local }
vars: { host: shop.example.com }
policy: { maxDisabledPercent: 30 }
defaultStage: staging
stages:
  staging:    { vars: { host: staging.shop.example.com }, service: { apiKey: "\${secret:STAGING_KEY}" } }
  production: { vars: { host: shop.example.com },         service: { apiKey: "\${secret:PROD_KEY}" } }
`,
  "targets/shop.yaml": `target: shop
app: Web Shop (\${stage})
testIdAttribute: data-testid
timeoutPerStep: 10000
trackerIntegration: { domain: https://tracker.example.com, username: bot, projectId: "7", apiKey: "\${secret:TRACKER_KEY}" }
onRemove: ignore
environments:
  default:
    discoveryUrl: https://\${var:host}
    testAccount: { username: qa, password: "\${secret:QA_PASSWORD}", otpInitializerKey: "\${secret:QA_OTP}" }
  preview:
    name: Preview
    discoveryUrl: https://preview.\${var:host}
    basicAuth: { username: gate, password: "\${secret:GATE_PASSWORD}" }
    privateLocationName: berlin
    additionalHeaderFields: { X-Preview: "1" }
defaults:
  testCases: { runStatus: "ON", tags: [web] }
testCases:
  cookie-banner:
    description: Accept the cookie banner
    discovery: { prompt: "Accept all cookies.", type: COOKIE_BANNER }
  login:
    description: Log in with valid credentials
    externalId: SHOP-1
    status: ENABLED
    runStatus: "ON"
    tags: [smoke, auth]
    folder: Authentication
    entryPointUrlPath: /login
    discovery: { prompt: "Log in as the test account.", type: LOGIN, prerequisite: cookie-banner }
  cart-total:
    description: Cart total adds up
    elements:
      - interaction: { action: EXTRACT, calledWith: total }
        selectors: [{ selectorType: TEXT, selector: Total }]
      - assertion: { expectation: VISIBLE }
        locatorLine: "getByRole('heading', { name: 'Cart' })"
        ignoreFailure: true
batchGenerations:
  spring-campaign: { prompt: "Cover the spring campaign pages.", imageUrls: [], environment: preview, prerequisite: login }
stages:
  production: { testCases: { cart-total: { status: DISABLED } } }
moved: [{ from: testCase.shop.old-login, to: testCase.shop.login }]
`,
};

const SECRETS = {
  TRACKER_KEY: "tracker-key",
  QA_PASSWORD: "qa-password",
  QA_OTP: "qa-otp",
  GATE_PASSWORD: "gate-password",
};

function fieldsOf(list: readonly { readonly key: string; readonly fields: object }[] = []): object {
  return Object.fromEntries(list.map(({ key, fields }) => [key, fields]));
}

test("the example resolves to the expected values and only needs the secrets of its stage", async () => {
  const { settings, desired, diagnostics, secrets } = await loaded(FILES, {
    env: { ...SECRETS, STAGING_KEY: "staging-key" },
  });
  const [shop] = desired.targets;

  expect(diagnostics).toEqual([]);
  expect([settings.stage, settings.stages, settings.apiKey?.reveal()]).toEqual([
    "staging",
    ["staging", "production"],
    "staging-key",
  ]);
  expect(settings.policy).toEqual({ maxDisabledPercent: 30 });
  expect([shop?.kind, shop?.address, shop?.key, shop?.onRemove]).toEqual([
    "target",
    "target.shop",
    "shop",
    "ignore",
  ]);
  expect(reveal(shop?.fields ?? null)).toEqual({
    app: "Web Shop (staging)",
    testIdAttribute: "data-testid",
    timeoutPerStep: 10000,
    trackerIntegration: {
      domain: "https://tracker.example.com",
      username: "bot",
      projectId: "7",
      apiKey: "tracker-key",
    },
  });
  expect(JSON.parse(JSON.stringify(fieldsOf(shop?.environments)))).toEqual({
    default: {
      discoveryUrl: "https://staging.shop.example.com",
      testAccount: { username: "qa", password: "(sensitive)", otpInitializerKey: "(sensitive)" },
    },
    preview: {
      name: "Preview",
      discoveryUrl: "https://preview.staging.shop.example.com",
      basicAuth: { username: "gate", password: "(sensitive)" },
      privateLocationName: "berlin",
      additionalHeaderFields: { "X-Preview": "(sensitive)" },
    },
  });
  expect(fieldsOf(shop?.testCases)).toEqual({
    "cart-total": {
      description: "Cart total adds up",
      runStatus: "ON",
      tags: ["web"],
      elements: [
        {
          interaction: { action: "EXTRACT", calledWith: "total" },
          selectors: [{ selectorType: "TEXT", selector: "Total" }],
        },
        {
          assertion: { expectation: "VISIBLE" },
          locatorLine: "getByRole('heading', { name: 'Cart' })",
          ignoreFailure: true,
        },
      ],
    },
    "cookie-banner": {
      description: "Accept the cookie banner",
      runStatus: "ON",
      tags: ["web"],
      "discovery.prompt": "Accept all cookies.",
      "discovery.type": "COOKIE_BANNER",
    },
    login: {
      description: "Log in with valid credentials",
      externalId: "SHOP-1",
      status: "ENABLED",
      runStatus: "ON",
      tags: ["smoke", "auth"],
      folder: "Authentication",
      entryPointUrlPath: "/login",
      "discovery.prompt": "Log in as the test account.",
      "discovery.type": "LOGIN",
      "discovery.prerequisite": "cookie-banner",
    },
  });
  expect(fieldsOf(shop?.batchGenerations)).toEqual({
    "spring-campaign": {
      prompt: "Cover the spring campaign pages.",
      imageUrls: [],
      environment: "preview",
      prerequisite: "login",
    },
  });
  expect(shop?.testCases.map(({ key }) => key)).toEqual(["cart-total", "cookie-banner", "login"]);
  expect(secrets).toEqual(["gate-password", "staging-key", "tracker-key", "qa-password", "qa-otp"]);
});

test("the production stage of the example has its own values", async () => {
  const { settings, desired } = await loaded(FILES, {
    stage: "production",
    env: { ...SECRETS, PROD_KEY: "production-key", TASC_BASE_URL: "https://service.example.com/" },
  });
  const [shop] = desired.targets;
  expect([settings.stage, settings.baseUrl, settings.apiKey?.reveal()]).toEqual([
    "production",
    "https://service.example.com",
    "production-key",
  ]);
  expect(shop?.fields["app"]).toBe("Web Shop (production)");
  expect(shop?.environments[0]?.fields["discoveryUrl"]).toBe("https://shop.example.com");
  expect(shop?.testCases[0]?.fields["status"]).toBe("DISABLED");
  expect(shop?.testCases[1]?.fields["status"]).toBeUndefined();
});

test("the result does not depend on the order of the folder listing", async () => {
  const backwards = Object.fromEntries(
    Object.entries({
      ...FILES,
      "targets/a.yaml": "target: a\n",
      "targets/z.yaml": "target: shop\ntestCases: { z: {} }\n",
    }).toReversed(),
  );
  const env = { ...SECRETS, STAGING_KEY: "staging-key" };
  const [one, other] = await Promise.all([
    loaded(backwards, { env }),
    loaded(Object.fromEntries(Object.entries(backwards).toReversed()), { env }),
  ]);
  expect(JSON.stringify(one.desired)).toBe(JSON.stringify(other.desired));
  expect(one.desired.targets.map(({ key }) => key)).toEqual(["a", "shop"]);
});
