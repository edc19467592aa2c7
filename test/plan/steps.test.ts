import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Json, type JsonObject, parseJson } from "../../src/model/json.ts";
import {
  type StepWords,
  acceptanceOf,
  fileText,
  fitsAround,
  hasOtherKey,
  lineOf,
  readFileText,
  readLine,
  stepsOf,
} from "../../src/plan/steps.ts";
import type { LiveDiscovery } from "../../src/model/live.ts";
import { element } from "../../src/service/answers.ts";
import { anyCharacter } from "../any-character.ts";
import { fingerprints, liveCase } from "./build.ts";
import { discovered } from "./situations/parts.ts";

/** The steps that run, as lines that a person accepts. */

const SECRET = "hunter2-of-qa";
const isSecret = (text: string): boolean => text.includes(SECRET);
const words: StepWords = { isSecret, fingerprints };

const caseOf = (elements: readonly JsonObject[], id = "C") =>
  liveCase(id, { elements: elements.map(element) });
const lines = (elements: readonly JsonObject[], how = words): readonly string[] =>
  stepsOf(caseOf(elements), how).map(lineOf);
const lost = { interaction: "", assertion: "", selectors: "", ignoreFailure: false, extra: "" };
const textSelector = (selector: string) => ({ selectorType: "TEXT", selector });

const pay: readonly JsonObject[] = [
  { interaction: { action: "FILL", calledWith: SECRET }, selectors: [textSelector("Password")] },
  { interaction: { action: "CLICK" }, selectors: [textSelector("Pay")] },
  { assertion: { expectation: "VISIBLE" }, selectors: [textSelector("Receipt")] },
];

describe("a step is one line", () => {
  test("in the words of the service, with everything that changes what it does", () => {
    const named = { ...textSelector("Pay"), options: { name: "Pay", exact: true } };
    expect(
      lines([
        ...pay.slice(1),
        {
          interaction: { action: "CLICK" },
          selectors: [named, { selectorType: "my css", selector: "#x" }],
        },
        { assertion: { expectation: "HAS_TEXT", calledWith: "5" }, ignoreFailure: true },
        { interaction: { action: "EXPECT" }, assertion: { expectation: "odd" } },
        {
          selectors: [textSelector("alone")],
          frame: "checkout",
          createdAt: "2030",
          scrollState: {},
        },
        { interaction: { action: "CALL", target: 1 }, testCaseId: "another" },
        { id: "e", index: 7, testCaseId: "C", interaction: null, assertion: null, selectors: [] },
      ]),
    ).toEqual([
      'click text "Pay"',
      'expect VISIBLE text "Receipt"',
      'click text "Pay" {"exact":true,"name":"Pay"} or by "my css" "#x"',
      'expect HAS_TEXT "5" ignoring failure',
      'do "EXPECT" expect "odd"',
      'at text "alone" with {"frame":"checkout"}',
      'call with {"interaction":{"target":1},"testCaseId":"another"}',
      "nothing",
    ]);
  });

  test("a secret shows as a fingerprint of the stage, and other text cannot look like one", () => {
    const [secret = "", plain = ""] = lines([
      { interaction: { action: "FILL", calledWith: `x ${SECRET}` } },
      { interaction: { action: "FILL", calledWith: "(sensitive abc) \u202e\n" } },
    ]);
    expect(secret).toMatch(/^fill \(sensitive [\w-]{20}\)$/);
    expect(plain).toBe(String.raw`fill "\u0028sensitive abc) \u202e\n"`);
    expect(lines(pay)[0]).not.toBe(secret);
    expect(lines(pay, { isSecret, fingerprints: undefined })[0]).toBe(
      'fill (sensitive) text "Password"',
    );
  });
});

