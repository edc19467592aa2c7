// What state remembers of live resources: the digests of values, and what has changed since.
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { type Field, fieldsOf } from "../../src/model/fields.ts";
import type { Json } from "../../src/model/json.ts";
import type { Binding, FieldRecord } from "../../src/model/state.ts";
import { Secret, UNKNOWN, type Value } from "../../src/model/value.ts";
import {
  changedBy,
  isRecordOf,
  keyHolds,
  memoryOf,
  nameDigests,
  recordField,
  recordedSteps,
  secretFields,
  unwrittenParts,
} from "../../src/plan/memory.ts";
import { fingerprints, stateOf } from "./build.ts";
import { CLICK, LOGIN, VISIBLE, applied, bound, intent, keyed } from "./situations/parts.ts";

/** Digests that show what they are made of. */
const readable = {
  keyCheck: "key",
  of: (purpose: string, value: Json) => `${purpose}=${JSON.stringify(value)}`,
};

function fieldOf(kind: Parameters<typeof fieldsOf>[0], name: string): Field {
  const field = fieldsOf(kind).find((one) => one.name === name);
  if (field === undefined) throw new Error(`no field ${name}`);
  return field;
}

const tags = fieldOf("testCase", "tags");
const prompt = fieldOf("testCase", "discovery.prompt");
const account = fieldOf("environment", "basicAuth");
const headers = fieldOf("environment", "additionalHeaderFields");
const url = fieldOf("environment", "discoveryUrl");
const elements = fieldOf("testCase", "elements");

const digests: readonly (readonly [Field, Value, FieldRecord])[] = [
  [prompt, "p", 'I/discovery.prompt="p"'],
  [prompt, new Secret("p"), 'I/discovery.prompt="p"'],
  [tags, ["b", "a", "b"], 'I/tags=["a","b"]'],
  [url, "https://a", 'I/discoveryUrl="https://a/"'],
  [url, "", "I/discoveryUrl=null"],
  [account, null, "I/basicAuth=null"],
  [account, {}, {}],
  [
    account,
    { username: "u", password: new Secret("p") },
    { username: 'I/basicAuth/username="u"', password: 'I/basicAuth/password="p"' },
  ],
  [headers, { "X-A": "1" }, { "X-A": 'I/additionalHeaderFields/X-A="1"' }],
  [elements, null, "I/elements=null"],
  [elements, [], "I/elements=[]."],
  [
    elements,
    [{ ...VISIBLE, locatorLine: "l" }],
    'I/elements=[{"assertion":{"expectation":"VISIBLE"}}].I/elemen',
  ],
];
test.each(digests)("a value is recorded by its digests: %o %o", (field, value, record) => {
  expect(recordField(readable, "I", field, value)).toEqual(record);
});

describe("a record is that of a value", () => {
  const record = (field: Field, value: Value) => recordField(fingerprints, "I", field, value);
  const rows: readonly (readonly [string, Field, Value, FieldRecord, boolean])[] = [
    ["of the same text", prompt, "p", record(prompt, "p"), true],
    ["of another text", prompt, "p", record(prompt, "q"), false],
    ["of the same parts", account, { username: "u" }, record(account, { username: "u" }), true],
    ["of other parts", account, { username: "u" }, record(account, { username: "v" }), false],
    ["of the same steps", elements, [CLICK, VISIBLE], record(elements, [CLICK, VISIBLE]), true],
    ["of no steps", elements, [], record(elements, []), true],
    ["of other steps", elements, [CLICK, VISIBLE], record(elements, [VISIBLE, CLICK]), false],
    [
      "of steps with parts that are never shown",
      elements,
      [{ ...CLICK, locatorLine: "l" }],
      record(elements, [CLICK]),
      true,
    ],
    [
      "of secret steps",
      elements,
      [{ interaction: { action: new Secret("CLICK") } }],
      record(elements, [CLICK]),
      true,
    ],
    ["without digests of steps", elements, [], fingerprints.of("I/elements", []), false],
    [
      "with a digest too many",
      elements,
      [],
      `${fingerprints.of("I/elements", [])}.12345678`,
      false,
    ],
    ["of parts, where there are steps", elements, [], {}, false],
    ["of null, where there are no steps", elements, null, record(elements, null), true],
  ];
  test.each(rows)("%s", (_, field, value, known, expected) => {
    expect(isRecordOf(known, fingerprints, "I", field, value)).toBe(expected);
  });
});

