// Elements: whole lists, and single locator lines.
import { describe, expect, test } from "vitest";
import type { FakeOptions } from "./fake-service.ts";
import { scene } from "./support/cli.ts";
import { at, list, object, some, type JsonObject } from "./support/json.ts";
import { change, expectNothingLeft, seed, tell, type Live, type Story } from "./support/story.ts";

const declare = (...elements: readonly string[]): string =>
  `target: shop\napp: Web Shop\ntestCases:\n  login:\n    description: Log in\n    elements:\n${elements
    .map((element) => `      - ${element}\n`)
    .join("")}`;

/**
 * Two live elements: an interaction whose selector has options, and an assertion whose failure is
 * ignored.
 */
function two({ service, login }: Live): void {
  login.elements = [
    service.element({
      interaction: { id: service.id(), action: "EXTRACT", calledWith: "total" },
      selectors: [service.selector("TEXT", "Total", { name: "Sum" })],
    }),
    service.element({
      assertion: { id: service.id(), expectation: "VISIBLE" },
      selectors: [service.selector("CSS", "h1")],
      ignoreFailure: true,
    }),
  ];
}

const elementPath = (live: Live, n: number): string =>
  `${live.paths.login}/elements/${some(live.login.elements[n], "element").id}`;

const LOCATORS: readonly Story[] = [
  {
    says: "are sent in one call per element if nothing else changed",
    live: two,
    manifest: declare(
      `{ interaction: { action: EXTRACT, calledWith: total }, locatorLine: "getByText('Total')" }`,
      `{ assertion: { expectation: VISIBLE }, locatorLine: "getByRole('heading')", ignoreFailure: true }`,
    ),
    expected: (live) => ({
      address: "testCase.shop.login",
      action: "update",
      id: live.login.id,
      fields: [
        { path: ["elements", 0, "locatorLine"], after: "getByText('Total')" },
        { path: ["elements", 1, "locatorLine"], after: "getByRole('heading')" },
      ],
      calls: [
        {
          method: "PATCH",
          path: elementPath(live, 0),
          body: { locatorLine: "getByText('Total')" },
        },
        {
          method: "PATCH",
          path: elementPath(live, 1),
          body: { locatorLine: "getByRole('heading')" },
        },
      ],
    }),
  },
  {
    says: "are only sent for the elements where they changed",
    live: two,
    first: declare("{ locatorLine: getByText }", "{ locatorLine: getByRole }"),
    manifest: declare("{ locatorLine: getByText }", "{ locatorLine: getByLabel }"),
    expected: (live) => ({
      address: "testCase.shop.login",
      action: "update",
      id: live.login.id,
      fields: [{ path: ["elements", 1, "locatorLine"], after: "getByLabel" }],
      calls: [{ method: "PATCH", path: elementPath(live, 1), body: { locatorLine: "getByLabel" } }],
    }),
  },
];

tell("locator lines", LOCATORS);

interface Whole {
  readonly says: string;
  readonly elements: readonly string[];
  readonly wanted: readonly JsonObject[];
  /** For each wanted element, the index of the live element that it was before. */
  readonly were: readonly (number | undefined)[];
  /** Sets the live elements before the plan; the default is two(). */
  readonly live?: (live: Live) => void;
}

const TOTAL = {
  interaction: { action: "EXTRACT", calledWith: "total" },
  assertion: null,
  selectors: [{ selectorType: "TEXT", selector: "Total", options: { name: "Sum" } }],
  ignoreFailure: false,
};
const HEADING = {
  interaction: null,
  assertion: { expectation: "VISIBLE" },
  selectors: [{ selectorType: "CSS", selector: "h1" }],
  ignoreFailure: true,
};

