// Changes each field of each resource alone, and checks the plan, the requests, and that nothing is
// left.
import { expect } from "vitest";
import type { JsonObject } from "./support/json.ts";
import { HIDDEN, tell, type Expected, type Story } from "./support/story.ts";
import { SECRETS } from "./support/cli.ts";

const BASE = "target: shop\napp: Web Shop\n";

const TRACKER =
  'trackerIntegration: { domain: https://tracker.example.com, username: bot, projectId: "7", apiKey: "${secret:TRACKER_KEY}" }\n';

const ADDRESSES = {
  target: "target.shop",
  environment: "environment.shop.default",
  preview: "environment.shop.preview",
  login: "testCase.shop.login",
} as const;

/**
 * One PATCH of a resource.
 * @param sent the body that is sent, if the plan hides a part of it
 */
function patches(
  what: keyof typeof ADDRESSES,
  action: Expected["action"],
  fields: Expected["fields"],
  body: JsonObject,
  sent?: JsonObject,
): Story["expected"] {
  return (live) => ({
    address: ADDRESSES[what],
    action,
    id: live[what].id,
    fields,
    calls: [{ method: "PATCH", path: live.paths[what], body, ...(sent && { sent }) }],
  });
}

function updates(
  what: keyof typeof ADDRESSES,
  fields: Expected["fields"],
  body: JsonObject,
  sent?: JsonObject,
): Story["expected"] {
  return patches(what, "update", fields, body, sent);
}

const TARGET: readonly Story[] = [
  {
    says: "app is compared with the live name of a target found by its id",
    live: ({ target }) => {
      target.app = "Old Shop";
    },
    manifest: `${BASE}id: TARGET_ID\n`,
    expected: updates("target", [{ path: ["app"], before: "Old Shop", after: "Web Shop" }], {
      app: "Web Shop",
    }),
    after: ({ target }) => expect(target.app).toMatch(/^Web Shop/u),
  },
  {
    says: "testIdAttribute is write-only: the plan shows no previous value",
    manifest: `${BASE}testIdAttribute: data-testid\n`,
    expected: updates("target", [{ path: ["testIdAttribute"], after: "data-testid" }], {
      testIdAttribute: "data-testid",
    }),
    after: ({ target }) => expect(target.testIdAttribute).toBe("data-testid"),
  },
  {
    says: "timeoutPerStep is planned again if it differs from the value last written",
    first: `${BASE}timeoutPerStep: 10000\ntestIdAttribute: data-testid\n`,
    manifest: `${BASE}timeoutPerStep: 20000\ntestIdAttribute: data-testid\n`,
    expected: updates("target", [{ path: ["timeoutPerStep"], after: 20000 }], {
      timeoutPerStep: 20000,
    }),
  },
  {
    says: "trackerIntegration is sent with all declared parts, and the plan hides its key",
    manifest: BASE + TRACKER,
    expected: updates(
      "target",
      [
        { path: ["trackerIntegration", "domain"], after: "https://tracker.example.com" },
        { path: ["trackerIntegration", "username"], after: "bot" },
        { path: ["trackerIntegration", "projectId"], after: "7" },
        { path: ["trackerIntegration", "apiKey"], sensitive: true },
      ],
      {
        trackerIntegration: {
          domain: "https://tracker.example.com",
          username: "bot",
          projectId: "7",
          apiKey: HIDDEN,
        },
      },
      {
        trackerIntegration: {
          domain: "https://tracker.example.com",
          username: "bot",
          projectId: "7",
          apiKey: SECRETS.TRACKER_KEY,
        },
      },
    ),
  },
  {
    says: "a change of one part of trackerIntegration lists that part and sends all of them",
    first: BASE + TRACKER,
    manifest: BASE + TRACKER.replace("username: bot", "username: robot"),
    expected: updates(
      "target",
      [{ path: ["trackerIntegration", "username"], after: "robot" }],
      {
        trackerIntegration: {
          domain: "https://tracker.example.com",
          username: "robot",
          projectId: "7",
          apiKey: HIDDEN,
        },
      },
      {
        trackerIntegration: {
          domain: "https://tracker.example.com",
          username: "robot",
          projectId: "7",
          apiKey: SECRETS.TRACKER_KEY,
        },
      },
    ),
  },
];

