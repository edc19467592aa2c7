import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { type Json, type JsonObject, isArray, isObject } from "../../model/json.ts";
import { MANIFEST_SCHEMAS, SCHEMA_NAMES, schemaOf } from "./schema.ts";

/** A file of the repository that is made and not written. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The schemas as editors and `tasc schema` use them, and the validators and acceptors made of them. */
export function generatedFiles(): readonly GeneratedFile[] {
  const generated = "src/manifest/schema/generated";
  return [
    ...SCHEMA_NAMES.flatMap((name) => [
      { path: `schemas/${name}.schema.json`, text: `${JSON.stringify(schemaOf(name), null, 2)}\n` },
      { path: `${generated}/${name}.js`, text: validatorSource(schemaOf(name)) },
    ]),
    ...MANIFEST_SCHEMAS.map((name) => ({
      path: `${generated}/${name}-acceptor.js`,
      text: acceptorSource(schemaOf(name)),
    })),
  ];
}

/**
 * The source of a module that exports `validate` for one schema. It is made when tasc is built, since compiling a
 * schema at the start of every run costs ten times as much as loading what came of it. The module imports nothing.
 */
function validatorSource(schema: JsonObject): string {
  const ajv = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    code: { source: true, esm: true, lines: true },
    inlineRefs: false,
    logger: false,
    messages: false,
    strict: true,
    strictRequired: false,
    // Lengths in UTF-16 units: the bounds are 0 and 1, where that is the same, and no helper is imported.
    unicode: false,
  });
  const source = standaloneCode.default(ajv, ajv.compile(withoutNotes(schema)));
  if (source.includes("require(")) throw new Error("a validator must not import anything");
  return `${validatorHeading(schema)}\n${source}\n`;
}

/** The first line of a validator's module: it tells which schema the module was made of, however it is formatted. */
export function validatorHeading(schema: JsonObject): string {
  const digest = createHash("sha256").update(JSON.stringify(schema)).digest("hex");
  return `// Made by \`npm run generate\` of the schema ${digest}. Do not edit.`;
}

/** What is for people and editors alone: it would only make the module longer. */
const NOTES = ["$schema", "$id", "title", "description", "default", "writeOnly"];

/** A schema, or a map of schemas, without notes. What bears the name of one and is a schema itself stays. */
function withoutNotes(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).filter(([key, value]) => isObject(value) || !NOTES.includes(key));
  return Object.fromEntries(entries.map(([key, value]): [string, Json] => [key, strip(value)]));
}

function strip(value: Json): Json {
  if (isArray(value)) return value.map(strip);
  return isObject(value) ? withoutNotes(value) : value;
}

/**
 * The source of a module that exports `accepts` for one schema: whether a value has nothing wrong. It gathers no
 * findings, so that what is right, which most documents are, is seen to be so in a fraction of the time and of the
 * memory, and the validator, with all that explains its findings, is loaded only for what is wrong.
 *
 * Of JSON Schema it knows the keywords that our schemas use; another one is an error when tasc is built.
 */
export function acceptorSource(schema: JsonObject): string {
  const { $defs, ...root } = withoutNotes(schema);
  const acceptor = new Acceptor(isObject($defs) ? $defs : {});
  const name = acceptor.nameOf(root);
  return `${validatorHeading(schema)}
${acceptor.source()}
export const accepts = ${name};
`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'typeof v === "string"',
  number: "Number.isFinite(v)",
  integer: "Number.isInteger(v)",
  boolean: 'typeof v === "boolean"',
  null: "v === null",
  array: "Array.isArray(v)",
  object: "isMap(v)",
};

class Acceptor {
  readonly #definitions: JsonObject;
  readonly #lines = ['const isMap = (v) => typeof v === "object" && v !== null && !Array.isArray(v);'];
  /** By the text of the schema, or by the source of a constant: what is the same is there once. */
  readonly #names = new Map<string, string>();

  constructor(definitions: JsonObject) {
    this.#definitions = definitions;
  }

  source(): string {
    return this.#lines.join("\n");
  }

