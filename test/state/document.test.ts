import type { DocumentKey } from "../../src/state/backend.ts";
import * as fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { type State, type StateEvent, areStateEvents, emptyState } from "../../src/model/state.ts";
import { locatorOf } from "../../src/state/binding.ts";
import { formatDocument, parseDocument } from "../../src/state/document.ts";
import { applyEvents } from "../../src/state/events.ts";
import { StateFailure, type StateProblem } from "../../src/state/problem.ts";
import { state as anyState, event } from "./support/arbitrary.ts";
import { SERVICE } from "./support/numbered.ts";

const KEY: DocumentKey = { stage: "staging", target: "shop", service: SERVICE };
const WHERE = "shop.json";

const sample: State = applyEvents(emptyState("staging", "shop", SERVICE), [
  { type: "keyed", keyCheck: "kkkkkkkkkkkkkkkk" },
  { type: "bound", address: "testCase.shop.login", id: "id-2", fields: { tags: "t", status: "s" } },
  {
    type: "bound",
    address: "environment.shop.preview",
    id: "id-1",
    fields: { testAccount: { username: "u", password: "p" }, name: "n" },
  },
  {
    type: "located",
    address: "testCase.shop.login",
    locators: { "e-2": { selectors: "s2", line: "l2" }, "e-1": { line: "l1", selectors: "s1" } },
  },
  { type: "folder", name: "Zahlung & Versand", id: "f-2" },
  { type: "folder", name: "Auth", id: "f-1" },
  {
    type: "batch",
    address: "batchGeneration.shop.spring",
    record: { content: "c", status: "done" },
  },
  {
    type: "intended",
    address: "testCase.shop.cart",
    intent: {
      existing: ["id-9"],
      at: "2026-01-02T03:04:05.000Z",
      fields: { tags: "t", folder: "f" },
      name: "n",
    },
  },
]);

const SAMPLE_TEXT = `{
  "batchGenerations": {
    "batchGeneration.shop.spring": {"content":"c","status":"done"}
  },
  "bindings": {
    "environment.shop.preview": {"fields":{"name":"n","testAccount":{"password":"p","username":"u"}},"id":"id-1"},
    "testCase.shop.login": {"fields":{"status":"s","tags":"t"},"id":"id-2","locators":{"e-1":{"line":"l1","selectors":"s1"},"e-2":{"line":"l2","selectors":"s2"}}}
  },
  "folders": {
    "Auth": "f-1",
    "Zahlung & Versand": "f-2"
  },
  "format": "tasc-state",
  "intents": {
    "testCase.shop.cart": {"at":"2026-01-02T03:04:05.000Z","existing":["id-9"],"fields":{"folder":"f","tags":"t"},"name":"n"}
  },
  "keyCheck": "kkkkkkkkkkkkkkkk",
  "service": "https://service.example.com/base",
  "stage": "staging",
  "target": "shop",
  "version": 2
}
`;

function problemOf(text: string, key = KEY): StateProblem | undefined {
  try {
    parseDocument(text, key, WHERE);
    return undefined;
  } catch (error) {
    if (error instanceof StateFailure) return error.problem;
    throw error;
  }
}

function stateOf(text: string): State {
  return parseDocument(text, KEY, WHERE).state;
}

