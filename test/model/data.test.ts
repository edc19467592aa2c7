// Plain data, values with secrets, and tests of data of unknown shape.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Address } from "../../src/model/address.ts";
import { sortedTexts } from "../../src/model/collections.ts";
import {
  type DesiredResource,
  type Layer,
  byAddress,
  declaredAddresses,
  knownText,
  originIn,
  originOf,
  removalOf,
  resourcesOf,
  sendable,
} from "../../src/model/desired.ts";
import {
  TascError,
  codeOf,
  failed,
  invalid,
  isSystemError,
  refuseAll,
  stale,
  stop,
} from "../../src/model/error.ts";
import {
  type Json,
  copyOf,
  defined,
  isArray,
  isObject,
  jsonIn,
  mapTexts,
  parseJson,
  sameJson,
  startsWith,
  valueAt,
} from "../../src/model/json.ts";
import { inBatches, sideBySide } from "../../src/model/live.ts";
import { bySeverity, plainBody } from "../../src/model/plan.ts";
import {
  type Guard,
  isCount,
  isLoopback,
  isRecord,
  isTexts,
  isText,
  maybe,
  oneOf,
  recordOf,
  shape,
  urlOf,
} from "../../src/model/shape.ts";
import { areStateEvents, emptyState, secretFieldsOf } from "../../src/model/state.ts";
import { STEPS_STATES, areAccepted } from "../../src/model/steps.ts";
import {
  IdOf,
  Secret,
  UNKNOWN,
  type Value,
  isLeafObject,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../../src/model/value.ts";

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => parseJson(JSON.stringify(value)));

describe("plain data", () => {
  test("is the same whatever the order of keys, and only then", () => {
    const sorted = (value: Json): Json =>
      isArray(value)
        ? value.map(sorted)
        : isObject(value)
          ? Object.entries(value)
              .toSorted(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, part]): Json => [key, sorted(part)])
              .concat([["an object"]])
          : value;
    fc.assert(
      fc.property(json, json, (one, two) => {
        expect(sameJson(one, two)).toBe(
          JSON.stringify(sorted(one)) === JSON.stringify(sorted(two)),
        );
        const turned = isObject(one) ? Object.fromEntries(Object.entries(one).toReversed()) : one;
        expect(sameJson(one, turned)).toBe(true);
        expect(sameJson([one, two], [one, two, null])).toBe(false);
        expect(sameJson({ a: one }, { a: one, b: two })).toBe(false);
        expect(sameJson({ a: one, b: two }, { a: one })).toBe(false);
      }),
    );
    expect([
      sameJson(undefined, undefined),
      sameJson(undefined, null),
      sameJson({}, []),
      sameJson([], {}),
      sameJson({ a: 1 }, { b: 1 }),
      sameJson(parseJson('{"toString":1}'), {}),
      sameJson({}, parseJson('{"toString":1}')),
    ]).toEqual([true, false, false, false, false, false, false]);
  });

  test.each<[Json, readonly (string | number)[], Json | undefined]>([
    [{ a: [1, { b: 2 }] }, ["a", 1, "b"], 2],
    [{ a: 1 }, [], { a: 1 }],
    [{ a: 1 }, ["b"], undefined],
    [{ a: 1 }, ["a", "b"], undefined],
    [[1], ["0"], undefined],
    [[1], [1], undefined],
    ["abc", [0], undefined],
    [{}, ["toString"], undefined],
    [{ a: null }, ["a"], null],
  ])("%j has at %j the value %j", (value, path, expected) => {
    expect(valueAt(value, path)).toEqual(expected);
  });

  test("is an object, a list or neither", () => {
    const all: readonly (Json | undefined)[] = [{}, [], null, "a", 1, undefined];
    expect(all.map(isObject)).toEqual([true, false, false, false, false, false]);
    expect(all.map((one) => isArray(one))).toEqual([false, true, false, false, false, false]);
    expect(
      [
        [["a", 1], ["a"]],
        [["a"], ["a", 1]],
        [["a"], []],
        [["b"], ["a"]],
      ].map(([path, start]) => startsWith(path ?? [], start ?? [])),
    ).toEqual([true, false, true, false]);
  });

  test("keeps its keys while texts change, and loses what is undefined", () => {
    expect(mapTexts({ a: ["x", 1, null, { b: "y" }] }, (text) => `${text}!`)).toEqual({
      a: ["x!", 1, null, { b: "y!" }],
    });
    expect(defined({ a: 1, b: undefined, c: null })).toStrictEqual({ a: 1, c: null });
    expect([jsonIn('{"a":1}'), jsonIn("{"), copyOf("a\u2028b")]).toEqual([
      { a: 1 },
      undefined,
      "a\u2028b",
    ]);
  });
});

