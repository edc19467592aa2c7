import {
  type ASTNode,
  Environment,
  EvaluationError,
  ParseError,
  TypeError as WrongType,
} from "@marcbachmann/cel-js";
import { RE2JS, RE2JSException } from "re2js";
import { type Kind, targetOf } from "../model/address.ts";
import { cached } from "../model/collections.ts";
import type { DesiredResource } from "../model/desired.ts";
import { type Shape, fieldsOf } from "../model/fields.ts";
import { type JsonObject, isArray, mapValues } from "../model/json.ts";
import { POLICY_RULES, RULE_COUNTS, type Rule, type RuleSubject } from "../model/settings.ts";
import { isRecord, isText } from "../model/shape.ts";
import { type Value, isSensitive, isValueObject } from "../model/value.ts";
import { type OfTexts, type RuleValue, type Variables, plainOf } from "./plain-cel.ts";

/**
 * Expressions of `policy.rules`, in CEL (https://cel.dev). The only module that knows the library.
 *
 * Each expression is parsed twice. In the first language each variable has its exact type, and the
 * expression is only checked there: misspelt names and wrong types are found without any data. In
 * the second it runs, and variables are of any type, since an undeclared field is null, which no
 * exact type of CEL allows.
 *
 * The library's `matches` backtracks (`^(a+)+$` took 55 s for a text of 28 characters). In the
 * second language its calls go to a matcher that takes linear time.
 */

export interface Expression {
  /** The variables that the expression reads. */
  readonly names: readonly string[];
  /** Returns whether it is true, or why that cannot be told. */
  readonly holds: (variables: Variables) => boolean | { fault: string };
}

/** A mistake in an expression, with the text that is wrong and the names that could stand there. */
export interface ExpressionFault {
  readonly summary: string;
  readonly word: string;
  readonly known: readonly string[];
}

/**
 * Compiles an expression of a rule.
 * @param subject what the rule is about; it decides which variables there are
 */
export function compileExpression(
  subject: RuleSubject,
  text: string,
): Expression | ExpressionFault {
  const { strict, loose, variables, members } = languagesOf(subject);
  const fault = (summary: string, word = "", known: readonly string[] = []): ExpressionFault => ({
    summary,
    word,
    known,
  });
  const checked = strict.check(text);
  if (checked.error !== undefined) {
    const { code, summary, range } = checked.error;
    const word = range === undefined ? "" : text.slice(range.start, range.end);
    if (code === "unknown_variable")
      return fault(`there is no variable \`${word}\``, word, variables);
    if (code === "no_such_key") return fault(`there is no field \`${word}\``, word, members);
    const [, called] = /'(?:\S+\.)?(\w+)\(.*\)'/.exec(summary) ?? [];
    if (code === "no_matching_overload" && called !== undefined) {
      const known = functionsOf(strict);
      if (!known.includes(called))
        return fault(`there is no function \`${called}\``, called, known);
    }
    return fault(inWords(summary), word);
  }
  if (checked.type !== "bool" && checked.type !== "dyn")
    return fault(`it is of the type ${checked.type ?? "dyn"}, and must be true or false`, text);
  const names = new Set<string>();
  const calls: number[] = [];
  for (const node of nodesOf(strict.parse(text).ast)) {
    if (node.op === "id") names.add(node.args);
    if (node.op !== "rcall" || node.args[0] !== "matches") continue;
    const [, receiver, [pattern]] = node.args;
    calls.push(text.indexOf("matches", receiver.range.end));
    if (pattern?.op !== "value") continue;
    const source = String(pattern.args);
    const wrong = patternOf(source);
    if (typeof wrong === "string") return fault(`its pattern cannot be used: ${wrong}`, source);
  }
  const linear = calls
    .toSorted((a, b) => b - a)
    .reduce((all, at) => `${all.slice(0, at)}${LINEAR}${all.slice(at + 7)}`, text);
  const run = loose.parse(linear);
  // A comment can have the name of the function where it was looked for.
  for (const node of nodesOf(run.ast))
    if (node.op === "rcall" && node.args[0] === "matches")
      return fault("write `matches` without comments around it", "matches");
  // What the types of its literals forbid is a fault whatever the values are.
  const plain = run.check().valid ? plainOf(run.ast, METHODS) : undefined;
  return {
    names: variables.filter((name) => names.has(name)),
    holds(given) {
      const known = plain?.(given);
      if (typeof known === "boolean") return known;
      try {
        const value: unknown = run(given);
        return typeof value === "boolean" ? value : { fault: "it is neither true nor false" };
      } catch (error) {
        if (isOfCel(error)) return { fault: error.summary };
        throw error;
      }
    },
  };
}

