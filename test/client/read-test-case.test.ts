import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readingOf } from "./support/client.ts";
import type { Json, JsonObject } from "../../src/model/json.ts";
import { readTestCase } from "../../src/service/answers.ts";

const LEAST = { id: "c1", testTargetId: "t1" };

/**
 * A test case with every field of service-api.md, "Test case", list shape, and one unknown field.
 */
const FULL = {
  ...LEAST,
  type: null,
  description: "Log in",
  status: "ENABLED",
  runStatus: "ON",
  createdAt: "2024-01-01T00:00:00Z",
  updatedAt: "2024-01-01T00:00:00Z",
  entryPointUrlPath: "/login",
  elements: [],
  folderId: "f1",
  externalId: null,
  tags: ["web", "smoke"],
  createdBy: "EDIT",
  prerequisiteId: "c0",
  proposalRunId: null,
  teardownTestCaseId: null,
  discovery: {
    updatedAt: "2024-01-01T00:00:00Z",
    freePrompt: "Log in.",
    traceUrl: "https://trace.example",
    status: "CREATED",
    abortCause: "",
    message: "",
  },
  somethingNew: { a: 1 },
};

describe("a test case of the list", () => {
  test("is read with empty ids as null", () => {
    const empty = { ...LEAST, folderId: "", externalId: "", prerequisiteId: "" };
    const none = { id: "c1", folderId: null, externalId: null, prerequisiteId: null };
    expect(readingOf(() => readTestCase(empty))).toMatchObject({ ok: true, value: none });
  });

  test("is read with all fields", () => {
    expect(readingOf(() => readTestCase(FULL))).toEqual({
      ok: true,
      value: {
        id: "c1",
        description: "Log in",
        status: "ENABLED",
        runStatus: "ON",
        type: null,
        entryPointUrlPath: "/login",
        folderId: "f1",
        externalId: null,
        tags: ["web", "smoke"],
        prerequisiteId: "c0",
        elements: [],
        updatedAt: "2024-01-01T00:00:00Z",
        discovery: {
          updatedAt: "2024-01-01T00:00:00Z",
          freePrompt: "Log in.",
          status: "CREATED",
          abortCause: "",
          message: "",
        },
      },
    });
  });

  test("is read with only the required fields; missing fields are undefined", () => {
    expect(readingOf(() => readTestCase(LEAST))).toEqual({ ok: true, value: { id: "c1" } });
  });

  test("keeps null for nullable fields, and treats it as missing for all others", () => {
    const nulls = Object.fromEntries(Object.keys(FULL).map((key) => [key, null]));
    expect(readingOf(() => readTestCase({ ...nulls, ...LEAST }))).toEqual({
      ok: true,
      value: {
        id: "c1",
        type: null,
        entryPointUrlPath: null,
        folderId: null,
        externalId: null,
        prerequisiteId: null,
      },
    });
  });

  test("may have values that service-api.md does not list", () => {
    const odd = { ...LEAST, status: "ARCHIVED", runStatus: "", tags: ["a", null] };
    expect(readingOf(() => readTestCase(odd))).toMatchObject({
      value: { status: "ARCHIVED", runStatus: "", tags: ["a"] },
    });
  });

  test.each<[Json, (string | number)[], string, string]>([
    [null, [], "an object", "null"],
    [[], [], "an object", "a list"],
    [{ testTargetId: "t1" }, ["id"], "an id", "nothing"],
    [{ id: "c1" }, ["testTargetId"], "an id", "nothing"],
    [{ ...LEAST, id: 7 }, ["id"], "an id", "a number"],
    [{ ...LEAST, id: "" }, ["id"], "an id", "an empty string"],
    [{ ...LEAST, id: ".." }, ["id"], "an id", "a string"],
    [{ ...LEAST, id: "tasc apply" }, ["id"], "an id", "a string"],
    [{ ...LEAST, testTargetId: null }, ["testTargetId"], "an id", "null"],
    [{ ...LEAST, description: ["x"] }, ["description"], "a string", "a list"],
    [{ ...LEAST, status: 7 }, ["status"], "a string", "a number"],
    [{ ...LEAST, runStatus: true }, ["runStatus"], "a string", "a boolean"],
    [{ ...LEAST, type: {} }, ["type"], "a string", "an object"],
    [{ ...LEAST, entryPointUrlPath: 7 }, ["entryPointUrlPath"], "a string", "a number"],
    [{ ...LEAST, folderId: 7 }, ["folderId"], "a string", "a number"],
    [{ ...LEAST, externalId: 7 }, ["externalId"], "a string", "a number"],
    [{ ...LEAST, prerequisiteId: 7 }, ["prerequisiteId"], "a string", "a number"],
    [{ ...LEAST, tags: "web" }, ["tags"], "a list", "a string"],
    [{ ...LEAST, tags: ["web", 7] }, ["tags", 1], "a string", "a number"],
    [{ ...LEAST, discovery: "x" }, ["discovery"], "an object", "a string"],
    [{ ...LEAST, discovery: { status: 7 } }, ["discovery", "status"], "a string", "a number"],
    [
      { ...LEAST, discovery: { freePrompt: 7 } },
      ["discovery", "freePrompt"],
      "a string",
      "a number",
    ],
    [{ ...LEAST, elements: {} }, ["elements"], "a list", "an object"],
    [{ ...LEAST, elements: [{}, null] }, ["elements", 1], "an object", "null"],
    [{ ...LEAST, elements: [{ id: ".." }] }, ["elements", 0, "id"], "an id", "a string"],
    [{ ...LEAST, elements: [{ index: "0" }] }, ["elements", 0, "index"], "a number", "a string"],
    [
      { ...LEAST, elements: [{ interaction: 7 }] },
      ["elements", 0, "interaction"],
      "an object",
      "a number",
    ],
    [
      { ...LEAST, elements: [{ interaction: { action: 7 } }] },
      ["elements", 0, "interaction", "action"],
      "a string",
      "a number",
    ],
    [
      { ...LEAST, elements: [{ assertion: { expectation: 7 } }] },
      ["elements", 0, "assertion", "expectation"],
      "a string",
      "a number",
    ],
    [
      { ...LEAST, elements: [{ ignoreFailure: "no" }] },
      ["elements", 0, "ignoreFailure"],
      "a boolean",
      "a string",
    ],
    [
      { ...LEAST, elements: [{ selectors: [7] }] },
      ["elements", 0, "selectors", 0],
      "an object",
      "a number",
    ],
    [
      { ...LEAST, elements: [{ selectors: [{ options: [] }] }] },
      ["elements", 0, "selectors", 0, "options"],
      "an object",
      "a list",
    ],
  ])("%j is rejected", (json, at, expected, found) => {
    expect(readingOf(() => readTestCase(json))).toEqual({
      ok: false,
      failure: { at, expected, found },
    });
  });

  test("law: any value is either read or rejected, without an unexpected error", () => {
    fc.assert(
      fc.property(fc.constantFrom(...Object.keys(FULL)), fc.jsonValue(), (field, value) => {
        const json: unknown = JSON.parse(JSON.stringify({ ...FULL, [field]: value }));
        expect(readingOf(() => readTestCase(asJson(json)))).toHaveProperty("ok");
      }),
      { numRuns: 500 },
    );
  });
});

