// How one field is compared with its declaration, and what is shown of a difference.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Field, fieldsOf } from "../../src/model/fields.ts";
import { type Json, parseJson, sameJson } from "../../src/model/json.ts";
import type { LiveResource } from "../../src/model/live.ts";
import type { StateEvent } from "../../src/model/state.ts";
import { IdOf, Secret, UNKNOWN, type Value } from "../../src/model/value.ts";
import {
  compareField,
  declaredChanges,
  diffFields,
  display,
  folderNames,
  liveInWords,
  readField,
} from "../../src/plan/compare.ts";
import { memoryOf } from "../../src/plan/memory.ts";
import {
  type Difference,
  differences,
  normalUrl,
  normalise,
  ordered,
  orderedParts,
  sameAsLive,
} from "../../src/plan/normalise.ts";
import { fingerprints, liveCase, resource, stateOf } from "./build.ts";
import { CLICK, LOGIN, VISIBLE, applied, bound, discovered, steps } from "./situations/parts.ts";

function fieldOf(name: string, kind: Parameters<typeof fieldsOf>[0] = "testCase"): Field {
  const field = fieldsOf(kind).find((one) => one.name === name);
  if (field === undefined) throw new Error(`no field ${name}`);
  return field;
}

const FOLDERS = new Map([
  ["Shop", "F1"],
  ["Auth", "F1"],
  ["Zoo", "F1"],
  ["Other", "F2"],
]);

test("a folder with several names always has the same one", () => {
  const names = [FOLDERS, new Map([...FOLDERS].toReversed())].map(folderNames);
  for (const name of names)
    expect(["F1", "F2", "F3"].map(name)).toEqual(["Auth", "Other", undefined]);
});

describe("a live field", () => {
  const shown = (value: Json) => ({ kind: "shown", value });
  const hidden = { kind: "hidden" };
  const made = steps({ ...CLICK, ...VISIBLE }, VISIBLE);
  const rows: readonly (readonly [string, Field, LiveResource, Value | undefined, object])[] = [
    ["as it is", fieldOf("status"), liveCase("C"), undefined, shown("ENABLED")],
    ["that is null", fieldOf("externalId"), liveCase("C"), undefined, shown(null)],
    ["that is missing", fieldOf("status"), liveCase("C", { status: undefined }), undefined, hidden],
    ["that is never shown", fieldOf("interactionStatus"), liveCase("C"), undefined, hidden],
    ["in a folder", fieldOf("folder"), liveCase("C", { folderId: "F1" }), undefined, shown("Auth")],
    ["in no folder", fieldOf("folder"), liveCase("C"), undefined, shown(null)],
    [
      "in an unknown folder",
      fieldOf("folder"),
      liveCase("C", { folderId: "F9" }),
      undefined,
      { kind: "unnamed", id: "F9" },
    ],
    [
      "with declared steps",
      fieldOf("elements"),
      liveCase("C", { elements: made }),
      [CLICK],
      shown([CLICK, made[1]?.parts ?? null]),
    ],
    [
      "with undeclared steps",
      fieldOf("elements"),
      liveCase("C", { elements: made }),
      undefined,
      shown(made.map(({ parts }) => parts)),
    ],
    [
      "without steps",
      fieldOf("elements"),
      liveCase("C", { elements: undefined }),
      [CLICK],
      shown([]),
    ],
  ];
  test.each(rows)("%s", (_, field, live, declared, expected) => {
    expect(readField(field, live, folderNames(FOLDERS), declared)).toEqual(expected);
    if (field.compare !== "elements")
      expect(liveInWords(field, live, folderNames(FOLDERS))).toEqual(expected);
  });

  test("with steps in the words of a manifest", () => {
    const words = (elements: typeof made | undefined) =>
      liveInWords(fieldOf("elements"), liveCase("C", { elements }), folderNames(FOLDERS));
    expect(words(made)).toEqual(shown([{ ...CLICK, ...VISIBLE }, VISIBLE]));
    expect(words(undefined)).toEqual(shown([]));
  });
});