/** A mistake in a rule, and the expression that has it. */
export interface RuleFault extends ExpressionFault {
  readonly rule: Rule;
  readonly key: "name" | "when" | "require";
}

/** Returns the mistakes in rules, which are found without any data. */
export function faultsIn(rules: readonly Rule[]): readonly RuleFault[] {
  const listed = new Set<string>();
  return rules.flatMap((rule) => {
    const faults: RuleFault[] = [];
    const add = (key: RuleFault["key"], fault: ExpressionFault) =>
      faults.push({ ...fault, rule, key });
    const refuseName = (summary: string) => add("name", { summary, word: rule.name, known: [] });
    const list = JSON.stringify([rule.name, rule.origin?.path.slice(0, -1)]);
    if (POLICY_RULES.some((one) => one === rule.name)) refuseName("is the name of a built-in rule");
    else if (listed.has(list)) refuseName("is the name of another rule in this list");
    listed.add(list);
    for (const key of ["when", "require"] as const) {
      const text = rule[key];
      const compiled = text === undefined ? undefined : compileExpression(rule.for, text);
      if (compiled !== undefined && "summary" in compiled) add(key, compiled);
    }
    return faults;
  });
}

function functionsOf(language: Environment): readonly string[] {
  return [...new Set(language.getDefinitions().functions.map(({ name }) => name))];
}

/** The signs of the library's names for parts of an expression. */
const SIGNS: Readonly<Record<string, string>> = {
  EOF: "the end",
  LPAREN: "`(`",
  RPAREN: "`)`",
  LBRACKET: "`[`",
  RBRACKET: "`]`",
  LBRACE: "`{`",
  RBRACE: "`}`",
  COMMA: "`,`",
  COLON: "`:`",
  DOT: "`.`",
  EQ: "`==`",
  NE: "`!=`",
  AND: "`&&`",
  OR: "`||`",
  IDENTIFIER: "a name",
  STRING: "a string",
  NUMBER: "a number",
};

/** Says a message of the library in the words that the rest of tasc uses. */
function inWords(summary: string): string {
  const sign = (name = ""): string => SIGNS[name] ?? name;
  const [, left, binary, right = ""] =
    /^no such overload: (.+) ([-!=<>+*/%&|]+|in) (.+)$/.exec(summary) ?? [];
  if (left !== undefined)
    return `\`${binary}\` does not take ${typeInWords(left)} and ${typeInWords(right)}`;
  const [, unary, operand] = /^no such overload: ([!-])(.+)$/.exec(summary) ?? [];
  if (operand !== undefined) return `\`${unary}\` does not take ${typeInWords(operand)}`;
  const [, none] = /^found no matching overload for '(.+)'$/.exec(summary) ?? [];
  if (none !== undefined) return `there is no function \`${typeInWords(none)}\``;
  const [, wanted, found] = /^Expected (\w+), got (\w+)$/.exec(summary) ?? [];
  if (wanted !== undefined) return `expected ${sign(wanted)}, and found ${sign(found)}`;
  const [, unexpected] = /^Unexpected token: (\w+)$/.exec(summary) ?? [];
  if (unexpected !== undefined) return `${sign(unexpected)} cannot stand here`;
  return summary;
}

/** The names of our own types are an inner matter. */
function typeInWords(type: string): string {
  return type.replaceAll(/\btasc_\w+/g, "map");
}