const WHOLE: readonly Whole[] = [
  {
    says: "a test case without elements gets all declared ones",
    live: ({ login }) => {
      login.elements = [];
    },
    elements: [
      "{ interaction: { action: EXTRACT, calledWith: total }, selectors: [{ selectorType: TEXT, selector: Total }] }",
      "{ assertion: { expectation: VISIBLE, calledWith: x }, ignoreFailure: true }",
    ],
    wanted: [
      { ...TOTAL, selectors: [{ selectorType: "TEXT", selector: "Total" }] },
      {
        interaction: null,
        assertion: { expectation: "VISIBLE", calledWith: "x" },
        selectors: [],
        ignoreFailure: true,
      },
    ],
    were: [undefined, undefined],
  },
  {
    says: "calledWith of an interaction changes, undeclared values stay",
    elements: [
      "{ interaction: { action: EXTRACT, calledWith: sum } }",
      "{ assertion: { expectation: VISIBLE } }",
    ],
    wanted: [{ ...TOTAL, interaction: { action: "EXTRACT", calledWith: "sum" } }, HEADING],
    were: [0, 1],
  },
  {
    says: "ignoreFailure changes",
    elements: ["{ ignoreFailure: true }", "{ ignoreFailure: true }"],
    wanted: [{ ...TOTAL, ignoreFailure: true }, HEADING],
    were: [0, 1],
  },
  {
    says: "an assertion changes",
    elements: ["{}", "{ assertion: { expectation: HIDDEN } }"],
    wanted: [TOTAL, { ...HEADING, assertion: { expectation: "HIDDEN" } }],
    were: [0, 1],
  },
  {
    says: "selectors and their options change",
    elements: [
      "{ selectors: [{ selectorType: ROLE, selector: button, options: { name: Buy, exact: true } }] }",
      "{ selectors: [{ selectorType: CSS, selector: h1 }, { selectorType: CSS, selector: h2 }] }",
    ],
    wanted: [
      {
        ...TOTAL,
        selectors: [
          { selectorType: "ROLE", selector: "button", options: { name: "Buy", exact: true } },
        ],
      },
      {
        ...HEADING,
        selectors: [
          { selectorType: "CSS", selector: "h1" },
          { selectorType: "CSS", selector: "h2" },
        ],
      },
    ],
    were: [0, 1],
  },
  {
    says: "a selector is inserted and others are reordered with their options",
    live: (live) => {
      two(live);
      const [first] = live.login.elements;
      first?.selectors.unshift(live.service.selector("ROLE", "button", { name: "Delete" }));
    },
    elements: [
      "{ selectors: [{ selectorType: CSS, selector: h3 }, { selectorType: TEXT, selector: Total }, { selectorType: ROLE, selector: button }] }",
      "{}",
    ],
    wanted: [
      {
        ...TOTAL,
        selectors: [
          { selectorType: "CSS", selector: "h3" },
          { selectorType: "TEXT", selector: "Total", options: { name: "Sum" } },
          { selectorType: "ROLE", selector: "button", options: { name: "Delete" } },
        ],
      },
      HEADING,
    ],
    were: [0, 1],
  },
  {
    says: "interaction: null clears the interaction",
    elements: ["{ interaction: null }", "{}"],
    wanted: [{ ...TOTAL, interaction: null }, HEADING],
    were: [0, 1],
  },
  {
    says: "an element is added at the end",
    elements: [
      "{ interaction: { action: EXTRACT, calledWith: total } }",
      "{ assertion: { expectation: VISIBLE } }",
      "{ interaction: { action: CLICK } }",
    ],
    wanted: [
      TOTAL,
      HEADING,
      { interaction: { action: "CLICK" }, assertion: null, selectors: [], ignoreFailure: false },
    ],
    were: [0, 1, undefined],
  },
  {
    says: "the last element is removed",
    elements: ["{ interaction: { action: EXTRACT, calledWith: total } }"],
    wanted: [TOTAL],
    were: [0],
  },
];

/** A live element without ids, indexes and scroll states. */
function bare(value: unknown): unknown {
  const clean = (item: unknown): unknown => {
    if (Array.isArray(item)) return item.map(clean);
    if (typeof item !== "object" || item === null) return item;
    const dropped = new Set([
      "id",
      "index",
      "testCaseElementId",
      "scrollState",
      "scrollStateId",
      "testCaseId",
    ]);
    return Object.fromEntries(
      Object.entries(item)
        .filter(([name]) => !dropped.has(name))
        .map(([name, inner]) => [name, clean(inner)]),
    );
  };
  return clean(value);
}

const MODES: readonly { readonly says: string; readonly options: FakeOptions }[] = [
  { says: "a service that replaces whole elements", options: { elements: "replace" } },
  { says: "a service that merges elements by id", options: { elements: "merge", extras: true } },
];

/** Expects one PATCH with elements, and checks the result on the service. */
function whole({ says, elements, wanted, were, live: prepare = two }: Whole): Story {
  const before = new Map<Live, readonly string[]>();
  return {
    says: `${says}: one PATCH, ids kept`,
    live: (live) => {
      prepare(live);
      before.set(
        live,
        live.login.elements.map((element) => element.id),
      );
    },
    manifest: declare(...elements),
    expected: (live) => ({
      address: "testCase.shop.login",
      action: "update",
      id: live.login.id,
      fields: [],
      calls: [{ method: "PATCH", path: live.paths.login, body: {} }],
    }),
    check: ({ live, planned, sent, left }) => {
      expect(planned).toHaveLength(1);
      expect(at(planned[0], "action")).toBe("update");
      for (const field of list(at(planned[0], "fields")))
        expect(at(field, "path", 0)).toBe("elements");
      expect(list(at(planned[0], "calls"))).toHaveLength(1);
      expect(at(planned[0], "calls", 0, "path")).toBe(live.paths.login);
      expect(Object.keys(object(at(planned[0], "calls", 0, "body")))).toEqual(["elements"]);
      expect(sent).toEqual(at(planned[0], "calls"));
      expect(bare(live.login.elements)).toEqual(wanted);
      const ids = live.login.elements.map((element) => element.id);
      for (const [n, was] of were.entries())
        if (was === undefined) expect(before.get(live)).not.toContain(ids[n]);
        else expect(ids[n]).toBe(before.get(live)?.[was]);
      expect(left, "a plan after an apply").toEqual([]);
    },
  };
}

