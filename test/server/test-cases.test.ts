import { describe, expect, test } from "vitest";
import type { Json } from "../../src/model/json.ts";
import {
  CASE,
  type Harness,
  OTHER_TARGET,
  TARGET,
  at,
  id,
  like,
  listAt,
  seed,
  start,
  testCase,
  textAt,
} from "./harness.ts";

const path = `/test-targets/${TARGET}/test-cases/${CASE}`;
const listPath = `/test-targets/${TARGET}/test-cases`;

async function patched(call: Harness["call"], body: Json): Promise<Json> {
  const answer = await call("PATCH", path, body);
  expect(answer.status).toBe(200);
  return answer.body;
}

test("an update changes only the given fields and updatedAt", async () => {
  const { call } = await start({ seed: seed() });
  const before = at((await call("GET", listPath)).body, 0);
  const after = await patched(call, {
    description: "sign in",
    entryPointUrlPath: "/login",
    externalId: "T-1",
  });
  expect(after).toMatchObject({
    description: "sign in",
    entryPointUrlPath: "/login",
    externalId: "T-1",
    status: "ENABLED",
    tags: ["smoke"],
    createdAt: textAt(before, "createdAt"),
  });
  expect(textAt(after, "updatedAt") > textAt(before, "updatedAt")).toBe(true);
  expect(await patched(call, { entryPointUrlPath: null, externalId: null })).toMatchObject({
    description: "sign in",
    entryPointUrlPath: null,
    externalId: null,
  });
  expect(at((await call("GET", listPath)).body, 0)).toMatchObject({ description: "sign in" });
});

test.each(["ENABLED", "DISABLED", "DRAFT", "OUTDATED", "PROVISIONAL"])(
  "status %s is accepted",
  async (status) => {
    const { call } = await start({ seed: seed() });
    expect(await patched(call, { status })).toMatchObject({ status });
  },
);

test.each(["NEW", "EDITED", "APPROVED", "REJECTED"])(
  "%s is stored but not returned",
  async (status) => {
    const { call, control } = await start({ seed: seed() });
    expect(await patched(call, { interactionStatus: status, runStatus: "OFF" })).not.toHaveProperty(
      "interactionStatus",
    );
    expect(at((await control("GET", "/data")).body, "testCases", 0)).toMatchObject({
      interactionStatus: status,
      runStatus: "OFF",
    });
  },
);

test("a folder is created once per name, and null removes the test case from it", async () => {
  const { call, control } = await start({ seed: seed() });
  const folderId = textAt(await patched(call, { folderName: "checkout" }), "folderId");
  const other = `/test-targets/${TARGET}/discoveries`;
  await call("POST", other, { name: "n", prompt: "p", folderName: "checkout" });
  expect(at((await call("GET", listPath)).body, 1, "folderId")).toBe(folderId);
  expect(await patched(call, { description: "x" })).toMatchObject({ folderId });
  expect(await patched(call, { folderName: null })).toMatchObject({ folderId: null });
  expect(at((await control("GET", "/data")).body, "folders")).toEqual([
    { id: folderId, testTargetId: TARGET, name: "checkout" },
  ]);
});

test("tags are replaced as a whole, without duplicates, and new ones are added to the target", async () => {
  const { call } = await start({ seed: seed() });
  expect(await patched(call, { assignedTagNames: ["b", "a", "b"] })).toMatchObject({
    tags: ["b", "a"],
  });
  const target = await call("GET", `/test-targets/${TARGET}`);
  expect(at(target.body, "tags")).toEqual(["smoke", "b", "a"]);
  expect(await patched(call, { assignedTagNames: [] })).toMatchObject({ tags: [] });
});