const text = fc.oneof(
  fc.constantFrom(
    "",
    "Pay",
    "a b",
    "(sensitive)",
    "(sensitive abc)",
    "or",
    "~",
    "=1",
    '"',
    "{",
    "}",
  ),
  fc.constantFrom(
    "\u202e",
    "line\nbreak",
    "\r",
    "\u2028",
    "שלום",
    "\\",
    "\ud800",
    "A",
    "a",
    "EXPECT",
  ),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
);
const json = fc.jsonValue({ maxDepth: 2 }).map((value) => parseJson(JSON.stringify(value)));
const extra = fc.dictionary(fc.constantFrom("frame", "calls", "__proto__", "with", "x y"), json, {
  maxKeys: 2,
});
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 3 });
const part = (name: string) =>
  fc
    .tuple(text, maybe(fc.oneof(text, json)), fc.oneof(fc.constant({}), extra))
    .map(([is, calledWith, more]): JsonObject => ({
      ...more,
      [name]: is,
      ...(calledWith === undefined ? {} : { calledWith }),
    }));
const selector = fc
  .tuple(text, text, fc.oneof(fc.constant({}), extra), fc.oneof(fc.constant({}), extra))
  .map(([selectorType, value, options, more]): JsonObject => ({
    ...more,
    selectorType,
    selector: value,
    options,
  }));
const anyElement = fc
  .record({
    interaction: fc.option(part("action")),
    assertion: fc.option(part("expectation")),
    selectors: fc.array(selector, { maxLength: 2 }),
    ignoreFailure: fc.boolean(),
    more: fc.oneof(fc.constant({}), extra),
  })
  .map(({ more, ...rest }): JsonObject => ({ ...more, ...rest }));

/** What service-api.md describes of a step, and what it does not, in one form. */
function meaning(raw: JsonObject): string {
  const sorted = (value: unknown): unknown =>
    Array.isArray(value)
      ? value.map(sorted)
      : typeof value === "object" && value !== null
        ? {
            members: Object.entries(value)
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, own]) => [key, sorted(own)]),
          }
        : Object.is(value, -0)
          ? 0
          : value;
  // A null argument means the same as none.
  const argued = (one: unknown): unknown =>
    typeof one === "object" && one !== null && "calledWith" in one && one.calledWith === null
      ? { ...one, calledWith: undefined }
      : one;
  const { interaction = null, assertion = null } = raw;
  const whole = { ...raw, interaction: argued(interaction), assertion: argued(assertion) };
  return JSON.stringify(sorted(parseJson(JSON.stringify(whole))));
}

describe("laws of lines", () => {
  test("two steps have the same line exactly if they are the same", () => {
    fc.assert(
      fc.property(anyElement, anyElement, (one, two) => {
        const [first, second] = lines([one, two]);
        expect(first === second).toBe(meaning(one) === meaning(two));
        expect(first).toMatch(/^[^\p{Cc}\u202a-\u202e\u2066-\u2069\u2028\u2029]+$/u);
      }),
      { numRuns: 200 },
    );
  });

  test("any change of one part changes the line", () => {
    fc.assert(
      fc.property(anyElement, anyElement, (one, two) => {
        for (const key of Object.keys(two)) {
          const changed = { ...one, [key]: two[key] ?? null };
          const [first, second] = lines([one, changed]);
          expect(first === second).toBe(meaning(one) === meaning(changed));
        }
      }),
      { numRuns: 150 },
    );
  });

  test("a file reads back as the steps that were written", () => {
    fc.assert(
      fc.property(fc.array(anyElement, { maxLength: 4 }), (elements) => {
        const steps = stepsOf(caseOf(elements), words);
        const file = fileText("testCase.shop.pay", steps);
        expect(readFileText(file)).toEqual({ address: "testCase.shop.pay", steps });
        expect(readFileText(file.replaceAll("\n", "\r\n"))).toEqual(readFileText(file));
        for (const step of steps) expect(readLine(lineOf(step))).toEqual(step);
        // Ids and the order of keys do not matter.
        const shuffled = elements.map((one) => ({
          id: "other",
          ...Object.fromEntries(Object.entries(one).toReversed()),
        }));
        expect(fileText("testCase.shop.pay", stepsOf(caseOf(shuffled, "D"), words))).toBe(file);
      }),
      { numRuns: 150 },
    );
  });

  test("a text of 100,000 characters is one line that reads back", () => {
    const long = '\\"\u202e '.repeat(25_000);
    const [line = ""] = lines([{ interaction: { action: "FILL", calledWith: long } }]);
    expect(readLine(line)).toBeDefined();
    expect(line).not.toContain("\u202e");
  });
});

