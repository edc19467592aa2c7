import { expect, test } from "vitest";
import type { DesiredFields, Layer } from "../../src/model/desired.ts";
import type { Change } from "../../src/model/plan.ts";
import type { PassedIn, Policy, QuarantinePolicy, Rule } from "../../src/model/settings.ts";
import { Secret, UNKNOWN } from "../../src/model/value.ts";
import { gatedIn, otherThere, refusalLine, refusalOf } from "../../src/plan/passed-in.ts";
import { manifestViolations, policyDiagnostics, violationsOf } from "../../src/plan/policy.ts";
import {
  endingHint,
  overWarnings,
  quarantineBreaches,
  reasonBreaches,
} from "../../src/plan/quarantine.ts";
import type { CaseResult } from "../../src/plan/results.ts";
import { brokenRules } from "../../src/plan/rules.ts";
import { type Situation, liveCase, planOf, project, resource, target } from "./build.ts";

/* What the policy says of manifests and plans, in its words. */

const NOW = Date.UTC(2026, 10, 24, 12);
const quarantine = (until: string, more: object = {}) => ({
  quarantine: { until, reason: "Spinner race", ...more },
});
const layer = (kind: Layer["kind"], value: Layer["value"]): Layer => ({
  kind,
  file: `${kind}.yaml`,
  path: ["testCases", "a"],
  value,
});

const cases: Readonly<Record<string, DesiredFields>> = {
  over: quarantine("2026-11-23"),
  today: quarantine("2026-11-24", { owner: "qa" }),
  soon: quarantine("2026-11-26", { owner: "qa", issue: "QA-1" }),
  later: quarantine("2026-11-27"),
  long: quarantine("2026-12-25", { owner: "", issue: "QA-1" }),
  off: { ...quarantine("2026-12-25"), status: "DISABLED" },
  bad: quarantine("never"),
  none: { quarantine: null },
  plain: {},
};
const judged = {
  targets: [target({ testCases: cases })],
  inScope: (address: string) => address !== "testCase.shop.later",
  now: NOW,
};

test.each<readonly [string, QuarantinePolicy | undefined]>([
  ["nothing", undefined],
  ["days", { maxDays: 30 }],
  ["one day", { maxDays: 1 }],
  ["exactly as many days", { maxDays: 31 }],
  ["notes", { require: ["owner", "issue"] }],
  ["a share", { maxPercent: 44 }],
  ["exactly this share", { maxPercent: 45 }],
  ["all", { maxDays: 2, maxPercent: 0, require: ["owner"] }],
])("policy.quarantine limits %s", (_, rule) => {
  expect(
    quarantineBreaches(judged, rule === undefined ? {} : { quarantine: rule }),
  ).toMatchSnapshot();
});

test("quarantines that are over, or end soon, are told", () => {
  expect(overWarnings(judged.targets, NOW)).toMatchSnapshot();
  expect(endingHint(judged.targets, NOW)).toBe(
    "2 quarantines will end soon: testCase.shop.soon (2026-11-26) and testCase.shop.today (2026-11-24).",
  );
  expect(
    endingHint([target({ testCases: { later: quarantine("2026-12-27") } })], NOW),
  ).toBeUndefined();
});

test.each<readonly [string, DesiredFields, readonly Layer[], number]>([
  ["off without a reason", { status: "DISABLED" }, [layer("base", { status: "DISABLED" })], 1],
  [
    "off with a reason",
    { status: "DISABLED", reason: "r" },
    [layer("base", { status: "DISABLED", reason: "r" })],
    0,
  ],
  [
    "off by a stage, with the reason of the base",
    { runStatus: "OFF", reason: "r" },
    [layer("base", { reason: "r" }), layer("stage", { runStatus: "OFF" })],
    1,
  ],
  [
    "off in both ways",
    { status: "DISABLED", runStatus: "OFF" },
    [layer("base", { status: "DISABLED", runStatus: "OFF" })],
    2,
  ],
  ["on", { status: "ENABLED", runStatus: "ON" }, [layer("base", { status: "ENABLED" })], 0],
  ["another status", { status: "DRAFT" }, [layer("base", { status: "DRAFT" })], 0],
  ["off by nothing that is known", { status: "DISABLED" }, [], 0],
])("policy.offNeedsReason: %s", (_, fields, layers, expected) => {
  const own = { ...resource("testCase", "a", fields), layers };
  const targets = [{ ...target({}), testCases: [own] }];
  const found = reasonBreaches({ ...judged, targets });
  expect(found).toHaveLength(expected);
  expect(found).toMatchSnapshot();
  expect(reasonBreaches({ ...judged, targets, inScope: () => false })).toEqual([]);
  const rules = (policy: Policy) =>
    manifestViolations(targets, policy, NOW).map(({ rule }) => rule);
  expect(rules({ offNeedsReason: true })).toEqual(found.map(() => "offNeedsReason"));
  expect(rules({ offNeedsReason: false })).toEqual([]);
});