describe("elements", () => {
  const first = { id: id(0x41), interaction: { id: id(0x42), action: "CLICK" }, selectors: [] };

  test("do not change and keep their scroll states if an answer is sent back", async () => {
    const { call } = await start({ seed: seed() });
    const before = at(await patched(call, {}), "elements");
    expect(at(await patched(call, { elements: before }), "elements")).toEqual(before);
    expect(at((await call("GET", listPath)).body, 0, "elements", 0)).toMatchObject({
      scrollState: { id: "s1" },
      selectors: [{ scrollStateId: "s1" }],
    });
  });

  test("are removed if omitted and replaced as a whole if given; new ones get ids", async () => {
    const { call } = await start({ seed: seed() });
    const elements = at(
      await patched(call, {
        elements: [
          first,
          {
            assertion: { expectation: "HAS_URL", calledWith: "/home" },
            selectors: [{ selector: "h1", selectorType: "CSS" }],
            ignoreFailure: true,
          },
        ],
      }),
      "elements",
    );
    const fresh = like(/-00000000f0/);
    const element = textAt(elements, 1, "id");
    expect(elements).toEqual([
      {
        id: id(0x41),
        index: 0,
        interaction: { id: id(0x42), action: "CLICK", testCaseElementId: id(0x41) },
        assertion: null,
        selectors: [],
        testCaseId: CASE,
        ignoreFailure: false,
      },
      {
        id: fresh,
        index: 1,
        interaction: null,
        assertion: {
          id: fresh,
          expectation: "HAS_URL",
          calledWith: "/home",
          testCaseElementId: element,
        },
        selectors: [
          {
            id: fresh,
            index: 0,
            selector: "h1",
            selectorType: "CSS",
            options: {},
            testCaseElementId: element,
          },
        ],
        testCaseId: CASE,
        ignoreFailure: true,
      },
    ]);
  });

  test("pass their nested ids on to nested objects without an id at the same place", async () => {
    const { call } = await start({ seed: seed() });
    const element = {
      id: id(0x44),
      assertion: { expectation: "HIDDEN" },
      selectors: [{ selector: "h2", selectorType: "CSS" }],
    };
    expect(at(await patched(call, { elements: [element] }), "elements", 0)).toMatchObject({
      assertion: { id: id(0x45), expectation: "HIDDEN" },
      selectors: [{ id: id(0x46), selector: "h2" }],
    });
  });

  test("do not pass a selector id on if the request uses it for another selector", async () => {
    const { call } = await start({ seed: seed() });
    const selectors = [
      { selector: "new", selectorType: "CSS" },
      { id: id(0x46), selector: "h1", selectorType: "CSS" },
    ];
    const after = at(
      await patched(call, { elements: [{ id: id(0x44), selectors }] }),
      "elements",
      0,
      "selectors",
    );
    expect(textAt(after, 0, "id")).not.toBe(id(0x46));
    expect(textAt(after, 1, "id")).toBe(id(0x46));
  });

  test("are sorted by their index", async () => {
    const { call } = await start({ seed: seed() });
    const elements = at(
      await patched(call, {
        elements: [
          { ...first, index: 7 },
          { id: id(0x44), index: 2 },
        ],
      }),
      "elements",
    );
    expect(elements).toMatchObject([
      { id: id(0x44), index: 2 },
      { id: id(0x41), index: 7 },
    ]);
  });
});

