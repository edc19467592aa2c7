import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { POLICY_RULES, type Policy, type Rule, type Settings } from "../../src/model/settings.ts";
import { Secret, UNKNOWN } from "../../src/model/value.ts";
import { scopeTest } from "../../src/plan/scope.ts";
import {
  loosenedSettings,
  manifestViolations,
  policyDiagnostics,
  refusingRules,
  violationsOf,
} from "../../src/plan/policy.ts";
import {
  type Situation,
  liveCase,
  liveElement,
  planInput,
  planOf,
  project,
  stateOf,
  target,
} from "../plan/build.ts";

function violations(policy: Policy, situation: Situation): ReturnType<typeof violationsOf> {
  const { scope } = planInput(situation);
  return violationsOf({
    ...planOf(situation),
    policy,
    now: Date.UTC(2026, 10, 24),
    inScope: scopeTest(scope),
    ruleOrigin: (rule) => ({ file: "tasc.yaml", path: ["policy", rule] }),
  });
}

/** The given number of live test cases, some of which would be disabled or switched off. */
function switchedOff(off: number, all: number): Situation {
  const keys = Array.from({ length: all }, (_, at) => `C${at}`);
  const fields = (at: number) =>
    at >= off ? {} : at % 2 === 0 ? { status: "DISABLED" } : { runStatus: "OFF", tags: ["x"] };
  return {
    declared: {
      testCases: Object.fromEntries(
        keys.map((key, at) => [key, { description: key, ...fields(at) }]),
      ),
    },
    live: { testCases: keys.map((key) => liveCase(key)) },
  };
}

describe("maxDisabledPercent", () => {
  test("rejects exactly the plans above the percentage", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 12 }),
        fc.nat({ max: 12 }),
        fc.integer({ min: 0, max: 100 }),
        (off, on, maxDisabledPercent) => {
          const all = off + on;
          const found = violations({ maxDisabledPercent }, switchedOff(off, all));
          expect(found.length > 0).toBe(all > 0 && off / all > maxDisabledPercent / 100);
        },
      ),
      { numRuns: 50 },
    );
  });

  test("reports the calculation and names the test cases", () => {
    const [found, ...others] = violations({ maxDisabledPercent: 30 }, switchedOff(4, 11));
    expect(others).toEqual([]);
    expect(found).toEqual({
      rule: "maxDisabledPercent",
      summary: "36.4 % disabled or switched off, at most 30 % allowed",
      detail:
        "The plan disables or switches off 4 of the 11 managed live test cases of shop: testCase.shop.C0, testCase.shop.C1, testCase.shop.C2, testCase.shop.C3.",
      address: "target.shop",
      origin: { file: "tasc.yaml", path: ["policy", "maxDisabledPercent"] },
    });
  });

  test("counts neither already disabled nor new nor undeclared test cases", () => {
    const situation: Situation = {
      declared: {
        testCases: {
          a: { description: "A", status: "DISABLED" },
          b: { description: "B", status: "DISABLED" },
          c: { description: "C", status: "DISABLED", "discovery.prompt": "Make it." },
        },
      },
      live: {
        testCases: [
          liveCase("A"),
          liveCase("B", { status: "DISABLED" }),
          ...["D", "E", "F"].map((one) => liveCase(one)),
        ],
      },
    };
    expect(violations({ maxDisabledPercent: 50 }, situation)).toEqual([]);
    expect(violations({ maxDisabledPercent: 49 }, situation)).toHaveLength(1);
  });

  test("counts an orphaned test case that would be disabled, and a status with a secret value", () => {
    const situation: Situation = {
      declared: { testCases: { a: { description: "A", runStatus: new Secret("OFF") } } },
      live: { testCases: [liveCase("A"), liveCase("B")] },
      state: [
        { type: "bound", address: "testCase.shop.a", id: "A", fields: {} },
        { type: "bound", address: "testCase.shop.gone", id: "B", fields: {} },
      ],
      input: { disableRemoved: true },
    };
    const [found] = violations({ maxDisabledPercent: 99 }, situation);
    expect(found?.detail).toContain("2 of the 2 managed live test cases of shop");
  });
});

