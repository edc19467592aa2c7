import fc from "fast-check";
import { expect, test } from "vitest";
import { type Address, addressOf } from "../../src/model/address.ts";
import { TEST_CASE_FIELDS } from "../../src/model/fields.ts";
import type { DesiredFields } from "../../src/model/desired.ts";
import { type JsonObject, defined } from "../../src/model/json.ts";
import type { LiveTestCase, Reader } from "../../src/model/live.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { Secret } from "../../src/model/value.ts";
import { recordField } from "../../src/plan/memory.ts";
import { makePlan } from "../../src/plan/plan.ts";
import { refreshEvents } from "../../src/plan/record.ts";
import { type RefreshOptions, refresh } from "../../src/plan/refresh.ts";
import type { StepsReview } from "../../src/plan/input.ts";
import { acceptanceOf, reviewedCases, stepsOf } from "../../src/plan/steps.ts";
import { fingerprints, liveCase, liveElement, liveTarget, planInput } from "./build.ts";

/*
 * What a read drops of the test cases must change neither the plan nor the records. Few names, ids
 * and values, so that most projects have test cases that several addresses may mean.
 */

const keys = ["a", "b", "c"] as const;
const name = fc.constantFrom("N1", "N2", "N3", "N4");
const id = fc.constantFrom("I1", "I2", "I3");
const click = { interaction: { action: "CLICK" } };
const visible = { assertion: { expectation: "VISIBLE" } };
const line = { ...visible, locatorLine: "getByText('x')" };
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const rarely = <T>(value: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });

const fields = fc.record(
  {
    description: name,
    externalId: fc.constantFrom("X1", "X2", "X3", null),
    status: fc.constantFrom("ENABLED", "DISABLED"),
    interactionStatus: rarely(fc.constant("NEW")),
    tags: fc.constantFrom(["t"], []),
    folder: fc.constantFrom("F", null),
    entryPointUrlPath: fc.constantFrom("/p", new Secret("/p")),
    "discovery.prompt": fc.constantFrom("p", "q"),
    "discovery.type": fc.constant("LOGIN"),
    "discovery.prerequisite": rarely(fc.constantFrom("a", { description: "N2" })),
    elements: fc.constantFrom<readonly JsonObject[]>([], [click], [click, visible], [click, line]),
  },
  { requiredKeys: ["description"] },
);
type Fields = typeof fields extends fc.Arbitrary<infer T> ? T : never;
const plain = (all: Fields): DesiredFields => defined(all);

interface LiveOne {
  readonly shown: LiveTestCase;
  /** The declared test case that it is equal to, as far as the service shows its fields. */
  readonly like: (typeof keys)[number] | undefined;
}

const liveOne = (own: string): fc.Arbitrary<LiveOne> =>
  fc
    .record({
      like: optional(fc.constantFrom(...keys)),
      description: name,
      externalId: fc.constantFrom("X1", "X2", "X3", null),
      status: fc.constantFrom("ENABLED", "ENABLED", "DISABLED", "DELETED"),
      tags: fc.constantFrom(["t"], []),
      type: fc.constantFrom(null, "LOGIN"),
      folderId: fc.constantFrom(null, "FOLDER"),
      entryPointUrlPath: fc.constantFrom(null, "/p"),
      discovery: optional(
        fc.record({
          status: fc.constantFrom("FINISHED", "FAILED", "CREATED"),
          freePrompt: fc.constantFrom("p", undefined),
          abortCause: fc.constant(undefined),
          message: fc.constant(undefined),
          updatedAt: fc.constant("2026-01-01T00:00:00Z"),
        }),
      ),
      elements: fc.constantFrom(
        undefined,
        [],
        [liveElement("e1", 0, click)],
        [liveElement("e1", 0, click), liveElement("e2", 1, visible)],
      ),
    })
    .map(({ like, ...shown }) => ({ like, shown: liveCase(own, shown) }));

/** Returns the live test case with the values that are declared for the one that it is like. */
function alike(
  { shown, like }: LiveOne,
  declared: ReadonlyMap<string | undefined, Fields>,
): LiveTestCase {
  const found = declared.get(like);
  if (found === undefined) return shown;
  const { description, externalId, status, tags, folder, elements } = found;
  const prompt = found["discovery.prompt"];
  const path = found.entryPointUrlPath;
  return {
    ...shown,
    ...defined({ description, externalId, status, tags }),
    ...(path !== undefined && { entryPointUrlPath: "/p" }),
    ...(folder !== undefined && { folderId: folder === null ? null : "FOLDER" }),
    ...(found["discovery.type"] !== undefined && { type: "LOGIN" }),
    ...(prompt !== undefined &&
      shown.discovery && { discovery: { ...shown.discovery, freePrompt: prompt } }),
    ...(elements && { elements: elements.map((one, at) => liveElement(`e${at + 1}`, at, one)) }),
  };
}

/** What state knows of an address: what was written to it, and what tasc waits for. */
const known = (key: string): fc.Arbitrary<readonly StateEvent[]> => {
  const address = addressOf("testCase", "shop", key);
  return fc
    .record({
      id,
      wrote: optional(fields.map(plain)),
      secrets: fc.constantFrom(undefined, undefined, ["elements"], ["description"]),
      more: fc.subarray<StateEvent>([
        { type: "generating", address, shown: "" },
        { type: "generated", address, failed: "2026-01-01T00:00:00Z ended" },
        { type: "located", address, locators: { e2: { line: "l", selectors: "s" } } },
      ]),
    })
    .map(({ id: bound, wrote = {}, secrets, more }): readonly StateEvent[] => [
      {
        type: "bound",
        address,
        id: bound,
        fields: Object.fromEntries(
          TEST_CASE_FIELDS.flatMap((field) => {
            const value = wrote[field.name];
            return value === undefined || field.update === undefined
              ? []
              : [[field.name, recordField(fingerprints, bound, field, value)] as const];
          }),
        ),
        ...(secrets && { secrets }),
      },
      ...more,
    ]);
};

