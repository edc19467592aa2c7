import { Secret } from "../../../src/model/value.ts";
import { type Situation, liveCase, liveTarget } from "../build.ts";
import { NOW, LOGIN, bound, discovered, CLICK, steps, one, review, ENVIRONMENTS } from "./parts.ts";

/** What a reviewer sees: secrets, reviewed steps, generations. */
export const seen: Readonly<Record<string, Situation>> = {
  quarantines: {
    declared: {
      testCases: {
        over: { description: "A", quarantine: { until: "2026-11-22", reason: "r" } },
        soon: { description: "B", quarantine: { until: "2026-11-25", reason: "r" } },
      },
    },
    live: { testCases: [liveCase("A"), liveCase("B")] },
    input: { now: NOW },
  },
  "secrets in the open": {
    declared: {
      fields: { app: new Secret("Shop"), testIdAttribute: new Secret("attribute-1") },
      testCases: {
        login: {
          description: new Secret("hidden-name"),
          entryPointUrlPath: new Secret("/hidden-path"),
          interactionStatus: new Secret("NEW"),
        },
      },
      ids: { login: "C1" },
    },
    live: { testCases: [liveCase("C1")] },
    state: [bound("target.shop", "T")],
  },
  "renamed, and started elsewhere": {
    declared: {
      fields: { app: "Shop 2" },
      environments: { preview: { name: "P", discoveryUrl: "https://preview.example.com" } },
      testCases: { login: { description: "Sign in", entryPointUrlPath: "/b" } },
    },
    live: {
      target: liveTarget(ENVIRONMENTS),
      testCases: [liveCase("C1", { entryPointUrlPath: "/a" })],
    },
    state: [bound("target.shop", "T"), bound(LOGIN, "C1")],
  },
  "many switched off": {
    declared: {
      testCases: Object.fromEntries(
        "abcde".split("").map((key) => [key, { description: key, status: "DISABLED" }]),
      ),
    },
    live: { testCases: "abcde".split("").map((key) => liveCase(key)) },
  },
  ...Object.fromEntries(
    (
      [
        "accepted",
        "changed",
        "weakened",
        "selectorOnly",
        "notAccepted",
        "generating",
        "withoutSteps",
      ] as const
    ).flatMap((state) =>
      (["report", "reviewed"] as const).map((mode) => [
        `steps: ${state}, ${mode}`,
        one(
          { status: "ENABLED", tags: ["a"] },
          { status: state === "notAccepted" ? "ENABLED" : "DISABLED" },
          { input: review(state, mode) },
        ),
      ]),
    ),
  ),
  "steps: declared ones are not reviewed": one(
    { elements: [CLICK], status: "ENABLED" },
    { status: "DISABLED", elements: steps(CLICK) },
    { input: review("changed") },
  ),
  "steps: a new test case stays off": {
    ...one({ "discovery.prompt": "p", status: "ENABLED", runStatus: "ON" }, {}),
    live: {},
    input: review("notAccepted"),
  },
  "steps: a new generation stays off": one(
    { "discovery.prompt": "New", status: "ENABLED", folder: null },
    { discovery: discovered() },
    { state: [bound(LOGIN, "C1")], input: review("accepted") },
  ),
  ...Object.fromEntries(
    (
      [
        ["failed", { status: "FAILED", message: "No such page" }, []],
        ["aborted, with steps", { abortCause: "TIMEOUT" }, [CLICK]],
        ["of another word", { status: "PUZZLED" }, []],
        ["under way", { status: "RUNNING" }, []],
        ["done, with steps", { status: "DONE" }, [CLICK]],
        ["done, without steps", { status: "DONE" }, []],
        ["created", { status: "CREATED" }, []],
      ] as const
    ).flatMap(([title, parts, live]) =>
      [undefined, "generating", "failed"].map((known) => [
        `generation ${title}${known === undefined ? "" : `, ${known} in state`}`,
        one(
          { status: "ENABLED", "discovery.prompt": "Log in" },
          {
            status: known === undefined ? "ENABLED" : "DISABLED",
            discovery: discovered(parts),
            elements: steps(...live),
          },
          {
            state: [
              bound(LOGIN, "C1"),
              ...(known === undefined
                ? []
                : [{ type: "generating", address: LOGIN, shown: "" } as const]),
              ...(known === "failed"
                ? [
                    {
                      type: "generated",
                      address: LOGIN,
                      failed: "2026-01-01T00:00:00Z ended",
                    } as const,
                  ]
                : []),
            ],
          },
        ),
      ]),
    ),
  ),
  ...Object.fromEntries(
    [{ status: "DISABLED" }, { runStatus: "OFF" }].map((off) => [
      `steps: not accepted, and off by ${Object.keys(off).join()}`,
      one({ tags: [] }, { elements: steps(CLICK), ...off }, { input: review("notAccepted") }),
    ]),
  ),
  "steps: a new test case, where others are accepted": {
    declared: {
      testCases: { known: { description: "K", "discovery.prompt": "p", status: "ENABLED" } },
    },
    live: {},
    input: review("accepted"),
  },
  "steps: a new test case that is not switched on": {
    ...one({ "discovery.prompt": "p", status: "DISABLED" }, {}),
    live: {},
    input: review("accepted"),
  },
  "steps: a new test case whose steps are declared": {
    ...one({ "discovery.prompt": "p", status: "ENABLED", elements: [CLICK] }, {}),
    live: {},
    input: review("accepted"),
  },
  "steps: a new test case, where steps are only reported": {
    ...one({ "discovery.prompt": "p", status: "ENABLED" }, {}),
    live: {},
    input: review("accepted", "report"),
  },
  "steps: held out of scope": {
    ...one({ status: "ENABLED" }, { status: "DISABLED", elements: steps(CLICK) }),
    input: { ...review("changed"), scope: { only: ["testCase.shop.other"], exclude: [] } },
  },
  "generation failed, where no steps are shown": one(
    {},
    { discovery: discovered({ status: "FAILED", message: "m".repeat(300) }), elements: undefined },
    { state: [bound(LOGIN, "C1"), { type: "generating", address: LOGIN, shown: "" }] },
  ),
  "several generations failed": {
    declared: { testCases: { a: { description: "A" }, b: { description: "B" } } },
    live: {
      testCases: ["A", "B"].map((id) =>
        liveCase(id, { discovery: discovered({ status: "FAILED" }) }),
      ),
    },
  },
};