describe("a locator line", () => {
  const lines: [string, Json][] = [
    [
      "page.getByRole('button', { name: \"Save all\" })",
      [["ROLE", "button", { name: "Save all" }]],
    ],
    ['getByText("Log in")', [["TEXT", "Log in", {}]]],
    [
      "page.locator('#cart').getByTestId('total')",
      [
        ["CSS", "#cart", {}],
        ["TEST_ID", "total", {}],
      ],
    ],
    ["getByLabel('Mail', { exact: true })", [["LABEL", "Mail", {}]]],
    [" the third button ", [["LOCATOR", "the third button", {}]]],
  ];

  test.each(lines)("%s is parsed into selectors", async (locatorLine, expected) => {
    const { call, control } = await start({ seed: seed() });
    const answer = await call("PATCH", `${path}/elements/${id(0x41)}`, { locatorLine });
    expect(answer).toMatchObject({ status: 200, body: { id: id(0x41), testCaseId: CASE } });
    const selectors = listAt(answer.body, "selectors");
    expect(
      selectors.map((each) => [
        at(each, "selectorType"),
        at(each, "selector"),
        at(each, "options"),
      ]),
    ).toEqual(expected);
    const stored = at((await control("GET", "/data")).body, "testCases", 0);
    expect(at(stored, "elements", 0)).toMatchObject({ locatorLine });
    expect(at(stored, "elements", 1, "selectors", 0, "selector")).toBe("h1");
  });

  test("changes the updatedAt of the test case", async () => {
    const { call } = await start({ seed: seed() });
    const before = textAt((await call("GET", listPath)).body, 0, "updatedAt");
    await call("PATCH", `${path}/elements/${id(0x41)}`, { locatorLine: "getByText('x')" });
    expect(textAt((await call("GET", listPath)).body, 0, "updatedAt") > before).toBe(true);
  });
});

describe("the filter of the test case list", () => {
  const cases = [
    testCase({ id: id(0x61), description: "a", elements: [] }),
    testCase({
      id: id(0x62),
      description: "b",
      elements: [],
      runStatus: "OFF",
      folderId: id(0x71),
    }),
    testCase({ id: id(0x63), description: "c", elements: [], status: "DELETED", externalId: "X" }),
    testCase({ id: id(0x64), description: "d", elements: [], testTargetId: OTHER_TARGET }),
  ];
  const rows: [string, Json | undefined, string[]][] = [
    ["none: all but what is deleted", undefined, ["a", "b"]],
    ["empty: all", {}, ["a", "b", "c"]],
    ["by id", { id: id(0x62) }, ["b"]],
    ["by target", { testTargetId: TARGET }, ["a", "b", "c"]],
    ["by description", { description: "a" }, ["a"]],
    ["by status", { status: "DELETED" }, ["c"]],
    ["by run status", { runStatus: "OFF" }, ["b"]],
    ["by folder", { folderId: id(0x71) }, ["b"]],
    ["by no folder", { folderId: null }, ["a", "c"]],
    ["by external id", { externalId: "X" }, ["c"]],
    ["by two fields", { folderId: null, status: "ENABLED" }, ["a"]],
    ["AND", { AND: [{ folderId: null }, { externalId: null }] }, ["a"]],
    ["OR", { OR: [{ description: "a" }, { description: "c" }] }, ["a", "c"]],
    ["OR of nothing", { OR: [] }, []],
    ["NOT", { NOT: [{ description: "a" }, { status: "DELETED" }] }, ["b"]],
    ["nested", { NOT: [{ OR: [{ description: "a" }, { description: "b" }] }] }, ["c"]],
  ];

  test.each(rows)("%s", async (_, filter, expected) => {
    const { call } = await start({ seed: seed({ testCases: cases }) });
    const query =
      filter === undefined ? "" : `?filter=${encodeURIComponent(JSON.stringify(filter))}`;
    const { body } = await call("GET", listPath + query);
    expect(listAt(body).map((each) => at(each, "description"))).toEqual(expected);
  });
});

test("5000 test cases are listed in the order of their creation", async () => {
  const count = 5000;
  const numbers = Array.from({ length: count }, (_, number) => number);
  const cases = numbers.map((number) =>
    testCase({ id: id(0x9_0000 - number), description: String(number), elements: [] }),
  );
  const { call } = await start({ seed: seed({ testCases: cases }) });
  await call("PATCH", `${listPath}/${id(0x9_0000)}`, { externalId: "moved?" });
  const { body } = await call("GET", listPath);
  expect(listAt(body).map((each) => at(each, "description"))).toEqual(numbers.map(String));
});