const named: readonly (readonly [Parameters<typeof nameDigests>[1], object, object])[] = [
  [
    "testCase",
    { name: " A\u0301  b ", externalId: " X " },
    { name: 'name="\u00c1 b"', externalId: 'name="X"' },
  ],
  ["target", { name: "Shop", externalId: undefined }, { name: 'name="Shop"' }],
  ["environment", { name: "https://a/", externalId: undefined }, { name: 'url="https://a/"' }],
  ["environment", { name: undefined, externalId: undefined }, { name: 'url=""' }],
];
test.each(named)("a %s is recognized by digests of its names %o", (kind, names, record) => {
  expect(nameDigests(readable, kind, { name: undefined, externalId: undefined, ...names })).toEqual(
    record,
  );
});

describe("parts of a hidden field that differ from what was written", () => {
  const record = (field: Field, value: Value) => recordField(fingerprints, "I", field, value);
  const rows: readonly (readonly [string, Field, Value, FieldRecord | undefined, object])[] = [
    ["none", account, { username: "u" }, record(account, { username: "u" }), []],
    [
      "one",
      account,
      { username: "u", password: "q" },
      record(account, { username: "u", password: "p" }),
      [["password"]],
    ],
    [
      "all without a record, in the order of the shape",
      account,
      { password: "p", username: "u" },
      undefined,
      [["username"], ["password"]],
    ],
    [
      "a part that is undeclared now is left alone",
      account,
      {},
      record(account, { username: "u" }),
      [],
    ],
    ["an empty object without a record", account, {}, undefined, [[]]],
    ["an empty object after null", account, {}, record(account, null), [[]]],
    ["null after parts", account, null, record(account, { username: "u" }), [[]]],
    ["null after null", account, null, record(account, null), []],
    [
      "a header that went, in their order",
      headers,
      { B: "1", A: "2" },
      record(headers, { C: "1", A: "2", B: "2" }),
      [["B"], ["C"]],
    ],
    ["no header any more", headers, {}, record(headers, { A: "1" }), [["A"]]],
    ["headers after a text", headers, { toString: "1" }, "x", [["toString"]]],
    [
      "a header of a common name that went",
      headers,
      {},
      record(headers, { toString: "1" }),
      [["toString"]],
    ],
    ["a whole value", prompt, "p", record(prompt, "q"), [[]]],
    ["no whole value", prompt, "p", record(prompt, "p"), []],
    ["an unknown part", account, { username: "u", password: UNKNOWN }, undefined, []],
  ];
  test.each(rows)("%s", (_, field, value, known, expected) => {
    const binding: Binding = {
      id: "I",
      fields: known === undefined ? {} : { [field.name]: known },
    };
    const memory = { id: "I", binding, secrets: [], folders: new Map<string, string>() };
    expect(unwrittenParts(field, value, { ...memory, fingerprints })).toEqual(expected);
    expect(unwrittenParts(field, value, { ...memory, fingerprints: undefined })).toEqual([]);
  });
});

test.each([
  ["A", "A", "A", undefined],
  ["A", "B", "A", "manifest"],
  ["A", "A", "B", "service"],
  ["A", "B", "C", "both"],
  ["A", "B", "B", "both"],
  [undefined, "A", "B", undefined],
] as const)(
  "written as %s, declared as %s and shown as %s: changed by %s",
  (was, declared, live, by) => {
    const state = stateOf([applied(was === undefined ? {} : { description: was })]);
    const field = fieldOf("testCase", "description");
    const memory = memoryOf(LOGIN, "C1", { state, fingerprints });
    expect(changedBy(field, declared, live, memory)).toBe(by);
    const keyless = memoryOf(LOGIN, "C1", { state, fingerprints: undefined });
    expect(changedBy(field, declared, live, keyless)).toBe(undefined);
  },
);