const situation = fc
  .record({
    declared: fc.tuple(...keys.map(() => optional(fields))),
    ids: fc.constantFrom({}, {}, { a: "I1" }, { a: "I1", b: "I1" }),
    onRemove: fc.constantFrom("ignore" as const, "disable" as const),
    live: fc.subarray(["I1", "I2", "I3"]).chain((all) => fc.tuple(...all.map(liveOne))),
    // Without state, and with what some addresses have in it, also one that is not declared.
    state: optional(fc.tuple(...[...keys, "gone"].map((key) => optional(known(key))))),
    folders: fc.boolean(),
    hasIntent: fc.constantFrom(false, false, true),
    rediscover: fc.constantFrom<readonly Address[]>([], [], ["testCase.shop.a"]),
    isKeyless: fc.constantFrom(false, false, true),
    accepted: optional(fc.constantFrom([], [click])),
  })
  .map(({ declared, live, ids, onRemove, state, folders, hasIntent, ...rest }) => {
    const { rediscover, isKeyless, accepted } = rest;
    const cases = declared.flatMap((one, at) => (one ? [[keys[at] ?? "", one] as const] : []));
    const intent = { at: "2026-01-01T00:00:00Z", existing: [], fields: {} };
    const events = state && [
      { type: "bound", address: "target.shop", id: "T", fields: {} } as const,
      ...(folders ? [{ type: "folder", name: "F", id: "FOLDER" } as const] : []),
      ...(hasIntent ? [{ type: "intended", address: "testCase.shop.b", intent } as const] : []),
      ...state.flatMap((one) => one ?? []),
    ];
    return planInput({
      declared: {
        testCases: Object.fromEntries(cases.map(([key, own]) => [key, plain(own)])),
        ids,
        onRemove,
      },
      live: { testCases: live.map((one) => alike(one, new Map(cases))) },
      ...(events && { state: events }),
      input: {
        rediscover: new Set(rediscover),
        fingerprints: isKeyless ? undefined : fingerprints,
        ...(accepted && { steps: reviewOf(accepted) }),
      },
    });
  });

/** Compares the steps of each test case with the same accepted ones. */
function reviewOf(accepted: readonly JsonObject[]): StepsReview {
  const words = { isSecret: () => false, fingerprints };
  const elements = accepted.map((one, at) => liveElement(`e${at + 1}`, at, one));
  const steps = stepsOf({ id: "I", elements }, words);
  const of: StepsReview["of"] = (_, live) => acceptanceOf(steps, live, words);
  return { mode: "reviewed", isKnown: () => true, of };
}

test("what a read drops changes neither the plan nor what an apply records of it", async () => {
  let dropped = 0;
  await fc.assert(
    fc.asyncProperty(situation, async (input) => {
      const whole = makePlan(input);
      const events = ({ matched }: typeof whole) =>
        [...matched.values()].flatMap((one) => refreshEvents(one, fingerprints, () => true));
      const read = async (needs: RefreshOptions["needs"]) => {
        const reader: Reader = {
          listTargets: async () => Promise.resolve([liveTarget()]),
          listTestCases: async (own, keep) =>
            Promise.resolve((input.live.testCases.get(own) ?? []).map(keep)),
        };
        const { planned } = await refresh(reader, { ...input, ...(needs && { needs }) });
        for (const one of planned.live.testCases.get("T") ?? []) if (one.hidden) dropped++;
        return planned;
      };
      const values = await read("values");
      const records = await read("records");
      const steps = ({ matched }: typeof whole) =>
        reviewedCases(matched).map(({ live, acceptance }) => [live.id, acceptance]);
      for (const planned of [values, records, await read("plan")]) {
        expect(planned.plan).toEqual(whole.plan);
        expect(steps(planned)).toEqual(steps(whole));
      }
      // An apply has the key.
      if (input.fingerprints) expect(events(records)).toEqual(events(values));
    }),
    { numRuns: 250 },
  );
  // About 30, and seldom less than ten: the test only proves something if there is any.
  expect(dropped).toBeGreaterThan(0);
});

test("the steps of a test case that one address can mean are compared once", async () => {
  const compared: Address[] = [];
  const input = planInput({
    declared: { testCases: { bound: { description: "N1" }, named: { description: "N2" } } },
    live: {
      testCases: [liveCase("I1", { description: "N1" }), liveCase("I2", { description: "N2" })],
    },
    state: [
      { type: "bound", address: "target.shop", id: "T", fields: {} },
      { type: "bound", address: "testCase.shop.bound", id: "I1", fields: {} },
    ],
    input: {
      steps: {
        mode: "reviewed",
        isKnown: () => true,
        of: (address) => {
          compared.push(address);
          return { state: "accepted", differences: [] };
        },
      },
    },
  });
  const reader: Reader = {
    listTargets: async () => Promise.resolve([liveTarget()]),
    listTestCases: async (own, keep) =>
      Promise.resolve((input.live.testCases.get(own) ?? []).map(keep)),
  };
  await refresh(reader, { ...input, needs: "plan" });
  expect(compared).toEqual(["testCase.shop.bound", "testCase.shop.named"]);
});