test("strings are sorted as V8 sorts them, short lists and long ones", () => {
  const texts = fc.array(
    fc.oneof(fc.string(), fc.constantFrom("", "a", "A", "é", "\u{1F600}", "\uFFFF")),
    {
      maxLength: 30,
      size: "max",
    },
  );
  fc.assert(
    fc.property(texts, (list) => {
      const before = [...list];
      expect(sortedTexts(list)).toEqual(list.toSorted());
      expect(list).toEqual(before);
    }),
  );
});

describe("a value", () => {
  const secret = new Secret("text", "(sensitive)");
  const rows: readonly (readonly [Value, sensitive: boolean, unknown: boolean, Json])[] = [
    ["a", false, false, "a"],
    [null, false, false, null],
    [{ a: [1, true] }, false, false, { a: [1, true] }],
    [secret, true, false, "text"],
    [{ a: [secret, 1] }, true, false, { a: ["text", 1] }],
    [[1, { b: secret }], true, false, [1, { b: "text" }]],
  ];
  test.each(rows)("%o", (value, sensitive, unknown, plain) => {
    expect([isSensitive(value), isUnknown(value), reveal(value)]).toEqual([
      sensitive,
      unknown,
      plain,
    ]);
  });

  test("that is unknown cannot be revealed, nor shown, as no secret can", () => {
    for (const value of [UNKNOWN, [UNKNOWN], { a: [secret, UNKNOWN] }]) {
      expect([isSensitive(value), isUnknown(value)]).toEqual([true, true]);
      expect(() => reveal(value)).toThrow(new TypeError("an unknown value was to be revealed"));
    }
    expect([
      String(secret),
      JSON.stringify([secret, UNKNOWN, new IdOf(1)]),
      secret.literal,
      new Secret("a").literal,
    ]).toEqual([
      "(sensitive)",
      '["(sensitive)","(sensitive)","(known after apply)"]',
      "(sensitive)",
      undefined,
    ]);
    expect([{}, [], null, secret, UNKNOWN, undefined].map((one) => isValueObject(one))).toEqual([
      true,
      false,
      false,
      false,
      false,
      false,
    ]);
    expect([secret, UNKNOWN, {}, "a", undefined].map(isLeafObject)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });

  test("of a body becomes plain data", () => {
    const body = { a: [secret, new IdOf(2), 1, null], b: { c: UNKNOWN } };
    expect(plainBody(body, (leaf) => (leaf instanceof IdOf ? leaf.of : "hidden"))).toEqual({
      a: ["hidden", 2, 1, null],
      b: { c: "hidden" },
    });
  });
});

test("changes stand by their harm", () => {
  const change = (
    action: "create" | "update" | "disable" | "rediscover" | "forget",
    harmful?: "assertion lost",
  ) => ({
    action,
    fields: [{}, { ...(harmful && { harmful }) }],
  });
  const sorted = [
    change("disable"),
    change("rediscover", "assertion lost"),
    change("rediscover"),
    change("create"),
    change("update", "assertion lost"),
    change("update"),
    change("forget"),
  ];
  expect(bySeverity(sorted.toReversed())).toEqual(sorted);
});

describe("a resource", () => {
  const layer = (kind: Layer["kind"], value: Layer["value"]): Layer => ({
    kind,
    file: `${kind}.yaml`,
    path: ["at"],
    value,
  });
  const of = (...layers: readonly Layer[]): DesiredResource => ({
    kind: "testCase",
    address: "testCase.shop.a",
    key: "a",
    fields: { a: "x", b: null, c: UNKNOWN, d: 5, e: new Secret("s") },
    layers,
  });

  test("is declared by its own map, or by a stage's", () => {
    const [low, base, high] = [
      layer("defaults", { a: 1 }),
      layer("base", { a: 2, b: { c: null } }),
      layer("stage", { a: 3 }),
    ];
    expect([
      originOf(of(low, base, high))?.file,
      originOf(of(low, high))?.file,
      originOf(of(low))?.file,
    ]).toEqual(["base.yaml", "stage.yaml", undefined]);
    expect(originOf(of(low, base, high), ["a"])).toEqual({ file: "stage.yaml", path: ["at", "a"] });
    expect(originOf(of(low, base, high), ["b", "c"])).toEqual({
      file: "base.yaml",
      path: ["at", "b", "c"],
    });
    expect(originOf(of(low), ["a"])).toEqual({ file: "defaults.yaml", path: ["at", "a"] });
    expect(originOf(of(low, base), ["z"])?.file).toBe("base.yaml");
    expect(originIn([low, base], ["z"])).toBe(undefined);
  });

  test("sends what is known and not null", () => {
    const one = of();
    expect(["a", "b", "c", "d", "z"].map((name) => sendable(one, name))).toEqual([
      "x",
      undefined,
      undefined,
      5,
      undefined,
    ]);
    expect(["a", "b", "c", "d", "e", "z"].map((name) => knownText(one, name))).toEqual([
      "x",
      undefined,
      undefined,
      undefined,
      "s",
      undefined,
    ]);
  });

  test("is in its target", () => {
    const parts = { fields: {}, layers: [], onRemove: "ignore", moved: [] } as const;
    const a = of();
    const target = {
      ...parts,
      kind: "target",
      key: "shop",
      address: "target.shop",
      environments: [{ ...a, kind: "environment", address: "environment.shop.a" }],
      testCases: [{ ...a, kind: "testCase" }],
      batchGenerations: [{ ...a, kind: "batchGeneration", address: "batchGeneration.shop.a" }],
    } as const;
    const all = ["target.shop", "environment.shop.a", "testCase.shop.a", "batchGeneration.shop.a"];
    expect(declaredAddresses({ stage: "s", targets: [target] })).toEqual(all);
    expect(resourcesOf({ ...target, left: true }).map(({ address }) => address)).toEqual(
      all.slice(1),
    );
    expect([...byAddress([a, { ...a, key: "last" }]).values()].map(({ key }) => key)).toEqual([
      "last",
    ]);
  });

  test("is removed by its own entry, or by that of its target", () => {
    const origin = { file: "a.yaml", path: [] };
    const removed = (["testCase.shop.a", "target.blog"] as const).map((address) => ({
      address,
      origin,
    }));
    const of2 = (address: Address) => removalOf({ stage: "s", targets: [], removed }, address);
    expect([of2("testCase.shop.a"), of2("testCase.blog.b"), of2("testCase.shop.b")]).toEqual([
      { address: "testCase.shop.a", origin },
      { address: "testCase.blog.b", origin },
      undefined,
    ]);
    expect(removalOf({ stage: "s", targets: [] }, "target.shop")).toBe(undefined);
  });
});

describe("errors", () => {
  test("have a reason, and the words of the first error", () => {
    const found = (error: TascError) => [
      error.reason,
      error.message,
      error.diagnostics,
      error.name,
    ];
    const fault = (code: string, detail = "") => ({
      severity: "error",
      code,
      summary: "S",
      detail,
    });
    expect(
      [
        stop("locked", "c", "S", "D"),
        invalid("c", "S"),
        failed("c", "S"),
        stale("c", "S", "D"),
      ].map(found),
    ).toEqual([
      ["locked", "S", [fault("c", "D")], "TascError"],
      ["invalid", "S", [fault("c")], "TascError"],
      ["failed", "S", [fault("c")], "TascError"],
      [
        "stale",
        "S",
        [fault("c", "D\nNothing was applied. Plan again and review that:\ntasc plan --out FILE")],
        "TascError",
      ],
    ]);
    const warning = { severity: "warning", code: "w", summary: "W", detail: "" } as const;
    const read = () => "text";
    const error = new TascError("failed", [warning], read, "dev");
    expect([error.message, error.source, error.stage]).toEqual(["failed", read, "dev"]);
    expect(
      new TascError("failed", [warning, { ...warning, severity: "error", summary: "E" }]).message,
    ).toBe("E");
  });

  test("are thrown if there are any", () => {
    expect(() => refuseAll([])).not.toThrow();
    const one = { severity: "error", code: "c", summary: "S", detail: "" } as const;
    expect(() => refuseAll([one])).toThrow(new TascError("invalid", [one]));
  });

  test("of the system have a code", () => {
    const system = Object.assign(new Error("x"), { code: "ENOENT" });
    const all = [
      system,
      Object.assign(new Error("x"), { code: 5 }),
      new Error("x"),
      { code: "ENOENT" },
      undefined,
    ];
    expect(all.map(isSystemError)).toEqual([true, false, false, false, false]);
    expect(all.map(codeOf)).toEqual(["ENOENT", undefined, undefined, undefined, undefined]);
  });
});

describe("data of unknown shape", () => {
  const odd = [
    undefined,
    null,
    0,
    1.5,
    -1,
    2 ** 53,
    NaN,
    "",
    "a",
    true,
    [],
    ["a"],
    ["a", 1],
    {},
    { a: "x" },
    { a: 1 },
  ];
  const accepted = (guard: Guard<unknown>) => odd.filter((one) => guard(one));
  test.each<[string, Guard<unknown>, readonly unknown[]]>([
    ["a record", isRecord, [{}, { a: "x" }, { a: 1 }]],
    ["a text", isText, ["", "a"]],
    ["a count", isCount, [0]],
    ["texts", isTexts, [[], ["a"]]],
    ["one of some", oneOf<string | true>("a", true), ["a", true]],
    ["a record of texts", recordOf(isText), [{}, { a: "x" }]],
    ["a text or nothing", maybe(isText), [undefined, "", "a"]],
    ["an exact shape", shape({ a: isText }), [{ a: "x" }]],
    ["a shape of optional members", shape({ a: maybe(isText) }), [{}, { a: "x" }]],
    ["a shape without members", shape({}), [{}]],
    ["a shape and others", shape({ b: maybe(isText) }, "and others"), [{}, { a: "x" }, { a: 1 }]],
  ])("%s", (_, guard, expected) => {
    expect(accepted(guard)).toEqual(expected);
  });

  test("has ordinary names, also those of every object", () => {
    const guard = shape({ a: maybe(isText) });
    expect([guard(JSON.parse('{"__proto__":1}')), guard({ constructor: 1 })]).toEqual([
      false,
      false,
    ]);
  });

  test.each([
    ["https://a.example.com/b", "https://a.example.com/b"],
    ["mailto:a", "mailto:a"],
    ["/a", undefined],
    ["http://", undefined],
    [`https://a/${"b".repeat(3000)}`, `https://a/${"b".repeat(3000)}`],
    [`https://a/${"b".repeat(2100)}ü`, undefined],
    ["https://a/ü", "https://a/%C3%BC"],
    [`https://a/${"b".repeat(2037)}ü`, `https://a/${"b".repeat(2037)}%C3%BC`],
  ])("%.40s is a URL", (text, href) => {
    expect(urlOf(text)?.href).toBe(href);
  });

  test("of this machine", () => {
    const hosts = [
      "localhost",
      "[::1]",
      "127.0.0.1",
      "127.1.22.33",
      "128.0.0.1",
      "127.0.0.1.example.com",
      "a127.0.0.1",
      "::1",
      "",
      undefined,
    ];
    expect(hosts.map((one) => isLoopback(one))).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
      false,
      false,
      false,
    ]);
  });

  test("is a list of events, or not", () => {
    const good = [{ type: "unbound", address: "testCase.shop.a" }, { type: "ended" }];
    expect([
      areStateEvents(good),
      areStateEvents([]),
      areStateEvents(good[0]),
      areStateEvents([...good, { type: "other" }]),
      areStateEvents([{ type: "unbound", address: "x" }]),
      areStateEvents([{ type: "ended", more: 1 }]),
      areStateEvents([null]),
    ]).toEqual([true, true, false, false, false, false, false]);
  });
});

