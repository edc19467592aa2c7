import { describe, expect, test } from "vitest";
import { createdRecords } from "../../src/apply/run.ts";
import type { ChangeJson } from "../../src/model/plan.ts";
import { Secret, UNKNOWN } from "../../src/model/value.ts";
import { refreshEvents } from "../../src/plan/record.ts";
import { createFingerprinter } from "../../src/state/fingerprint.ts";
import {
  type Situation,
  fingerprints,
  liveCase,
  liveElement,
  liveTarget,
  planOf,
  publicPlan,
  resource,
} from "./build.ts";

/** The only change of a plan that has no errors. */
function change(situation: Situation): ChangeJson {
  const plan = publicPlan(situation);
  expect(plan.diagnostics.filter(({ severity }) => severity === "error")).toEqual([]);
  expect(plan.changes).toHaveLength(1);
  const [only] = plan.changes;
  if (only === undefined) throw new Error("no change");
  return only;
}

const PATCH_CASE = "/apiKey/v3/test-targets/T/test-cases/C1";

describe("a changed field is patched alone", () => {
  const live = {
    testCases: [
      liveCase("C1", {
        description: "Log in",
        entryPointUrlPath: "/login",
        tags: ["a", "b"],
        externalId: "X-1",
        discovery: {
          status: "FINISHED",
          freePrompt: "Old",
          abortCause: undefined,
          message: undefined,
        },
      }),
    ],
  };
  const recorded = [
    { type: "bound", address: "testCase.shop.login", id: "C1", fields: {} },
  ] as const;
  const rows: readonly (readonly [string, Record<string, never> | object, object, object])[] = [
    [
      "status",
      { status: "DISABLED" },
      { path: ["status"], before: "ENABLED", after: "DISABLED" },
      { status: "DISABLED" },
    ],
    [
      "runStatus",
      { runStatus: "OFF" },
      { path: ["runStatus"], before: "ON", after: "OFF" },
      { runStatus: "OFF" },
    ],
    [
      "description",
      { description: "Sign in" },
      { path: ["description"], before: "Log in", after: "Sign in" },
      { description: "Sign in" },
    ],
    [
      "externalId",
      { externalId: "X-2" },
      { path: ["externalId"], before: "X-1", after: "X-2" },
      { externalId: "X-2" },
    ],
    [
      "externalId, cleared",
      { externalId: null },
      { path: ["externalId"], before: "X-1", after: null },
      { externalId: null },
    ],
    [
      "entry point, cleared",
      { entryPointUrlPath: null },
      { path: ["entryPointUrlPath"], before: "/login", after: null },
      { entryPointUrlPath: null },
    ],
    [
      "tags",
      { tags: ["b", "c"] },
      { path: ["tags"], before: ["a", "b"], after: ["b", "c"] },
      { assignedTagNames: ["b", "c"] },
    ],
    [
      "interactionStatus, write-only",
      { interactionStatus: "APPROVED" },
      { path: ["interactionStatus"], after: "APPROVED" },
      { interactionStatus: "APPROVED" },
    ],
    [
      "folder",
      { folder: "Auth" },
      { path: ["folder"], before: null, after: "Auth" },
      { folderName: "Auth" },
    ],
  ];
  test.each(rows)("%s", (name, fields, shown, body) => {
    const found = change({
      declared: { testCases: { login: { ...fields } } },
      live,
      state: recorded,
    });
    expect(found).toEqual({
      address: "testCase.shop.login",
      action: name === "status" || name === "runStatus" ? "disable" : "update",
      id: "C1",
      fields: [shown],
      calls: [{ method: "PATCH", path: PATCH_CASE, body }],
      followUps: [],
    });
  });

  test("a changed prompt is a rediscovery if the service shows the prompt", () => {
    const declared = {
      testCases: { login: { "discovery.prompt": "New", status: "ENABLED", tags: ["z"] } },
    };
    expect(change({ declared, live, state: recorded })).toMatchObject({
      action: "rediscover",
      fields: [{ path: ["tags"] }, { path: ["discovery", "prompt"], before: "Old", after: "New" }],
      calls: [
        { method: "PATCH", body: { assignedTagNames: ["z"], createBackendDiscoveryPrompt: "New" } },
      ],
      followUps: [{ method: "PATCH", path: PATCH_CASE, body: { status: "ENABLED" } }],
    });
  });

  test("tags in another order are not a change", () => {
    const plan = publicPlan({
      declared: { testCases: { login: { tags: ["b", "a"] } } },
      live,
      state: recorded,
    });
    expect(plan.changes).toEqual([]);
    expect(plan.summary).toMatchObject({ unchanged: 2, calls: { POST: 0, PATCH: 0 } });
  });
});

