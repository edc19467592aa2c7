import { readFileSync, readdirSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import { SCHEMA_NAMES, schemaOf } from "../../scripts/manifest-schemas.ts";
import { publicSchemaOf, validatorHeading } from "../../scripts/schema-files.ts";
import * as ACCEPT from "../../src/manifest/schema/generated/accept.js";
import { validate as validatePlan } from "../../src/manifest/schema/generated/plan.js";
import { validate as validateProject } from "../../src/manifest/schema/generated/project.js";
import { validate as validateTarget } from "../../src/manifest/schema/generated/target.js";
import { readFast } from "../../src/manifest/yaml/fast.ts";
import {
  BATCH_GENERATION_FIELDS,
  ENVIRONMENT_FIELDS,
  TARGET_FIELDS,
  TEST_CASE_FIELDS,
} from "../../src/model/fields.ts";
import { type Json, type JsonObject, isArray, isObject } from "../../src/model/json.ts";
import { ACTIONS, ATTENTION_SEVERITIES, CAUSES } from "../../src/model/plan.ts";

describe("generated files match the tables (if not: npm run generate):", () => {
  test.each(SCHEMA_NAMES)("schemas/%s.schema.json", (name) => {
    const committed: unknown = JSON.parse(readFileSync(`schemas/${name}.schema.json`, "utf8"));
    expect(JSON.stringify(committed)).toBe(JSON.stringify(publicSchemaOf(name)));
  });

  test.each(SCHEMA_NAMES)("the validator of a %s", (name) => {
    const source = readFileSync(`src/manifest/schema/generated/${name}.js`, "utf8");
    expect(source.split("\n")[0]).toBe(validatorHeading(schemaOf(name)));
  });
});

describe("the quick check and the published schema accept the same documents as the full validator:", () => {
  const folder = "examples/shop";
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".yaml"),
  );

  const published = {
    project: new Ajv2020({ strict: true }).compile(publicSchemaOf("project")),
    target: new Ajv2020({ strict: true }).compile(publicSchemaOf("target")),
  };

  test.each(files)("%s, also with each of its values replaced", (name) => {
    const isProject = name === "tasc.yaml";
    const asPublished = published[isProject ? "project" : "target"];
    const [accept, validate] = isProject
      ? [ACCEPT.project, validateProject]
      : [ACCEPT.target, validateTarget];
    const whole = readFast(readFileSync(`${folder}/${name}`, "utf8")) ?? null;
    const all = [whole, ...variantsOf(whole)];
    expect(all.map((value) => accept(value))).toEqual(all.map((value) => validate(value)));
    expect(all.map((value) => asPublished(value))).toEqual(all.map((value) => validate(value)));
    expect(accept(whole)).toBe(true);
    expect(all.filter((value) => accept(value)).length).toBeLessThan(all.length / 2);
  });

  const OTHERS: readonly Json[] = [
    null,
    true,
    -1,
    1.5,
    "",
    "x y",
    "${env:A}",
    [],
    ["a", "a"],
    [1],
    {},
    { "a b": 1 },
  ];

  /** Copies of a value with one part replaced, one key removed or one key added. */
  function variantsOf(value: Json): readonly Json[] {
    if (isArray(value))
      return [
        ...OTHERS,
        ...value.flatMap((item, at) => variantsOf(item).map((other) => value.with(at, other))),
      ];
    if (!isObject(value)) return OTHERS;
    const inner = Object.entries(value).flatMap(([key, part]) =>
      variantsOf(part).map((other) => ({ ...value, [key]: other })),
    );
    const fewer = Object.keys(value).map((left) =>
      Object.fromEntries(Object.entries(value).filter(([key]) => key !== left)),
    );
    return [...OTHERS, ...inner, ...fewer, { ...value, unknown: 1 }, { ...value, "x-own": 1 }];
  }
});

describe("a strict validator compiles", () => {
  test.each(readdirSync("schemas"))("schemas/%s", (file) => {
    const problems: unknown[] = [];
    const log = (...message: unknown[]): number => problems.push(message);
    const schema: unknown = JSON.parse(readFileSync(`schemas/${file}`, "utf8"));
    const logger = { log, warn: log, error: log };
    if (typeof schema !== "object" || schema === null) throw new Error("a schema is an object");
    new Ajv2020({ strict: true, logger }).compile(schema);
    expect(problems).toEqual([]);
  });
});

describe.each(SCHEMA_NAMES)("the schema of a %s", (name) => {
  const schema = schemaOf(name);

  test("has only examples that are valid at their place", () => {
    const ajv = new Ajv2020({ strict: false }).addSchema(schema, "schema");
    const examplesIn = (value: unknown, pointer: string): (readonly [string, unknown])[] => {
      if (typeof value !== "object" || value === null) return [];
      const own = "examples" in value && Array.isArray(value.examples) ? value.examples : [];
      return [
        ...own.map((one: unknown) => [pointer, one] as const),
        ...Object.entries(value).flatMap(([key, inner]) =>
          examplesIn(
            inner,
            `${pointer}/${encodeURIComponent(key.replaceAll("~", "~0").replaceAll("/", "~1"))}`,
          ),
        ),
      ];
    };
    const found = examplesIn(schema, "");
    if (name !== "plan") expect(found.length).toBeGreaterThan(5);
    for (const [pointer, example] of found) {
      const isValid = ajv.compile({ $ref: `schema#${pointer}` });
      expect(isValid(example), `${pointer} ${JSON.stringify(isValid.errors)}`).toBe(true);
    }
  });

  test("describes every property", () => {
    const bare = propertiesIn(schema)
      // A property in a condition is described at its definition.
      .filter(({ path }) => !path.includes("/allOf/"))
      .filter(({ property }) => descriptionOf(schema, property) === undefined)
      .map(({ path }) => path);
    expect(bare).toEqual([]);
  });
});

