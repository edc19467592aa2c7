import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { SCHEMA_NAMES, type SchemaName, schemaOf } from "./manifest-schemas.ts";
import { SAVED_PLAN } from "./saved-plan-schema.ts";
import { type Json, type JsonObject, isArray, isObject } from "../src/model/json.ts";

/** A generated file of the repository. */
export interface GeneratedFile {
  /** Path from the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The schemas as editors and `tasc schema` use them, and the validators made from them. */
export function generatedFiles(): readonly GeneratedFile[] {
  const generated = "src/manifest/schema/generated";
  const files = SCHEMA_NAMES.flatMap((name) => [
    ...(name === "plan"
      ? []
      : [
          {
            path: `schemas/${name}.schema.json`,
            text: `${JSON.stringify(publicSchemaOf(name), null, 2)}\n`,
          },
        ]),
    { path: `${generated}/${name}.js`, text: validatorSource(schemaOf(name)) },
  ]);
  const accept = {
    path: `${generated}/accept.js`,
    text: acceptorSource("project") + acceptorSource("target"),
  };
  return [
    ...files,
    accept,
    { path: `${generated}/saved-plan.js`, text: validatorSource(SAVED_PLAN) },
  ];
}

/**
 * A schema as it is published: without a `type` of several types, which strict validators refuse
 * (all but "or null"). What it accepts is the same. The validators of tasc are made from the shorter
 * form, in which a value breaks fewer keywords.
 */
export function publicSchemaOf(name: SchemaName): JsonObject {
  const schema = withoutUnions(schemaOf(name));
  if (!isObject(schema)) throw new Error("a schema is an object");
  return schema;
}

/** The keywords that say something about values of one type alone. */
const NUMBERS = ["minimum", "maximum"];
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ["pattern", "minLength"],
  integer: NUMBERS,
  number: NUMBERS,
  array: ["items", "uniqueItems"],
  object: ["properties", "patternProperties", "required", "additionalProperties"],
};

function withoutUnions(value: Json): Json {
  if (isArray(value)) return value.map(withoutUnions);
  if (!isObject(value)) return value;
  const entries = Object.entries(value).map(([key, part]): [string, Json] => [
    key,
    withoutUnions(part),
  ]);
  const { type } = value;
  if (!isArray(type) || type.length - Number(type.includes("null")) < 2)
    return Object.fromEntries(entries);
  const isOfOne = (key: string, one: Json): boolean =>
    typeof one === "string" && KEYWORDS[one]?.includes(key) === true;
  const ofAll = entries.filter(([key]) => key !== "type" && !type.some((one) => isOfOne(key, one)));
  const branches = type.map((one) => ({
    type: one,
    ...Object.fromEntries(entries.filter(([key]) => isOfOne(key, one))),
  }));
  return { ...Object.fromEntries(ofAll), anyOf: branches };
}

/**
 * The source of a module that exports `validate` for one schema. It is generated at build time,
 * because compiling a schema at the start of every run takes ten times as long as loading the
 * result. The module imports nothing.
 */
function validatorSource(schema: JsonObject): string {
  const ajv = new Ajv({
    allErrors: true,
    allowUnionTypes: true,
    code: { source: true, esm: true, lines: true },
    // Calling a definition with at most this many keywords costs more than repeating it.
    inlineRefs: 4,
    logger: false,
    messages: false,
    strict: true,
    strictRequired: false,
    // Lengths in UTF-16 units: the bounds are 0 and 1, for which both units agree, and no helper is
    // imported.
    unicode: false,
  });
  const source = standaloneCode.default(ajv, ajv.compile(withoutNotes(schema)));
  if (source.includes("require(")) throw new Error("a validator must not import anything");
  const short = SHORTER.reduce((text, [long, words]) => text.replaceAll(long, words), source);
  return `${validatorHeading(schema)}\n${short}\n`;
}

/**
 * The validator without error details, for the many valid documents: only a third of the code must
 * be loaded.
 */
function acceptorSource(name: "project" | "target"): string {
  const whole = validatorSource(schemaOf(name));
  const source = SILENT.reduce((text, [long, none]) => text.replaceAll(long, none), whole);
  if (/vErrors|instancePath/.test(source)) throw new Error("an acceptor must note nothing");
  const [, own] = /^export default (\w+);$/m.exec(whole) ?? [];
  return `export const ${name} = (() => {\n${source}return ${own};\n})();\n`;
}

const SILENT: readonly (readonly [long: string | RegExp, short: string])[] = [
  [/^export .*\n/gm, ""],
  [/^(?:for \(const one of \S+ )?\(vErrors \?\?= .*\n/gm, ""],
  [/^(?:let vErrors|vErrors = vErrors|validate\d+\.errors =) .*\n/gm, ""],
  [/^if\(vErrors !== null\)\{\n.*\n.*\n\}\nelse \{\n.*\n\}\n\}\n/gm, ""],
  ["errors = vErrors.length;", "errors++;"],
  [', instancePath=""){', "){"],
  [/, instancePath.*\)\)\)\{$/gm, "))){"],
];

/**
 * Shortens ajv's code for keywords and messages that tasc does not use, which saves a third of the
 * validation time.
 */
const SHORTER: readonly (readonly [long: string | RegExp, short: string])[] = [
  ['{instancePath="", parentData, parentDataProperty, rootData=data}={}', 'instancePath=""'],
  [/\{instancePath,parentData:.*?,rootData\}/g, "instancePath"],
  [/\{instancePath:(.*?),parentData:.*?,rootData\}/g, "$1"],
  [/,"\$defs":\{.*\}(?=\};$)/gm, ""],
  [/schemaPath:"(?:[^"\\]|\\.)*",/g, ""],
  [
    /const (err\d+) = (\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n/g,
    "(vErrors ??= []).push($2);\n",
  ],
  // ajv copies the list of all errors so far for each part that has some.
  [
    /^vErrors = vErrors === null \? ((?:validate\d+|wrapper0\.validate)\.errors) : vErrors\.concat\(\1\);$/gm,
    "for (const one of $1) (vErrors ??= []).push(one);",
  ],
  ['.replace(/~/g, "~0").replace(/\\//g, "~1")', '.replaceAll("~", "~0").replaceAll("/", "~1")'],
];

/**
 * The first line of a validator's module: it names the schema of the module, however the module is
 * formatted.
 */
export function validatorHeading(schema: JsonObject): string {
  const digest = createHash("sha256").update(JSON.stringify(schema)).digest("hex");
  return `// Made by \`npm run generate\` of the schema ${digest}. Do not edit.`;
}

/** Keywords only for people and editors: they would only make the module longer. */
const NOTES = [
  "$schema",
  "$id",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "writeOnly",
];

/**
 * A schema, or a map of schemas, without notes. A member with the name of a note is kept if it is a
 * schema itself.
 */
export function withoutNotes(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).filter(
    ([key, value]) => isObject(value) || !NOTES.includes(key),
  );
  return Object.fromEntries(entries.map(([key, value]): [string, Json] => [key, strip(value)]));
}

function strip(value: Json): Json {
  if (isArray(value)) return value.map(strip);
  return isObject(value) ? withoutNotes(value) : value;
}