describe("the state of a test case", () => {
  const accepted = stepsOf(caseOf(pay), words);
  const [fill = {}, click = {}, receipt = {}] = pay;
  const other = { ...click, selectors: [textSelector("Pay now")] };
  test.each<[string, readonly JsonObject[], string, readonly string[]]>([
    ["is accepted, if nothing changed", pay, "accepted", []],
    ["an assertion is gone", pay.slice(0, 2), "weakened", ["removed 3 weakened"]],
    ["a step is gone", pay.slice(1), "weakened", ["removed 1 weakened"]],
    [
      "all steps are gone",
      [],
      "weakened",
      ["removed 1 weakened", "removed 2 weakened", "removed 3 weakened"],
    ],
    [
      "a failure is ignored",
      [fill, click, { ...receipt, ignoreFailure: true }],
      "weakened",
      ["changed 3 weakened"],
    ],
    [
      "an assertion became an interaction",
      [fill, click, { interaction: { action: "HOVER" } }],
      "weakened",
      ["changed 3 weakened"],
    ],
    [
      "a button is found another way",
      [fill, other, receipt],
      "selectorOnly",
      ["changed 2 selector"],
    ],
    [
      "an assertion looks elsewhere",
      [fill, click, { ...receipt, selectors: [] }],
      "changed",
      ["changed 3 changed"],
    ],
    [
      "an action is another",
      [fill, { ...click, interaction: { action: "TAP" } }, receipt],
      "changed",
      ["changed 2 changed"],
    ],
    ["a step is new", [...pay, click], "changed", ["added 4 changed"]],
    [
      "a secret changed",
      [{ ...fill, interaction: { action: "FILL", calledWith: `${SECRET}!` } }, click, receipt],
      "changed",
      ["changed 1 changed"],
    ],
    [
      "the service shows something new",
      [fill, { ...click, healed: true }, receipt],
      "selectorOnly",
      ["changed 2 selector"],
    ],
    ["steps changed places", [click, fill, receipt], "changed", ["changed 1 changed"]],
  ])("%s", (_, live, state, differences) => {
    const found = acceptanceOf(accepted, caseOf(live), words);
    expect(found.state).toBe(state);
    expect(found.differences.map((one) => `${one.kind} ${one.step} ${one.class}`)).toEqual(
      differences,
    );
  });

  const known: readonly (readonly [
    string,
    readonly JsonObject[],
    Partial<LiveDiscovery> | undefined,
    readonly JsonObject[] | undefined,
    object,
  ])[] = [
    ["nothing was generated", [], undefined, undefined, { state: "withoutSteps" }],
    ["it is generated", [], { status: "RUNNING" }, undefined, { state: "generating" }],
    ["it is generated again", [], { status: "RUNNING" }, [], { state: "generating" }],
    ["it made no steps", [], { status: "DONE" }, undefined, { state: "withoutSteps" }],
    [
      "its generation failed",
      [],
      { status: "FAILED", message: "No page" },
      undefined,
      { state: "withoutSteps", note: "the generation failed: FAILED, No page" },
    ],
    [
      "its generation failed without a message",
      [],
      { status: "FAILED", message: "" },
      undefined,
      { state: "withoutSteps", note: "the generation failed: FAILED" },
    ],
    ["nobody accepted its steps", pay, undefined, undefined, { state: "notAccepted" }],
    [
      "nobody accepted its generated steps",
      pay,
      { updatedAt: "2026-01-01" },
      undefined,
      { state: "notAccepted", note: "generated 2026-01-01" },
    ],
  ];
  test.each(known)("is known where %s", (_, live, discovery, file, expected) => {
    const shown = {
      ...caseOf(live),
      discovery: discovery && discovered({ updatedAt: undefined, ...discovery }),
    };
    const steps = file && stepsOf(caseOf(file), words);
    expect(acceptanceOf(steps, shown, words)).toEqual({ differences: [], ...expected });
  });

  test("tells each difference with both lines, in the order of the steps", () => {
    const hover = { interaction: { action: "HOVER" } };
    const live = [hover, { ...click, frame: "a" }, { ...receipt, assertion: null }, hover];
    expect(acceptanceOf(accepted, caseOf(live), words)).toEqual({
      state: "weakened",
      differences: [
        {
          kind: "changed",
          class: "changed",
          step: 1,
          before: lineOf(accepted[0] ?? lost),
          after: "hover",
        },
        {
          kind: "changed",
          class: "selector",
          step: 2,
          before: 'click text "Pay"',
          after: 'click text "Pay" with {"frame":"a"}',
        },
        {
          kind: "changed",
          class: "weakened",
          step: 3,
          before: 'expect VISIBLE text "Receipt"',
          after: 'at text "Receipt"',
        },
        { kind: "added", class: "changed", step: 4, after: "hover" },
      ],
    });
    expect(acceptanceOf(accepted, caseOf([click, receipt]), words).differences).toEqual([
      { kind: "removed", class: "weakened", step: 1, before: lineOf(accepted[0] ?? lost) },
    ]);
  });

  test("takes a fingerprint of another key, and what a snapshot redacted, as unknown", () => {
    const otherKey = { ...fingerprints, keyCheck: "zzzzzzzz", of: () => "0123456789abcdef" };
    const old = stepsOf(caseOf(pay), { isSecret, fingerprints: otherKey });
    expect(acceptanceOf(old, caseOf(pay), words).state).toBe("accepted");
    const offline = { isSecret: () => false, fingerprints: undefined };
    const redacted = [{ ...fill, interaction: { action: "FILL", calledWith: "(sensitive)" } }];
    expect(acceptanceOf(accepted, caseOf([...redacted, click, receipt]), offline).state).toBe(
      "accepted",
    );
    expect(acceptanceOf(accepted, caseOf([...redacted, click]), offline).state).toBe("weakened");
  });
});