describe("what does not exist is created", () => {
  test("a target with its default environment, another environment, a case and a batch generation", () => {
    const plan = publicPlan({
      declared: {
        fields: { app: "Shop", timeoutPerStep: 1000 },
        environments: {
          default: {
            discoveryUrl: "https://shop.example.com",
            basicAuth: { username: "u", password: new Secret("pass-1") },
          },
          preview: { discoveryUrl: "https://preview.example.com", name: null },
        },
        testCases: {
          banner: {
            description: "Banner",
            "discovery.prompt": "Accept",
            "discovery.type": "COOKIE_BANNER",
            folder: null,
          },
          login: {
            description: "Log in",
            "discovery.prompt": "Log in",
            "discovery.prerequisite": "banner",
            status: "ENABLED",
          },
        },
        batchGenerations: {
          spring: { prompt: "Spring", environment: "preview", prerequisite: "login" },
        },
      },
    });
    expect(plan).toMatchSnapshot();
  });

  test("a test case without a prompt is an error", () => {
    const plan = publicPlan({
      declared: { testCases: { login: { description: "Log in" } } },
      live: {},
    });
    expect(plan.changes).toEqual([]);
    expect(plan.diagnostics).toMatchObject([{ severity: "error", address: "testCase.shop.login" }]);
    expect(plan.summary.unchanged).toBe(1);
  });

  test("null values and unknown values are left out", () => {
    const declared = {
      environments: {
        preview: {
          discoveryUrl: "https://p.example.com",
          basicAuth: null,
          testAccount: { username: "u", password: UNKNOWN },
        },
      },
    };
    expect(change({ declared, live: {} }).calls).toEqual([
      {
        method: "POST",
        path: "/apiKey/v3/test-targets/T/environments",
        body: { name: "preview", discoveryUrl: "https://p.example.com" },
      },
    ]);
  });
});

