// How generations ended, from what lists, notifications and state show.
import { describe, expect, test } from "vitest";
import type { LiveDiscovery, LiveTestCase } from "../../src/model/live.ts";
import type { PlannedCall } from "../../src/model/plan.ts";
import type { Binding } from "../../src/model/state.ts";
import {
  NO_STEPS,
  type Notice,
  batchNamedBy,
  discoveryMark,
  failedBatch,
  generationFailure,
  generationOf,
  generationTrouble,
  hasEnded,
  hasSteps,
  namesBatches,
  rememberedGeneration,
} from "../../src/plan/generation.ts";
import { liveCase, resource } from "./build.ts";
import { CLICK, LOGIN, discovered, steps } from "./situations/parts.ts";

const MADE = steps(CLICK);
const AT = "2026-01-01T00:00:00Z";
const notice = (type: string, payload: Notice["payload"] = {}): Notice => ({ type, payload });
const open = (word?: string) => ({ kind: "open", word });
const succeeded = { kind: "succeeded" };
const failed = (cause: string, message?: string) => ({ kind: "failed", cause, message });

describe("a generation", () => {
  interface Row {
    readonly shown?: Partial<LiveDiscovery> | undefined;
    readonly live?: Partial<LiveTestCase>;
    readonly seen?: Partial<Parameters<typeof generationOf>[1]>;
  }
  const words = (all: readonly string[], expected: (word: string) => object, row: Row = {}) =>
    all.map((status) => [status, { ...row, shown: { status } }, expected(status)] as const);
  const rows: readonly (readonly [string, Row, object])[] = [
    ["that nothing shows", { shown: undefined }, open()],
    ["without a status", { shown: { status: "" } }, open()],
    ["that was created", { shown: { status: "CREATED" } }, open()],
    ...words(["RUNNING", "PUZZLED", "Queued"], open),
    ...words(["FINISHED", "COMPLETED", "Successful", "done"], () => succeeded),
    ...words(["FAILED", "ABORTED", "CANCELLED", "in error"], (word) => failed(word)),
    [
      "that was aborted, whatever its status",
      { shown: { status: "FINISHED", abortCause: "TIMEOUT", message: "Too slow" } },
      failed("TIMEOUT", "Too slow"),
    ],
    [
      "whose failure a notification tells",
      { seen: { notices: [notice("DISCOVERY_FAILED", { message: "No page" })] } },
      failed("DISCOVERY_FAILED", "No page"),
    ],
    [
      "that did not stand validation",
      { seen: { notices: [notice("Validation_error", { message: 5 })] } },
      failed("Validation_error"),
    ],
    [
      "with a message of its own",
      {
        shown: { status: "", message: "Own" },
        seen: { notices: [notice("DISCOVERY_FAILED", { message: "Other" })] },
      },
      failed("DISCOVERY_FAILED", "Own"),
    ],
    [
      "with an empty message",
      { seen: { notices: [notice("DISCOVERY_ABORTED", { message: "" })] } },
      failed("DISCOVERY_ABORTED"),
    ],
    [
      "beside notifications about something else",
      { seen: { notices: [notice("EXECUTION_FAILED"), notice("RE_DISCOVERY_FAILED")] } },
      open(),
    ],
    ["that started", { seen: { notices: [notice("DISCOVERY_STARTED")] } }, open()],
    [
      "whose end a notification tells",
      { seen: { notices: [notice("DISCOVERY_STARTED"), notice("DISCOVERY_FINISHED")] } },
      succeeded,
    ],
    [
      "that ended without steps, which nobody waited for",
      { shown: { status: "DONE" }, live: { elements: [] } },
      succeeded,
    ],
    [
      "that ended without steps",
      { shown: { status: "DONE" }, live: { elements: [] }, seen: { needsSteps: true } },
      failed(NO_STEPS),
    ],
    [
      "that ended with steps",
      { shown: { status: "DONE" }, live: { elements: MADE }, seen: { needsSteps: true } },
      succeeded,
    ],
    [
      "that ended, where no steps are shown",
      { shown: { status: "DONE" }, live: { elements: undefined }, seen: { needsSteps: true } },
      succeeded,
    ],
    [
      "of an unknown word, with the first steps",
      { shown: { status: "PUZZLED" }, live: { elements: MADE }, seen: { isFirst: true } },
      succeeded,
    ],
    [
      "of an unknown word, with steps that may be old",
      { shown: { status: "PUZZLED" }, live: { elements: MADE } },
      open("PUZZLED"),
    ],
    [
      "of an unknown word, without steps",
      { shown: { status: "PUZZLED" }, live: { elements: [] }, seen: { isFirst: true } },
      open("PUZZLED"),
    ],
    [
      "of an unknown word, where no steps are shown",
      { shown: { status: "PUZZLED" }, live: { elements: undefined }, seen: { isFirst: true } },
      open("PUZZLED"),
    ],
    [
      "without a status, with the first steps",
      { shown: { status: "" }, live: { elements: MADE }, seen: { isFirst: true } },
      open(),
    ],
    [
      "that runs, with the first steps",
      { shown: { status: "RUNNING" }, live: { elements: MADE }, seen: { isFirst: true } },
      open("RUNNING"),
    ],
    [
      "whose list still shows the one before",
      { shown: { status: "FAILED", updatedAt: AT }, seen: { before: `${AT} ended` } },
      open(),
    ],
    [
      "whose list shows that the one before has ended",
      { shown: { status: "FAILED", updatedAt: AT }, seen: { before: AT } },
      failed("FAILED"),
    ],
    [
      "without a time, after one without a time",
      { shown: { status: "FAILED", updatedAt: undefined }, seen: { before: "" } },
      failed("FAILED"),
    ],
  ];
  test.each(rows)("%s", (_, { shown, live, seen }, expected) => {
    const discovery =
      shown && discovered({ status: "CREATED", freePrompt: undefined, updatedAt: AT, ...shown });
    const found = generationOf(
      { ...liveCase("C1"), discovery, ...live },
      { before: "", isFirst: false, needsSteps: false, ...seen },
    );
    expect(found).toEqual(expected);
  });
});