describe("how much a changed step matters", () => {
  const click = { interaction: { action: "CLICK" } };
  const see = { assertion: { expectation: "VISIBLE" } };
  const at = (name: string) => ({ selectors: [textSelector(name)] });
  const ignored = { ignoreFailure: true };
  const rows: readonly (readonly [string, JsonObject, JsonObject, string | undefined])[] = [
    ["nothing", click, click, undefined],
    ["the assertion is lost", { ...click, ...see }, click, "weakened"],
    ["an assertion is added", click, { ...click, ...see }, "changed"],
    ["a failure is ignored", see, { ...see, ...ignored }, "weakened"],
    ["a failure counts again", { ...see, ...ignored }, see, "changed"],
    [
      "a failure is ignored on",
      { ...see, ...ignored },
      { ...see, ...ignored, ...at("x") },
      "changed",
    ],
    ["the interaction is lost", { ...click, ...at("x") }, at("x"), "weakened"],
    ["the interaction is lost, but not the assertion", { ...click, ...see }, see, "changed"],
    ["an interaction is added", see, { ...click, ...see }, "changed"],
    ["another interaction", click, { interaction: { action: "TAP" } }, "changed"],
    ["another assertion", see, { assertion: { expectation: "HIDDEN" } }, "changed"],
    ["an interaction elsewhere", { ...click, ...at("x") }, { ...click, ...at("y") }, "selector"],
    ["an assertion elsewhere", { ...see, ...at("x") }, { ...see, ...at("y") }, "changed"],
    ["an interaction anywhere", { ...click, ...at("x") }, click, "changed"],
    ["an interaction at one place", click, { ...click, ...at("x") }, "selector"],
    ["something unknown", click, { ...click, frame: "a" }, "selector"],
    ["something unknown of an assertion", see, { ...see, frame: "a" }, "selector"],
  ];
  test.each(rows)("%s", (_, before, after, kind) => {
    const { differences } = acceptanceOf(stepsOf(caseOf([before]), words), caseOf([after]), words);
    expect(differences.map((one) => one.class)).toEqual(kind === undefined ? [] : [kind]);
  });
});