  /** The name of the function that accepts what the schema does. */
  nameOf(schema: Json): string {
    if (!isObject(schema)) throw unsupported(schema);
    if (isReference(schema)) return this.nameOf(this.#referred(schema.$ref));
    const text = JSON.stringify(schema);
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    const name = `accepts${this.#names.size}`;
    // Named before its parts are looked at: it may be one of them.
    this.#names.set(text, name);
    const { type, ...others } = schema;
    // The type first: what is asked then is asked of values of that type.
    const keywords = [...(type === undefined ? [] : [["type", type] as const]), ...Object.entries(others)];
    const conditions = keywords.flatMap(([keyword, value]) => this.#condition(keyword, value, schema));
    this.#lines.push(`function ${name}(v) { return ${conditions.join(" && ") || "true"}; }`);
    return name;
  }

  #referred(reference: string): Json {
    return this.#definitions[reference.replace("#/$defs/", "")] ?? null;
  }

  #condition(keyword: string, value: Json, schema: JsonObject): string | readonly string[] {
    switch (keyword) {
      case "$ref":
        // What stands beside a reference holds as well.
        return `${this.nameOf({ $ref: value })}(v)`;
      case "type":
        return anyOf(typesIn(value).map((type) => TYPES[type] ?? "false"));
      case "const":
        return `v === ${JSON.stringify(value)}`;
      case "enum":
        return anyOf(listed(value).map((item) => `v === ${JSON.stringify(item)}`));
      case "anyOf":
        return anyOf(listed(value).map((item) => `${this.nameOf(item)}(v)`));
      case "pattern":
        return where(schema, "string", `${this.#constant(regularExpression(value))}.test(v)`);
      case "minLength":
        return where(schema, "string", `v.length >= ${JSON.stringify(value)}`);
      case "minimum":
        return where(schema, "number", `v >= ${JSON.stringify(value)}`);
      case "maximum":
        return where(schema, "number", `v <= ${JSON.stringify(value)}`);
      case "items":
        return where(schema, "array", `v.every(${this.nameOf(value)})`);
      case "required":
        return listed(value).map((key) => where(schema, "object", `v[${JSON.stringify(key)}] !== undefined`));
      case "additionalProperties":
        if (value !== false) throw unsupported({ [keyword]: value });
        return where(schema, "object", `${this.#members(schema)}(v)`);
      case "properties":
      case "patternProperties":
        // Read together with `additionalProperties`, which closes every map of ours.
        if (schema.additionalProperties !== false) throw unsupported(schema);
        return [];
      default:
        throw unsupported({ [keyword]: value });
    }
  }

  /** The name of a function that accepts a map by its keys, one after the other. */
  #members({ properties = {}, patternProperties = {} }: JsonObject): string {
    const named = Object.entries(isObject(properties) ? properties : {}).map(
      ([key, schema]) =>
        `case ${JSON.stringify(key)}: if (!${this.nameOf(schema)}(v[key])) return false; break;`,
    );
    const patterns = Object.entries(isObject(patternProperties) ? patternProperties : {});
    // A key is looked at by one of them alone.
    if (patterns.length > (named.length > 0 ? 0 : 1)) throw unsupported(patternProperties);
    const others = patterns.map(
      ([pattern, schema]) =>
        `if (${this.#constant(regularExpression(pattern))}.test(key) && ${this.nameOf(schema)}(v[key])) break;`,
    );
    const cases = [...named, `default: ${others.join(" ")} return false;`].join(" ");
    return this.#constant(`(v) => { for (const key in v) switch (key) { ${cases} } return true; }`);
  }

  #constant(source: string): string {
    const known = this.#names.get(source);
    if (known !== undefined) return known;
    const name = `c${this.#names.size}`;
    this.#names.set(source, name);
    this.#lines.push(`const ${name} = ${source};`);
    return name;
  }
}

/** A schema that is nothing but another. */
function isReference(schema: JsonObject): schema is { readonly $ref: string } {
  return typeof schema.$ref === "string" && Object.keys(schema).length === 1;
}

function regularExpression(pattern: Json): string {
  if (typeof pattern !== "string") throw unsupported({ pattern });
  return String(new RegExp(pattern, "u"));
}

function typesIn(type: Json): readonly string[] {
  return (isArray(type) ? type : [type]).filter((name) => typeof name === "string");
}

function listed(value: Json): readonly Json[] {
  if (!isArray(value) || value.some((item) => isArray(item))) throw unsupported(value);
  return value;
}

function anyOf(conditions: readonly string[]): string {
  return conditions.length === 1 ? conditions.join("") : `(${conditions.join(" || ")})`;
}

/** A keyword speaks of values of one type; where the schema allows only that, nothing else comes so far. */
function where(schema: JsonObject, type: string, condition: string): string {
  const types = schema.type === undefined ? [] : typesIn(schema.type);
  const holds = types.every((allowed) => allowed === type || (type === "number" && allowed === "integer"));
  if (types.length > 0 && holds) return condition;
  const not = type === "number" ? 'typeof v !== "number"' : `!(${TYPES[type] ?? "true"})`;
  return `(${not} || ${condition})`;
}

function unsupported(schema: Json): Error {
  return new Error(`an acceptor knows no ${JSON.stringify(schema)}`);
}