test.each([
  [{}, undefined],
  [{ elements: [] }, false],
  [{ elements: MADE }, true],
  [{ hasSteps: true }, true],
  [{ hasSteps: false, elements: MADE }, false],
] as const)("whether %o has steps: %o", (shown, expected) => {
  expect(hasSteps(shown)).toBe(expected);
});

const marks: readonly (readonly [Partial<LiveDiscovery> | undefined, string])[] = [
  [undefined, ""],
  [{ updatedAt: undefined }, ""],
  [{ updatedAt: AT }, AT],
  [{ updatedAt: AT, status: undefined }, AT],
  [{ updatedAt: AT, status: "DONE" }, `${AT} ended`],
  [{ updatedAt: AT, status: "FAILED" }, `${AT} ended`],
  [{ updatedAt: AT, abortCause: "TIMEOUT" }, `${AT} ended`],
  [{ updatedAt: "2026-01-01 10:00:00.123 +00:00" }, "2026-01-01 10:00:00.123 +00:00"],
  [{ updatedAt: "2026-01" }, ""],
  [{ updatedAt: `${AT} by a person` }, ""],
  [{ updatedAt: `at ${AT}` }, ""],
  [{ updatedAt: `2026-01${"-".repeat(31)}` }, ""],
];
test.each(marks)("state marks the discovery %o by %o", (parts, mark) => {
  const shown = parts && discovered({ status: "RUNNING", ...parts });
  expect(discoveryMark(shown)).toBe(mark);
});

const ends: readonly (readonly [Partial<LiveDiscovery> | undefined, string, boolean])[] = [
  [undefined, "", false],
  [{ status: "RUNNING" }, "", false],
  [{ status: "DONE" }, "", true],
  [{ status: undefined, abortCause: "TIMEOUT" }, "", true],
  [{ status: "DONE" }, `${AT} ended`, false],
  [{ status: "DONE" }, AT, true],
];
test.each(ends)("the discovery %o after %o has ended: %o", (parts, before, expected) => {
  expect(hasEnded(parts && discovered({ updatedAt: AT, ...parts }), before)).toBe(expected);
});