describe("a line", () => {
  const odd: readonly (readonly [string, JsonObject, string])[] = [
    ["without a name", { interaction: {} }, "do ~"],
    ["of a name in small letters", { interaction: { action: "click" } }, 'do "click"'],
    ["of a name with signs", { interaction: { action: "CLICK-ALL" } }, 'do "CLICK-ALL"'],
    ["of a name that begins with a number", { interaction: { action: "1ST" } }, 'do "1ST"'],
    ["of a name with numbers", { interaction: { action: "KEY_2" } }, "key_2"],
    ["of a secret name", { interaction: { action: "HUNTER" } }, "do (sensitive)"],
    [
      "of an argument",
      { interaction: { action: "FILL", calledWith: ["a", 1, null] } },
      'fill =["a",1,null]',
    ],
    ["of an empty argument", { interaction: { action: "FILL", calledWith: "" } }, 'fill ""'],
    ["of a null argument", { interaction: { action: "FILL", calledWith: null } }, "fill"],
    ["without an expectation", { assertion: {} }, "expect ~"],
    ["of a secret expectation", { assertion: { expectation: "HUNTER" } }, "expect (sensitive)"],
    [
      "of an expectation with an argument",
      { assertion: { expectation: "HAS", calledWith: true } },
      "expect HAS =true",
    ],
    ["of a selector alone", { selectors: [{}] }, "at by ~ ~"],
    [
      "of two selectors",
      { ...pay[1], selectors: [textSelector("a"), { selectorType: "OR", selector: "b" }] },
      'click text "a" or by "OR" "b"',
    ],
    [
      "of options",
      { selectors: [{ ...textSelector("a"), options: { b: 1, a: { z: [] } } }] },
      'at text "a" {"a":{"z":[]},"b":1}',
    ],
    ["of no options", { selectors: [{ ...textSelector("a"), options: {} }] }, 'at text "a"'],
    ["that ignores its failure", { ignoreFailure: true }, "ignoring failure"],
    ["of another test case", { testCaseId: "D" }, 'with {"testCaseId":"D"}'],
    ["of this test case", { testCaseId: "C" }, "nothing"],
    [
      "of unknown parts of a part",
      { assertion: { expectation: "HAS", id: "i", frame: 1 } },
      'expect HAS with {"assertion":{"frame":1}}',
    ],
    [
      "of unknown parts of a selector",
      { selectors: [textSelector("a"), { ...textSelector("b"), index: 1, near: "c" }] },
      'at text "a" or text "b" with {"selectors":[,{"near":"c"}]}',
    ],
    ["of an unknown number that is a secret", { frame: 4711 }, 'with {"frame":(sensitive)}'],
    ["of an unknown key that is a secret", { HUNTER: {} }, "with {(sensitive):{}}"],
    [
      "of what does not show",
      { interaction: { action: "FILL", calledWith: "\u00ad\ud834\udd73\u00e9\t" } },
      String.raw`fill "\u00ad\ud834\udd73\u00e9\t"`.replace(String.raw`\u00e9`, "\u00e9"),
    ],
    [
      "of signs",
      { interaction: { action: "FILL", calledWith: String.raw`a"b\c(d)` } },
      String.raw`fill "a\"b\\c(d)"`,
    ],
  ];
  const hidden = (text: string): boolean => text === "HUNTER" || text === "4711";
  test.each(odd)("%s", (_, parts, line) => {
    const live = { ...caseOf([]), elements: [element(parts)] };
    const [step] = stepsOf(live, { isSecret: hidden, fingerprints: undefined });
    expect(step && lineOf(step)).toBe(line);
    expect(readLine(line)).toEqual(step);
  });

  test.each([
    "",
    " ",
    "click ",
    " click",
    "click  text",
    "click click",
    "do",
    "do click",
    'do click "x"',
    'do "click" do "tap"',
    "expect",
    "expect visible",
    'expect VISIBLE "a" "b"',
    "at",
    'at "x"',
    'at text "a" or',
    'at text "a" {"b":1',
    'at text "a" {"b":1}}',
    'at text "a" text "b"',
    'click at text "a"',
    "by ~ ~",
    "ignoring",
    "failure",
    "ignoring failures",
    "ignoring failure ignoring failure",
    "with",
    "with frame",
    'with {"b":1} with {"a":1}',
    "nothing nothing",
    "click nothing",
    'fill "a',
    'fill "a"b',
    "fill (sensitive",
    "fill (sensitive a b)",
    "Click",
    "expect VISIBLE click",
  ])("%j is none that is written", (line) => {
    const step = readLine(line);
    expect(step && lineOf(step) === line).toBe(undefined);
  });
});