test("every field of the table is in the schema, with its description", () => {
  const definitions = schemaOf("target")["$defs"];
  const kinds = [
    ["target", TARGET_FIELDS],
    ["environment", ENVIRONMENT_FIELDS],
    ["testCase", TEST_CASE_FIELDS],
    ["batchGeneration", BATCH_GENERATION_FIELDS],
  ] as const;
  for (const [kind, fields] of kinds)
    for (const { path, description } of fields) {
      const [key, inner] = path;
      const schema = at(definitions, [
        `${kind}.${key}`,
        ...(inner === undefined ? [] : ["properties", String(inner)]),
      ]);
      expect([kind, path, at(schema, ["description"])]).toEqual([kind, path, description]);
    }
});

test("documents, overrides and defaults share one definition of each field", () => {
  const schema = schemaOf("target");
  const status = { $ref: "#/$defs/testCase.status" };
  expect(at(schema, ["$defs", "testCase", "properties", "status"])).toEqual(status);
  expect(
    at(schema, ["$defs", "defaults", "properties", "testCases", "properties", "status"]),
  ).toEqual(status);
  expect(at(schema, ["properties", "testCases"])).toEqual(
    at(schema, ["$defs", "stage", "properties", "testCases"]),
  );
});

test("a field with choices lists them for completion and also allows interpolations", () => {
  expect(at(schemaOf("target"), ["$defs", "testCase.runStatus", "anyOf"])).toEqual([
    { enum: ["ON", "OFF"] },
    { type: "string", pattern: "\\$\\{" },
  ]);
});

describe("the schema of a plan", () => {
  const plan = {
    formatVersion: "1.2",
    tool: "tasc 1.0.0",
    stage: "staging",
    baseUrl: "https://a.example",
    createdAt: "2025-01-01T00:00:00Z",
    summary: {
      create: 1,
      update: 1,
      rediscover: 0,
      disable: 0,
      forget: 0,
      held: 0,
      unchanged: 97,
      orphaned: 0,
      unmanaged: 3,
      calls: { POST: 1, PATCH: 1 },
      followUps: 0,
    },
    changes: [
      {
        address: "testCase.shop.login",
        action: "update",
        id: "uuid",
        fields: [
          { path: ["status"], before: "DRAFT", after: "ENABLED" },
          { path: ["testAccount", "password"], sensitive: true },
          { path: ["elements", 0], before: null },
        ],
        calls: [
          { method: "PATCH", path: "/apiKey/v3/test-targets/x", body: { status: "ENABLED" } },
        ],
        followUps: [],
      },
    ],
    attention: [
      {
        code: "stops-running",
        severity: "danger",
        addresses: ["testCase.shop.login"],
        count: 1,
        text: "1 test case stops running: testCase.shop.login",
      },
    ],
    orphaned: [{ address: "testCase.shop.gone", id: "uuid" }],
    diagnostics: [
      {
        severity: "warning",
        address: "target.shop",
        summary: "a",
        detail: "b",
        file: "x",
        line: 12,
        column: 5,
      },
      { severity: "error", summary: "a", detail: "b" },
    ],
  };

  test("accepts a plan, and a saved plan with additional keys", () => {
    expect(validatePlan(plan)).toBe(true);
    expect(validatePlan({ ...plan, narrowing: {}, matched: [1] })).toBe(true);
  });

  test("lists all actions, causes and severities", () => {
    const change = at(schemaOf("plan"), ["$defs", "change", "properties"]);
    expect(at(change, ["action", "enum"])).toEqual(ACTIONS);
    expect(at(change, ["cause", "enum"])).toEqual(CAUSES);
    const row = at(schemaOf("plan"), ["$defs", "attention", "properties"]);
    expect(at(row, ["severity", "enum"])).toEqual(ATTENTION_SEVERITIES);
  });

  test.each([
    ["another version", { ...plan, formatVersion: "2.0" }],
    ["no summary", { ...plan, summary: undefined }],
    ["an unknown action", { ...plan, changes: [{ ...plan.changes[0], action: "delete" }] }],
    ["a bad address", { ...plan, orphaned: [{ address: "shop.gone", id: "x" }] }],
    ["an unknown key further in", { ...plan, summary: { ...plan.summary, destroy: 1 } }],
  ])("rejects %s", (_, other) => {
    expect(validatePlan(JSON.parse(JSON.stringify(other)))).toBe(false);
  });
});

interface Property {
  readonly path: string;
  readonly property: Json;
}

function propertiesIn(schema: Json, path = ""): Property[] {
  if (isArray(schema))
    return schema.flatMap((item, index) => propertiesIn(item, `${path}/${index}`));
  if (!isObject(schema)) return [];
  const { properties } = schema;
  const own = isObject(properties)
    ? Object.entries(properties).map(([key, property]) => ({ path: `${path}/${key}`, property }))
    : [];
  return [
    ...own,
    ...Object.entries(schema).flatMap(([key, value]) => propertiesIn(value, `${path}/${key}`)),
  ];
}

function descriptionOf(root: JsonObject, property: Json): Json | undefined {
  if (!isObject(property)) return undefined;
  if (typeof property["$ref"] !== "string") return property["description"];
  return at(root, [...property["$ref"].slice(2).split("/"), "description"]);
}

function at(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>(
    (node, key) => (isObject(node) ? node[key] : undefined),
    value,
  );
}
