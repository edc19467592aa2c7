import { createHash } from "node:crypto";
import { Ajv } from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { SCHEMA_NAMES, schemaOf } from "./manifest-schemas.ts";
import { SAVED_PLAN } from "./saved-plan-schema.ts";
import { type Json, type JsonObject, isArray, isObject } from "../src/model/json.ts";

/** A file of the repository that is made and not written. */
export interface GeneratedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly text: string;
}

/** The schemas as editors and `tasc schema` use them, and the validators made of them. */
export function generatedFiles(): readonly GeneratedFile[] {
  const generated = "src/manifest/schema/generated";
  const files = SCHEMA_NAMES.flatMap((name) => [
    ...(name === "plan"
      ? []
      : [{ path: `schemas/${name}.schema.json`, text: `${JSON.stringify(schemaOf(name), null, 2)}\n` }]),
    { path: `${generated}/${name}.js`, text: validatorSource(schemaOf(name)) },
    ...(name === "plan"
      ? []
      : [{ path: `${generated}/accept-${name}.js`, text: acceptorSource(schemaOf(name)) }]),
  ]);
  return [...files, { path: `${generated}/saved-plan.js`, text: validatorSource(SAVED_PLAN) }];
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
    // What has at most so many keywords costs more to call than to repeat.
    inlineRefs: 4,
    logger: false,
    messages: false,
    strict: true,
    strictRequired: false,
    // Lengths in UTF-16 units: the bounds are 0 and 1, where that is the same, and no helper is imported.
    unicode: false,
  });
  const source = standaloneCode.default(ajv, ajv.compile(withoutNotes(schema)));
  if (source.includes("require(")) throw new Error("a validator must not import anything");
  const short = SHORTER.reduce((text, [long, words]) => text.replaceAll(long, words), source);
  return `${validatorHeading(schema)}\n${short}\n`;
}

/** The same without what is noted of mistakes, for the many documents that have none: a third of it to be loaded. */
function acceptorSource(schema: JsonObject): string {
  const source = SILENT.reduce((text, [long, none]) => text.replaceAll(long, none), validatorSource(schema));
  if (/vErrors|instancePath/.test(source)) throw new Error("an acceptor must note nothing");
  return source;
}

const SILENT: readonly (readonly [long: string | RegExp, short: string])[] = [
  [/^\(vErrors \?\?= .*\n/gm, ""],
  [/^(?:let vErrors|vErrors = vErrors|validate\d+\.errors =) .*\n/gm, ""],
  [/^if\(vErrors !== null\)\{\n.*\n.*\n\}\nelse \{\n.*\n\}\n\}\n/gm, ""],
  ["errors = vErrors.length;", "errors++;"],
  [', instancePath=""){', "){"],
  [/, instancePath.*\)\)\)\{$/gm, "))){"],
];

/** What ajv writes for keywords and messages that tasc does not use, in fewer words: a third of the time of a validation. */
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
  ['.replace(/~/g, "~0").replace(/\\//g, "~1")', '.replaceAll("~", "~0").replaceAll("/", "~1")'],
];

/** The first line of a validator's module: it tells which schema the module was made of, however it is formatted. */
export function validatorHeading(schema: JsonObject): string {
  const digest = createHash("sha256").update(JSON.stringify(schema)).digest("hex");
  return `// Made by \`npm run generate\` of the schema ${digest}. Do not edit.`;
}

/** What is for people and editors alone: it would only make the module longer. */
const NOTES = ["$schema", "$id", "title", "description", "default", "writeOnly"];

/** A schema, or a map of schemas, without notes. What bears the name of one and is a schema itself stays. */
export function withoutNotes(schema: JsonObject): JsonObject {
  const entries = Object.entries(schema).filter(([key, value]) => isObject(value) || !NOTES.includes(key));
  return Object.fromEntries(entries.map(([key, value]): [string, Json] => [key, strip(value)]));
}

function strip(value: Json): Json {
  if (isArray(value)) return value.map(strip);
  return isObject(value) ? withoutNotes(value) : value;
}