for (const { says, options } of MODES) tell(`elements, on ${says}`, WHOLE.map(whole), options);

test("apply exits 1 instead of sending back an undeclared option with an inexact number", async () => {
  await scene({}, async ({ project, service }) => {
    const live = seed(service);
    const selector = service.selector("TEXT", "Total", { name: "Sum", seed: 2 ** 53 });
    live.login.elements = [service.element({ selectors: [selector] })];
    const selectors = (options: string) =>
      `{ selectors: [{ selectorType: TEXT, selector: Total${options} }] }`;
    const hover = "{ interaction: { action: HOVER } }";
    await project.write({ "targets/shop.yaml": declare(selectors(""), hover) });
    const refused = await project.run(["apply", "--auto-approve", "--json"]);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain("too large to be sent back");
    expect(service.writes()).toEqual([]);
    await project.write({
      "targets/shop.yaml": declare(selectors(", options: { seed: 1 }"), hover),
    });
    expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
  });
});

describe.concurrent("locator lines and the selectors that the service makes from them", () => {
  test("a locator line is planned again if the live selectors changed since it was sent", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      two(live);
      await project.write({ "targets/shop.yaml": declare("{ locatorLine: getByText }", "{}") });
      expect((await project.run(["apply", "--auto-approve"])).code).toBe(0);
      await expectNothingLeft(project);
      some(live.login.elements[0], "element").selectors = [
        service.selector("CSS", "changed by hand"),
      ];
      const { value: plan } = await project.json(["plan"]);
      expect(at(change(plan, "testCase.shop.login"), "calls")).toEqual([
        { method: "PATCH", path: elementPath(live, 0), body: { locatorLine: "getByText" } },
      ]);
    });
  });

  test("a new element is sent first, then its locator line with the id from the response", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      await project.write({
        "targets/shop.yaml": declare(
          "{ assertion: { expectation: VISIBLE }, locatorLine: getByRole }",
        ),
      });
      const applied = await project.run(["apply", "--auto-approve"]);
      expect(applied.code, applied.stdout + applied.stderr).toBe(0);
      expect(live.login.elements.map((element) => element.locatorLine)).toEqual(["getByRole"]);
      expect(service.writes().map((call) => call["path"])).toEqual([
        live.paths.login,
        elementPath(live, 0),
      ]);
      expect(service.violations).toEqual([]);
      await expectNothingLeft(project);
    });
  });

  test("a locator line that is sent together with a new prompt is not listed as a follow-up", async () => {
    await scene({}, async ({ project, service }) => {
      const live = seed(service);
      two(live);
      live.login.prompt = "Old";
      const lines = declare("{ locatorLine: getByText }", "{ locatorLine: getByRole }");
      await project.write({ "targets/shop.yaml": `${lines}    discovery: { prompt: P }\n` });
      const { value: plan } = await project.json(["plan"]);
      const { calls, followUps } = change(plan, "testCase.shop.login");
      const paths = [live.paths.login, elementPath(live, 0), elementPath(live, 1)];
      expect(list(calls).map((call) => at(call, "path"))).toEqual(paths);
      expect(list(followUps).map((call) => at(call, "path"))).toEqual([live.paths.login]);
    });
  });

  test("selectors and a locator line on one element are refused", async () => {
    await scene({}, async ({ project, service }) => {
      await project.write({
        "targets/shop.yaml": declare(
          "{ locatorLine: a, selectors: [{ selectorType: CSS, selector: b }] }",
        ),
      });
      expect((await project.run(["validate"])).code).toBe(3);
      expect(service.log).toEqual([]);
    });
  });
});

test("a plan warns that a step turned into a check keeps its interaction, unless the manifest clears it", async () => {
  await scene({}, async ({ project, service }) => {
    const live = seed(service);
    two(live);
    const plan = async (first: string): Promise<unknown> => {
      await project.write({
        "targets/shop.yaml": declare(first, "{ interaction: { action: CLICK } }"),
      });
      return (await project.json(["plan"])).value["diagnostics"];
    };
    expect(await plan("{ assertion: { expectation: HIDDEN } }")).toMatchObject([
      { severity: "warning", summary: "elements[0] keeps its interaction", line: 7 },
      { severity: "warning", summary: "elements[1] keeps its assertion", line: 8 },
    ]);
    expect(await plan("{ interaction: null, assertion: { expectation: HIDDEN } }")).toHaveLength(1);
  });
});