test("lists with and without an empty object have different lines", () => {
  const all: readonly Json[] = [[], [{}], [[]], [[{}]], [{}, {}], [null], [{ a: {} }], [{ a: [] }]];
  const found = lines(all.map((calledWith) => ({ interaction: { action: "FILL", calledWith } })));
  expect(new Set(found).size).toBe(all.length);
});

describe("redacted text", () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ["abc", "abc", true],
    ["abc", "abcd", false],
    ["(sensitive)", "", true],
    ["a(sensitive)c", "abc", true],
    ["a(sensitive)c", "ac", true],
    ["a(sensitive)c", "a", false],
    ["ab(sensitive)bc", "abc", false],
    ["a(sensitive)c", "xabc", false],
    ["a(sensitive)c", "abcx", false],
    ["a(sensitive)b(sensitive)c", "a1b2c", true],
    ["a(sensitive)b(sensitive)c", "a12c", false],
    ["a(sensitive)b(sensitive)b(sensitive)c", "a1b2c", false],
    ["a(sensitive)b(sensitive)bc", "a1bc", false],
    ["a(sensitive)a(sensitive)b", "ab", false],
  ];
  test.each(rows)("%s may be %j: %s", (redacted, whole, expected) => {
    expect(fitsAround(redacted, whole)).toBe(expected);
  });

  test("names its key, if it was written with one", () => {
    const own = lines([{ interaction: { action: "FILL", calledWith: SECRET } }])[0] ?? "";
    expect(own).toBe(
      `fill (sensitive ${fingerprints.keyCheck.slice(0, 4)}${fingerprints.of("steps", SECRET)})`,
    );
    const texts = [
      own,
      "fill (sensitive)",
      "fill (sensitive zzzz)",
      `${own} (sensitive zzzz)`,
      "a",
    ];
    expect(texts.map((one) => hasOtherKey(one, words))).toEqual([false, false, true, true, false]);
    const keyless = { isSecret, fingerprints: undefined };
    expect(texts.some((one) => hasOtherKey(one, keyless))).toBe(false);
  });
});

test("a file has its address and numbered lines", () => {
  const file = fileText("testCase.shop.pay", stepsOf(caseOf(pay.slice(1)), words));
  expect(file).toBe('# testCase.shop.pay\n1  click text "Pay"\n2  expect VISIBLE text "Receipt"\n');
  const { length } = stepsOf(caseOf(pay.slice(1)), words);
  expect(
    [readFileText(file), readFileText(file.trimEnd())].map(
      (one) => "steps" in one && one.steps.length,
    ),
  ).toEqual([length, length]);
  expect(readFileText("# testCase.shop.pay\n")).toEqual({
    address: "testCase.shop.pay",
    steps: [],
  });
});

const unreadable: readonly (readonly [string, number, string])[] = [
  ["", 1, "it does not begin with `# ADDRESS`"],
  ["testCase.shop.pay\n", 1, "it does not begin with `# ADDRESS`"],
  ["# testCase.shop.pay and more\n", 1, "it does not begin with `# ADDRESS`"],
  ["## testCase.shop.pay", 1, "it does not begin with `# ADDRESS`"],
  ["# testCase.shop.pay\n1  click\n3  click\n", 3, "the line is not a step as tasc writes it"],
  ["# testCase.shop.pay\n1 click\n", 2, "the line is not a step as tasc writes it"],
  ["# testCase.shop.pay\n1  click text\n", 2, "the line is not a step as tasc writes it"],
  ["# testCase.shop.pay\n1  click\n\n", 3, "the line is not a step as tasc writes it"],
  ...["<<<<<<< HEAD", "|||||||", "=======", ">>>>>>> main"].map(
    (line) =>
      [
        `# testCase.shop.pay\n${line}\n1  click\n`,
        2,
        "it has the markers of a merge conflict",
      ] as const,
  ),
  ["# testCase.shop.pay\n========\n", 2, "the line is not a step as tasc writes it"],
  ["# testCase.shop.pay\nx =======\n", 2, "the line is not a step as tasc writes it"],
];
test.each(unreadable)("a file that cannot be read: %j", (file, line, why) => {
  expect(readFileText(file)).toEqual({ line, why });
});