describe("protected", () => {
  const situation: Situation = {
    declared: {
      testCases: {
        off: { description: "A", runStatus: "OFF" },
        both: { description: "B", status: "DISABLED", "discovery.prompt": "New" },
        tagged: { description: "C", tags: ["x"] },
      },
    },
    live: { testCases: ["A", "B", "C", "D"].map((one) => liveCase(one)) },
    state: [
      {
        type: "bound",
        address: "testCase.shop.both",
        id: "B",
        fields: { "discovery.prompt": "old" },
      },
      { type: "bound", address: "testCase.shop.gone", id: "D", fields: {} },
    ],
  };

  const harms = (...globs: readonly string[]): readonly string[] =>
    violations({ protected: globs }, situation).map(
      ({ summary, address }) => `${address}: ${summary}`,
    );

  test("rejects disabling, rediscovering and orphaning, but allows other changes", () => {
    expect(harms("testCase.shop.*")).toEqual([
      "testCase.shop.both: this test case would be disabled and rediscovered",
      "testCase.shop.off: this test case would be disabled",
      "testCase.shop.gone: this test case would be orphaned",
    ]);
  });

  test("cannot be bypassed by a move in the same plan", () => {
    const moved: Situation = {
      declared: {
        testCases: { c: { description: "A", status: "DISABLED" } },
        moved: [
          ["testCase.shop.a", "testCase.shop.b"],
          ["testCase.shop.b", "testCase.shop.c"],
        ],
      },
      live: { testCases: [liveCase("A")] },
      state: [{ type: "bound", address: "testCase.shop.a", id: "A", fields: {} }],
    };
    const found = violations({ protected: ["testCase.shop.a"] }, moved);
    expect(found.map(({ address }) => address)).toEqual(["testCase.shop.c"]);
  });

  test("cannot be bypassed by another key for the same live test case", () => {
    const found = violations(
      { protected: ["testCase.shop.old"] },
      {
        declared: { testCases: { fresh: { description: "A", status: "DISABLED" } } },
        live: { testCases: [liveCase("A")] },
        state: [{ type: "bound", address: "testCase.shop.old", id: "A", fields: {} }],
      },
    );
    expect(found.map(({ address }) => address)).toEqual(["testCase.shop.fresh"]);
  });

  test("cannot be bypassed by another key for the target", () => {
    const web = { ...stateOf([]), target: "web" };
    const bindings = new Map([["testCase.web.old" as const, { id: "A", fields: {} }]]);
    const found = violations(
      { protected: ["testCase.web.*"] },
      {
        declared: { testCases: { fresh: { description: "A", status: "DISABLED" } } },
        live: { testCases: [liveCase("A")] },
        input: { strays: [{ ...web, bindings }] },
      },
    );
    expect(found.map(({ address }) => address)).toEqual(["testCase.shop.fresh"]);
  });

  test.each([
    ["DRAFT in place of ENABLED", { status: "DRAFT" }, 1],
    ["OUTDATED in place of ENABLED", { status: "OUTDATED" }, 1],
    ["no steps any more", { elements: [] }, 1],
    [
      "a list of no steps",
      { elements: [{ interaction: null, assertion: null, selectors: [] }] },
      1,
    ],
    [
      "a step next to an empty one",
      { elements: [{ interaction: null }, { interaction: { action: "CLICK" } }] },
      1,
    ],
    ["one step fewer", { elements: [{ interaction: { action: "CLICK" } }] }, 1],
    ["what is as it was", { status: "ENABLED" }, 0],
  ])("%s", (_, fields, expected) => {
    const elements = ["1", "2"].map((id, at) =>
      liveElement(id, at, { interaction: { action: "CLICK" } }),
    );
    const found = violations(
      { protected: ["testCase.shop.a"] },
      {
        declared: { testCases: { a: { description: "A", ...fields } } },
        live: { testCases: [liveCase("A", { status: "ENABLED", elements })] },
        state: [{ type: "bound", address: "testCase.shop.a", id: "A", fields: {} }],
      },
    );
    expect(found).toHaveLength(expected);
  });

  test.each([
    ["DRAFT", 1],
    [new Secret("OUTDATED"), 1],
    ["ENABLED", 0],
  ])("%s if the service does not show the status", (status, expected) => {
    const found = violations(
      { protected: ["testCase.shop.a"] },
      {
        declared: { testCases: { a: { description: "A", status } } },
        live: { testCases: [liveCase("A", { status: undefined })] },
        state: [{ type: "bound", address: "testCase.shop.a", id: "A", fields: {} }],
      },
    );
    expect(found).toHaveLength(expected);
  });

  test("ignores addresses that match no pattern", () => {
    expect(harms("testCase.*.off", "environment.*")).toEqual([
      "testCase.shop.off: this test case would be disabled",
    ]);
    expect(harms()).toEqual([]);
  });
});