const environments = (content: string): string => `${BASE}environments:\n${content}`;
const onDefault = (content: string): string => environments(`  default: ${content}\n`);
const onPreview = (content: string): string =>
  environments(`  preview: { discoveryUrl: "https://preview.example.com", ${content} }\n`);

const ENVIRONMENT: readonly Story[] = [
  {
    says: "discoveryUrl of the DEFAULT environment is compared with the list of targets",
    manifest: onDefault('{ discoveryUrl: "https://new.example.com" }'),
    expected: updates(
      "environment",
      [
        {
          path: ["discoveryUrl"],
          before: "https://shop.example.com",
          after: "https://new.example.com",
        },
      ],
      { discoveryUrl: "https://new.example.com" },
    ),
    after: ({ environment }) => expect(environment.discoveryUrl).toBe("https://new.example.com"),
  },
  {
    says: "discoveryUrl: null clears it",
    manifest: onDefault("{ discoveryUrl: null }"),
    expected: updates(
      "environment",
      [{ path: ["discoveryUrl"], before: "https://shop.example.com", after: null }],
      { discoveryUrl: null },
    ),
    after: ({ environment }) => expect(environment.discoveryUrl).toBeNull(),
  },
  {
    says: "a declared name is write-only",
    manifest: onPreview("name: Preview"),
    expected: updates("preview", [{ path: ["name"], after: "Preview" }], { name: "Preview" }),
  },
  {
    says: "name: null clears it",
    first: onPreview("name: Preview"),
    manifest: onPreview("name: null"),
    expected: updates("preview", [{ path: ["name"], after: null }], { name: null }),
    after: ({ preview }) => expect(preview.name).toBeNull(),
  },
  {
    says: "testAccount is sent as a whole, and the plan hides its password and key",
    manifest: onDefault(
      '{ testAccount: { username: qa, password: "${secret:QA_PASSWORD}", otpInitializerKey: "${secret:QA_OTP}" } }',
    ),
    expected: updates(
      "environment",
      [
        { path: ["testAccount", "username"], after: "qa" },
        { path: ["testAccount", "password"], sensitive: true },
        { path: ["testAccount", "otpInitializerKey"], sensitive: true },
      ],
      { testAccount: { username: "qa", password: HIDDEN, otpInitializerKey: HIDDEN } },
      {
        testAccount: {
          username: "qa",
          password: SECRETS.QA_PASSWORD,
          otpInitializerKey: SECRETS.QA_OTP,
        },
      },
    ),
  },
  {
    says: "a change of the user name also sends the password",
    first: onDefault('{ testAccount: { username: qa, password: "${secret:QA_PASSWORD}" } }'),
    manifest: onDefault('{ testAccount: { username: qa2, password: "${secret:QA_PASSWORD}" } }'),
    expected: updates(
      "environment",
      [{ path: ["testAccount", "username"], after: "qa2" }],
      { testAccount: { username: "qa2", password: HIDDEN } },
      { testAccount: { username: "qa2", password: SECRETS.QA_PASSWORD } },
    ),
  },
  {
    says: "testAccount: null clears it",
    live: ({ environment }) => {
      environment.testAccount = { username: "old" };
    },
    manifest: onDefault("{ testAccount: null }"),
    expected: updates("environment", [{ path: ["testAccount"], after: null }], {
      testAccount: null,
    }),
    after: ({ environment }) => expect(environment.testAccount).toBeNull(),
  },
  {
    says: "basicAuth is sent as a whole, and the plan hides its password",
    manifest: onPreview('basicAuth: { username: gate, password: "${secret:GATE_PASSWORD}" }'),
    expected: updates(
      "preview",
      [
        { path: ["basicAuth", "username"], after: "gate" },
        { path: ["basicAuth", "password"], sensitive: true },
      ],
      { basicAuth: { username: "gate", password: HIDDEN } },
      { basicAuth: { username: "gate", password: SECRETS.GATE_PASSWORD } },
    ),
  },
  {
    says: "basicAuth: null clears it after it was set",
    first: onPreview('basicAuth: { username: gate, password: "${secret:GATE_PASSWORD}" }'),
    manifest: onPreview("basicAuth: null"),
    expected: updates("preview", [{ path: ["basicAuth"], after: null }], { basicAuth: null }),
    after: ({ preview }) => expect(preview.basicAuth).toBeNull(),
  },
  {
    says: "privateLocationName is write-only",
    manifest: onPreview("privateLocationName: berlin"),
    expected: updates("preview", [{ path: ["privateLocationName"], after: "berlin" }], {
      privateLocationName: "berlin",
    }),
  },
  {
    says: "privateLocationName: null clears it",
    manifest: onPreview("privateLocationName: null"),
    expected: updates("preview", [{ path: ["privateLocationName"], after: null }], {
      privateLocationName: null,
    }),
  },
  {
    says: "additionalHeaderFields are sent as a whole, and the plan hides every value, even a plain one",
    manifest: onPreview(
      'additionalHeaderFields: { X-Preview: "1", X-Token: "${secret:HEADER_TOKEN}" }',
    ),
    expected: updates(
      "preview",
      [
        { path: ["additionalHeaderFields", "X-Preview"], sensitive: true },
        { path: ["additionalHeaderFields", "X-Token"], sensitive: true },
      ],
      { additionalHeaderFields: { "X-Preview": HIDDEN, "X-Token": HIDDEN } },
      { additionalHeaderFields: { "X-Preview": "1", "X-Token": SECRETS.HEADER_TOKEN } },
    ),
  },
  {
    says: "a change of one header sends all headers",
    first: onPreview(
      'additionalHeaderFields: { X-Preview: "1", X-Token: "${secret:HEADER_TOKEN}" }',
    ),
    manifest: onPreview(
      'additionalHeaderFields: { X-Preview: "2", X-Token: "${secret:HEADER_TOKEN}" }',
    ),
    expected: updates(
      "preview",
      [{ path: ["additionalHeaderFields", "X-Preview"], sensitive: true }],
      { additionalHeaderFields: { "X-Preview": HIDDEN, "X-Token": HIDDEN } },
      { additionalHeaderFields: { "X-Preview": "2", "X-Token": SECRETS.HEADER_TOKEN } },
    ),
  },
  {
    says: "additionalHeaderFields: null clears them",
    manifest: onPreview("additionalHeaderFields: null"),
    expected: updates("preview", [{ path: ["additionalHeaderFields"], after: null }], {
      additionalHeaderFields: null,
    }),
  },
];

