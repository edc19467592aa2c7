import type { Address } from "../../../src/model/address.ts";
import { type StateEvent } from "../../../src/model/state.ts";
import { Secret, UNKNOWN } from "../../../src/model/value.ts";
import { type Situation, fingerprints, liveCase, liveTarget } from "../build.ts";
import {
  LOGIN,
  applied,
  bound,
  discovered,
  one,
  SHOP_URL,
  ENVIRONMENTS,
  SPRING,
  spring,
  springContent,
  stray,
  intent,
  keyed,
} from "./parts.ts";

/** What state knows: orphans, keys, names, batch generations, scopes. */
export const known: Readonly<Record<string, Situation>> = {
  "orphans are disabled, but not those that an import bound": {
    declared: { onRemove: "disable", environments: {} },
    live: {
      target: liveTarget([{ id: "E1" }]),
      testCases: [
        liveCase("C1"),
        liveCase("C2", { status: "DISABLED" }),
        liveCase("C3"),
        liveCase("C4", { status: undefined }),
        liveCase("C5", { status: "DELETED" }),
        liveCase("C6"),
      ],
    },
    state: [
      bound("testCase.shop.a", "C1"),
      bound("testCase.shop.b", "C2"),
      bound("testCase.shop.c", "C3", { imported: true }),
      bound("testCase.shop.d", "C4"),
      bound("testCase.shop.e", "C5"),
      bound("environment.shop.e", "E1"),
    ],
  },
  "a test case that looks renamed": {
    declared: {
      testCases: {
        fresh: {
          description: "New name",
          "discovery.prompt": "Log in",
          tags: ["a"],
        },
        other: { description: "Other", "discovery.prompt": "Else" },
        hidden: { description: "Hidden", "discovery.prompt": new Secret("Log in") },
      },
    },
    live: {
      testCases: [
        liveCase("C1", { description: "Old name", tags: ["a"], discovery: discovered() }),
      ],
    },
    state: [bound("testCase.shop.old", "C1")],
  },
  "left off by tasc": one(
    {},
    { status: "DISABLED", runStatus: "OFF" },
    { state: [applied({ status: "DISABLED", runStatus: "ON" })] },
  ),
  "removed: forgets": {
    declared: { testCases: { login: { description: "Log in" } } },
    live: { testCases: [liveCase("C1", { description: "Log in" }), liveCase("C2")] },
    state: [
      bound("testCase.shop.gone", "C2"),
      { type: "intended", address: "testCase.shop.never", intent: intent("x") },
    ],
    input: { strays: [stray("old", ["target.old", "T9"], ["testCase.old.a", "C9"])] },
  },
  "targets that no manifest declares": {
    declared: {},
    live: {},
    input: {
      strays: [
        stray("old", ["testCase.old.a", "C9"], ["target.old", "T"]),
        stray("gone", ["target.gone", "T8"]),
        stray("none", ["testCase.none.a", "T"]),
      ],
    },
  },
  "another key": {
    ...one({ interactionStatus: "NEW", "discovery.prompt": "Log in" }, {}),
    state: [applied({ interactionStatus: "NEW" }, { secrets: ["tags"] }), keyed],
  },
  "another fingerprint key": {
    ...one({}, {}),
    state: [keyed, bound(LOGIN, "C1")],
    input: { fingerprints: { keyCheck: "own", of: fingerprints.of, source: "fingerprintKey" } },
  },
  "no key": one(
    { interactionStatus: "NEW", "discovery.prompt": "New", description: "Sign in" },
    { discovery: discovered() },
    { state: [applied({ interactionStatus: "OLD" })], input: { fingerprints: undefined } },
  ),
  "removed outside, and another one has its name": {
    declared: {
      testCases: {
        login: { description: "Log in", "discovery.prompt": "p" },
        other: { description: "Other", "discovery.prompt": "p" },
      },
    },
    live: { testCases: [liveCase("C2", { description: "Log in" })] },
    state: [bound(LOGIN, "C1"), bound("testCase.shop.other", "C3")],
  },
  "an id that is not listed": {
    declared: { testCases: { login: { description: "Log in" } }, ids: { login: "C9" } },
    live: {},
  },
  "a list with repetitions": {
    ...one({ "discovery.prompt": "p" }, {}),
    live: { testCases: [liveCase("C1"), liveCase("C1")] },
  },
  "several fit": {
    ...one({}, {}),
    live: { testCases: ["C2", "C1"].map((id) => liveCase(id, { description: "Log in" })) },
  },
  "several fit a secret name, or had one": {
    declared: {
      testCases: { a: { description: new Secret("hidden-name") }, b: { description: "B" } },
      environments: { preview: { discoveryUrl: "https://x" } },
    },
    live: {
      target: liveTarget([
        { id: "E1", discoveryUrl: "https://x/" },
        { id: "E2", discoveryUrl: "https://x" },
      ]),
      testCases: [
        liveCase("C1", { description: "hidden-name" }),
        liveCase("C2", { description: "hidden-name" }),
        liveCase("C3", { description: "B" }),
        liveCase("C4", { description: "B" }),
      ],
    },
    state: [bound("testCase.shop.gone", "C3", { secrets: ["description"] })],
  },
  "several default environments": {
    declared: { environments: { default: {} } },
    live: {
      target: liveTarget([
        { id: "E1", type: "DEFAULT" },
        { id: "E2", type: "DEFAULT", discoveryUrl: "https://x" },
      ]),
    },
  },
  "two addresses claim one": {
    declared: {
      testCases: { a: { description: "A" }, b: { description: "A" }, c: { description: "C" } },
      ids: { a: "C1" },
    },
    live: { testCases: [liveCase("C1", { description: "A" })] },
    state: [bound("testCase.shop.b", "C1"), bound("testCase.shop.c", "C1")],
  },
  "batch generations": {
    declared: {
      batchGenerations: {
        done: { prompt: "Spring" },
        held: { prompt: "Spring" },
        uncertain: { prompt: "Spring" },
        undone: { prompt: "Spring" },
        fresh: { prompt: "Spring" },
        changed: { prompt: "Spring" },
        again: { prompt: "Spring" },
        unknown: { prompt: UNKNOWN },
        other: { prompt: "Spring" },
      },
    },
    live: {},
    state: [
      bound("target.shop", "T"),
      ...(["done", "held", "uncertain", "undone"] as const).map((status): StateEvent => ({
        type: "batch",
        address: `batchGeneration.shop.${status}`,
        record: { status, content: springContent },
      })),
      {
        type: "batch",
        address: "batchGeneration.shop.changed",
        record: { status: "uncertain", content: "other" },
      },
      {
        type: "batch",
        address: "batchGeneration.shop.again",
        record: { status: "done", content: springContent },
      },
      {
        type: "batch",
        address: "batchGeneration.shop.unknown",
        record: { status: "done", content: "other" },
      },
      { type: "batch", address: "batchGeneration.shop.other", record: { status: "done" } },
    ],
    input: { run: new Set<Address>(["batchGeneration.shop.again"]) },
  },
  "batch generations of an adopted target": {
    declared: {
      batchGenerations: { spring },
      environments: { preview: { discoveryUrl: "https://preview.example.com" } },
    },
    live: { target: liveTarget(ENVIRONMENTS) },
  },
  "batch generations after a change of the key": {
    declared: { batchGenerations: { spring: { prompt: "Spring" } } },
    live: {},
    state: [
      bound("target.shop", "T"),
      { type: "batch", address: SPRING, record: { status: "done", content: "old" } },
      keyed,
    ],
  },
  "batch generations without the key": {
    declared: { batchGenerations: { spring: { prompt: "Spring" } } },
    live: {},
    state: [
      bound("target.shop", "T"),
      { type: "batch", address: SPRING, record: { status: "done", content: "old" } },
    ],
    input: { fingerprints: undefined },
  },
  "scope: what is needed is excluded, or has a problem": {
    declared: {
      testCases: {
        a: { description: "A", "discovery.prompt": "p" },
        b: { description: "B", "discovery.prompt": "p", "discovery.prerequisite": "a" },
        c: { description: "C" },
        d: { description: "D", "discovery.prompt": "p", "discovery.prerequisite": "c" },
      },
    },
    live: {},
    input: { scope: { only: [], exclude: ["testCase.shop.a"] } },
  },
  "scope: only what one needs": {
    declared: {
      environments: { default: { discoveryUrl: SHOP_URL } },
      testCases: {
        a: { description: "A", "discovery.prompt": "p" },
        b: { description: "B", "discovery.prompt": "p", "discovery.prerequisite": "a" },
        c: { description: "C", "discovery.prompt": "p" },
        d: { description: "D" },
      },
    },
    input: { scope: { only: ["testCase.shop.b"], exclude: [] } },
  },
  "scope: orphans": {
    declared: {},
    live: { testCases: [liveCase("C1"), liveCase("C2"), liveCase("C3")] },
    state: [bound("testCase.shop.b", "C2"), bound("testCase.shop.a", "C1")],
    input: { scope: { only: ["*.a"], exclude: [] } },
  },
  "an interrupted creation, found": {
    ...one({ "discovery.prompt": "Log in" }, { discovery: discovered() }),
    state: [
      bound("target.shop", "T"),
      {
        type: "intended",
        address: LOGIN,
        intent: { ...intent("Log in"), secrets: ["tags"], fields: { description: "other" } },
      },
    ],
  },
  "an interrupted creation, unclear": {
    ...one({ "discovery.prompt": "p" }, {}),
    live: { testCases: ["C2", "C1"].map((id) => liveCase(id, { description: "Log in" })) },
    state: [
      bound("target.shop", "T"),
      { type: "intended", address: LOGIN, intent: intent("Log in") },
    ],
  },
  "an interrupted creation, with another key": {
    ...one({ "discovery.prompt": "p" }, { description: "Else" }),
    state: [
      bound("target.shop", "T"),
      { type: "intended", address: LOGIN, intent: intent("Log in") },
      keyed,
    ],
  },
};