type Known = Pick<Binding, "generating" | "failed">;
const remembered: readonly (readonly [string, Partial<LiveTestCase>, Known | undefined, object])[] =
  [
    ["nothing is known", { discovery: undefined }, undefined, open()],
    ["it succeeded", { discovery: discovered() }, { generating: "" }, succeeded],
    [
      "the list shows the one before",
      { discovery: discovered() },
      { generating: `${AT} ended` },
      open(),
    ],
    [
      "it is the first, and there are steps",
      { discovery: discovered({ status: "PUZZLED" }), elements: MADE },
      { generating: "" },
      succeeded,
    ],
    [
      "it is not the first",
      { discovery: discovered({ status: "PUZZLED" }), elements: MADE },
      { generating: "2025-01-01T00:00:00Z" },
      open("PUZZLED"),
    ],
    [
      "it is not tasc's",
      { discovery: discovered({ status: "PUZZLED" }), elements: MADE },
      undefined,
      open("PUZZLED"),
    ],
    [
      "the last one failed, and nothing has changed",
      { discovery: discovered(), elements: MADE },
      { failed: `${AT} ended` },
      failed(""),
    ],
    [
      "the last one failed, which is shown as well",
      { discovery: discovered({ status: "FAILED", message: "m" }) },
      { failed: `${AT} ended` },
      failed("FAILED", "m"),
    ],
    [
      "the last one failed, and another has ended",
      { discovery: discovered({ updatedAt: "2026-02-02T00:00:00Z" }), elements: MADE },
      { failed: `${AT} ended` },
      succeeded,
    ],
    [
      "the last one failed, and another has ended without steps",
      { discovery: discovered({ updatedAt: "2026-02-02T00:00:00Z" }), elements: [] },
      { failed: `${AT} ended` },
      failed(NO_STEPS),
    ],
    [
      "the last one failed, and another was started",
      { discovery: discovered(), elements: MADE },
      { generating: AT, failed: `${AT} ended` },
      succeeded,
    ],
  ];
test.each(remembered)("a generation is remembered: %s", (_, live, known, expected) => {
  const binding = known && { id: "C1", fields: {}, ...known };
  expect(rememberedGeneration(liveCase("C1", live), binding)).toEqual(expected);
});

test.each([
  [failed(NO_STEPS), "The generation ended without making a step", ""],
  [failed("TIMEOUT", "Slow"), "The generation failed: TIMEOUT", "Slow"],
  [failed(""), "The generation failed", ""],
] as const)("the failure %o in words", ({ cause, message }, summary, words) => {
  expect(generationFailure({ kind: "failed", cause, message })).toEqual({
    summary,
    message: words,
  });
});

