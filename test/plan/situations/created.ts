import { Secret, UNKNOWN } from "../../../src/model/value.ts";
import { type Situation, liveCase, liveTarget } from "../build.ts";
import {
  LOGIN,
  applied,
  bound,
  discovered,
  CLICK,
  VISIBLE,
  steps,
  one,
  SHOP_URL,
  ENVIRONMENTS,
  ACCOUNT,
  spring,
  located,
  selectorsOf,
} from "./parts.ts";

/** What is created and changed. */
export const created: Readonly<Record<string, Situation>> = {
  "everything is created": {
    declared: {
      fields: {
        app: "Shop",
        testIdAttribute: "data-qa",
        trackerIntegration: { domain: "https://t.example.com", apiKey: new Secret("tracker-key") },
      },
      environments: {
        default: { discoveryUrl: SHOP_URL, name: "Main", testAccount: ACCOUNT },
        preview: {
          discoveryUrl: "https://preview.example.com",
          additionalHeaderFields: { A: new Secret("header-1") },
        },
      },
      testCases: {
        banner: {
          description: "Banner",
          "discovery.prompt": "Accept",
          "discovery.type": "COOKIE_BANNER",
          folder: null,
          externalId: null,
        },
        login: {
          description: "Log in",
          "discovery.prompt": "Log in",
          "discovery.prerequisite": "banner",
          status: "ENABLED",
          interactionStatus: "APPROVED",
          tags: ["b", "a"],
          reason: "r",
          elements: [{ ...CLICK, locatorLine: "getByText('x')" }, VISIBLE],
        },
      },
      batchGenerations: { spring: { ...spring, prerequisite: "login" } },
    },
  },
  "a target without app": {
    declared: { fields: {}, environments: { default: { discoveryUrl: SHOP_URL } } },
  },
  "a target without a URL": { declared: { environments: { preview: { discoveryUrl: SHOP_URL } } } },
  "a target with an unknown URL": {
    declared: { environments: { default: { discoveryUrl: UNKNOWN } } },
  },
  "a target and its environments change": {
    declared: {
      fields: {
        app: "Shop 2",
        timeoutPerStep: 5,
        trackerIntegration: { domain: "https://t.example.com", projectId: "1" },
      },
      environments: {
        default: { discoveryUrl: "https://other.example.com/x", testAccount: ACCOUNT },
        preview: {
          discoveryUrl: new Secret(
            "https://u:p@hidden.example.com",
            "https://(sensitive)@hidden.example.com/",
          ),
          name: "P",
        },
      },
    },
    live: { target: liveTarget(ENVIRONMENTS) },
    state: [bound("target.shop", "T"), bound("environment.shop.preview", "E1")],
  },
  "an environment whose URL differs in form": {
    declared: {
      environments: {
        default: { discoveryUrl: SHOP_URL },
        preview: { discoveryUrl: "https://preview.example.com/login" },
      },
    },
    live: { target: liveTarget(ENVIRONMENTS) },
    state: [bound("environment.shop.preview", "E1")],
  },
  "no default environment": {
    declared: { environments: { default: { discoveryUrl: SHOP_URL } } },
    live: {},
  },
  "new places for credentials": {
    declared: {
      environments: {
        fresh: { discoveryUrl: "https://fresh.example.com/a", basicAuth: ACCOUNT },
        known: { discoveryUrl: "https://preview.example.com/b", basicAuth: ACCOUNT },
        plain: { discoveryUrl: "https://plain.example.com", basicAuth: {} },
        none: { discoveryUrl: null, basicAuth: ACCOUNT },
      },
      batchGenerations: {
        a: { prompt: "A", baseUrl: "https://batch.example.com" },
        b: { prompt: "B", baseUrl: "https://batch.example.com", environment: "plain" },
        c: { prompt: "C" },
      },
    },
    live: { target: liveTarget(ENVIRONMENTS) },
    state: [bound("target.shop", "T")],
  },
  "test cases that cannot be created": {
    declared: {
      testCases: {
        a: { "discovery.prompt": "p" },
        b: { description: "B" },
        c: { description: "C", "discovery.prompt": UNKNOWN },
        d: { description: "D", "discovery.prompt": "p", "discovery.prerequisite": "b" },
        e: {
          description: "E",
          "discovery.prompt": "p",
          "discovery.prerequisite": { description: "Old" },
        },
        f: {
          description: "F",
          "discovery.prompt": "p",
          "discovery.prerequisite": { description: "Twice" },
        },
        g: {
          description: "G",
          "discovery.prompt": "p",
          "discovery.prerequisite": { description: "Once" },
        },
      },
    },
    live: {
      testCases: ["1", "2"]
        .map((id) => liveCase(id, { description: "Twice" }))
        .concat(liveCase("3", { description: "Once" })),
    },
  },
  "a prerequisite by a former name, and a secret one": {
    declared: {
      testCases: {
        a: { description: "A", "discovery.prompt": "p", "discovery.prerequisite": "login" },
        b: { description: "B", "discovery.prompt": "p", "discovery.prerequisite": "hidden" },
        hidden: { description: new Secret("hidden-name") },
        login: { description: "Sign in" },
      },
      ids: { hidden: "C2" },
    },
    live: {
      testCases: [
        liveCase("C1", { description: "Log in" }),
        liveCase("C2", { description: "hidden-name" }),
      ],
    },
    state: [bound(LOGIN, "C1")],
  },
  "fixed fields differ": {
    declared: {
      testCases: {
        login: {
          description: "Log in",
          "discovery.type": "LOGIN",
          "discovery.prerequisite": "other",
        },
        other: { description: "Other", "discovery.type": "LOGIN" },
      },
    },
    live: {
      testCases: [
        liveCase("C1", { description: "Log in", type: "COOKIE_BANNER", prerequisiteId: "C9" }),
        liveCase("C2", { description: "Other", type: "LOGIN" }),
      ],
    },
  },
  "a prerequisite is null on the service": {
    declared: {
      testCases: {
        login: { description: "Log in", "discovery.prerequisite": "other" },
        other: { description: "Other" },
      },
    },
    live: {
      testCases: [
        liveCase("C1", { description: "Log in" }),
        liveCase("C2", { description: "Other" }),
      ],
    },
  },
  "a rediscovery on demand": one(
    {
      "discovery.prompt": "Log in",
      tags: ["a"],
      folder: null,
      elements: [{ ...CLICK, locatorLine: "l" }],
    },
    { discovery: discovered(), tags: ["a"], elements: steps(CLICK) },
    {
      state: [bound(LOGIN, "C1"), located("l", selectorsOf(CLICK))],
      input: { rediscover: new Set([LOGIN]) },
    },
  ),
  "a rediscovery on demand without a prompt": one(
    {},
    {},
    { input: { rediscover: new Set([LOGIN]) } },
  ),
  "a changed prompt, with who changed what": one(
    {
      "discovery.prompt": "New",
      description: "Sign in",
      entryPointUrlPath: "/a",
      externalId: "X",
      status: "ENABLED",
    },
    { discovery: discovered(), entryPointUrlPath: "/b", externalId: "Y" },
    {
      state: [
        applied({
          "discovery.prompt": "Log in",
          description: "Log in",
          entryPointUrlPath: "/a",
          externalId: "Z",
        }),
      ],
    },
  ),
  "switched off, by status and by runStatus": {
    declared: {
      testCases: {
        a: { description: "A", runStatus: new Secret("OFF") },
        b: { description: "B", status: "DRAFT" },
        c: { description: "C", status: "ENABLED" },
        d: { description: "D", status: "DISABLED", tags: [] },
      },
    },
    live: {
      testCases: [
        liveCase("A"),
        liveCase("B"),
        liveCase("C", { status: "DISABLED" }),
        liveCase("D", { status: undefined }),
      ],
    },
  },
  folders: {
    declared: {
      testCases: {
        a: { description: "A", folder: "Known" },
        b: { description: "B", folder: "Unknown" },
        c: { description: "C", folder: null },
        d: { description: "D", folder: new Secret("Secret folder") },
        e: { description: "E", folder: "Known" },
      },
    },
    live: {
      testCases: [
        liveCase("A", { folderId: "F1" }),
        liveCase("B", { folderId: "F2" }),
        liveCase("C", { folderId: "F3" }),
        liveCase("D", { folderId: "F1" }),
        liveCase("E", { folderId: "F4" }),
      ],
    },
    state: [
      { type: "folder", name: "Known", id: "F1" },
      { type: "folder", name: "Other", id: "F2" },
      bound("testCase.shop.a", "A"),
    ],
  },
  "a new test case with all fields": {
    declared: {
      testCases: {
        login: {
          description: "Log in",
          "discovery.prompt": "Log in",
          entryPointUrlPath: "/login",
          externalId: "X",
          status: "DISABLED",
          runStatus: "OFF",
          tags: [UNKNOWN],
          folder: new Secret("Hidden"),
          quarantine: { until: "2026-12-01", reason: "r" },
        },
      },
    },
    live: {},
  },
  "off already, and to another status": one(
    { status: "DRAFT", runStatus: "ON" },
    { status: "DISABLED", runStatus: "OFF" },
  ),
  "a rediscovery with a new locator line": one(
    {
      "discovery.prompt": "New",
      elements: [
        { ...CLICK, locatorLine: "a" },
        { ...VISIBLE, locatorLine: "b" },
      ],
    },
    { discovery: discovered(), elements: steps(CLICK, VISIBLE) },
    { state: [bound(LOGIN, "C1"), located("a", selectorsOf(CLICK))] },
  ),
  "a rediscovery on demand of a changed prompt": one(
    { "discovery.prompt": "New", "discovery.type": "LOGIN", runStatus: "ON" },
    { discovery: discovered(), type: "LOGIN" },
    { state: [bound(LOGIN, "C1")], input: { rediscover: new Set([LOGIN]) } },
  ),
  "a rediscovery on demand of an unknown prompt": one(
    { "discovery.prompt": UNKNOWN },
    {},
    { state: [bound(LOGIN, "C1")], input: { rediscover: new Set([LOGIN]) } },
  ),
  "values that are unknown": one(
    {
      status: UNKNOWN,
      tags: [UNKNOWN],
      "discovery.type": UNKNOWN,
      elements: [{ locatorLine: UNKNOWN }],
    },
    { type: "LOGIN", elements: steps(CLICK) },
  ),
};