describe("a comparison", () => {
  interface Row {
    readonly field: string;
    readonly kind?: "environment";
    readonly declared: Value;
    readonly live?: Partial<LiveResource>;
    readonly before?: readonly StateEvent[];
    readonly expected?: Json;
    readonly key?: undefined;
  }
  const same = { kind: "same" };
  const hidden = { kind: "hidden" };
  const unknown = { kind: "unknown" };
  const differs = (parts: object) => ({ kind: "differs", parts: [[]], ...parts });
  const folders: readonly StateEvent[] = [
    { type: "folder", name: "Auth", id: "F1" },
    { type: "folder", name: "Other", id: "F2" },
  ];
  const rows: readonly (readonly [string, Row, object])[] = [
    ["of a note", { field: "reason", declared: "r" }, same],
    ["of equal values", { field: "status", declared: "ENABLED" }, same],
    [
      "of other values",
      { field: "status", declared: "DRAFT" },
      differs({ before: "ENABLED", changedBy: undefined }),
    ],
    [
      "of a value that the manifest changed",
      { field: "status", declared: "DRAFT", before: [applied({ status: "ENABLED" })] },
      differs({ before: "ENABLED", changedBy: "manifest" }),
    ],
    [
      "of a value that the service changed",
      { field: "status", declared: "DRAFT", before: [applied({ status: "DRAFT" })] },
      differs({ before: "ENABLED", changedBy: "service" }),
    ],
    [
      "of a value that both changed",
      { field: "status", declared: "DRAFT", before: [applied({ status: "OLD" })] },
      differs({ before: "ENABLED", changedBy: "both" }),
    ],
    ["of an unknown value", { field: "status", declared: UNKNOWN }, unknown],
    ["of an equal secret", { field: "status", declared: new Secret("ENABLED") }, same],
    [
      "of a value beside an old secret",
      {
        field: "status",
        declared: "DRAFT",
        before: [applied({ status: "ENABLED" }, { secrets: ["status"] })],
      },
      differs({ changedBy: "manifest" }),
    ],
    ["of a set", { field: "tags", declared: ["b", "a"], live: { tags: ["a", "b"] } }, same],
    [
      "of another set",
      { field: "tags", declared: ["c"], live: { tags: ["b", "a", "b"] } },
      differs({ before: ["a", "b"], changedBy: undefined }),
    ],
    [
      "of a path",
      { field: "entryPointUrlPath", declared: "", live: { entryPointUrlPath: null } },
      same,
    ],
    [
      "of a URL",
      {
        kind: "environment",
        field: "discoveryUrl",
        declared: "https://a",
        live: { discoveryUrl: "https://a/" },
      },
      same,
    ],
    [
      "of a null that is not shown",
      {
        kind: "environment",
        field: "discoveryUrl",
        declared: null,
        live: { discoveryUrl: undefined },
      },
      hidden,
    ],
    [
      "of a URL that is not shown",
      {
        kind: "environment",
        field: "discoveryUrl",
        declared: "https://a",
        live: { discoveryUrl: undefined },
      },
      differs({}),
    ],
    ["of a prompt that is not shown", { field: "discovery.prompt", declared: "p" }, hidden],
    [
      "of a prompt that is not shown and was sent",
      { field: "discovery.prompt", declared: "p", before: [applied({ "discovery.prompt": "p" })] },
      hidden,
    ],
    [
      "of a prompt that is not shown and has changed",
      { field: "discovery.prompt", declared: "p", before: [applied({ "discovery.prompt": "q" })] },
      differs({ changedBy: "manifest" }),
    ],
    [
      "of a prompt",
      {
        field: "discovery.prompt",
        declared: "p",
        live: { discovery: discovered({ freePrompt: "q" }) },
      },
      differs({ before: "q", changedBy: undefined }),
    ],
    [
      "of a value that is never shown",
      { field: "interactionStatus", declared: "NEW" },
      differs({}),
    ],
    [
      "of a value that is never shown, without the key",
      { field: "interactionStatus", declared: "NEW", key: undefined },
      unknown,
    ],
    [
      "of a value that is never shown and was sent",
      {
        field: "interactionStatus",
        declared: "NEW",
        before: [applied({ interactionStatus: "NEW" })],
      },
      hidden,
    ],
    [
      "of parts that are never shown",
      { kind: "environment", field: "basicAuth", declared: { username: "u", password: "p" } },
      { kind: "differs", parts: [["username"], ["password"]] },
    ],
    [
      "of a fixed value",
      { field: "discovery.type", declared: "LOGIN", live: { type: "LOGIN" }, expected: "LOGIN" },
      same,
    ],
    [
      "of another fixed value",
      { field: "discovery.type", declared: "LOGIN", live: { type: "SEARCH" }, expected: "LOGIN" },
      differs({ before: "SEARCH" }),
    ],
    [
      "of a fixed value that is not shown",
      { field: "discovery.type", declared: "LOGIN", live: { type: null }, expected: "LOGIN" },
      hidden,
    ],
    [
      "of a fixed value that nobody knows",
      { field: "discovery.type", declared: "LOGIN", live: { type: "LOGIN" } },
      hidden,
    ],
    [
      "of an unknown fixed value",
      { field: "discovery.type", declared: UNKNOWN, live: { type: "LOGIN" }, expected: "LOGIN" },
      unknown,
    ],
    [
      "of a folder",
      { field: "folder", declared: "Auth", live: { folderId: "F1" }, before: folders },
      same,
    ],
    [
      "of another folder",
      { field: "folder", declared: "Auth", live: { folderId: "F2" }, before: folders },
      differs({ before: "Other", changedBy: undefined }),
    ],
    [
      "of another folder, moved by the service",
      {
        field: "folder",
        declared: "Auth",
        live: { folderId: "F2" },
        before: [...folders, applied({ folder: "Auth" })],
      },
      differs({ before: "Other", changedBy: "service" }),
    ],
    [
      "of a folder where there is none",
      { field: "folder", declared: "Auth", before: folders },
      differs({ before: null, changedBy: undefined }),
    ],
    ["of no folder", { field: "folder", declared: null }, same],
    [
      "of no folder where there is one",
      { field: "folder", declared: null, live: { folderId: "F2" }, before: folders },
      differs({ before: "Other", changedBy: undefined }),
    ],
    [
      "of no folder where there is an unknown one",
      { field: "folder", declared: null, live: { folderId: "F9" } },
      differs({}),
    ],
    [
      "of no folder where the service moved it to an unknown one",
      {
        field: "folder",
        declared: null,
        live: { folderId: "F9" },
        before: [applied({ folder: null })],
      },
      differs({ changedBy: "service" }),
    ],
    [
      "of a folder that the service moved to an unknown one",
      {
        field: "folder",
        declared: "Auth",
        live: { folderId: "F9" },
        before: [...folders, applied({ folder: "Auth" })],
      },
      differs({ changedBy: "service" }),
    ],
    [
      "of a folder that both moved to an unknown one",
      {
        field: "folder",
        declared: "Auth",
        live: { folderId: "F9" },
        before: [...folders, applied({ folder: "Other" })],
      },
      differs({}),
    ],
    [
      "of a folder of an unknown id",
      {
        field: "folder",
        declared: "New",
        live: { folderId: "F9" },
        before: [applied({ folder: "New" })],
      },
      differs({}),
    ],
    [
      "of a secret folder",
      { field: "folder", declared: new Secret("Auth"), live: { folderId: "F1" }, before: folders },
      differs({}),
    ],
    [
      "of a secret folder that was sent",
      {
        field: "folder",
        declared: new Secret("Auth"),
        live: { folderId: "F1" },
        before: [applied({ folder: "Auth" })],
      },
      hidden,
    ],
    ["of steps", { field: "elements", declared: [CLICK], live: { elements: steps(CLICK) } }, same],
    ["of no steps", { field: "elements", declared: [], live: { elements: undefined } }, same],
    [
      "of other steps",
      { field: "elements", declared: [VISIBLE], live: { elements: steps(CLICK) } },
      differs({ before: [{ assertion: null }], changedBy: undefined }),
    ],
    [
      "of other steps that the manifest changed",
      {
        field: "elements",
        declared: [VISIBLE],
        live: { elements: steps(CLICK) },
        before: [applied({ elements: [CLICK] })],
      },
      differs({ before: [{ assertion: null }], changedBy: "manifest" }),
    ],
    [
      "of steps that may hold an old secret",
      {
        field: "elements",
        declared: [VISIBLE],
        live: { elements: steps(CLICK) },
        before: [applied({}, { secrets: ["elements"] })],
      },
      differs({ changedBy: undefined }),
    ],
    [
      "of unknown steps",
      {
        field: "elements",
        declared: [{ interaction: { action: UNKNOWN } }],
        live: { elements: steps(CLICK) },
      },
      unknown,
    ],
  ];
  test.each(rows)(
    "%s",
    (_, { field, kind, declared, live, before = [], expected, ...row }, found) => {
      const state = stateOf([bound(LOGIN, "C1"), ...before]);
      const key = "key" in row ? undefined : fingerprints;
      const memory = memoryOf(LOGIN, "C1", { state, fingerprints: key });
      const shown: LiveResource = kind ? { id: "C1", ...live } : { ...liveCase("C1"), ...live };
      const one = compareField(fieldOf(field, kind), declared, shown, memory, expected);
      const told = one.kind === "differs" ? { ...one, changedBy: one.changedBy?.() } : one;
      expect(told).toEqual(found);
    },
  );
});

