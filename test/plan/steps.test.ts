import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type JsonObject, parseJson } from "../../src/model/json.ts";
import {
  type StepWords,
  acceptanceOf,
  fileText,
  lineOf,
  readFileText,
  readLine,
  stepsOf,
} from "../../src/plan/steps.ts";
import { element } from "../../src/service/answers.ts";
import { fingerprints, liveCase } from "./build.ts";

/** The steps that run, as lines that a person accepts. */

const SECRET = "hunter2-of-qa";
const isSecret = (text: string): boolean => text.includes(SECRET);
const words: StepWords = { isSecret, fingerprints };

const caseOf = (elements: readonly JsonObject[], id = "C") =>
  liveCase(id, { elements: elements.map(element) });
const lines = (elements: readonly JsonObject[], how = words): readonly string[] =>
  stepsOf(caseOf(elements), how).map(lineOf);
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
  fc.string({ unit: "binary", maxLength: 6 }),
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
      { numRuns: 500 },
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
      { numRuns: 300 },
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
      { numRuns: 300 },
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

  test("is known without a file and without steps", () => {
    const discovery = {
      status: "RUNNING",
      freePrompt: "p",
      abortCause: undefined,
      message: undefined,
    };
    const states = [
      acceptanceOf(undefined, caseOf(pay), words),
      acceptanceOf(undefined, caseOf([]), words),
      acceptanceOf(undefined, liveCase("C", { discovery }), words),
      acceptanceOf(
        undefined,
        liveCase("C", { discovery: { ...discovery, status: "FAILED" } }),
        words,
      ),
    ];
    expect(states.map(({ state }) => state)).toEqual([
      "notAccepted",
      "withoutSteps",
      "generating",
      "withoutSteps",
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

test.each([
  ["testCase.shop.pay\n", 1, /begin/],
  ["# testCase.shop.pay\n1  click\n3  click\n", 3, /not a step/],
  ["# testCase.shop.pay\n1  click text\n", 2, /not a step/],
  ["# testCase.shop.pay\n<<<<<<< HEAD\n1  click\n", 2, /merge conflict/],
])("a file that cannot be read: %j", (file, line, why) => {
  const found = readFileText(file);
  expect("line" in found ? `${found.line}: ${found.why}` : "").toMatch(
    new RegExp(`^${line}: .*${why.source}`),
  );
});