describe("requireTags", () => {
  const declared = {
    testCases: {
      none: { description: "A" },
      some: { description: "B", tags: ["team"] },
      all: { description: "C", tags: ["web", "team", "x"] },
      hidden: { description: "D", tags: [new Secret("web"), "team"] },
      unknown: { description: "E", tags: [UNKNOWN] },
    },
  };
  const live = {
    testCases: ["A", "B", "C", "D", "E"].map((one) => liveCase(one, { tags: ["web", "team"] })),
  };
  const lacking = (only: readonly string[]): readonly (Address | undefined)[] =>
    violations(
      { requireTags: ["web", "team"] },
      { declared, live, input: { scope: { only, exclude: [] } } },
    ).map(({ address }) => address);

  test("requires all tags, unless the declared tags are not known", () => {
    expect(lacking([])).toEqual(["testCase.shop.none", "testCase.shop.some"]);
  });

  test("names only the first 20 missing tags", () => {
    const requireTags = Array.from({ length: 300 }, (_, at) => `tag-${at}`);
    const [found] = violations({ requireTags }, { declared, live });
    expect(found?.summary).toMatch(/^missing tags: tag-0, .* tag-19 and 280 more$/);
    expect(found?.detail.length).toBeLessThan(500);
  });

  test("ignores test cases outside the scope", () => {
    expect(lacking(["testCase.shop.some"])).toEqual(["testCase.shop.some"]);
  });
});

test("maxChanges counts all changes and names only some of them", () => {
  const situation = switchedOff(25, 25);
  expect(violations({ maxChanges: 25 }, situation)).toEqual([]);
  const [found] = violations({ maxChanges: 3 }, situation);
  expect(found?.summary).toBe("25 planned, at most 3 allowed");
  expect(found?.detail).toMatch(
    /^That is 22 too many\. .* Planned: testCase\.shop\.C0, .* and 5 more\.$/,
  );
});

test("an overridden rule becomes a warning, and all other rules stay errors", () => {
  const all = POLICY_RULES.map((rule) => {
    return { rule, summary: rule, detail: "", origin: undefined };
  });
  for (const rule of POLICY_RULES)
    expect(policyDiagnostics(all, new Set([rule])).map(({ severity }) => severity)).toEqual(
      POLICY_RULES.map((one) => (one === rule ? "warning" : "error")),
    );
});

describe("settings that allow more than those of the base", () => {
  const settings = (
    policy: Policy,
    others: readonly (readonly [string, Policy])[] = [],
  ): Settings => ({
    stage: "staging",
    stages: [],
    baseUrl: "https://api.example.com",
    apiKey: undefined,
    concurrency: 8,
    requestTimeout: 1,
    retries: 1,
    state: { backend: "local", options: {} },
    policy,
    otherPolicies: new Map(others),
    otherBaseUrls: new Map([["production", "https://prod.example.com"]]),
  });
  const OWN = { name: "few", for: "plan", require: "total < 9", level: "deny" } as const;
  const ruled = (line: number, level: "deny" | "warn" = "deny"): readonly Rule[] => [
    {
      name: "team",
      for: "testCase",
      require: "size(tags) > 0",
      level,
      origin: { file: "tasc.yaml", path: ["policy", "rules", line] },
    },
  ];
  const GATE = { stage: "dev", passes: 3, soak: 10, except: ["*.smoke"] };
  const strict: Policy = {
    maxChanges: 5,
    protected: ["*.pay"],
    sameCommit: true,
    planExpiry: 10,
    rules: ruled(0),
    passedIn: GATE,
    steps: "reviewed",
    quarantine: { maxDays: 14, require: ["owner"] },
  };

  test.each<[string, Policy, readonly string[]]>([
    ["the same", strict, []],
    ["a stricter one", { ...strict, maxChanges: 3, protected: ["*.pay", "*.login"] }, []],
    ["a limit raised", { ...strict, maxChanges: 6 }, ["policy.maxChanges of staging"]],
    ["a limit removed", { ...strict, maxChanges: Infinity }, ["policy.maxChanges of staging"]],
    ["a glob removed", { ...strict, protected: [] }, ["policy.protected of staging"]],
    ["another onRemove", { ...strict, onRemove: "disable" }, []],
    ["the same rules on other lines", { ...strict, rules: ruled(9) }, []],
    ["a rule added", { ...strict, rules: [...ruled(9), OWN] }, []],
    ["a rule removed", { ...strict, rules: [] }, ["policy.rules of staging"]],
    [
      "a rule that only warns now",
      { ...strict, rules: ruled(3, "warn") },
      ["policy.rules of staging"],
    ],
    ["more passes", { ...strict, passedIn: { ...GATE, passes: 5 } }, []],
    [
      "fewer passes",
      { ...strict, passedIn: { ...GATE, passes: 1 } },
      ["policy.passedIn of staging"],
    ],
    ["less soak", { ...strict, passedIn: { ...GATE, soak: 0 } }, ["policy.passedIn of staging"]],
    [
      "the gate of another stage",
      { ...strict, passedIn: { ...GATE, stage: "mine" } },
      ["policy.passedIn of staging"],
    ],
    [
      "one more exception of the gate",
      { ...strict, passedIn: { ...GATE, except: ["*.smoke", "*"] } },
      ["policy.passedIn of staging"],
    ],
    ["steps that are only reported", { ...strict, steps: "report" }, ["policy.steps of staging"]],
    [
      "a longer quarantine",
      { ...strict, quarantine: { maxDays: 90, require: ["owner"] } },
      ["policy.quarantine of staging"],
    ],
    [
      "a quarantine without owner",
      { ...strict, quarantine: { maxDays: 14 } },
      ["policy.quarantine of staging"],
    ],
    ["nothing left", {}, Object.keys(strict).map((rule) => `policy.${rule} of staging`)],
  ])("%s", (_, policy, expected) => {
    expect(new Set(loosenedSettings(settings(strict), settings(policy)))).toEqual(
      new Set(expected),
    );
  });

  test("names the stages of a rule, a removed stage, and another address", () => {
    const before = settings(strict, [
      ["production", strict],
      ["old", { maxChanges: 1 }],
    ]);
    const after = {
      ...settings({ ...strict, maxChanges: 9 }, [["production", { ...strict, maxChanges: 9 }]]),
    };
    const moved = new Map([["production", "https://evil.example.com"]]);
    expect(loosenedSettings(before, { ...after, otherBaseUrls: moved })).toEqual([
      "policy.maxChanges of staging, production, old",
      "service.baseUrl of production: https://prod.example.com → https://evil.example.com",
    ]);
  });
});