function isOfCel(error: unknown): error is ParseError | EvaluationError | WrongType {
  return (
    error instanceof EvaluationError || error instanceof WrongType || error instanceof ParseError
  );
}

/** The name under which an expression calls the linear matcher. */
const LINEAR = "linearMatches";

/** The methods of texts that expressions run without the library. */
const METHODS: Readonly<Record<string, OfTexts>> = {
  startsWith: (text, other) => text.startsWith(other),
  endsWith: (text, other) => text.endsWith(other),
  contains: (text, other) => text.includes(other),
  [LINEAR](text, source) {
    const pattern = patternOf(source);
    return typeof pattern === "string" ? undefined : pattern.test(text);
  },
};

/** Returns all nodes of a parsed expression. */
function* nodesOf(node: unknown): Generator<ASTNode> {
  if (Array.isArray(node)) for (const one of node) yield* nodesOf(one);
  if (!isNode(node)) return;
  yield node;
  yield* nodesOf(node.args);
}

function isNode(value: unknown): value is ASTNode {
  return isRecord(value) && "op" in value && "args" in value && "range" in value;
}

/** Limits of an expression: far above what people write, and far below what takes long. */
const LIMITS = { limits: { maxAstNodes: 2000, maxDepth: 60 } };

const languages = new Map<RuleSubject, ReturnType<typeof makeLanguages>>();

/** Returns the languages of a subject. Making them takes longer than compiling an expression. */
function languagesOf(subject: RuleSubject) {
  return cached(languages, subject, () => makeLanguages(subject));
}

function makeLanguages(subject: RuleSubject) {
  const { strict, variables, members } = strictLanguage(subject);
  return { strict, loose: looseLanguage(variables), variables, members };
}

/** The language that checks: each variable has its exact type. */
function strictLanguage(subject: RuleSubject) {
  const strict = new Environment(LIMITS);
  const members: string[] = [];
  // Any value can be null, which is compared with the types that the fields have.
  const types = new Set(["string", "int", "bool"]);
  const typeOf = (name: string, shape: Shape): string => {
    switch (shape.type) {
      case "string":
      case "url":
      case "enum":
      case "date":
        return "string";
      case "integer":
        return "int";
      case "boolean":
        return "bool";
      case "list": {
        const list = `list<${typeOf(`${name}Item`, shape.of)}>`;
        types.add(list);
        return list;
      }
      case "object":
        return register(name, shape.parts);
      case "map":
      case "json":
      case "reference":
        return "dyn";
    }
  };
  const register = (name: string, parts: Readonly<Record<string, { readonly shape: Shape }>>) => {
    const type = `tasc_${name}`;
    const fields = Object.entries(parts).map(
      ([key, { shape }]) => [key, typeOf(`${name}_${key}`, shape)] as const,
    );
    members.push(...Object.keys(parts));
    strict.registerType(type, { fields: Object.fromEntries(fields) });
    types.add(type);
    return type;
  };
  const shapes = variablesOf(subject);
  for (const [name, shape] of Object.entries(shapes))
    strict.registerVariable(name, typeOf(name, shape));
  for (const type of types) strict.registerOperator(`${type} == null`, () => false);
  return { strict, variables: Object.keys(shapes), members };
}

/** The language that runs: any value can be null. */
function looseLanguage(variables: readonly string[]): Environment {
  const loose = new Environment(LIMITS);
  for (const name of variables) loose.registerVariable(name, "dyn");
  return loose.registerFunction(
    `string.${LINEAR}(string): bool`,
    (text: string, source: string) => {
      const pattern = patternOf(source);
      if (typeof pattern === "string")
        throw new EvaluationError(`the pattern ${source}: ${pattern}`);
      return pattern.test(text);
    },
  );
}

const patterns = new Map<string, RE2JS | string>();

/** Returns a pattern, or why it cannot be used. */
function patternOf(source: string): RE2JS | string {
  // A pattern may be the value of a field, of which there is no end.
  if (patterns.size > 1000) patterns.clear();
  return cached(patterns, source, () => {
    try {
      return RE2JS.compile(source);
    } catch (error) {
      if (error instanceof RE2JSException) return error.message;
      throw error;
    }
  });
}

