import { describe, expect, test } from "vitest";
import { isArray, isObject } from "../../src/model/json.ts";
import { Secret, type Value } from "../../src/model/value.ts";
import { liveCase, liveElement, publicPlan } from "./build.ts";

const click = (calledWith: string) => ({ interaction: { action: "CLICK", calledWith } });
const check = { assertion: { expectation: "VISIBLE" } };

function changeTo(elements: Value, live: readonly ReturnType<typeof liveElement>[], more = {}) {
  const [change] = publicPlan({
    declared: { testCases: { login: { description: "C1", elements, ...more } } },
    live: { testCases: [liveCase("C1", { elements: live })] },
    state: [{ type: "bound", address: "testCase.shop.login", id: "C1", fields: {} }],
  }).changes;
  if (change === undefined) throw new Error("nothing is planned");
  return change;
}

const fieldsOf = (...of: Parameters<typeof changeTo>) => changeTo(...of).fields;
const idsOf = (...of: Parameters<typeof changeTo>): readonly unknown[] => {
  const body = changeTo(...of).calls[0]?.body;
  return isObject(body) && isArray(body["elements"])
    ? body["elements"].map((element) => (isObject(element) ? element["id"] : null))
    : [];
};

describe("a change of elements is listed step by step, as the PATCH aligns them", () => {
  const two = [liveElement("1", 0, click("a")), liveElement("2", 1, click("b"))];

  test("an element inserted at the start is one insertion", () => {
    const wanted = [click("new"), click("a"), click("b")];
    expect(fieldsOf(wanted, two)).toEqual([{ path: ["elements", 0], after: click("new") }]);
    expect(idsOf(wanted, two)).toEqual([undefined, "1", "2"]);
  });

  test("live values that are kept next to a secret are sent but not shown", () => {
    const named = { selectorType: "TEXT", selector: "Old", options: { name: "once a secret" } };
    const live = [liveElement("1", 0, { ...click("a"), selectors: [named] })];
    const fill = { interaction: { action: "FILL", calledWith: new Secret("s3cret") } };
    const { calls } = changeTo([fill, click("b")], live);
    expect(JSON.stringify(calls)).not.toMatch(/Old|once a secret|s3cret/);
    expect(calls[0]?.body).toMatchObject({
      elements: [{ id: "1", selectors: [{ id: "1-s0", selector: "(sensitive)" }] }, {}],
    });
  });

  test("removed elements are listed with their live positions", () => {
    expect(fieldsOf([click("c")], [...two, liveElement("3", 2, click("c"))])).toEqual([
      { path: ["elements", 0], before: click("a") },
      { path: ["elements", 1], before: click("b") },
    ]);
  });

  test("a moved element keeps its id and is listed once", () => {
    const wanted = [click("b"), click("a")];
    expect(fieldsOf(wanted, two)).toEqual([
      { path: ["elements", 1], after: click("a"), movedFrom: 0 },
    ]);
    expect(idsOf(wanted, two)).toEqual(["2", "1"]);
  });

  test("a partly declared element keeps its position, even if it matches other elements", () => {
    const live = [
      liveElement("1", 0, click("a")),
      liveElement("2", 1, { ...click("b"), ignoreFailure: true }),
    ];
    expect(idsOf([{ ignoreFailure: true }, { ignoreFailure: true }], live)).toEqual(["1", "2"]);
  });

  test("a partly declared element is not treated as moved", () => {
    const live = [
      liveElement("1", 0, { ...click("a"), ignoreFailure: true }),
      liveElement("2", 1, click("b")),
      liveElement("3", 2, click("c")),
    ];
    expect(idsOf([click("b"), click("c"), { ignoreFailure: true }], live)).toEqual([
      "2",
      "3",
      undefined,
    ]);
  });

  test("an unchanged element is not listed if other fields change", () => {
    const live = [liveElement("1", 0, click("a")), liveElement("2", 1, check)];
    const fields = fieldsOf([click("a"), { assertion: { expectation: "HIDDEN" } }], live, {
      status: "DRAFT",
    });
    expect(fields.map(({ path }) => path)).toEqual([
      ["status"],
      ["elements", 1, "assertion", "expectation"],
    ]);
  });

  test("entries of a list within an element are listed in order", () => {
    const live = [liveElement("1", 0, { ...click("a"), selectors: [] })];
    const selectors = ["x", "y"].map((selector) => ({ selectorType: "TEXT", selector }));
    expect(fieldsOf([{ ...click("a"), selectors }], live).map(({ path }) => path)).toEqual([
      ["elements", 0, "selectors", 0],
      ["elements", 0, "selectors", 1],
    ]);
  });
});

describe("a change that makes a test weaker is marked", () => {
  const live = [liveElement("1", 0, click("a")), liveElement("2", 1, check)];
  const harm = (...of: Parameters<typeof changeTo>) =>
    fieldsOf(...of).flatMap(({ path, harmful }) =>
      harmful === undefined ? [] : [[path.join("."), harmful]],
    );

  test.each([
    ["a step that asserts goes", [click("a")], [["elements.1", "assertion lost"]]],
    ["all steps go", [], [["elements.1", "assertion lost"]]],
    [
      "an assertion is cleared",
      [click("a"), { assertion: null }],
      [["elements.1.assertion", "assertion lost"]],
    ],
    [
      "a failure is ignored from now on",
      [click("a"), { ...check, ignoreFailure: true }],
      [["elements.1.ignoreFailure", "failure ignored"]],
    ],
    ["a step that asserts nothing goes", [check], []],
    ["an assertion is another one", [click("a"), { assertion: { expectation: "HIDDEN" } }], []],
    [
      "a new step ignores its failure",
      [click("a"), check, { ...click("z"), ignoreFailure: true }],
      [],
    ],
  ])("%s", (_, elements, expected) => {
    expect(harm(elements, live)).toEqual(expected);
  });

  test("also if the values are not shown", () => {
    const secret = { interaction: { action: "FILL", calledWith: new Secret("s3cret") } };
    expect(fieldsOf([secret], live)).toEqual([
      { path: ["elements"], sensitive: true, harmful: "assertion lost" },
    ]);
  });
});