const change = (more: Partial<Change>): Change => ({
  address: "testCase.shop.a",
  action: "update",
  fields: [],
  calls: [],
  followUps: [],
  dependsOn: [],
  ...more,
});
const patch = (body: Change["calls"][number]["body"], method: "PATCH" | "POST" = "PATCH") => ({
  calls: [{ method, path: [], body }],
});

test.each<readonly [string, Partial<Change>, boolean]>([
  ["a creation", { action: "create" }, true],
  ["another address", { action: "create", address: "environment.shop.a" }, false],
  [
    "a disable that sends other things",
    { action: "disable", ...patch({ runStatus: "ON" }) },
    false,
  ],
  ["a forget", { action: "forget" }, false],
  ["switched on by status", patch({ status: "ENABLED" }), true],
  ["switched on by runStatus", patch({ runStatus: "ON" }), true],
  ["switched off", patch({ status: "DISABLED", runStatus: "OFF" }), false],
  ["a POST", patch({ status: "ENABLED" }, "POST"), false],
  ["a secret status", { fields: [{ path: ["status"], sensitive: true }] }, true],
  ["a secret name", { fields: [{ path: ["description"], sensitive: true }] }, false],
  ["another status", { fields: [{ path: ["status"], after: "DRAFT" }] }, false],
  ["a step", { fields: [{ path: ["elements", 0], after: null }] }, true],
  ["a prompt", { fields: [{ path: ["discovery", "prompt"], after: "p" }] }, true],
  ["a path", { fields: [{ path: ["entryPointUrlPath"], after: "/" }] }, true],
  ["a type", { fields: [{ path: ["discovery", "type"], after: "LOGIN" }] }, false],
])("policy.passedIn judges %s: %s, %s", (_, more, expected) => {
  const rule: PassedIn = {
    stage: "staging",
    passes: 1,
    soak: 0,
    except: ["*.b"],
  };
  const one = change(more);
  expect(gatedIn({ changes: [one] }, rule)).toEqual(expected ? [one.address] : []);
  expect(gatedIn({ changes: [one] }, { ...rule, except: ["*.b", "testCase.*"] })).toEqual([]);
});

test.each<readonly [string, DesiredFields, DesiredFields, string | undefined]>([
  [
    "the same",
    { "discovery.prompt": "p", tags: ["a"] },
    { "discovery.prompt": "p", tags: ["b"] },
    undefined,
  ],
  ["another prompt", { "discovery.prompt": "p" }, { "discovery.prompt": "q" }, "discovery.prompt"],
  ["a prompt only here", { "discovery.prompt": "p" }, {}, "discovery.prompt"],
  ["a prompt only there", {}, { "discovery.prompt": "p" }, "discovery.prompt"],
  ["unknown here", { elements: [UNKNOWN] }, { elements: [] }, "elements"],
  ["unknown there", { elements: [] }, { elements: [UNKNOWN] }, "elements"],
  [
    "a secret of the same text",
    { elements: [new Secret("s-1")] },
    { elements: [new Secret("s-1")] },
    undefined,
  ],
  ["an empty path", { entryPointUrlPath: "" }, { entryPointUrlPath: null }, undefined],
])("policy.passedIn compares both stages: %s", (_, here, there, expected) => {
  expect(otherThere(resource("testCase", "a", here), resource("testCase", "a", there))).toBe(
    expected,
  );
});

const result = (status: string, minutes: number, platform = "CHROMIUM DESKTOP"): CaseResult => ({
  testCaseId: "C1",
  status,
  at: NOW - minutes * 60_000,
  report: `R${minutes}`,
  platform,
  name: undefined,
  errorMessage: undefined,
  traceUrl: undefined,
});
const evidence = (results: readonly CaseResult[], more: object = {}) => ({
  quarantined: false,
  results,
  report: "R0",
  applied: undefined,
  ...more,
});
const passed = [result("PASSED", 10), result("PASSED", 20), result("FAILED", 30)];