describe("matching", () => {
  const login = { login: { description: "Log in", status: "ENABLED" } };
  const rows: readonly (readonly [string, Situation, string])[] = [
    [
      "by id: in the manifest, whatever the name",
      {
        declared: { testCases: { login: { description: "Log in" } }, ids: { login: "C2" } },
        live: { testCases: [liveCase("C1", { description: "Log in" }), liveCase("C2")] },
      },
      "C2",
    ],
    [
      "by `id:` of the manifest before the id in state",
      {
        declared: { testCases: login, ids: { login: "C2" } },
        live: { testCases: [liveCase("C1"), liveCase("C2")] },
        state: [{ type: "bound", address: "testCase.shop.login", id: "C1", fields: {} }],
      },
      "C2",
    ],
    [
      "by the id in state, whatever the name",
      {
        declared: { testCases: login },
        live: { testCases: [liveCase("C1")] },
        state: [{ type: "bound", address: "testCase.shop.login", id: "C1", fields: {} }],
      },
      "C1",
    ],
    [
      "by externalId before the name",
      {
        declared: { testCases: { login: { description: "Log in", externalId: "X" } } },
        live: {
          testCases: [
            liveCase("C1", { description: "Log in" }),
            liveCase("C2", { externalId: "X" }),
          ],
        },
      },
      "C2",
    ],
    [
      "by name",
      {
        declared: { testCases: login },
        live: { testCases: [liveCase("C1", { description: "Log in" })] },
      },
      "C1",
    ],
    [
      "not by name where that case has an externalId of its own",
      {
        declared: {
          testCases: { login: { description: "Log in", externalId: "X", "discovery.prompt": "p" } },
        },
        live: { testCases: [liveCase("C1", { description: "Log in", externalId: "Y" })] },
      },
      "create",
    ],
    [
      "two of one name are an error",
      {
        declared: { testCases: login },
        live: {
          testCases: [
            liveCase("C1", { description: "Log in" }),
            liveCase("C2", { description: "Log in" }),
          ],
        },
      },
      "error",
    ],
    [
      "a deleted case is gone",
      {
        declared: { testCases: login },
        live: {
          testCases: [
            liveCase("C1", { description: "Log in" }),
            liveCase("C2", { description: "Log in", status: "DELETED" }),
          ],
        },
      },
      "C1",
    ],
    [
      "an id: that is not listed is an error",
      {
        declared: { testCases: login, ids: { login: "C9" } },
        live: { testCases: [liveCase("C1", { description: "Log in" })] },
      },
      "error",
    ],
    [
      "two addresses cannot mean one case",
      {
        declared: {
          testCases: { login: { description: "Log in" }, other: { description: "Log in" } },
        },
        live: { testCases: [liveCase("C1", { description: "Log in" })] },
      },
      "error",
    ],
    [
      "what a list with repetitions lacks is not created",
      {
        declared: { testCases: { login: { description: "Log in", "discovery.prompt": "p" } } },
        live: { testCases: [liveCase("C1"), liveCase("C1")] },
        state: [{ type: "bound", address: "testCase.shop.login", id: "C2", fields: {} }],
      },
      "error",
    ],
    [
      "what a list with repetitions has is found",
      {
        declared: { testCases: login },
        live: {
          testCases: [liveCase("C1"), liveCase("C1"), liveCase("C2", { description: "Log in" })],
        },
      },
      "C2",
    ],
    [
      "a case that is bound to another address is not free",
      {
        declared: {
          testCases: {
            login: { description: "Log in", "discovery.prompt": "p" },
            other: { description: "Else" },
          },
        },
        live: { testCases: [liveCase("C1", { description: "Log in" })] },
        state: [{ type: "bound", address: "testCase.shop.other", id: "C1", fields: {} }],
      },
      "create",
    ],
    [
      "what was moved keeps its id",
      {
        declared: {
          testCases: { login: { description: "New name" } },
          moved: [["testCase.shop.old", "testCase.shop.login"]],
        },
        live: { testCases: [liveCase("C1")] },
        state: [{ type: "bound", address: "testCase.shop.old", id: "C1", fields: {} }],
      },
      "C1",
    ],
  ];
  test.each(rows)("%s", (_, situation, expected) => {
    const { plan, matched } = planOf(situation);
    const match = matched.get("shop")?.matches.get("testCase.shop.login");
    const errors = plan.diagnostics.filter(({ severity }) => severity === "error");
    if (expected === "error") {
      expect(errors.length).toBeGreaterThan(0);
      // Nothing is planned if it is unclear which test case is meant.
      expect(match).toBeUndefined();
      expect(plan.changes).toEqual([]);
    } else expect(errors).toEqual([]);
    if (expected === "create") expect(match).toEqual({});
    else if (expected !== "error") expect(match).toMatchObject({ live: { id: expected } });
  });

  test("a bound test case that is no longer listed is created again, with a warning", () => {
    const plan = publicPlan({
      declared: { testCases: { login: { description: "Log in", "discovery.prompt": "p" } } },
      live: {},
      state: [{ type: "bound", address: "testCase.shop.login", id: "C1", fields: {} }],
    });
    expect(plan.changes).toMatchObject([{ action: "create" }]);
    expect(plan.diagnostics).toMatchObject([
      {
        severity: "warning",
        summary: "Removed outside tasc",
        // Without the declaration, it would be orphaned in stages that still have it.
        detail: expect.stringMatching(
          /remove it from the manifest; if other stages .*onlyStages/,
        ) as unknown,
      },
    ]);
  });
});

