import type { Address } from "../../../src/model/address.ts";
import type { DesiredFields } from "../../../src/model/desired.ts";
import type { LiveDiscovery, LiveTestCase } from "../../../src/model/live.ts";
import { type StateEvent, emptyState } from "../../../src/model/state.ts";
import type { Acceptance } from "../../../src/model/steps.ts";
import { Secret, type Value } from "../../../src/model/value.ts";
import { batchContent } from "../../../src/plan/batches.ts";
import { locatorDigest, selectorsDigest } from "../../../src/plan/elements.ts";
import { nameDigests, recordField } from "../../../src/plan/memory.ts";
import { fieldsOf } from "../../../src/model/fields.ts";
import {
  BASE_URL,
  type Situation,
  fingerprints,
  liveCase,
  liveElement,
  resource,
} from "../build.ts";

/** The parts that the situations are made of. */
export const NOW = Date.UTC(2026, 10, 24);
export const LOGIN: Address = "testCase.shop.login";

/** Binds the test case `login` to C1, as if these values were applied last. */
export function applied(
  fields: DesiredFields,
  more: { readonly secrets?: readonly string[] } = {},
): StateEvent {
  const records = Object.fromEntries(
    fieldsOf("testCase").flatMap((field) => {
      const value = fields[field.name];
      return value === undefined
        ? []
        : [[field.name, recordField(fingerprints, "C1", field, value)] as const];
    }),
  );
  return { type: "bound", address: LOGIN, id: "C1", fields: records, ...more };
}
export const bound = (address: Address, id: string, more: object = {}): StateEvent => ({
  type: "bound",
  address,
  id,
  fields: {},
  ...more,
});

export function discovered(parts: Partial<LiveDiscovery> = {}): LiveDiscovery {
  return {
    status: "FINISHED",
    freePrompt: "Log in",
    abortCause: undefined,
    message: undefined,
    updatedAt: "2026-01-01T00:00:00Z",
    ...parts,
  };
}

export const CLICK = { interaction: { action: "CLICK" } };
export const FILL = { interaction: { action: "FILL", calledWith: "x" } };
export const VISIBLE = { assertion: { expectation: "VISIBLE" } };
export const BY_TEXT = { selectorType: "TEXT", selector: "Pay" };
export const steps = (...all: readonly object[]) =>
  all.map((parts, at) => liveElement(`e${at}`, at, { ...parts }));

/** A plan of one test case, `login`, whose live one is C1. */
export function one(
  fields: DesiredFields,
  live: Partial<LiveTestCase>,
  more: Partial<Situation> = {},
) {
  return {
    declared: { testCases: { login: { description: "Log in", ...fields } } },
    live: { testCases: [liveCase("C1", { description: "Log in", ...live })] },
    ...more,
  } satisfies Situation;
}

export const elementsOf = (
  elements: Value,
  live: readonly object[],
  more: Partial<Situation> = {},
) => one({ elements }, { elements: steps(...live) }, { state: [bound(LOGIN, "C1")], ...more });

export const review = (state: Acceptance["state"], mode: "report" | "reviewed" = "reviewed") => ({
  steps: {
    mode,
    of: () => ({ state, differences: [] }),
    isKnown: (address: Address) => address !== LOGIN,
  },
});

export const SHOP_URL = "https://shop.example.com";
export const ENVIRONMENTS = [
  { id: "E0", type: "DEFAULT", discoveryUrl: `${SHOP_URL}/` },
  { id: "E1", discoveryUrl: "https://preview.example.com/" },
];
export const ACCOUNT = { username: "qa", password: new Secret("pass-word-1") };
export const SPRING: Address = "batchGeneration.shop.spring";
export const spring = {
  prompt: "Spring",
  environment: "preview",
  context: { source: "ci", b: 1, a: 2 },
};
export const springContent = batchContent(
  fingerprints,
  resource("batchGeneration", "spring", { prompt: "Spring" }),
  () => undefined,
);
export const stray = (target: string, ...bindings: readonly (readonly [Address, string])[]) => ({
  ...emptyState("default", target, BASE_URL),
  bindings: new Map(bindings.map(([address, id]) => [address, { id, fields: {} }])),
});
export const intent = (name: string) => ({
  at: "2026-01-01T00:00:00.000Z",
  existing: [],
  ...nameDigests(fingerprints, "testCase", { name, externalId: undefined }),
  fields: {},
});
export const keyed: StateEvent = { type: "keyed", keyCheck: "another key" };
export const located = (line: string, selectors: string): StateEvent => ({
  type: "located",
  address: LOGIN,
  locators: { e0: { line: locatorDigest(fingerprints, "e0", line), selectors } },
});
export const selectorsOf = (element: object) =>
  selectorsDigest(fingerprints, liveElement("e0", 0, { ...element }));