describe("what is shown", () => {
  const memory = memoryOf(LOGIN, "C1", {
    state: stateOf([applied({ tags: ["z"] })]),
    fingerprints,
  });
  const differing = resource("testCase", "login", {
    status: "DRAFT",
    runStatus: "ON",
    tags: ["b", new Secret("hidden")],
    interactionStatus: "NEW",
    reason: "r",
    "discovery.type": "LOGIN",
    elements: [CLICK],
    externalId: UNKNOWN,
  });
  test("of the fields that a PATCH writes", () => {
    const found = diffFields(differing, liveCase("C1", { tags: ["a"] }), memory);
    expect(found.map(({ field, value, shown }) => [field.name, value, shown])).toEqual([
      ["status", "DRAFT", [{ path: ["status"], before: "ENABLED", after: "DRAFT" }]],
      ["interactionStatus", "NEW", [{ path: ["interactionStatus"], after: "NEW" }]],
      ["tags", differing.fields["tags"], [{ path: ["tags"], sensitive: true, changedBy: "both" }]],
    ]);
  });

  const account = fieldOf("basicAuth", "environment");
  const headers = fieldOf("additionalHeaderFields", "environment");
  const secret = new Secret("p");
  const rows: readonly (readonly [string, Parameters<typeof declaredChanges>, object])[] = [
    ["a text", [fieldOf("description"), "A"], [{ path: ["description"], after: "A" }]],
    [
      "a secret text",
      [fieldOf("description"), secret],
      [{ path: ["description"], sensitive: true }],
    ],
    ["null", [account, null], [{ path: ["basicAuth"], after: null }]],
    ["no parts", [account, {}], [{ path: ["basicAuth"], after: {} }]],
    [
      "parts in the order of their shape",
      [account, { password: secret, username: "u" }],
      [
        { path: ["basicAuth", "username"], after: "u" },
        { path: ["basicAuth", "password"], sensitive: true },
      ],
    ],
    [
      "headers in the order of their names",
      [headers, { b: "1", a: null }],
      [
        { path: ["additionalHeaderFields", "a"], after: null },
        { path: ["additionalHeaderFields", "b"], after: "1" },
      ],
    ],
    [
      "some parts, and one that is gone",
      [headers, { b: "1", a: "2" }, [["b"], ["c"]]],
      [
        { path: ["additionalHeaderFields", "b"], after: "1" },
        { path: ["additionalHeaderFields", "c"], sensitive: true },
      ],
    ],
    [
      "keys in one order",
      [fieldOf("context", "batchGeneration"), { b: 1, a: { d: 1, c: 2 } }],
      [{ path: ["context"], after: { a: { c: 2, d: 1 }, b: 1 } }],
    ],
  ];
  test.each(rows)("of %s", (_, declared, expected) => {
    const found = declaredChanges(...declared);
    expect(JSON.stringify(found)).toBe(JSON.stringify(expected));
  });

  test("of secrets anywhere", () => {
    expect(display([new Secret("a"), { b: UNKNOWN, c: 1 }])).toEqual([
      "(sensitive)",
      { b: "(sensitive)", c: 1 },
    ]);
  });
});

