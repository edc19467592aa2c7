import { describe, expect, test } from "vitest";
import { type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { Secret, UNKNOWN, type Value, type ValueObject } from "../../src/model/value.ts";
import {
  alignElements,
  declaredElements,
  elementInWords,
  hasOpenLocators,
  locatorDifference,
  locatorDigest,
  namelessElements,
  projectElement,
  projectElements,
  sameElement,
  saysAll,
  selectorsDigest,
} from "../../src/plan/elements.ts";
import { memoryOf } from "../../src/plan/memory.ts";
import { fingerprints, liveCase, liveElement, publicPlan, resource, stateOf } from "./build.ts";
import { BY_TEXT, CLICK, FILL, LOGIN, VISIBLE, bound, located, steps } from "./situations/parts.ts";

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

test("declared steps are a list of maps, and anything else none", () => {
  expect(
    [undefined, null, "x", [CLICK, "x"], [CLICK, VISIBLE], UNKNOWN].map(declaredElements),
  ).toEqual([[], [], [], [], [CLICK, VISIBLE], []]);
});

describe("a live step and a declaration", () => {
  const named = (options: JsonObject) => ({ ...BY_TEXT, options });
  const byText: JsonObject = { ...CLICK, selectors: [BY_TEXT] };
  const own = { name: "Pay", exact: true };
  /** Whether they are the same, what is left of the live one, and whether that is all of it. */
  const rows: readonly (readonly [string, ValueObject, JsonObject, boolean, object, boolean])[] = [
    ["whole", CLICK, CLICK, true, CLICK, true],
    [
      "of an argument besides",
      CLICK,
      { interaction: { action: "CLICK", calledWith: "x" } },
      true,
      CLICK,
      false,
    ],
    ["of another action", { interaction: { action: "TAP" } }, CLICK, false, CLICK, true],
    ["of no interaction", { interaction: null }, VISIBLE, true, { interaction: null }, false],
    ["with an interaction besides", { interaction: null }, CLICK, false, CLICK, true],
    ["without the declared interaction", CLICK, VISIBLE, false, { interaction: null }, false],
    ["with an assertion besides", CLICK, { ...CLICK, ...VISIBLE }, true, CLICK, false],
    [
      "whose failure is ignored",
      { ignoreFailure: true },
      { ignoreFailure: true },
      true,
      { ignoreFailure: true },
      true,
    ],
    ["whose failure counts", { ignoreFailure: true }, {}, false, { ignoreFailure: false }, true],
    [
      "without selectors",
      { ...CLICK, selectors: [] },
      CLICK,
      true,
      { ...CLICK, selectors: [] },
      true,
    ],
    [
      "with selectors besides",
      { ...CLICK, selectors: [] },
      byText,
      false,
      { ...CLICK, selectors: [named({})] },
      true,
    ],
    [
      "with other selectors",
      { selectors: [{ ...BY_TEXT, selector: "Buy" }] },
      byText,
      false,
      { selectors: [BY_TEXT] },
      false,
    ],
    [
      "with options besides",
      { selectors: [BY_TEXT] },
      { selectors: [named(own)] },
      true,
      { selectors: [BY_TEXT] },
      false,
    ],
    [
      "with the options",
      { selectors: [named({ exact: true, name: "Pay" })] },
      { selectors: [named(own)] },
      true,
      { selectors: [named(own)] },
      true,
    ],
    [
      "with other options",
      { selectors: [named({})] },
      { selectors: [named(own)] },
      false,
      { selectors: [named(own)] },
      true,
    ],
    [
      "with two selectors of which one differs",
      { selectors: [{ ...BY_TEXT, selector: "Buy" }, BY_TEXT] },
      { selectors: [BY_TEXT, BY_TEXT] },
      false,
      { selectors: [BY_TEXT, BY_TEXT] },
      true,
    ],
    [
      "with a selector too many",
      { selectors: [BY_TEXT] },
      { selectors: [BY_TEXT, named(own)] },
      false,
      { selectors: [BY_TEXT, named(own)] },
      true,
    ],
    ["with a secret", { interaction: { action: new Secret("CLICK") } }, CLICK, true, CLICK, true],
    [
      "with another secret",
      { interaction: { action: new Secret("TAP") } },
      CLICK,
      false,
      CLICK,
      true,
    ],
    ["with an unknown value", { interaction: { action: UNKNOWN } }, CLICK, false, CLICK, true],
    ["with a locator line", { ...CLICK, locatorLine: "l" }, byText, true, CLICK, true],
    [
      "with a locator line besides a selector",
      { selectors: [BY_TEXT], locatorLine: "l" },
      byText,
      true,
      { selectors: [BY_TEXT] },
      false,
    ],
    ["of nothing", {}, {}, true, {}, true],
  ];
  test.each(rows)("%s", (_, declared, parts, same, projected, all) => {
    const live = liveElement("e", 0, parts);
    expect(sameElement(declared, live)).toBe(same);
    expect(projectElement(declared, live)).toEqual(projected);
    expect(saysAll([declared], [live])).toBe(all);
    expect(projectElements([declared], [live, live])).toEqual([projected, live.parts]);
  });

  test("that is missing, or undeclared", () => {
    const live = liveElement("e", 0, byText);
    expect(sameElement(CLICK, undefined)).toBe(false);
    expect(projectElement(undefined, live)).toEqual(live.parts);
    expect([saysAll([], [live]), saysAll([], []), saysAll([], [liveElement("e", 0)])]).toEqual([
      false,
      true,
      true,
    ]);
  });

  test.each([
    [{}, {}],
    [byText, byText],
    [
      { ...VISIBLE, ignoreFailure: true },
      { ...VISIBLE, ignoreFailure: true },
    ],
    [
      { selectors: [named({}), named({ a: null, b: false })] },
      { selectors: [BY_TEXT, named({ a: null, b: false })] },
    ],
    [
      { interaction: { action: "FILL", calledWith: "" } },
      { interaction: { action: "FILL", calledWith: "" } },
    ],
  ])("%o in the words of a manifest", (parts, words) => {
    expect(elementInWords(liveElement("e", 0, parts))).toEqual(words);
  });
});

describe("steps that differ only in their locator lines", () => {
  const line = (id: string, of: string) => ({
    [id]: { line: locatorDigest(fingerprints, id, of), selectors: "" },
  });
  const memory = (key: typeof fingerprints | undefined) =>
    memoryOf(LOGIN, "C1", {
      state: stateOf([
        bound(LOGIN, "C1"),
        { type: "located", address: LOGIN, locators: { ...line("e0", "a"), ...line("e1", "b") } },
      ]),
      fingerprints: key,
    });
  const live = steps({ ...CLICK, selectors: [BY_TEXT] }, { ...CLICK, selectors: [BY_TEXT] });
  const of = (locatorLine: string) => ({ ...CLICK, locatorLine });
  const [a, b, c] = [of("a"), of("b"), of("c")] as const;
  const rows: readonly (readonly [
    string,
    readonly ValueObject[],
    typeof live,
    readonly string[],
  ])[] = [
    ["change places, which no list shows", [b, a], live, ["e0", "e1"]],
    ["change places, and one is new", [b, a, VISIBLE], live, ["e1", "e0 from 0", "new"]],
    ["stay, and one is new", [a, b, c], live, ["e0", "e1", "new"]],
    ["go, and another stays", [b], live, ["e1"]],
    ["are none of the live ones", [VISIBLE, c], live, ["e0", "e1"]],
    ["may be any without a line", [CLICK, a], live, ["e0", "e1"]],
    [
      "may be any without an id",
      [b, a, VISIBLE],
      live.map((one) => ({ ...one, id: undefined })),
      ["-", "-", "new"],
    ],
    [
      "may be any that has no record",
      [c],
      steps(CLICK, CLICK).map((one) => ({ ...one, id: `${one.id}x` })),
      ["e0x"],
    ],
  ];
  test.each(rows)("%s", (_, declared, elements, expected) => {
    const found = (key: typeof fingerprints | undefined) =>
      alignElements(declared, elements, memory(key)).map(({ live: one, movedFrom }) =>
        one === undefined
          ? "new"
          : `${one.id ?? "-"}${movedFrom === undefined ? "" : ` from ${movedFrom}`}`,
      );
    expect(found(fingerprints)).toEqual(expected);
  });

  test("may be any without the key", () => {
    const found = alignElements([b, a, c], live, memory(undefined));
    expect(found.map(({ live: one }) => one?.id)).toEqual(["e0", "e1", undefined]);
  });

  test("move only if all of the live step is declared", () => {
    const elements = steps({ ...VISIBLE, ignoreFailure: true }, CLICK, FILL);
    const found = (...declared: readonly ValueObject[]) =>
      alignElements(declared, elements, memory(fingerprints)).map(
        ({ live: one, movedFrom = "stays" }) => [one?.id, movedFrom],
      );
    expect(found(CLICK, FILL, VISIBLE)).toEqual([
      ["e1", "stays"],
      ["e2", "stays"],
      [undefined, "stays"],
    ]);
    expect(found(CLICK, FILL, { ...VISIBLE, ignoreFailure: true })).toEqual([
      ["e1", "stays"],
      ["e2", "stays"],
      ["e0", 0],
    ]);
  });

  test("move with selectors that are made of a line, but with no others", () => {
    const elements = steps({ ...CLICK, selectors: [BY_TEXT] }, VISIBLE, VISIBLE);
    const found = (moved: ValueObject) =>
      alignElements([VISIBLE, VISIBLE, moved], elements, memory(fingerprints))[2];
    const lined = { ...CLICK, locatorLine: "a" };
    expect(found(lined)).toEqual({ declared: lined, at: 2, live: elements[0], movedFrom: 0 });
    expect(found(CLICK)).toEqual({ declared: CLICK, at: 2, live: undefined });
    const other = { locatorLine: "a", selectors: [BY_TEXT] };
    expect(found(other)).toEqual({ declared: other, at: 2, live: undefined });
  });
});

describe("a locator line", () => {
  const live = liveElement("e0", 0, { ...CLICK, selectors: [BY_TEXT] });
  const read = selectorsDigest(fingerprints, live);
  const memory = (...events: Parameters<typeof stateOf>[0]) =>
    memoryOf(LOGIN, "C1", { state: stateOf([bound(LOGIN, "C1"), ...events]), fingerprints });
  const known = memory(located("a", read));
  const line = { locatorLine: "a" };
  const rows: readonly (readonly [
    string,
    ValueObject,
    typeof live | undefined,
    typeof known,
    string | undefined,
  ])[] = [
    ["as recorded", line, live, known, undefined],
    ["that is undeclared", CLICK, live, known, undefined],
    ["that is unknown", { locatorLine: UNKNOWN }, live, known, undefined],
    [
      "without the key",
      { locatorLine: "b" },
      live,
      { ...known, fingerprints: undefined },
      undefined,
    ],
    ["of a new step", line, undefined, known, "new"],
    ["of a step without an id", line, { ...live, id: undefined }, known, undefined],
    ["that was never written", line, live, memory(), "new"],
    ["that changed", { locatorLine: "b" }, live, known, "manifest"],
    ["whose selectors changed", line, live, memory(located("a", "x")), "service"],
    [
      "that changed with its selectors",
      { locatorLine: "b" },
      live,
      memory(located("a", "x")),
      "both",
    ],
    ["whose selectors were not read yet", line, live, memory(located("a", "")), undefined],
    ["that is secret, as recorded", { locatorLine: new Secret("a") }, live, known, undefined],
  ];
  test.each(rows)("%s", (_, declared, element, own, expected) => {
    expect(locatorDifference({ declared, at: 0, live: element }, own)).toBe(expected);
    const one = resource("testCase", "login", { elements: [declared] });
    const elements = element && [element];
    const isNameless = element !== undefined && element.id === undefined;
    expect(hasOpenLocators(one, liveCase("C1", { elements }), own)).toBe(
      expected !== undefined || isNameless,
    );
    expect(namelessElements(one, liveCase("C1", { elements }))).toEqual(
      isNameless
        ? [
            {
              severity: "warning",
              code: "element-without-id",
              address: LOGIN,
              summary: "Locator lines cannot be written",
              detail:
                "The service returns no ids of the elements, which are needed to write a locator line.",
            },
          ]
        : [],
    );
  });

  test("is not asked for where a nameless step declares none", () => {
    const one = resource("testCase", "login", { elements: [CLICK, line] });
    const shown = liveCase("C1", { elements: [{ ...live, id: undefined }, live] });
    expect([hasOpenLocators(one, shown, known), namelessElements(one, shown)]).toEqual([false, []]);
  });

  test("is recorded with the selectors that are made of it", () => {
    expect(read).toBe(fingerprints.of("e0/selectors", [{ ...BY_TEXT, options: {} }]));
    expect(selectorsDigest(fingerprints, { ...live, id: undefined, parts: {} })).toBe(
      fingerprints.of("/selectors", []),
    );
  });
});
