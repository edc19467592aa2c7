import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DesiredFields } from "../../src/model/desired.ts";
import type { LiveTestCase } from "../../src/model/live.ts";
import type { AttentionCode } from "../../src/model/plan.ts";
import { Secret } from "../../src/model/value.ts";
import type { PlanInput } from "../../src/plan/input.ts";
import { scopeTest } from "../../src/plan/scope.ts";
import { violationsOf } from "../../src/plan/policy.ts";
import {
  type TargetParts,
  liveCase,
  liveElement,
  liveTarget,
  planInput,
  planOf,
} from "../plan/build.ts";

/**
 * Ways to weaken a protected test case, each in one plan. Every one is refused, or told as a row of attention, or named
 * among what `protected` does not cover (docs/security.md).
 */
const CLICK = { interaction: { action: "CLICK", calledWith: "#pay" } };
const PAID = { assertion: { expectation: "VISIBLE" }, selectors: [selector("Paid")] };
const TOTAL = { assertion: { expectation: "TEXT", calledWith: "42" }, selectors: [selector("42")] };
const EMPTY = { interaction: null, assertion: null };
const IGNORED = { ignoreFailure: true };

function selector(text: string) {
  return { selectorType: "TEXT", selector: text };
}

const LIVE = liveCase("C", {
  description: "Pay",
  externalId: "SHOP-1",
  entryPointUrlPath: "/pay",
  tags: ["smoke"],
  elements: [CLICK, PAID, TOTAL].map((parts, at) => liveElement(`e${at}`, at, parts)),
  discovery: { status: "FINISHED", freePrompt: "Pay", abortCause: undefined, message: undefined },
});
const SHOP = liveTarget([
  { id: "E0", type: "DEFAULT", discoveryUrl: "https://shop.example.com/start" },
  { id: "E1", discoveryUrl: "https://preview.example.com" },
]);
const ACCOUNT = { username: "qa", password: new Secret("pass-1") };

interface Weakening {
  /** Fields of the test case; null if it is not declared any more. */
  readonly pay?: DesiredFields | null;
  readonly others?: Readonly<Record<string, DesiredFields>>;
  readonly target?: DesiredFields;
  readonly environments?: Readonly<Record<string, DesiredFields>>;
  readonly batch?: DesiredFields;
  readonly moved?: TargetParts["moved"];
  readonly ids?: Readonly<Record<string, string>>;
  readonly onRemove?: TargetParts["onRemove"];
  readonly live?: Partial<LiveTestCase>;
  readonly input?: Partial<PlanInput>;
}

const steps = (...elements: DesiredFields[]): Weakening => ({ pay: { elements } });
const start = (discoveryUrl: DesiredFields[string], more: DesiredFields = {}): Weakening => ({
  environments: { default: { discoveryUrl, ...more } },
});