describe("trouble with a generation", () => {
  interface Row {
    readonly live: Partial<LiveTestCase>;
    readonly known?: Known;
    readonly elements?: readonly object[];
    readonly body?: PlannedCall["body"];
  }
  const trouble = (parts: object) => ({
    failed: undefined,
    word: undefined,
    steps: false,
    staysOff: false,
    isOn: false,
    ...parts,
  });
  const isOn = trouble({ isOn: true });
  const empty = { elements: [], discovery: undefined };
  const rows: readonly (readonly [string, Row, object | undefined])[] = [
    ["none, with steps", { live: { elements: MADE } }, undefined],
    ["none, where steps are not shown", { live: { elements: undefined } }, undefined],
    ["on without steps", { live: empty }, isOn],
    ["on without steps, where some are declared", { live: empty, elements: [CLICK] }, undefined],
    ["on without steps, where none are declared", { live: empty, elements: [] }, isOn],
    ["off without steps", { live: { ...empty, status: "DISABLED" } }, undefined],
    ["out of runs without steps", { live: { ...empty, runStatus: "OFF" } }, undefined],
    [
      "switched on without steps",
      { live: { ...empty, status: "DISABLED" }, body: { status: "ENABLED" } },
      isOn,
    ],
    ["switched off without steps", { live: empty, body: { runStatus: "OFF" } }, undefined],
    [
      "under way without steps",
      { live: { ...empty, discovery: discovered({ status: "RUNNING" }) } },
      undefined,
    ],
    ["started by tasc", { live: empty, known: { generating: "" } }, undefined],
    [
      "ended without steps",
      { live: { ...empty, discovery: discovered({ status: "DONE" }) } },
      isOn,
    ],
    [
      "of an unknown word that tasc did not start",
      { live: { ...empty, discovery: discovered({ status: "PUZZLED" }) } },
      trouble({ isOn: true, word: "PUZZLED" }),
    ],
    [
      "of an unknown word",
      {
        live: { ...empty, discovery: discovered({ status: "PUZZLED" }) },
        known: { generating: "" },
      },
      trouble({ staysOff: true, word: "PUZZLED" }),
    ],
    [
      "failed by others, with steps",
      { live: { elements: MADE, discovery: discovered({ status: "FAILED" }) } },
      undefined,
    ],
    [
      "failed by others, without steps",
      { live: { ...empty, discovery: discovered({ status: "FAILED" }) } },
      trouble({ staysOff: true, failed: failed("FAILED") }),
    ],
    [
      "failed, with steps",
      {
        live: { elements: MADE, discovery: discovered({ status: "FAILED" }) },
        known: { generating: "" },
      },
      trouble({ steps: true, failed: failed("FAILED") }),
    ],
    [
      "failed, where steps are not shown",
      {
        live: { elements: undefined, discovery: discovered({ status: "FAILED" }) },
        known: { failed: "x" },
      },
      trouble({ steps: undefined, failed: failed("FAILED") }),
    ],
    [
      "failed before, and another is under way",
      {
        live: { ...empty, discovery: discovered({ status: "RUNNING" }) },
        known: { failed: "x" },
      },
      trouble({ staysOff: true, word: "RUNNING" }),
    ],
    [
      "failed before, with steps of an unknown word",
      {
        live: { discovery: discovered({ status: "PUZZLED" }), elements: MADE },
        known: { failed: "x" },
      },
      undefined,
    ],
  ];
  test.each(rows)("%s", (_, { live, known, elements, body }, expected) => {
    const binding = known && { id: "C1", fields: {}, ...known };
    const fields = elements === undefined ? {} : { elements: elements.map((one) => ({ ...one })) };
    const declared = { ...resource("testCase", "login", fields), address: LOGIN };
    const change = body && { calls: [{ method: "PATCH" as const, path: [], body }] };
    expect(generationTrouble(declared, liveCase("C1", live), { binding }, change)).toEqual(
      expected,
    );
  });
});

describe("a notification about batch generations", () => {
  const ids = new Set(["B1", "B2"]);
  test.each([
    [{ batchGenerationId: "B1" }, "B1", true],
    [{ generation: { BATCH: { id: "B2" } } }, "B2", false],
    [{ other: "B9", Batch: 5 }, undefined, false],
    [{ list: ["B1"], none: null }, undefined, false],
    [{ other: 1, batch: "B9", more: "B2" }, "B2", true],
    [{}, undefined, false],
  ] as const)("%o names %o", (payload, id, names) => {
    expect(batchNamedBy({ payload }, ids)).toBe(id);
    expect(namesBatches({ payload })).toBe(names);
  });

  test.each([
    [notice("BATCH_FINISHED"), undefined],
    [notice("BATCH_FAILED", { message: "m" }), failed("BATCH_FAILED", "m")],
    [notice("BATCH_FINISHED", { abortCause: "ABORTED" }), failed("ABORTED")],
    [notice("BATCH_FAILED", { abortCause: "" }), failed("BATCH_FAILED")],
    [notice("BATCH_FAILED", { abortCause: "none" }), undefined],
  ])("%o tells %o", (told, expected) => {
    expect(failedBatch(told)).toEqual(expected);
  });
});