const TEXT: Shape = { type: "string" };
const TEXTS: Shape = { type: "list", of: TEXT };
const COUNT: Shape = { type: "integer" };
const ANY: Shape = { type: "json" };

/** A changed field as the plan's JSON shows it. */
const FIELD_CHANGE: Shape = {
  type: "object",
  parts: {
    path: {
      shape: { type: "list", of: ANY },
      description: "Names and positions, outermost first.",
    },
    before: { shape: ANY, description: "The live value." },
    after: { shape: ANY, description: "The declared value." },
  },
};

/** Returns the variables that a rule about a subject has, and their shapes. */
function variablesOf(subject: RuleSubject): Readonly<Record<string, Shape>> {
  const about = { address: TEXT, stage: TEXT };
  switch (subject) {
    case "plan":
      return { stage: TEXT, ...Object.fromEntries(RULE_COUNTS.map((name) => [name, COUNT])) };
    case "change": {
      const fields: Shape = { type: "list", of: FIELD_CHANGE };
      return { ...about, action: TEXT, cause: TEXT, attention: TEXTS, fields };
    }
    case "target":
    case "environment":
    case "testCase":
    case "batchGeneration":
      return { ...about, key: TEXT, target: TEXT, ...fieldShapes(subject) };
  }
}

/** Returns the fields of a kind; those with a dotted name are the parts of one variable. */
function fieldShapes(kind: Kind): Readonly<Record<string, Shape>> {
  const shapes: Record<string, Shape> = {};
  for (const { name, shape, description } of fieldsOf(kind)) {
    const [outer = name, inner] = name.split(".");
    const group = shapes[outer];
    const parts = group?.type === "object" ? group.parts : {};
    shapes[outer] =
      inner === undefined
        ? shape
        : { type: "object", parts: { ...parts, [inner]: { shape, description } } };
  }
  return shapes;
}

/**
 * Returns a function that reads the variables of a rule in a resource: an undeclared list is empty;
 * any other undeclared field is null, and so is one with a secret.
 * @param names the variables that the rule reads
 */
export function resourceReader(kind: Kind, names: readonly string[]) {
  const read = new Set(names);
  const rows = fieldsOf(kind).flatMap(({ name, shape }) => {
    const [outer = name, inner] = name.split(".");
    return read.has(outer) ? [{ name, shape, outer, inner }] : [];
  });
  return (stage: string, { address, key, fields }: DesiredResource) => {
    const found: Record<string, RuleValue> = { address, stage, key };
    if (read.has("target")) found["target"] = targetOf(address);
    const groups: Record<string, Record<string, RuleValue>> = {};
    for (const { name, shape, outer, inner } of rows) {
      const declared = fields[name];
      const value =
        declared === undefined ? (shape.type === "list" ? [] : null) : ruleValue(declared, shape);
      if (inner === undefined) found[outer] = value;
      else found[outer] = Object.assign((groups[outer] ??= {}), { [inner]: value });
    }
    return found;
  };
}

/** @param shape if known: its undeclared parts are null, or empty lists */
function ruleValue(value: Value, shape?: Shape): RuleValue {
  if (isText(value) || (isArray(value) && value.every(isText))) return value;
  if (value === null || isSensitive(value)) return null;
  if (typeof value === "number") return Number.isInteger(value) ? BigInt(value) : value;
  if (isArray(value))
    return value.map((item) => ruleValue(item, shape?.type === "list" ? shape.of : undefined));
  if (!isValueObject(value)) return typeof value === "object" ? null : value;
  if (shape?.type !== "object") return mapValues(value, (part) => ruleValue(part));
  return mapValues(shape.parts, (part, key) => {
    const inner = value[key];
    if (inner === undefined) return part.shape.type === "list" ? [] : null;
    return ruleValue(inner, part.shape);
  });
}

/** Returns what the variables of a rule read in plain data, e.g. in a change of a plan. */
export function plainVariables(value: JsonObject): Variables {
  return mapValues(value, (part) => ruleValue(part));
}