test.each<readonly [string, Parameters<typeof refusalOf>[1], number, number]>([
  ["no such test case", undefined, 1, 0],
  ["an obstacle", evidence(passed, { obstacle: "it is off there" }), 1, 0],
  ["quarantined", evidence([], { quarantined: true }), 1, 0],
  ["no report", evidence([], { report: undefined }), 1, 0],
  ["not in the report", evidence([]), 1, 60_000],
  ["none since the apply", evidence([], { applied: "2026-11-24T11:00Z" }), 2, 0],
  ["enough", evidence(passed), 2, 0],
  ["too few", evidence(passed), 3, 0],
  ["too recent", evidence(passed), 2, 20 * 60_000 + 1],
  ["old enough", evidence(passed), 2, 20 * 60_000],
  ["failed", evidence([result("FAILED", 1), ...passed]), 1, 0],
  ["of another status", evidence([result("SKIPPED", 1), ...passed]), 1, 30_000],
  ["failed in one browser", evidence([...passed, result("FAILED", 5, "FIREFOX DESKTOP")]), 1, 0],
  [
    "too few in one browser",
    evidence([...passed, result("PASSED", 5, "FIREFOX DESKTOP")]),
    2,
    600_000,
  ],
])("policy.passedIn: %s", (_, known, passes, soak) => {
  const rule = { stage: "staging", passes, soak };
  const refusal = refusalOf("testCase.shop.a", known, rule, NOW);
  expect(
    refusal && [refusal.outcome, refusal.passed, refusalLine(refusal, rule)],
  ).toMatchSnapshot();
});

const rule = (more: Partial<Rule>): Rule => ({
  name: "own",
  for: "testCase",
  require: "description != ''",
  level: "deny",
  ...more,
});
const planned: Situation = {
  declared: {
    testCases: {
      a: { description: "A", status: "DISABLED" },
      b: { description: "B", tags: ["x"] },
      c: { description: "C", "discovery.prompt": "p" },
    },
  },
  live: { testCases: [liveCase("A"), liveCase("B")] },
};

test.each<readonly [string, Partial<Rule>]>([
  ["holds", {}],
  ["is broken by one", { require: "description != 'B'" }],
  [
    "is broken, with a message",
    { require: "description != 'B'", message: "Rename\nit", level: "warn" },
  ],
  ["applies to some", { when: "description == 'A'", require: "status == 'ENABLED'" }],
  ["cannot be evaluated", { require: "tags[0] == 'x'" }],
  ["has a condition that cannot be evaluated", { when: "tags[0] == 'x'", require: "true" }],
  ["is about targets", { for: "target", require: "app == 'Web'" }],
  ["is about batch generations", { for: "batchGeneration", require: "false" }],
  ["is about the plan", { for: "plan", require: "total <= 2 && create == 0" }],
  [
    "is about the plan, and holds",
    {
      for: "plan",
      require: "total == 3 && create == 1 && disable == 1 && update == 1 && stage == 'default'",
    },
  ],
  [
    "is about changes",
    {
      for: "change",
      when: "action == 'disable'",
      require: "!('stops-running' in attention)",
    },
  ],
  [
    "is about changed fields",
    {
      for: "change",
      require: "fields.all(f, f.path[0] != 'tags' || f.before != [])",
    },
  ],
])("a rule of the project that %s", (_, more) => {
  const { plan } = planOf(planned);
  const [own] = project(target(planned.declared)).targets;
  const resources = own === undefined ? [] : [own, ...own.testCases];
  const found = brokenRules([rule(more)], {
    stage: "default",
    resources,
    plan,
  });
  expect(policyDiagnostics(found, new Set())).toMatchSnapshot();
  const isOfPlan = more.for === "plan" || more.for === "change";
  expect(brokenRules([rule(more)], { stage: "default", resources })).toHaveLength(
    isOfPlan ? 0 : found.length,
  );
});

test("a rule that is no expression is a mistake of the program", () => {
  const read = () =>
    brokenRules([rule({ require: "description ==" })], {
      stage: "s",
      resources: [],
    });
  expect(read).toThrow(/^rule own: /);
});

test.each<readonly [string, Policy]>([
  ["maxGenerations", { maxGenerations: 0 }],
  ["maxGenerations, exactly", { maxGenerations: 1 }],
  ["maxChanges, exactly", { maxChanges: 3 }],
  ["requireTags", { requireTags: ["x", "y"] }],
  ["quarantine", { quarantine: { require: ["owner"] } }],
  ["passedIn", { passedIn: { stage: "staging", passes: 2, soak: 0, except: [] } }],
])("the words of policy.%s", (_, policy) => {
  const refusal = {
    outcome: "missing",
    why: "it needs more passes",
    passed: 1,
    earliest: NOW,
  } as const;
  const found = violationsOf({
    ...planOf(planned),
    policy,
    now: NOW,
    inScope: () => true,
    ruleOrigin: (name) => ({ file: "tasc.yaml", path: ["policy", name] }),
    gate: {
      refused: [{ address: "testCase.shop.a", ...refusal }],
      open: {
        why: "no results",
        addresses: ["testCase.shop.b", "testCase.shop.c"],
      },
    },
  });
  const overridden = new Set(["passedIn"]);
  expect(policyDiagnostics(found, overridden)).toMatchSnapshot();
});