const login = (content: string): string =>
  `${BASE}testCases:\n  login:\n    description: Log in\n    ${content.split("\n").join("\n    ")}\n`;

function caseStory(
  says: string,
  declared: string,
  field: JsonObject,
  body: JsonObject,
  more: Partial<Pick<Story, "live" | "first" | "after">> & {
    action?: "update" | "rediscover" | "disable";
  } = {},
): Story {
  const { action = "update", ...rest } = more;
  return {
    says,
    manifest: login(declared),
    expected: patches("login", action, [field], body),
    ...rest,
  };
}

const TEST_CASE: readonly Story[] = [
  {
    says: "description is compared with the live name of a test case found by its external id",
    live: (live) => {
      live.login.externalId = "SHOP-1";
      live.login.description = "Old name";
    },
    manifest: login("externalId: SHOP-1"),
    expected: updates("login", [{ path: ["description"], before: "Old name", after: "Log in" }], {
      description: "Log in",
    }),
  },
  caseStory(
    "externalId is set on a case that has none",
    "externalId: SHOP-1",
    { path: ["externalId"], before: null, after: "SHOP-1" },
    { externalId: "SHOP-1" },
  ),
  caseStory(
    "externalId: null clears it",
    "externalId: null",
    { path: ["externalId"], before: "SHOP-9", after: null },
    { externalId: null },
    {
      live: (live) => {
        live.login.externalId = "SHOP-9";
      },
    },
  ),
  caseStory(
    "status is compared with the list",
    "status: DISABLED",
    { path: ["status"], before: "ENABLED", after: "DISABLED" },
    { status: "DISABLED" },
    { action: "disable" },
  ),
  caseStory(
    "runStatus is compared with the list, also when YAML has OFF without quotes",
    "runStatus: OFF",
    { path: ["runStatus"], before: "ON", after: "OFF" },
    { runStatus: "OFF" },
    { action: "disable" },
  ),
  caseStory(
    "interactionStatus is write-only",
    "interactionStatus: APPROVED",
    { path: ["interactionStatus"], after: "APPROVED" },
    { interactionStatus: "APPROVED" },
    { after: (live) => expect(live.login.interactionStatus).toBe("APPROVED") },
  ),
  caseStory(
    "tags are written as assignedTagNames",
    "tags: [smoke, auth]",
    { path: ["tags"], before: ["web"], after: ["smoke", "auth"] },
    { assignedTagNames: ["smoke", "auth"] },
    {
      live: (live) => {
        live.login.tags = ["web"];
      },
    },
  ),
  caseStory(
    "an empty list of tags takes them away",
    "tags: []",
    { path: ["tags"], before: ["web"], after: [] },
    { assignedTagNames: [] },
    {
      live: (live) => {
        live.login.tags = ["web"];
      },
    },
  ),
  caseStory(
    "folder is written by name",
    "folder: Authentication",
    { path: ["folder"], before: null, after: "Authentication" },
    { folderName: "Authentication" },
  ),
  {
    says: "folder: null removes the test case from its folder",
    live: (live) => {
      live.login.folderId = live.service.folder(live.target, "Old folder");
    },
    first: login("folder: Old folder"),
    manifest: login("folder: null"),
    expected: updates("login", [{ path: ["folder"], before: "Old folder", after: null }], {
      folderName: null,
    }),
    after: (live) => expect(live.login.folderId).toBeNull(),
  },
  caseStory(
    "entryPointUrlPath is compared with the list",
    "entryPointUrlPath: /login",
    { path: ["entryPointUrlPath"], before: null, after: "/login" },
    { entryPointUrlPath: "/login" },
  ),
  caseStory(
    "entryPointUrlPath: null clears it",
    "entryPointUrlPath: null",
    { path: ["entryPointUrlPath"], before: "/old", after: null },
    { entryPointUrlPath: null },
    {
      live: (live) => {
        live.login.entryPointUrlPath = "/old";
      },
    },
  ),
  caseStory(
    "a prompt that differs from the one shown is a rediscovery",
    'discovery: { prompt: "Log in as the test account." }',
    { path: ["discovery", "prompt"], before: "Log in.", after: "Log in as the test account." },
    { createBackendDiscoveryPrompt: "Log in as the test account." },
    {
      action: "rediscover",
      live: (live) => {
        live.login.prompt = "Log in.";
      },
      after: (live) => expect(live.login.prompt).toBe("Log in as the test account."),
    },
  ),
];

const HIDDEN_PROMPT: readonly Story[] = [
  caseStory(
    "where no prompt is shown, one that differs from what was written last is a rediscovery",
    'discovery: { prompt: "Log in as the test account." }',
    { path: ["discovery", "prompt"], after: "Log in as the test account." },
    { createBackendDiscoveryPrompt: "Log in as the test account." },
    {
      action: "rediscover",
      live: (live) => {
        live.login.prompt = "Log in.";
      },
      first: login('discovery: { prompt: "Log in." }'),
    },
  ),
];

tell("a target's fields", TARGET);
tell("an environment's fields", ENVIRONMENT);
tell("a test case's fields", TEST_CASE);
tell("a test case's prompt, where the service shows none", HIDDEN_PROMPT, { freePrompt: false });