describe("each rule", () => {
  const now = Date.UTC(2026, 10, 24);
  const whole = (rule: keyof Policy) => ({ file: "tasc.yaml", path: ["policy", rule] });

  test("counts in each target by itself", () => {
    const cases = (off: number) =>
      Object.fromEntries(
        ["A", "B"].map((key, at) => [
          key,
          { description: key, status: at < off ? "DISABLED" : "ENABLED" },
        ]),
      );
    const both = project(
      target({ testCases: cases(1) }),
      target({ fields: { app: "Blog" }, testCases: cases(2) }, "blog"),
    );
    const live = {
      targets: ["Shop", "Blog"].map((app) => ({ id: app, app, environments: [] })),
      testCases: new Map(
        ["Shop", "Blog"].map((id) => [id, ["A", "B"].map((one) => liveCase(one))]),
      ),
    };
    const input = { desired: both, live };
    expect(violations({ maxDisabledPercent: 50 }, { declared: {}, input })).toEqual([
      {
        rule: "maxDisabledPercent",
        summary: "100 % disabled or switched off, at most 50 % allowed",
        detail:
          "The plan disables or switches off 2 of the 2 managed live test cases of blog: testCase.blog.A, testCase.blog.B.",
        address: "target.blog",
        origin: whole("maxDisabledPercent"),
      },
    ]);
  });

  test("about generations counts new test cases and batch generations, and those that are sent again", () => {
    const situation: Situation = {
      declared: {
        environments: { extra: { discoveryUrl: "https://a.example.com" } },
        testCases: {
          a: { description: "A", "discovery.prompt": "p" },
          b: { "discovery.prompt": "q", description: "B" },
        },
        batchGenerations: { c: { prompt: "C" } },
      },
      live: {
        testCases: [
          liveCase("B", {
            discovery: {
              status: undefined,
              freePrompt: "p",
              abortCause: undefined,
              message: undefined,
            },
          }),
        ],
      },
      state: [{ type: "bound", address: "target.shop", id: "T", fields: {} }],
    };
    expect(violations({ maxGenerations: 3 }, situation)).toEqual([]);
    expect(violations({ maxGenerations: 2 }, situation)).toEqual([
      {
        rule: "maxGenerations",
        summary: "3 planned, at most 2 allowed",
        detail:
          "Rediscoveries, new test cases and batch generations are counted: testCase.shop.a, testCase.shop.b, batchGeneration.shop.c.",
        origin: whole("maxGenerations"),
      },
    ]);
  });

  test("about tags is told at the tags, and not of unknown ones", () => {
    const layer = {
      kind: "base",
      file: "a.yaml",
      path: ["testCases", "a"],
      value: { tags: ["x"] },
    } as const;
    const declared = target({
      testCases: {
        a: { description: "A", tags: ["x"] },
        b: { description: "B", tags: [UNKNOWN] },
        c: { tags: null },
      },
    });
    const desired = project({
      ...declared,
      testCases: declared.testCases.map((one) =>
        one.key === "a" ? { ...one, layers: [layer] } : one,
      ),
    });
    const found = violations(
      { requireTags: ["x", "y"] },
      { declared: {}, live: {}, input: { desired } },
    );
    const detail =
      "Every managed test case must have the tags x, y. Add what is missing to its `tags`, or to `defaults.testCases.tags`; its own list replaces the default list.";
    expect(found).toEqual([
      {
        rule: "requireTags",
        summary: "missing tags: y",
        detail,
        address: "testCase.shop.a",
        origin: { file: "a.yaml", path: ["testCases", "a", "tags"] },
      },
      {
        rule: "requireTags",
        summary: "missing tags: x, y",
        detail,
        address: "testCase.shop.c",
        origin: undefined,
      },
    ]);
  });

  test("about another stage tells who is refused, and what nobody judged", () => {
    const passedIn = { stage: "staging", passes: 1, soak: 0, except: [] };
    const declared = { testCases: { a: { description: "A", "discovery.prompt": "p" } } };
    const planned = planOf({ declared, live: {} });
    const about = {
      ...planned,
      policy: { passedIn },
      now,
      inScope: () => true,
      ruleOrigin: () => undefined,
    };
    const address: Address = "testCase.shop.a";
    const refusal = {
      address,
      outcome: "missing",
      why: "it does not exist in staging",
      passed: 0,
      earliest: now,
    } as const;
    const refused = {
      rule: "passedIn",
      summary:
        "it does not exist in staging; passed 0 of 1 in staging; next possible 2026-11-24T00:00Z",
      detail: "`policy.passedIn` asks for it in staging. Apply and run it there, then plan again.",
      address,
      origin: undefined,
    };
    const open = { why: "no key", addresses: [address] };
    expect([
      violationsOf(about),
      violationsOf({ ...about, gate: { refused: [refusal] } }),
      violationsOf({ ...about, gate: { refused: [refusal], open } }),
      violationsOf({ ...about, policy: {}, gate: { refused: [refusal] } }),
    ]).toEqual([
      [],
      [refused],
      [
        refused,
        {
          rule: "passedIn",
          summary: "not judged: no key",
          detail:
            "Without it, nobody knows whether these test cases have passed in staging: testCase.shop.a.",
          origin: undefined,
        },
      ],
      [],
    ]);
    const elsewhere = { ...refusal, address: "testCase.gone.a" } as const;
    expect(violationsOf({ ...about, gate: { refused: [elsewhere] } })).toEqual([
      { ...refused, address: "testCase.gone.a" },
    ]);
  });

  test("that looks only at manifests is told without a plan", () => {
    const off = { kind: "base", file: "a.yaml", path: [], value: { status: "DISABLED" } } as const;
    const declared = target({
      testCases: {
        a: { status: "DISABLED" },
        b: { quarantine: { until: "2026-12-24", reason: "r" } },
      },
    });
    const testCases = declared.testCases.map((one) =>
      one.key === "a" ? { ...one, layers: [off] } : one,
    );
    const targets = [{ ...declared, testCases }];
    const rulesOf = (policy: Policy) =>
      manifestViolations(targets, policy, now).map(({ rule, address }) => [rule, address]);
    expect(rulesOf({ quarantine: { maxDays: 5 }, offNeedsReason: true })).toEqual([
      ["quarantine", "testCase.shop.b"],
      ["offNeedsReason", "testCase.shop.a"],
    ]);
    expect(rulesOf({ offNeedsReason: false })).toEqual([]);
    const planned = { declared: {}, live: {}, input: { desired: project(...targets) } };
    const found = violations({ quarantine: { maxDays: 5 }, offNeedsReason: true }, planned);
    expect(found.map(({ rule, address }) => [rule, address])).toEqual([
      ["quarantine", "testCase.shop.b"],
      ["offNeedsReason", "testCase.shop.a"],
    ]);
  });

  test("refuses unless it only warns or is overridden", () => {
    const about = { summary: "s", detail: "d", origin: undefined };
    const all = [
      { rule: "maxChanges", ...about },
      { rule: "own", level: "warn", ...about },
      { rule: "other", level: "deny", ...about },
    ] as const;
    expect(refusingRules(all, [])).toEqual(["maxChanges", "other"]);
    expect(refusingRules(all, ["maxChanges", "own"])).toEqual(["other"]);
  });
});