const REFUSED: readonly (readonly [string, Weakening])[] = [
  ["status DISABLED", { pay: { status: "DISABLED" } }],
  ["status DRAFT", { pay: { status: "DRAFT" } }],
  ["status OUTDATED", { pay: { status: "OUTDATED" } }],
  ["status PROVISIONAL", { pay: { status: "PROVISIONAL" } }],
  ["run status OFF", { pay: { runStatus: "OFF" } }],
  ["status from a secret", { pay: { status: new Secret("DISABLED") } }],
  ["run status from a secret", { pay: { runStatus: new Secret("OFF") } }],
  ["off and back on at once", { pay: { status: "ENABLED", runStatus: "OFF" } }],
  ["no steps", steps()],
  ["only an empty step", steps(EMPTY)],
  ["all steps emptied", steps(EMPTY, EMPTY, EMPTY)],
  ["one assertion removed", steps(CLICK, PAID)],
  ["all assertions removed", steps(CLICK)],
  ["the click removed", steps(PAID, TOTAL)],
  ["an assertion nulled", steps(CLICK, { ...PAID, assertion: null }, TOTAL)],
  ["the click nulled", steps({ interaction: null }, PAID, TOTAL)],
  [
    "an assertion replaced by a click",
    steps(CLICK, { ...CLICK, assertion: null, selectors: [] }, TOTAL),
  ],
  ["a failure ignored", steps(CLICK, { ...PAID, ...IGNORED }, TOTAL)],
  ["all failures ignored", steps(...[CLICK, PAID, TOTAL].map((step) => ({ ...step, ...IGNORED })))],
  [
    "a failure ignored beside a secret",
    steps(
      { interaction: { action: "CLICK", calledWith: new Secret("typed-1") } },
      { ...PAID, ...IGNORED },
      TOTAL,
    ),
  ],
  [
    "an assertion removed beside a secret",
    steps({ interaction: { action: "CLICK", calledWith: new Secret("typed-1") } }, TOTAL),
  ],
  ["steps removed with a tag added", { pay: { tags: ["smoke", "x"], elements: [CLICK] } }],
  ["another start", { pay: { entryPointUrlPath: "/empty" } }],
  ["no start", { pay: { entryPointUrlPath: null } }],
  ["a start from a secret", { pay: { entryPointUrlPath: new Secret("/hidden") } }],
  ["another prompt", { pay: { "discovery.prompt": "Do nothing" } }],
  ["a prompt from a secret", { pay: { "discovery.prompt": new Secret("Do nothing") } }],
  [
    "generated again as it is",
    {
      pay: { "discovery.prompt": "Pay" },
      input: { rediscover: new Set(["testCase.shop.pay"] as const) },
    },
  ],
  ["another name", { pay: { description: "Ignore me" } }],
  ["a name from a secret", { pay: { description: new Secret("Ignore me") } }],
  ["not declared any more", { pay: null }],
  ["not declared, and disabled", { pay: null, onRemove: "disable" }],
  ["not declared, and disabled by the project", { pay: null, input: { disableRemoved: true } }],
  [
    "another key without moved",
    { pay: null, others: { other: { description: "Pay", externalId: "SHOP-1" } } },
  ],
  [
    "another key with moved",
    {
      pay: null,
      others: { other: { description: "Pay", externalId: "SHOP-1" } },
      moved: [["testCase.shop.pay", "testCase.shop.other"]],
    },
  ],
  [
    "its live test case given to another key by id",
    { pay: null, others: { other: {} }, ids: { other: "C" } },
  ],
  ["another host of the DEFAULT environment", start("https://evil.example.com/start")],
  ["another port", start("https://shop.example.com:8443/start")],
  ["another scheme", start("http://shop.example.com/start")],
  ["no URL of the DEFAULT environment", start(null)],
  [
    "another host beside a secret",
    start(
      new Secret("https://evil.example.com/?t=abcd", "https://evil.example.com/?t=(sensitive)"),
    ),
  ],
  ["another host with a new account", start("https://evil.example.com", { testAccount: ACCOUNT })],
];

const TOLD: readonly (readonly [string, Weakening, AttentionCode])[] = [
  [
    "another host of an ADDITIONAL environment",
    {
      environments: { preview: { discoveryUrl: "https://evil.example.com" } },
      ids: { preview: "E1" },
    },
    "destination",
  ],
  [
    "credentials to a new environment",
    { environments: { extra: { discoveryUrl: "https://evil.example.com", testAccount: ACCOUNT } } },
    "credentials-sent",
  ],
  [
    "a batch generation elsewhere",
    {
      environments: { preview: { basicAuth: ACCOUNT } },
      ids: { preview: "E1" },
      batch: { prompt: "Cover", baseUrl: "https://evil.example.com" },
    },
    "credentials-sent",
  ],
  [
    "another tracker",
    { target: { trackerIntegration: { domain: "https://evil.example.com", username: "x" } } },
    "destination",
  ],
  ["another app", { target: { app: "Other" }, ids: {} }, "renamed"],
  [
    "a secret in a step",
    steps({ interaction: { action: "CLICK", calledWith: new Secret("typed-1") } }, PAID, TOTAL),
    "secret-in-open",
  ],
];