describe("the document's text", () => {
  it("names its format, is sorted, and has one binding per line", () => {
    expect(formatDocument(sample)).toBe(SAMPLE_TEXT);
  });

  it("is short for an empty state", () => {
    expect(formatDocument(emptyState("staging", "shop", SERVICE))).toBe(`{
  "batchGenerations": {},
  "bindings": {},
  "folders": {},
  "format": "tasc-state",
  "intents": {},
  "service": "https://service.example.com/base",
  "stage": "staging",
  "target": "shop",
  "version": 2
}
`);
  });

  it("names what an import has bound in one line, so that an apply changes no other", () => {
    const imported = new Map(
      [...sample.bindings].map(([at, one]) => [at, { ...one, imported: true }] as const),
    );
    const text = formatDocument({ ...sample, bindings: imported });
    const line = '  "imported": ["environment.shop.preview","testCase.shop.login"],\n';
    expect(text).toBe(SAMPLE_TEXT.replace('  "intents"', `${line}  "intents"`));
    expect(stateOf(text).bindings).toEqual(imported);
  });

  it("has a serial only for backends that count versions", () => {
    expect(formatDocument(sample, 7)).toBe(
      SAMPLE_TEXT.replace('  "service"', '  "serial": 7,\n  "service"'),
    );
    expect(parseDocument(formatDocument(sample, 7), KEY, WHERE)).toEqual({
      state: sample,
      serial: 7,
    });
  });

  it("parses back to the same state", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        expect(stateOf(formatDocument(state))).toEqual(state);
      }),
    );
  });

  it("parses to a state on which events have the same effect", () => {
    const digest = (letter: string) => letter.repeat(16);
    const bound: StateEvent = {
      type: "bound",
      address: "testCase.shop.login",
      id: "id-2",
      fields: { status: digest("s"), tags: digest("t") },
    };
    const locators = { "e-1": { line: digest("l"), selectors: digest("m") } };
    const before = applyEvents(sample, [
      bound,
      { type: "located", address: bound.address, locators },
    ]);
    const held = stateOf(formatDocument(before)).bindings.get(bound.address);
    expect(["e-1", "e-3", "line"].map((id) => locatorOf(held, id))).toEqual([
      locators["e-1"],
      undefined,
      undefined,
    ]);
    fc.assert(
      fc.property(fc.array(event), (events) => {
        expect(applyEvents(stateOf(formatDocument(before)), events)).toEqual(
          applyEvents(before, events),
        );
      }),
    );
    const one: StateEvent = { type: "generating", address: bound.address, shown: "" };
    expect(formatDocument(applyEvents(stateOf(formatDocument(before)), [one]))).toBe(
      formatDocument(applyEvents(before, [one])),
    );
  });

  it("sorts what stands unsorted in a document, and keeps what stands sorted", () => {
    const digest = (letter: string) => letter.repeat(16);
    const locator = (id: string) =>
      `"${id}":{"line":"${digest("l")}","selectors":"${digest("m")}"}`;
    const entry = (name: string, names: readonly string[], elements: readonly string[]) => {
      const fields = names.map((field) => `"${field}":"${digest("f")}"`);
      return `    "testCase.shop.${name}": {"fields":{${fields.join()}},"id":"${name}","locators":{${elements.map(locator).join()}}}`;
    };
    const textOf = (names: readonly string[], elements: readonly string[]) => {
      // The first of a form is read in another way than the others.
      const entries = ["one", "three", "two"].map((name) => entry(name, names, elements));
      return SAMPLE_TEXT.replace(
        /("bindings": \{\n)[^]*?(\n {2}\},\n {2}"folders")/,
        (_, start: string, end: string) => `${start}${entries.join(",\n")}${end}`,
      );
    };
    const [names, elements] = [
      ["description", "status", "tags"],
      ["e-1", "e-2"],
    ];
    const sorted = textOf(names, elements);
    expect(formatDocument(stateOf(sorted))).toBe(sorted);
    expect(formatDocument(stateOf(textOf(names, elements.toReversed())))).toBe(sorted);
    expect(formatDocument(stateOf(textOf(names.toReversed(), elements)))).toBe(sorted);
  });

  it("is identical, byte for byte, for equal states, whatever the order of their entries", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const turned: State = {
          ...state,
          bindings: new Map([...state.bindings].toReversed()),
          folders: new Map([...state.folders].toReversed()),
          intents: new Map([...state.intents].toReversed()),
        };
        const text = formatDocument(state);
        expect(formatDocument(turned)).toBe(text);
        expect(formatDocument(stateOf(text))).toBe(text);
      }),
    );
  });

  it("puts each entry on a line of its own", () => {
    fc.assert(
      fc.property(anyState, (state) => {
        const entries =
          state.bindings.size +
          state.folders.size +
          state.batchGenerations.size +
          state.intents.size;
        const lines = formatDocument(state).split("\n");
        expect(lines.filter((line) => line.startsWith('    "'))).toHaveLength(entries);
      }),
    );
  });
});

interface Refusal {
  readonly rule: string;
  readonly text: string;
  readonly problem: StateProblem;
}

const corrupt = (reason: string): StateProblem => ({ kind: "corrupt", where: WHERE, reason });
const notAsWritten = (member: string, key: string): StateProblem =>
  corrupt(`the entry "${key}" of "${member}" is not in the expected format`);

