// Which live resource belongs to which address, without a plan around it.
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import type { LiveEnvironment, LiveTarget, LiveTestCase } from "../../src/model/live.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { Secret, UNKNOWN } from "../../src/model/value.ts";
import {
  type Matches,
  byNames,
  lazy,
  levelName,
  liveNames,
  matchEnvironments,
  matchTargets,
  matchTestCases,
  namesOf,
} from "../../src/plan/match.ts";
import { fewOf } from "../../src/plan/problem.ts";
import { type TargetParts, liveCase, liveTarget, resource, stateOf, target } from "./build.ts";
import { LOGIN, bound } from "./situations/parts.ts";

/** What each address means: an id, one that was removed, nothing yet, or a problem. */
function outcomes(
  found: Matches,
  problems: readonly { readonly code: string; readonly address?: Address }[],
) {
  return {
    ...Object.fromEntries(
      [...found].map(([address, { live, removed, ...rest }]) => [
        address,
        [
          live?.id ?? "new",
          ...(removed === undefined ? [] : [`was ${removed}`]),
          ...Object.keys(rest),
        ].join(", "),
      ]),
    ),
    ...Object.fromEntries(problems.map(({ code, address = "" }) => [address, code])),
  };
}

describe("targets", () => {
  const live = (id: string, app: string): LiveTarget => ({ id, app, environments: [] });
  const shops = [live("S", "Shop"), live("B", "Blog"), live("B2", "Blog")];
  const shop = target({});
  const blog = target({ fields: { app: "Blog" } }, "blog");
  const left = (name: string) => ({ ...target({ fields: {} }, name), left: true as const });
  const states = new Map([
    ["old", stateOf([bound("target.old", "S")])],
    ["gone", stateOf([bound("target.gone", "B")])],
  ]);

  test("mean the only one of their app, and may mean several", () => {
    const { byAddress, meant, problems } = matchTargets([shop, blog], shops, new Map());
    expect(outcomes(byAddress, problems)).toEqual({
      "target.shop": "S",
      "target.blog": "ambiguous-match",
    });
    expect([...meant]).toEqual(["S", "B", "B2"]);
    expect(problems).toEqual([
      {
        severity: "error",
        code: "ambiguous-match",
        address: "target.blog",
        summary: "2 live test targets fit",
        detail:
          'All of these match the declaration:\n  B  app "Blog"\n  B2  app "Blog"\nWrite the id of the one you mean as `id:` into the target.',
      },
    ]);
  });

  test("count, also out of scope", () => {
    const { byAddress, meant } = matchTargets([], shops, new Map(), [shop]);
    expect([outcomes(byAddress, []), [...meant]]).toEqual([{ "target.shop": "S" }, ["S"]]);
    const twice = matchTargets([{ ...shop, key: "two", address: "target.two" }], shops, new Map(), [
      shop,
    ]);
    expect(twice.problems.map(({ code }) => code)).toEqual(["claimed-twice", "claimed-twice"]);
  });

  test("that left the manifests are found by state, unless a declared one means them now", () => {
    const found = (...declared: Parameters<typeof matchTargets>[0]) => {
      const { byAddress, meant } = matchTargets(declared, shops, states);
      return [outcomes(byAddress, []), [...meant]];
    };
    expect(found(left("old"), left("gone"), left("never"))).toEqual([
      { "target.old": "S", "target.gone": "B", "target.never": "new" },
      [],
    ]);
    expect(found(shop, left("old"))).toEqual([{ "target.shop": "S", "target.old": "new" }, ["S"]]);
    expect(found(blog, left("gone"))).toEqual([{ "target.gone": "new" }, ["B", "B2"]]);
    expect(
      matchTargets([left("never")], shops, states).byAddress.get("target.never"),
    ).toStrictEqual({});
  });
});

