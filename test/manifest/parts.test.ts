import {
  array,
  assert,
  constantFrom,
  dictionary,
  letrec,
  oneof,
  property,
  string,
  stringMatching,
} from "fast-check";
import { describe, expect, test } from "vitest";
import { valueAt, type Json, type JsonObject, isObject } from "../../src/model/json.ts";
import { listWords, nearest, showFound, showPath } from "../../src/manifest/problem.ts";
import { Interpolator, circlesIn } from "../../src/manifest/interpolation.ts";
import { escapeTemplate, isTemplate, parseTemplate } from "../../src/manifest/template.ts";
import { merge, mergedAt } from "../../src/manifest/resolve.ts";
import { convert } from "../../src/manifest/shape.ts";

/** Maps with few different keys, so that they often share some. `__proto__` is an ordinary key. */
const { map: MAP } = letrec<{ map: JsonObject; value: Json }>((tie) => ({
  map: dictionary(constantFrom("a", "b", "c", "__proto__", "constructor"), tie("value"), {
    maxKeys: 4,
  }),
  value: oneof({ depthSize: "small" }, constantFrom(null, 1, "x", true, ["a"], []), tie("map")),
}));

function same(a: Json, b: Json): void {
  expect(JSON.stringify(a)).toBe(JSON.stringify(b));
}

describe("merging", () => {
  test("an empty layer changes nothing", () => {
    assert(
      property(MAP, (map) => {
        same(merge(map, {}), map);
        same(merge({}, map), map);
      }),
    );
  });

  test("merging a layer onto itself changes nothing", () => {
    assert(
      property(MAP, (map) => {
        same(merge(map, map), map);
      }),
    );
  });

  test("a value of the upper layer wins if it is not a map, and the keys of both layers are kept", () => {
    assert(
      property(MAP, MAP, (lower, upper) => {
        const merged = merge(lower, upper);
        expect(isObject(merged) && new Set(Object.keys(merged))).toEqual(
          new Set([...Object.keys(lower), ...Object.keys(upper)]),
        );
        for (const key of Object.keys(upper))
          if (!isObject(upper[key])) expect(valueAt(merged, [key])).toEqual(valueAt(upper, [key]));
      }),
    );
  });

  test("the merged layers are not modified", () => {
    assert(
      property(MAP, MAP, (lower, upper) => {
        const before = JSON.stringify([lower, upper]);
        merge(lower, upper);
        expect(JSON.stringify([lower, upper])).toBe(before);
        expect(Object.getPrototypeOf(merge(lower, upper))).toBe(Object.prototype);
      }),
    );
  });

  test("looking up one value in layers finds the same value as merging them all", () => {
    assert(
      property(
        array(MAP, { maxLength: 4 }),
        array(constantFrom("a", "b", "c"), { maxLength: 3 }),
        (layers, path) => {
          const merged = layers.reduce<Json>(merge, {});
          const found = mergedAt(
            layers.map((value) => ({ value })),
            path,
          );
          if (layers.length > 0) expect(sorted(found)).toEqual(sorted(valueAt(merged, path)));
        },
      ),
      { numRuns: 2000 },
    );
  });
});

function sorted(value: Json | undefined): unknown {
  if (!isObject(value)) return value;
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, item]) => [key, sorted(item)]);
}

function filler(): Interpolator {
  return new Interpolator({
    stage: "s",
    env: {},
    files: new Map(),
    vars: new Map(),
    allowMissingSecrets: false,
  });
}