const refusals: readonly Refusal[] = [
  { rule: "an empty file", text: "", problem: corrupt("invalid JSON; the file may be truncated") },
  {
    rule: "a truncated file",
    text: SAMPLE_TEXT.slice(0, 400),
    problem: corrupt("invalid JSON; the file may be truncated"),
  },
  {
    rule: "JSON that is not an object",
    text: "[]",
    problem: corrupt("it is JSON, but not an object"),
  },
  {
    rule: "a document of another format",
    text: '{ "version": 4, "terraform_version": "1.9.0", "serial": 3 }',
    problem: corrupt('its "format" is not "tasc-state"'),
  },
  {
    rule: "a document whose version is not a number",
    text: SAMPLE_TEXT.replace('"version": 2', '"version": "1"'),
    problem: corrupt('its "version" is not a whole number from 1 up'),
  },
  {
    // The other members do not matter: a later version may look entirely different.
    rule: "a document of a later version",
    text: '{ "format": "tasc-state", "version": 3, "things": [] }',
    problem: { kind: "newer", where: WHERE, version: 3, understood: 2 },
  },
  {
    rule: "a document without a stage",
    text: SAMPLE_TEXT.replace('  "stage": "staging",\n', ""),
    problem: corrupt('it does not name its "stage", "target" and "service"'),
  },
  {
    rule: "another stage's document",
    text: SAMPLE_TEXT.replace('"staging"', '"production"'),
    problem: {
      kind: "misplaced",
      where: WHERE,
      expected: { stage: "staging", target: "shop" },
      found: { stage: "production", target: "shop" },
    },
  },
  {
    rule: "another target's document",
    text: SAMPLE_TEXT.replace('"shop"', '"web"'),
    problem: {
      kind: "misplaced",
      where: WHERE,
      expected: { stage: "staging", target: "shop" },
      found: { stage: "staging", target: "web" },
    },
  },
  {
    rule: "another service's document",
    text: SAMPLE_TEXT.replace("service.example.com", "other.example.com"),
    problem: {
      kind: "other-service",
      where: WHERE,
      expected: SERVICE,
      found: "https://other.example.com/base",
    },
  },
  {
    rule: "conflict markers of git",
    text: SAMPLE_TEXT.replace(
      '  "folders": {\n',
      '<<<<<<< HEAD\n  "folders": {\n=======\n>>>>>>> branch\n',
    ),
    problem: { kind: "conflicted", where: WHERE, line: 9 },
  },
  {
    rule: "conflict markers of git in a file with Windows line endings",
    text: SAMPLE_TEXT.replaceAll("\n", "\r\n").replace('"folders"', '\r\n=======\r\n  "folders"'),
    problem: { kind: "conflicted", where: WHERE, line: 10 },
  },
  {
    rule: "an entry that a merge duplicated",
    text: SAMPLE_TEXT.replace('    "Auth": "f-1",\n', '    "Auth": "f-1",\n    "Auth": "f-3",\n'),
    problem: { kind: "conflicted", where: WHERE, line: 10 },
  },
  {
    rule: "a document with an unknown member",
    text: SAMPLE_TEXT.replace('"folders"', '"extra": {},\n  "folders"'),
    problem: corrupt('it has a member "extra" that tasc does not know'),
  },
  {
    rule: "a document without bindings",
    text: '{ "format": "tasc-state", "version": 2, "stage": "staging", "target": "shop", "service": "https://service.example.com/base" }',
    problem: corrupt('"bindings" is missing or not an object'),
  },
  {
    rule: "a key that is not an address",
    text: SAMPLE_TEXT.replace("testCase.shop.login", "testCase.login"),
    problem: corrupt('"bindings" has a key "testCase.login" that is not an address'),
  },
  {
    rule: "a binding without an id",
    text: SAMPLE_TEXT.replace('"id":"id-2",', ""),
    problem: notAsWritten("bindings", "testCase.shop.login"),
  },
  {
    rule: "a binding with an unknown member",
    text: SAMPLE_TEXT.replace('"id":"id-2",', '"id":"id-2","since":"today",'),
    problem: notAsWritten("bindings", "testCase.shop.login"),
  },
  {
    // A name that every object inherits must not be accepted as a known member.
    rule: "a binding with a member named `__proto__`",
    text: SAMPLE_TEXT.replace('"id":"id-2",', '"id":"id-2","__proto__":{},'),
    problem: notAsWritten("bindings", "testCase.shop.login"),
  },
  {
    rule: "a fingerprint that is not a text",
    text: SAMPLE_TEXT.replace('"password":"p"', '"password":1'),
    problem: notAsWritten("bindings", "environment.shop.preview"),
  },
  {
    rule: "a batch record with an unknown status",
    text: SAMPLE_TEXT.replace('"status":"done"', '"status":"perhaps"'),
    problem: notAsWritten("batchGenerations", "batchGeneration.shop.spring"),
  },
  {
    rule: "an intent without the ids that already existed",
    text: SAMPLE_TEXT.replace('"existing":["id-9"],', ""),
    problem: notAsWritten("intents", "testCase.shop.cart"),
  },
];

describe("reading rejects", () => {
  test.each(refusals)("$rule", ({ text, problem }) => {
    expect(problemOf(text)).toEqual(problem);
  });

  it("any truncated document", () => {
    fc.assert(
      fc.property(anyState, fc.double({ min: 0, max: 0.999, noNaN: true }), (state, part) => {
        const text = formatDocument(state).trimEnd();
        expect(problemOf(text.slice(0, Math.floor(text.length * part)))?.kind).toBe("corrupt");
      }),
    );
  });
});

describe("reading accepts", () => {
  it("a document with Windows line endings", () => {
    expect(stateOf(SAMPLE_TEXT.replaceAll("\n", "\r\n"))).toEqual(sample);
  });

  it("a document that a formatter spread over more lines", () => {
    const spread = JSON.stringify(JSON.parse(SAMPLE_TEXT), undefined, 4);
    expect(stateOf(spread)).toEqual(sample);
  });

  it("the same base address in another spelling", () => {
    const service = "HTTPS://Service.Example.com:443/base/";
    expect(problemOf(SAMPLE_TEXT, { ...KEY, service })).toBeUndefined();
  });

  it("every event after a round trip through JSON", () => {
    fc.assert(
      fc.property(event, (one: StateEvent) => {
        const again: unknown = JSON.parse(JSON.stringify(one));
        expect(areStateEvents([again])).toBe(true);
        expect(again).toEqual(one);
      }),
    );
  });
});
