import { expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { LiveTestCase } from "../../src/model/live.ts";
import type { Intent, StateEvent } from "../../src/model/state.ts";
import { nameDigests, recover } from "../../src/plan/memory.ts";
import { fingerprints, liveCase, liveTarget, stateOf } from "./build.ts";

const at = "2026-01-01T00:00:00.000Z";
const named = (name: string, more: Partial<Intent> = {}): Intent => ({
  at,
  existing: [],
  ...nameDigests(fingerprints, "testCase", { name, externalId: undefined }),
  fields: {},
  ...more,
});
const calledA = (id: string, more: Partial<LiveTestCase> = {}): LiveTestCase =>
  liveCase(id, { description: "A", ...more });

/** The result for an interrupted creation: an id, nothing, or a code if it is unclear. */
function found(
  address: Address,
  intent: Intent,
  testCases: readonly LiveTestCase[],
  taken: readonly string[] = [],
): string {
  const state = stateOf([
    { type: "bound", address: "target.shop", id: "T", fields: {} },
    { type: "intended", address, intent },
  ]);
  const target = liveTarget([
    { id: "E1", discoveryUrl: "https://a/" },
    { id: "E2", discoveryUrl: "https://b" },
  ]);
  const { events, diagnostics } = recover(state, {
    live: { targets: [target], testCases: new Map([["T", testCases]]) },
    fingerprints,
    resources: new Map(),
    taken: new Set(taken),
  });
  return diagnostics[0]?.code ?? events.map(outcomeOf).join();
}

function outcomeOf(event: StateEvent): string {
  if (event.type === "bound") return event.id;
  return event.type === "batch" ? event.record.status : event.type;
}

const login: Address = "testCase.shop.login";
const preview: Address = "environment.shop.preview";
const withX = nameDigests(fingerprints, "testCase", { name: "A", externalId: "X" });
const rows: readonly (readonly [string, () => string, string])[] = [
  ["the one with the name", () => found(login, named("A"), [calledA("C1"), liveCase("C2")]), "C1"],
  [
    "the one with the name as the service normalised it",
    () => found(login, named(" A\u0301  b "), [liveCase("C1", { description: "\u00c1 b" })]),
    "C1",
  ],
  ["nothing, where nothing does", () => found(login, named("A"), [liveCase("C2")]), "settled"],
  [
    "not what was there before",
    () => found(login, named("A", { existing: ["C1"] }), [calledA("C1"), calledA("C2")]),
    "C2",
  ],
  [
    "not what another address has",
    () => found(login, named("A"), [calledA("C1"), calledA("C2")], ["C1"]),
    "C2",
  ],
  [
    "not what is deleted",
    () => found(login, named("A"), [calledA("C1", { status: "DELETED" })]),
    "settled",
  ],
  [
    "not one of the name with an external id",
    () => found(login, named("A"), [calledA("C1", { externalId: "Y" })]),
    "settled",
  ],
  [
    "by the external id before the name",
    () => found(login, named("A", withX), [calledA("C1"), liveCase("C2", { externalId: "X" })]),
    "C2",
  ],
  [
    "two candidates are unclear",
    () => found(login, named("A"), [calledA("C1"), calledA("C2")]),
    "creation-unclear",
  ],
  [
    "an environment by its URL, however it is written",
    () =>
      found(
        preview,
        {
          ...named(""),
          ...nameDigests(fingerprints, "environment", {
            name: "https://a/",
            externalId: undefined,
          }),
        },
        [],
      ),
    "E1",
  ],
  [
    "nobody can tell where its name was written with another key",
    () => found(login, { at, existing: [], fields: {} }, [calledA("C1")]),
    "creation-unclear",
  ],
  [
    "a batch generation is uncertain",
    () => found("batchGeneration.shop.b", named(""), []),
    "uncertain",
  ],
];

test.each(rows)("recovery of an interrupted creation: %s", (_, actual, expected) => {
  expect(actual()).toBe(expected);
});