describe("templates", () => {
  const text = oneof(string(), stringMatching(/^[${}a:]{0,12}$/));

  test("interpolating an escaped text returns the original text", () => {
    assert(
      property(text, (raw) => {
        const filled = filler().fill(escapeTemplate(raw));
        expect([filled.value, filled.problems, filled.sensitive]).toEqual([raw, [], false]);
        expect(parseTemplate(escapeTemplate(raw)).faults).toEqual([]);
      }),
      { numRuns: 1000 },
    );
  });

  test("a text without ${ is not changed", () => {
    assert(
      property(text, (raw) => {
        if (!isTemplate(raw)) expect(escapeTemplate(raw)).toBe(raw);
        if (!isTemplate(raw)) expect(filler().fill(raw).value).toBe(raw);
      }),
    );
  });

  test("parsing loses nothing: texts, placeholders and mistakes add up to the whole", () => {
    assert(
      property(text, (raw) => {
        const { parts, faults } = parseTemplate(raw);
        const written = [
          ...parts.map((part) => (part.kind === "text" ? part.text : part.source)),
          // A mistake that occurs several times is reported once.
          ...faults.map(({ source }) => source.repeat(raw.split(source).length - 1)),
        ];
        expect(
          written.join("").length + (raw.match(/\$\$\{/g) ?? []).length,
        ).toBeGreaterThanOrEqual(raw.split("\n")[0]?.length ?? 0);
      }),
    );
  });
});

describe("the nearest word", () => {
  const words = [
    "status",
    "runStatus",
    "interactionStatus",
    "tags",
    "folder",
    "ENABLED",
    "staging",
    "production",
  ];
  test.each([
    ["runStats", "runStatus"],
    ["RUNSTATUS", "runStatus"],
    ["statsu", "status"],
    ["stauts", "status"],
    ["tag", "tags"],
    ["enabled", "ENABLED"],
    ["prod", "production"],
    ["stag", "staging"],
    ["xyz", undefined],
    ["", undefined],
    ["interaction", "interactionStatus"],
    ["pr", undefined],
  ])("of %j is %j", (word, expected) => {
    expect(nearest(word, words)).toBe(expected);
  });

  test("is undefined without candidates, and an exact match is returned", () => {
    expect(nearest("status", [])).toBeUndefined();
    expect(nearest("status", ["status"])).toBe("status");
  });
});

describe("conversion", () => {
  test.each([
    [{ type: "integer" }, "10", 10],
    [{ type: "integer" }, "-3", -3],
    [{ type: "integer" }, "1.5", undefined],
    [{ type: "integer" }, "", undefined],
    [{ type: "integer" }, " 1", undefined],
    [{ type: "integer" }, "0x10", undefined],
    [{ type: "integer" }, "99999999999999999999", undefined],
    [{ type: "integer", minimum: 1 }, "0", undefined],
    [{ type: "integer", minimum: 1 }, 1, 1],
    [{ type: "number", minimum: 0, maximum: 100 }, "12.5", 12.5],
    [{ type: "number", minimum: 0, maximum: 100 }, "100.1", undefined],
    [{ type: "boolean" }, "true", true],
    [{ type: "boolean" }, "false", false],
    [{ type: "boolean" }, "yes", undefined],
    [{ type: "boolean" }, true, true],
    [{ type: "string" }, 7, "7"],
    [{ type: "string", minLength: 1 }, "", undefined],
    [{ type: "enum", values: ["ON", "OFF"] }, "ON", "ON"],
    [{ type: "enum", values: ["ON", "OFF"] }, "on", undefined],
    [{ type: "url" }, "https://a.example/x?y#z", "https://a.example/x?y#z"],
    [{ type: "url" }, "https://", undefined],
    [{ type: "url" }, "https://a b", undefined],
    [{ type: "url" }, "http://[", undefined],
    [{ type: "url" }, "data:image/png;base64,AAAA", "data:image/png;base64,AAAA"],
    [{ type: "url" }, "a.example", undefined],
    [{ type: "duration" }, "30s", "30s"],
    [{ type: "duration" }, "30", undefined],
    [{ type: "reference", to: "testCase" }, "a-b_c", "a-b_c"],
    [{ type: "reference", to: "testCase" }, "constructor", undefined],
    [{ type: "json" }, 7, 7],
    [{ type: "list", of: { type: "string" } }, "a", undefined],
    [
      { type: "uuid" },
      "6F1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11",
      "6F1d8c1e-0b7a-4c55-9a3e-2f2b8f0c9d11",
    ],
    [{ type: "address" }, "target.shop", "target.shop"],
    [{ type: "address" }, "target.shop.x", undefined],
    [{ type: "version", version: 1 }, "1", 1],
    [{ type: "version", version: 1 }, 2, undefined],
  ] as const)("to %j turns %j into %j", (shape, value, expected) => {
    expect(convert(shape, value)).toBe(expected);
  });
});

test("each cycle is found once and starts with its alphabetically first member", () => {
  const next = new Map([
    ["z", "c"],
    ["c", "a"],
    ["a", "b"],
    ["b", "c"],
    ["y", "x"],
    ["x", "x"],
    ["end", "none"],
  ]);
  expect(circlesIn(next)).toEqual([
    ["a", "b", "c", "a"],
    ["x", "x"],
  ]);
  expect(circlesIn(new Map())).toEqual([]);
});

test("paths, lists of words and found values are shown as text", () => {
  expect(showPath(["a", 0, "b", 1, 2])).toBe("a[0].b[1][2]");
  expect(listWords([], "or")).toBe("");
  expect(listWords(["a"], "or")).toBe("`a`");
  expect(listWords(["a", "b", "c"], "or")).toBe("`a`, `b` or `c`");
  expect(
    [undefined, null, [], [1], {}, "x", 1, true].map((value) => showFound(value, true)),
  ).toEqual([
    "nothing",
    "nothing (null)",
    "an empty list",
    "a list",
    "a map",
    'the string "x"',
    "the number 1",
    "the boolean true",
  ]);
  expect(["secret", 12, false].map((value) => showFound(value, false))).toEqual([
    "a string",
    "a number",
    "a boolean",
  ]);
  expect(showFound("x".repeat(100), true)).toHaveLength("the string ".length + 60);
});