describe("environments", () => {
  const of = (
    environments: TargetParts["environments"],
    live: readonly Partial<LiveEnvironment>[],
    ids: TargetParts["ids"] = {},
    state: readonly StateEvent[] = [],
  ) => {
    const found: Matches = new Map();
    const all = liveTarget(live).environments;
    const problems = matchEnvironments(
      target({ environments: environments ?? {}, ids: ids ?? {} }),
      all,
      stateOf(state),
      found,
    );
    return { ...outcomes(found, problems), ...(problems[0] && { detail: problems[0].detail }) };
  };
  const main = { type: "DEFAULT", discoveryUrl: "https://a" };
  const a = { discoveryUrl: "https://a/" };

  test("mean the DEFAULT one, or the only other one at their URL", () => {
    const fields = { discoveryUrl: "https://a" };
    expect(of({ default: fields, p: fields }, [main, a])).toEqual({
      "environment.shop.default": "E0",
      "environment.shop.p": "E1",
    });
    expect(of({ p: fields }, [main])).toEqual({ "environment.shop.p": "new" });
    expect(of({ p: {} }, [main, { discoveryUrl: undefined }])).toEqual({
      "environment.shop.p": "new",
    });
    expect(of({ p: fields }, [{ ...a, type: "OTHER" }])).toEqual({ "environment.shop.p": "new" });
  });

  test("may mean several", () => {
    expect(
      of({ default: {} }, [main, { ...main, discoveryUrl: undefined }, { type: undefined }, a]),
    ).toEqual({
      "environment.shop.default": "ambiguous-match",
      detail:
        "All of these match the declaration:\n  E0  DEFAULT at https://a\n  E1  DEFAULT at no URL\nWrite the id of the one you mean as `id:` into the environment.",
    });
  });
});

describe("test cases", () => {
  const of = (
    testCases: NonNullable<TargetParts["testCases"]>,
    live: readonly LiveTestCase[],
    ids: TargetParts["ids"] = {},
    state?: readonly StateEvent[],
  ) => {
    const found: Matches = new Map();
    const declared = target({ testCases, ids: ids ?? {} });
    const problems = matchTestCases(declared, live, state && stateOf(state), found);
    return outcomes(found, problems);
  };
  const name = { description: "Log in" };
  const x = { ...name, externalId: "X" };
  const rows: readonly (readonly [string, Parameters<typeof of>, string])[] = [
    ["by name", [{ login: name }, [liveCase("C1", name)]], "C1"],
    ["by name, whatever its external id", [{ login: name }, [liveCase("C1", x)]], "C1"],
    [
      "by external id",
      [{ login: x }, [liveCase("C1", name), liveCase("C2", { externalId: "X" })]],
      "C2",
    ],
    ["by name, as none has the external id", [{ login: x }, [liveCase("C1", name)]], "C1"],
    [
      "by name, as it shows no external id",
      [{ login: x }, [liveCase("C1", { ...name, externalId: undefined })]],
      "C1",
    ],
    [
      "not by name, as that has another external id",
      [{ login: x }, [liveCase("C1", { ...name, externalId: "Y" })]],
      "new",
    ],
    [
      "of several names, by the one without an external id",
      [{ login: x }, [liveCase("C1", { ...name, externalId: "Y" }), liveCase("C2", name)]],
      "C2",
    ],
    [
      "by two external ids",
      [{ login: x }, [liveCase("C1", x), liveCase("C2", x)]],
      "ambiguous-match",
    ],
    ["without a name", [{ login: {} }, [liveCase("C1", { description: undefined })]], "new"],
    ["of an unknown name", [{ login: { description: UNKNOWN } }, [liveCase("C1", name)]], "new"],
    [
      "of a secret name",
      [{ login: { description: new Secret("Log in") } }, [liveCase("C1", name)]],
      "C1",
    ],
    ["by its id", [{ login: name }, [liveCase("C1", name), liveCase("C2")], { login: "C2" }], "C2"],
    [
      "by an id that is not listed",
      [{ login: name }, [liveCase("C1", name)], { login: "C9" }],
      "id-not-listed",
    ],
    [
      "by state",
      [{ login: name }, [liveCase("C1", name), liveCase("C2")], {}, [bound(LOGIN, "C2")]],
      "C2",
    ],
    [
      "by its id before state",
      [{ login: name }, [liveCase("C1"), liveCase("C2")], { login: "C1" }, [bound(LOGIN, "C2")]],
      "C1",
    ],
    [
      "that was removed",
      [{ login: name }, [liveCase("C1")], {}, [bound(LOGIN, "C9")]],
      "new, was C9",
    ],
    [
      "that was removed, and another has its name",
      [{ login: name }, [liveCase("C1", name)], {}, [bound(LOGIN, "C9")]],
      "C1, was C9",
    ],
    [
      "of a list that names one twice",
      [{ login: name }, [liveCase("C1"), liveCase("C1")]],
      "listed-twice",
    ],
    [
      "whose name another has by id",
      [{ login: name, other: {} }, [liveCase("C1", name)], { other: "C1" }],
      "new",
    ],
    [
      "whose name two have",
      [{ login: name, other: name }, [liveCase("C1", name)]],
      "claimed-twice",
    ],
  ];
  test.each(rows)("%s", (_, input, expected) => {
    expect(of(...input)[LOGIN]).toBe(expected);
  });

  test("three that claim one are each told of the others", () => {
    const declared = target({ testCases: { a: name, b: name, c: name } });
    const problems = matchTestCases(declared, [liveCase("C1", name)], undefined, new Map());
    expect(problems.map(({ summary }) => summary)).toEqual([
      "The test case C1 is also bound to testCase.shop.b, testCase.shop.c",
      "The test case C1 is also bound to testCase.shop.a, testCase.shop.c",
      "The test case C1 is also bound to testCase.shop.a, testCase.shop.b",
    ]);
  });

  test("of an id that is not listed are told at its place", () => {
    const layer = {
      kind: "base",
      file: "a.yaml",
      path: ["testCases", "login"],
      value: { id: "C9" },
    } as const;
    const declared = target({ testCases: { login: name }, ids: { login: "C9" } });
    const testCases = declared.testCases.map((one) => ({ ...one, layers: [layer] }));
    const [problem] = matchTestCases({ ...declared, testCases }, [], undefined, new Map());
    expect(problem?.origin).toEqual({ file: "a.yaml", path: ["testCases", "login", "id"] });
  });
});

