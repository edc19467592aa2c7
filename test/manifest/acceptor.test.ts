import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { acceptorSource } from "../../src/manifest/schema/generate.ts";
import { accepts as acceptsProject } from "../../src/manifest/schema/generated/project-acceptor.js";
import { validate as validateProject } from "../../src/manifest/schema/generated/project.js";
import { accepts as acceptsTarget } from "../../src/manifest/schema/generated/target-acceptor.js";
import { validate as validateTarget } from "../../src/manifest/schema/generated/target.js";
import { schemaOf } from "../../src/manifest/schema/schema.ts";
import { type Json, type JsonObject, type Path, isArray, isObject } from "../../src/model/json.ts";

const RUNS = Number(process.env["TASC_LAW_RUNS"] ?? 3000);

/** Texts that fit some places and not others. */
const TEXTS = [
  "",
  "x",
  "login",
  "a b",
  "a.b",
  "10s",
  "https://a.example",
  "${env:A}",
  "${secret:A}",
  "ENABLED",
];
const UUID = "0b1f3c9e-7c0e-4b8a-9b3f-2f7f0d5f1a11";
const ODD = fc.constantFrom<Json>(null, 0, -1, 1.5, 101, true, [], {}, [1], { a: null }, UUID, ...TEXTS);
const KEYS = fc.constantFrom("login", "id", "target", "constructor", "__proto__", "a b", "${env:A}");

describe.each([
  ["project", acceptsProject, validateProject],
  ["target", acceptsTarget, validateTarget],
] as const)("the acceptor of a %s", (name, accepts, validate) => {
  test("accepts a document, however it is spoilt in one place, if the validator finds nothing in it", () => {
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(
        documents(schemaOf(name)),
        fc.nat(),
        ODD,
        KEYS,
        fc.nat(2),
        (document, at, odd, key, how) => {
          expect(accepts(document)).toBe(validate(document));
          const places = placesIn(document);
          const place = places[at % places.length] ?? [];
          const spoilt = put(document, how === 2 ? [...place, key] : place, how === 1 ? undefined : odd);
          const accepted = validate(spoilt);
          seen[accepted ? "accepted" : "refused"]++;
          expect(accepts(spoilt)).toBe(accepted);
        },
      ),
      { numRuns: RUNS },
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(RUNS / 20);
  });

  test.each([null, 1, "text", [], true])("refuses %j", (value) => {
    expect(accepts(value)).toBe(false);
  });
});

test("an acceptor sees what stands beside a reference", async () => {
  const source = acceptorSource({ $ref: "#/$defs/text", minLength: 3, $defs: { text: { type: "string" } } });
  const made: unknown = await import(`data:text/javascript,${encodeURIComponent(source)}`);
  expect(["abc", "ab", 3].map(acceptsOf(made))).toEqual([true, false, false]);
});

function acceptsOf(made: unknown): (value: unknown) => boolean {
  if (typeof made !== "object" || made === null || !("accepts" in made)) throw new Error("no acceptor");
  const { accepts } = made;
  if (typeof accepts !== "function") throw new Error("no function");
  return (value) => accepts(value) === true;
}

test.each<[string, JsonObject]>([
  ["a keyword that it does not know", { type: "string", maxLength: 3 }],
  ["a map that is not closed", { type: "object", properties: { a: { type: "string" } } }],
  ["two ways to look at a key", { patternProperties: { a: {}, b: {} }, additionalProperties: false }],
  ["a definition that is not there", { items: { $ref: "#/$defs/missing" } }],
])("no acceptor is made for %s", (_, schema) => {
  expect(() => acceptorSource(schema)).toThrow("an acceptor knows no");
});

/** Every place in a value, the outermost first. */
function placesIn(value: Json): readonly Path[] {
  const entries: readonly (readonly [string | number, Json])[] = isArray(value)
    ? [...value.entries()]
    : isObject(value)
      ? Object.entries(value)
      : [];
  return [[], ...entries.flatMap(([key, inner]) => placesIn(inner).map((path) => [key, ...path]))];
}

/** A copy with something else, or nothing, at a place; as it was where there is no such place. */
function put(value: Json, [step, ...rest]: Path, other: Json | undefined): Json {
  if (step === undefined) return other ?? null;
  const at = (inner: Json): Json => put(inner, rest, other);
  if (isArray(value)) return value.map((item, index) => (index === step ? at(item) : item));
  if (!isObject(value)) return value;
  const others = Object.entries(value).filter(([key]) => key !== step);
  const isLeft = rest.length === 0 && other === undefined;
  return Object.fromEntries(isLeft ? others : [...others, [step, at(value[step] ?? null)]]);
}

/** Documents in which nothing is wrong, after a schema. */
function documents(schema: JsonObject): fc.Arbitrary<Json> {
  return valueOf(schema, isObject(schema.$defs) ? schema.$defs : {}, 0);
}

function valueOf(schema: Json | undefined, definitions: JsonObject, depth: number): fc.Arbitrary<Json> {
  if (!isObject(schema) || depth > 9) return fc.constant("x");
  const inner = (part: Json | undefined): fc.Arbitrary<Json> => valueOf(part, definitions, depth + 1);
  if (typeof schema.$ref === "string") return inner(definitions[schema.$ref.replace("#/$defs/", "")]);
  if (isArray(schema.enum)) return fc.constantFrom(...schema.enum);
  if (isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map(inner));
  if (schema.const !== undefined) return fc.constant(schema.const);
  const types = isArray(schema.type) ? schema.type : [schema.type ?? "null"];
  return fc.oneof(
    ...types.filter((type) => typeof type === "string").map((type) => ofType(type, schema, inner)),
  );
}

function ofType(
  type: string,
  schema: JsonObject,
  inner: (part: Json | undefined) => fc.Arbitrary<Json>,
): fc.Arbitrary<Json> {
  switch (type) {
    case "string":
      return fc.constantFrom(...fitting(schema));
    case "integer":
      return fc.constantFrom(1, 30, 100);
    case "number":
      return fc.constantFrom(1, 0.5);
    case "boolean":
      return fc.boolean();
    case "array":
      return fc.array(inner(schema.items), { maxLength: 2 });
    case "object":
      return isObject(schema.properties)
        ? fieldsOf(schema.properties, schema.required, inner)
        : mapOf(schema.patternProperties, inner);
    case "null":
      return fc.constant(null);
    default:
      throw new Error(`no values of type ${type}`);
  }
}

function fitting({ pattern, minLength }: JsonObject): readonly string[] {
  const texts = [...TEXTS, UUID, "target.shop"].filter((text) => minLength === undefined || text !== "");
  return typeof pattern === "string" ? texts.filter((text) => new RegExp(pattern, "u").test(text)) : texts;
}

function fieldsOf(
  properties: JsonObject,
  required: Json | undefined,
  inner: (part: Json | undefined) => fc.Arbitrary<Json>,
): fc.Arbitrary<Json> {
  const parts = Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, inner(part)]));
  return fc.record(parts, { requiredKeys: isArray(required) ? required.map(String) : [] });
}

function mapOf(
  patterns: Json | undefined,
  inner: (part: Json | undefined) => fc.Arbitrary<Json>,
): fc.Arbitrary<Json> {
  const [value] = isObject(patterns) ? Object.values(patterns) : [];
  return fc.dictionary(fc.constantFrom("login", "b-2"), inner(value), { maxKeys: 2 });
}