function asJson(value: unknown): JsonObject {
  const holder: Record<string, never> = {};
  return Object.assign(holder, value);
}

function read(...elements: Json[]): unknown {
  const result = readingOf(() => readTestCase({ ...LEAST, elements }));
  return result.ok ? result.value.elements : result.failure;
}

describe("elements", () => {
  test("are read together with their raw form", () => {
    const raw = {
      id: "e1",
      index: 0,
      interaction: { id: "i1", action: "EXTRACT", calledWith: "total" },
      assertion: null,
      scrollState: { y: 1 },
      selectors: [
        { id: "s2", index: 1, selector: "#b", selectorType: "CSS" },
        { id: "s1", index: 0, selector: "A", selectorType: "TEXT", options: { name: "A" } },
      ],
      testCaseId: "c1",
      ignoreFailure: true,
    };
    expect(read(raw)).toEqual([
      {
        id: "e1",
        parts: {
          interaction: { action: "EXTRACT", calledWith: "total" },
          assertion: null,
          selectors: [
            { selectorType: "TEXT", selector: "A", options: { name: "A" } },
            { selectorType: "CSS", selector: "#b", options: {} },
          ],
          ignoreFailure: true,
        },
        raw,
      },
    ]);
  });

  test("are read without any fields", () => {
    const parts = { interaction: null, assertion: null, selectors: [], ignoreFailure: false };
    expect(read({})).toEqual([{ id: undefined, parts, raw: {} }]);
    expect(read({ assertion: {}, selectors: null })).toMatchObject([
      { parts: { assertion: {}, selectors: [] } },
    ]);
  });

  test.each([
    [
      "by index",
      [
        { id: "b", index: 2 },
        { id: "a", index: 1 },
      ],
      ["a", "b"],
    ],
    [
      "as they come where indexes are equal",
      [
        { id: "b", index: 1 },
        { id: "a", index: 1 },
      ],
      ["b", "a"],
    ],
    [
      "as they come where one has no index",
      [{ id: "c", index: 2 }, { id: "b", index: 1 }, { id: "a" }],
      ["c", "b", "a"],
    ],
  ])("are sorted %s", (_name, elements, order) => {
    expect(read(...elements)).toMatchObject(order.map((id) => ({ id })));
  });
});