describe("one form for values of one meaning", () => {
  const json = fc.jsonValue({ maxDepth: 3 }).map((value) => parseJson(JSON.stringify(value)));

  test.each([
    ["set", ["b", "a", "b"], ["a", "b"]],
    ["set", [2, 10], ["10", "2"]],
    ["set", null, null],
    ["set", "b", "b"],
    ["url", "", null],
    ["url", null, null],
    ["url", "https://A.example.com", "https://a.example.com/"],
    ["url", "/path", "/path"],
    ["url", ["https://a"], ["https://a"]],
    ["plain", "", ""],
    ["plain", ["b", "a"], ["b", "a"]],
    ["plain", "https://a", "https://a"],
  ] as const)("%s %o is %o", (compare, value, expected) => {
    expect(normalise(compare, value)).toEqual(expected);
    expect(sameAsLive(compare, value, expected)).toBe(true);
    expect(sameAsLive(compare, value, "other")).toBe(false);
  });

  test.each([
    ["plain", "a", "a", true],
    ["plain", new Secret("a"), "a", true],
    ["plain", new Secret("a"), "b", false],
    ["plain", null, "a", false],
    ["plain", null, {}, false],
    ["plain", "a", null, false],
    ["plain", ["a", "b"], ["b", "a"], false],
    ["plain", ["a"], ["a", "b"], false],
    ["set", ["a", "b"], ["b", "a"], true],
    ["set", ["a", "b"], ["a", "b"], true],
    ["set", ["a"], ["a", "b"], false],
    ["set", [new Secret("a"), "b"], ["b", "a"], true],
    ["url", "https://a", "https://a/", true],
    ["url", "", null, true],
    ["url", null, "", true],
    ["url", "https://a", "https://a/b", false],
    ["plain", { a: 1, b: 2 }, { b: 2, a: 1 }, true],
    ["plain", { a: 1 }, { a: 1, b: 2 }, false],
  ] as const)("%s: %o means the same as the live %o: %s", (compare, declared, live, expected) => {
    expect(sameAsLive(compare, declared, live)).toBe(expected);
  });

  test("the order of keys, and of a set, does not matter", () => {
    fc.assert(
      fc.property(json, fc.array(fc.string()), (value, texts) => {
        const turned = (one: Json): Json =>
          Array.isArray(one)
            ? one.map(turned)
            : typeof one === "object" && one !== null
              ? Object.fromEntries(
                  Object.entries(one)
                    .toReversed()
                    .map(([key, part]) => [key, turned(part)]),
                )
              : one;
        expect(JSON.stringify(ordered(turned(value)))).toBe(JSON.stringify(ordered(value)));
        expect(ordered(value)).toEqual(value);
        expect(sameAsLive("set", texts, texts.toReversed())).toBe(true);
      }),
    );
  });

  test("keys are sorted around secrets and ids, which stay as they are", () => {
    const [secret, id] = [new Secret("a"), new IdOf(1)];
    const found = ordered({ b: [{ d: id, c: UNKNOWN }], a: secret });
    expect(JSON.stringify(found)).toBe(
      '{"a":"(sensitive)","b":[{"c":"(sensitive)","d":"(known after apply)"}]}',
    );
    expect(found).toEqual({ a: secret, b: [{ c: UNKNOWN, d: id }] });
    expect([ordered(null), ordered(1), ordered(id), ordered(secret)]).toEqual([
      null,
      1,
      id,
      secret,
    ]);
  });

  test("parts have the order of their shape, and names that users choose their own", () => {
    const parts = (name: string) => fieldOf(name, "environment").shape;
    expect(orderedParts(parts("basicAuth"), ["password", "username", "other"])).toEqual([
      "username",
      "password",
    ]);
    expect(orderedParts(parts("additionalHeaderFields"), ["b", "a"])).toEqual(["a", "b"]);
    expect(["https://a", "HTTPS://A/b", "/x", "mailto:a"].map(normalUrl)).toEqual([
      "https://a/",
      "https://a/b",
      "/x",
      "mailto:a",
    ]);
  });

  const places: readonly (readonly [Json, Json, readonly Difference[]])[] = [
    [1, 2, [{ path: [], before: 1, after: 2 }]],
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, [{ path: ["b"], before: 2, after: 3 }]],
    [{ a: 1 }, {}, [{ path: ["a"], before: 1 }]],
    [{}, { a: null }, [{ path: ["a"], after: null }]],
    [{}, { "": 1 }, [{ path: [], before: {}, after: { "": 1 } }]],
    [
      { a: [1] },
      { a: [2, 3, 4] },
      [
        { path: ["a", 0], before: 1, after: 2 },
        { path: ["a", 1], after: 3 },
        { path: ["a", 2], after: 4 },
      ],
    ],
    [
      [{ b: 1, a: 1 }, 1, 2],
      [{ b: 2, a: 2 }],
      [
        { path: [0, "b"], before: 1, after: 2 },
        { path: [0, "a"], before: 1, after: 2 },
        { path: [1], before: 1 },
        { path: [2], before: 2 },
      ],
    ],
    [{ a: { 1: 1 } }, { a: { 1: 2 } }, [{ path: ["a", "1"], before: 1, after: 2 }]],
  ];
  test.each(places)("%j and %j differ in places", (before, after, expected) => {
    expect(differences(before, after)).toEqual(expected);
  });

  test("equal data differ nowhere, and others somewhere", () => {
    fc.assert(
      fc.property(json, json, (one, two) => {
        expect(differences(one, parseJson(JSON.stringify(one)))).toEqual([]);
        expect(differences(one, two).length > 0).toBe(!sameJson(one, two));
      }),
    );
  });
});