test.each([
  [undefined, undefined],
  [{ A: "x" }, undefined],
  ["whole", undefined],
  ["whole.", []],
  ["whole.1234567", undefined],
  ["whole.12345678abcdefgh", ["12345678", "abcdefgh"]],
] as const)("the record %o names the steps %o", (record, expected) => {
  const binding: Binding = { id: "I", fields: record === undefined ? {} : { elements: record } };
  const memory = { id: "I", binding, secrets: [], folders: new Map<string, string>() };
  expect(recordedSteps({ ...memory, fingerprints })).toEqual(expected);
  expect(recordedSteps({ ...memory, fingerprints: undefined })).toBe(undefined);
  expect(recordedSteps({ ...memory, binding: undefined, fingerprints })).toBe(undefined);
});

describe("the memory of a live resource", () => {
  const other: Address = "testCase.shop.other";
  const fields = { description: "Log in", elements: [CLICK] };
  const secret = { secrets: ["tags", "description"] };
  const record = applied(fields, secret);
  const folder = { type: "folder", name: "F", id: "1" } as const;
  const state = stateOf([record, folder, bound(other, "C2")]);
  const binding = state.bindings.get(LOGIN);
  const secrets = { get: () => ["folder"] };
  const folders = new Map([["F", "1"]]);

  test.each([
    [
      "has its record",
      { state, fingerprints, secrets },
      { binding, secrets: ["description", "tags"], folders },
    ],
    [
      "of another id has none, but old secrets",
      { state: stateOf([bound(LOGIN, "C9")]), fingerprints, secrets },
      { binding: undefined, secrets: ["folder"], folders: new Map() },
    ],
    [
      "without state is empty",
      { state: undefined, fingerprints },
      { binding: undefined, secrets: [], folders: new Map() },
    ],
    [
      "under another key has nothing but the names of secrets",
      { state: { ...state, keyCheck: "other" }, fingerprints },
      {
        binding: { id: "C1", fields: {}, secrets: ["description", "tags"] },
        secrets: ["description", "tags"],
        folders,
      },
    ],
    [
      "without the key has its record",
      { state: { ...state, keyCheck: "other" }, fingerprints: undefined },
      { binding, secrets: ["description", "tags"], folders },
    ],
  ])("%s", (_, of, expected) => {
    expect(memoryOf(LOGIN, "C1", of)).toEqual({
      id: "C1",
      fingerprints: of.fingerprints,
      ...expected,
    });
  });

  test("is of this key unless the state says another", () => {
    const plain = stateOf([]);
    const states = [undefined, { ...plain, keyCheck: undefined }, plain, stateOf([keyed])];
    expect(states.map((one) => keyHolds(one, fingerprints))).toEqual([true, true, true, false]);
  });
});

test("old secrets are known by id from all states, and those of open creations for all others", () => {
  const other: Address = "testCase.blog.a";
  const first = [
    bound(LOGIN, "C1", { secrets: ["tags"] }),
    bound("testCase.shop.plain", "C2"),
    bound("testCase.shop.prompt", "C3", { secrets: ["discovery.prompt"] }),
  ];
  const second = [bound(other, "C1", { secrets: ["folder"] })];
  const open = { ...intent("x"), secrets: ["externalId"] };
  const opened = { type: "intended", address: other, intent: open } as const;
  const of = (...states: readonly (readonly (typeof first)[number][])[]) => {
    const found = secretFields(states.map((events) => stateOf(events)));
    return ["C1", "C2", "C3", "C4", undefined].map((id) => found.get(id));
  };
  const known = [["tags", "folder"], [], ["discovery.prompt", "elements"]];
  expect(of(first, second)).toEqual([...known, [], []]);
  expect(of(first, [...second, opened])).toEqual([...known, ["externalId"], ["externalId"]]);
});