test("state begins empty, and a secret prompt hides the steps that are made of it", () => {
  expect(emptyState("s", "t", "u")).toEqual({
    stage: "s",
    target: "t",
    service: "u",
    keyCheck: undefined,
    bindings: new Map(),
    folders: new Map(),
    batchGenerations: new Map(),
    intents: new Map(),
  });
  const of = (
    secrets: readonly string[] | undefined,
    fields: Readonly<Record<string, string>> = {},
  ) => secretFieldsOf({ fields, ...(secrets && { secrets }) });
  expect([
    of(undefined),
    of(["tags"]),
    of(["discovery.prompt"]),
    of(["discovery.prompt"], { elements: "x" }),
  ]).toEqual([[], ["tags"], ["discovery.prompt", "elements"], ["discovery.prompt"]]);
  expect(STEPS_STATES.filter((state) => areAccepted({ state, differences: [] }))).toEqual([
    "accepted",
    "selectorOnly",
  ]);
});

describe("work at once", () => {
  test.each([
    ["32", () => 1, 32],
    ["few large ones", () => 1500, 4],
    ["one that is very large", () => 100_000, 1],
  ])("is done for each item, at most %s at a time", async (_, size, atOnce) => {
    let [running, most] = [0, 0];
    const done: number[] = [];
    await inBatches([...Array(70).keys()], size, async (item) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      done.push(item);
    });
    expect([most, done]).toEqual([atOnce, [...Array(70).keys()]]);
  });

  test("ends before the first error in the list is thrown", async () => {
    const ended: string[] = [];
    const after = async (turns: number, name: string, isBad = false): Promise<string> => {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      ended.push(name);
      if (isBad) throw new Error(name);
      return name;
    };
    await expect(sideBySide([after(9, "a"), after(1, "b")])).resolves.toEqual(["a", "b"]);
    await expect(
      sideBySide([after(9, "c", true), after(1, "d", true), after(20, "e")]),
    ).rejects.toThrow("c");
    expect(ended).toEqual(["b", "a", "d", "c", "e"]);
  });
});