const recorded = (fields: object) =>
  [
    {
      type: "bound",
      address: "environment.shop.preview",
      id: "E1",
      ...createdRecords(fingerprints, resource("environment", "preview", { ...fields }), "E1"),
    },
  ] as const;

const headers = (...names: string[]) => ({
  additionalHeaderFields: Object.fromEntries(names.map((name) => [name, new Secret("value")])),
});

describe("write-only fields", () => {
  const declared = {
    environments: {
      preview: {
        discoveryUrl: "https://p",
        testAccount: { username: "qa", password: new Secret("hunter22") },
      },
    },
  };
  const live = { target: liveTarget([{ id: "E1", discoveryUrl: "https://p" }]) };

  test("are planned if state has no record", () => {
    expect(change({ declared, live }).fields).toEqual([
      { path: ["testAccount", "username"], after: "qa" },
      { path: ["testAccount", "password"], sensitive: true },
    ]);
  });
  test("report no change if the recorded value is the same", () => {
    expect(
      publicPlan({ declared, live, state: recorded(declared.environments.preview) }).changes,
    ).toEqual([]);
  });
  test("list only the changed part, but send all declared parts", () => {
    const before = { testAccount: { username: "qa", password: new Secret("old-pass") } };
    expect(change({ declared, live, state: recorded(before) })).toMatchObject({
      fields: [{ path: ["testAccount", "password"], sensitive: true }],
      calls: [{ body: { testAccount: { username: "qa", password: "(sensitive)" } } }],
    });
  });
  test("report a change if a header was removed from the map", () => {
    const situation = {
      declared: { environments: { preview: { discoveryUrl: "https://p", ...headers("A") } } },
      live,
      state: recorded(headers("A", "B")),
    };
    expect(change(situation)).toMatchObject({
      fields: [{ path: ["additionalHeaderFields", "B"], sensitive: true }],
      calls: [{ body: { additionalHeaderFields: { A: "(sensitive)" } } }],
    });
  });
  test.each([
    { says: "null was written", before: { additionalHeaderFields: null }, changes: 1 },
    { says: "nothing was written", before: {}, changes: 1 },
    { says: "it was written before", before: { additionalHeaderFields: {} }, changes: 0 },
  ])("report $changes change for an empty map if $says", ({ before, changes }) => {
    const empty = {
      environments: { preview: { discoveryUrl: "https://p", additionalHeaderFields: {} } },
    };
    expect(publicPlan({ declared: empty, live, state: recorded(before) }).changes).toHaveLength(
      changes,
    );
  });
  test("report a change if null was written last and a value is declared", () => {
    expect(
      publicPlan({ declared, live, state: recorded({ testAccount: null }) }).changes,
    ).toHaveLength(1);
  });
  test("are unknown without the key, so they report no change", () => {
    expect(publicPlan({ declared, live, input: { fingerprints: undefined } }).changes).toEqual([]);
  });
  test("include an adopted prompt that the service does not show: it is recorded, not sent", () => {
    const situation: Situation = {
      declared: { testCases: { login: { description: "C1", "discovery.prompt": "p" } } },
      live: { testCases: [liveCase("C1")] },
    };
    const { plan, matched } = planOf(situation);
    expect(plan.changes).toEqual([]);
    const shop = matched.get("shop");
    const events = shop === undefined ? [] : refreshEvents(shop, fingerprints, () => true);
    const bind = events.find(
      (event) => event.type === "bound" && event.address === "testCase.shop.login",
    );
    expect(Object.keys(bind?.type === "bound" ? bind.fields : {})).toContain("discovery.prompt");
    const changed = {
      ...situation,
      declared: { testCases: { login: { description: "C1", "discovery.prompt": "q" } } },
    };
    expect(change({ ...changed, state: events })).toMatchObject({ action: "rediscover" });
    expect(
      change({ ...situation, input: { rediscover: new Set(["testCase.shop.login"] as const) } }),
    ).toMatchObject({ action: "rediscover" });
    // A fingerprint of another key cannot be compared, and a rediscovery is expensive.
    const other = createFingerprinter(new Secret("another key of the stage"), "staging");
    expect(
      planOf({ ...changed, state: events, input: { fingerprints: other } }).plan,
    ).toMatchObject({
      changes: [],
      diagnostics: [{ code: "key-changed" }],
    });
  });
});