test("names are as the manifest and the service have them", () => {
  const fields = { description: "A", discoveryUrl: "https://a", app: "S", externalId: "X" };
  expect([
    namesOf(resource("testCase", "a", fields)),
    namesOf(resource("environment", "a", fields)),
    namesOf(resource("batchGeneration", "a", fields)),
    namesOf(target({ fields })),
    liveNames("testCase", liveCase("C", { description: "B" })),
    liveNames("environment", { id: "E", discoveryUrl: "https://b" }),
    liveNames("environment", { id: "E" }),
    liveNames("target", { id: "T", app: "https://a", externalId: "Y" }),
  ]).toEqual([
    { name: "A", externalId: "X" },
    { name: "https://a/", externalId: "X" },
    { name: undefined, externalId: undefined },
    { name: "S", externalId: "X" },
    { name: "B", externalId: undefined },
    { name: "https://b/", externalId: undefined },
    { name: undefined, externalId: undefined },
    { name: "https://a", externalId: "Y" },
  ]);
});

test("a name is recognized in another form of the same text, up to runs of accents", () => {
  const accents = "\u0301".repeat(30);
  expect(levelName(" A\u0301\t b\n")).toBe("\u00c1 b");
  expect(levelName(`A${accents}`)).toBe(`A${accents}`.normalize("NFC"));
  expect(levelName(`A${accents}\u0301`)).toBe(`A${accents}\u0301`);
  expect(levelName(`A\u0301 ${"x".repeat(40)}`)).toBe(`\u00c1 ${"x".repeat(40)}`);
});

test("a lookup by name finds all of a name, and none without one", () => {
  const find = byNames(["a1", "b1", "a2", "-"], (one) =>
    one === "-" ? undefined : one.slice(0, 1),
  );
  expect(["a", "b", "c", undefined].map(find)).toEqual([["a1", "a2"], ["b1"], [], []]);
  let made = 0;
  const later = lazy(() => ({ made: ++made }));
  expect([made, later(), later(), made]).toEqual([0, { made: 1 }, { made: 1 }, 1]);
});

test("a message names 20, and counts more", () => {
  const numbers = Array.from({ length: 22 }, (_, at) => `${at}`);
  const first = numbers.slice(0, 20);
  expect([20, 21, 22].map((all) => fewOf(numbers.slice(0, all), "|"))).toEqual([
    first.join("|"),
    `${first.join("|")} and 1 more`,
    `${first.join("|")} and 2 more`,
  ]);
  expect(fewOf(["a", "b"])).toBe("a, b");
});