/** The words of docs/security.md for what is neither refused nor a row of attention. */
const NOT_COVERED: readonly (readonly [string, Weakening, string])[] = [
  [
    "an assertion that expects something else",
    steps(CLICK, { ...PAID, assertion: { expectation: "EXISTS" } }, TOTAL),
    "what an assertion expects",
  ],
  [
    "an assertion that looks elsewhere",
    steps(CLICK, { ...PAID, selectors: [selector("Footer")] }, TOTAL),
    "where a step finds its element",
  ],
  [
    "an interaction of another kind",
    steps({ interaction: { action: "HOVER" } }, PAID, TOTAL),
    "what an interaction does",
  ],
  ["a step inserted in front", steps(CLICK, CLICK, PAID, TOTAL), "added and moved steps"],
  ["steps in another order", steps(PAID, CLICK, TOTAL), "added and moved steps"],
  ["other tags", { pay: { tags: ["nightly"] } }, "tags and folders"],
  ["another folder", { pay: { folder: "Attic" } }, "tags and folders"],
  ["another external id", { pay: { externalId: "OLD-1" } }, "`externalId`"],
  [
    "another path of the start URL",
    start("https://shop.example.com/empty"),
    "the path of a `discoveryUrl`",
  ],
  [
    "another account",
    { environments: { default: { testAccount: ACCOUNT } } },
    "credentials, headers and the private location",
  ],
  [
    "other headers",
    { environments: { default: { additionalHeaderFields: { "X-Mock": new Secret("1234") } } } },
    "credentials, headers and the private location",
  ],
  [
    "another private location",
    { environments: { default: { privateLocationName: "x" } } },
    "credentials, headers and the private location",
  ],
  ["a short time limit", { target: { timeoutPerStep: 1 } }, "`timeoutPerStep`"],
  [
    "a quarantine",
    { pay: { tags: ["x"], quarantine: { until: "2099-01-01", reason: "Flaky" } } },
    "a quarantine, which changes nothing on the service",
  ],
  ["reviewed by the manifest", { pay: { interactionStatus: "APPROVED" } }, "`interactionStatus`"],
];

function judged(weakening: Weakening) {
  const {
    pay = {},
    others,
    target,
    environments,
    batch,
    moved,
    ids,
    onRemove,
    live,
    input,
  } = weakening;
  const situation = {
    declared: {
      fields: { app: "Shop", ...target },
      environments: { default: {}, ...environments },
      testCases: {
        ...(pay === null ? {} : { pay: { description: "Pay", ...pay } }),
        ...others,
      },
      ...(batch && { batchGenerations: { batch } }),
      ...(moved && { moved }),
      ...(ids && { ids }),
      ...(onRemove && { onRemove }),
    },
    live: { target: SHOP, testCases: [{ ...LIVE, ...live }] },
    state: [
      { type: "bound", address: "target.shop", id: "T", fields: {} },
      { type: "bound", address: "environment.shop.default", id: "E0", fields: {} },
      { type: "bound", address: "testCase.shop.pay", id: "C", fields: {} },
    ] as const,
    ...(input && { input }),
  };
  const planned = planOf(situation);
  const found = violationsOf({
    ...planned,
    policy: { protected: ["testCase.shop.pay"] },
    now: 0,
    inScope: scopeTest(planInput(situation).scope),
    ruleOrigin: () => undefined,
  });
  return { planned, refused: found.map(({ summary }) => summary) };
}

describe("a protected test case", () => {
  test.each(REFUSED)("refused: %s", (_, weakening) => {
    const { planned, refused } = judged(weakening);
    expect(refused, JSON.stringify(planned.plan.changes)).not.toEqual([]);
  });

  test.each(TOLD)("told: %s", (_, weakening, code) => {
    const { planned, refused } = judged(weakening);
    expect(planned.plan.attention.map((row) => row.code)).toContain(code);
    expect(refused).toEqual([]);
  });

  const page = readFileSync("docs/security.md", "utf8");
  const section =
    /^## What `protected` does not cover\n([^]*?)(?=^## |(?![^]))/m.exec(page)?.[1] ?? "";

  test.each(NOT_COVERED)("documented: %s", (_, weakening, words) => {
    const { planned, refused } = judged(weakening);
    expect(planned.plan.changes).not.toEqual([]);
    expect(refused).toEqual([]);
    expect(section.replaceAll(/\s+/g, " ")).toContain(words);
  });
});