describe("folders", () => {
  const declared = { testCases: { a: { description: "C1", folder: "Auth" } } };
  const live = { testCases: [liveCase("C1", { folderId: "F1" })] };
  test("are planned as long as the id of the name is unknown", () => {
    expect(change({ declared, live }).fields).toEqual([{ path: ["folder"], after: "Auth" }]);
  });
  test("are compared by id once it is known", () => {
    expect(
      publicPlan({ declared, live, state: [{ type: "folder", name: "Auth", id: "F1" }] }).changes,
    ).toEqual([]);
  });
  test("are not reported as changed by the service as long as name and id are unknown", () => {
    const fields = { folder: fingerprints.of("C1/folder", "Auth") };
    const state = [{ type: "bound", address: "testCase.shop.a", id: "C1", fields }] as const;
    const [only] = planOf({ declared, live, state }).plan.changes;
    expect(only?.fields).toEqual([{ path: ["folder"], after: "Auth" }]);
  });
  test("show the old name if it is known", () => {
    const state = [
      { type: "folder", name: "Old", id: "F1" },
      { type: "folder", name: "Auth", id: "F2" },
    ] as const;
    expect(change({ declared, live, state }).fields).toEqual([
      { path: ["folder"], before: "Old", after: "Auth" },
    ]);
  });
});

const click = (calledWith: string) => ({ interaction: { action: "CLICK", calledWith } });
const casesOf = (...elements: ReturnType<typeof liveElement>[]) => ({
  testCases: [liveCase("C1", { elements })],
});
const withSteps = (...elements: object[]) => ({
  testCases: { a: { description: "C1", elements: elements.map((element) => ({ ...element })) } },
});

describe("elements", () => {
  const live = casesOf(liveElement("1", 0, click("one")), liveElement("2", 1, click("two")));

  test("are compared by their declared parts only", () => {
    expect(
      publicPlan({ declared: withSteps({ interaction: { action: "CLICK" } }, click("two")), live })
        .changes,
    ).toEqual([]);
  });
  test("keep their ids and undeclared parts if another element is inserted", () => {
    expect(
      change({ declared: withSteps(click("one"), click("new"), click("two")), live }).calls,
    ).toEqual([
      {
        method: "PATCH",
        path: PATCH_CASE,
        body: {
          elements: [
            {
              id: "1",
              index: 0,
              interaction: { id: "1-i", action: "CLICK", calledWith: "one" },
              assertion: null,
              selectors: [],
            },
            { index: 1, interaction: { action: "CLICK", calledWith: "new" } },
            {
              id: "2",
              index: 2,
              interaction: { id: "2-i", action: "CLICK", calledWith: "two" },
              assertion: null,
              selectors: [],
            },
          ],
        },
      },
    ]);
  });
  test("are patched individually if only a locator line differs", () => {
    expect(
      change({
        declared: withSteps(click("one"), { ...click("two"), locatorLine: "getByText('x')" }),
        live,
      }),
    ).toMatchObject({
      fields: [{ path: ["elements", 1, "locatorLine"], after: "getByText('x')" }],
      calls: [
        {
          method: "PATCH",
          path: `${PATCH_CASE}/elements/2`,
          body: { locatorLine: "getByText('x')" },
        },
      ],
    });
  });
  test("need two calls if a new one has a locator line", () => {
    const found = change({
      declared: withSteps(click("one"), click("two"), { ...click("three"), locatorLine: "x" }),
      live,
    });
    expect(found.calls.map(({ path }) => path)).toEqual([
      PATCH_CASE,
      `${PATCH_CASE}/elements/(known after apply)`,
    ]);
  });
});

describe("an orphaned resource", () => {
  const state = [{ type: "bound", address: "testCase.shop.gone", id: "C1", fields: {} }] as const;
  const live = { testCases: [liveCase("C1"), liveCase("C2")] };
  test("is listed but not changed", () => {
    const plan = publicPlan({ declared: {}, live, state });
    expect(plan).toMatchObject({
      changes: [],
      orphaned: [{ address: "testCase.shop.gone", id: "C1" }],
    });
    expect(plan.summary).toMatchObject({ orphaned: 1, unmanaged: 1 });
  });
  test("is disabled with onRemove: disable, and still listed", () => {
    const plan = publicPlan({ declared: { onRemove: "disable" }, live, state });
    expect(plan.changes).toMatchObject([
      { action: "disable", calls: [{ body: { status: "DISABLED" } }] },
    ]);
    expect(plan.summary).toMatchObject({ update: 0, disable: 1, orphaned: 1 });
  });
});

describe("batch generations", () => {
  const declared = { batchGenerations: { spring: { prompt: "Spring" } } };
  const settled = [{ type: "bound", address: "target.shop", id: "T", fields: {} }] as const;
  test("are held on a target that existed before", () => {
    const plan = publicPlan({ declared, live: {} });
    expect(plan).toMatchObject({
      changes: [],
      summary: { unchanged: 2 },
      diagnostics: [{ severity: "warning" }],
    });
  });
  test("run on a target that is already managed", () => {
    expect(change({ declared, live: {}, state: settled })).toMatchObject({
      action: "create",
      calls: [{ method: "POST", body: { prompt: "Spring" } }],
    });
  });
  test("stay held when their content changes", () => {
    const record = {
      status: "held",
      content: fingerprints.of("batchGeneration", { prompt: "Old" }),
    } as const;
    const held = [
      ...settled,
      { type: "batch", address: "batchGeneration.shop.spring", record },
    ] as const;
    expect(publicPlan({ declared, live: {}, state: held }).changes).toEqual([]);
  });
  test("run once per content", () => {
    const content = fingerprints.of("batchGeneration", { prompt: "Spring" });
    const done = [
      ...settled,
      {
        type: "batch",
        address: "batchGeneration.shop.spring",
        record: { status: "done", content },
      },
    ] as const;
    expect(publicPlan({ declared, live: {}, state: done }).changes).toEqual([]);
    const changed = { batchGenerations: { spring: { prompt: "Summer" } } };
    expect(publicPlan({ declared: changed, live: {}, state: done }).changes).toHaveLength(1);
  });
});

describe("the scope", () => {
  const declared = {
    testCases: {
      a: { description: "A", "discovery.prompt": "p" },
      b: { description: "B", "discovery.prompt": "p", "discovery.prerequisite": "a" },
    },
  };
  test("includes prerequisites that must be created first", () => {
    const plan = publicPlan({
      declared,
      live: {},
      input: { scope: { only: ["testCase.shop.b"], exclude: [] } },
    });
    expect(plan.changes.map(({ address }) => address)).toEqual([
      "testCase.shop.a",
      "testCase.shop.b",
    ]);
  });
  test("cannot exclude prerequisites that must be created first", () => {
    const plan = publicPlan({
      declared,
      live: {},
      input: { scope: { only: [], exclude: ["testCase.shop.a"] } },
    });
    expect(plan.diagnostics).toMatchObject([{ severity: "error", address: "testCase.shop.b" }]);
  });
});
