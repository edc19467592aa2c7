import { readFileSync, readdirSync } from "node:fs";
import { parseAst } from "rolldown/parseAst";
import { expect, test } from "vitest";
import { ATTENTION_CODES } from "../../src/model/plan.ts";
import { ERROR_CODES, errorCode } from "../../src/model/error-codes.ts";
import { EXIT } from "../../src/model/error.ts";
import { POLICY_RULES } from "../../src/model/settings.ts";

interface Node {
  readonly type: string;
  readonly [key: string]: unknown;
}

function isNode(value: unknown): value is Node {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string"
  );
}

function nodesIn(value: unknown): readonly Node[] {
  if (Array.isArray(value)) return value.flatMap(nodesIn);
  return isNode(value) ? [value, ...Object.values(value).flatMap(nodesIn)] : [];
}

function listOf(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : [];
}

function nameOf(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node.type === "MemberExpression") return nameOf(node["property"]);
  return typeof node["name"] === "string" ? node["name"] : undefined;
}

function typeOf({ typeAnnotation }: Node): string | undefined {
  return isNode(typeAnnotation) ? typeAnnotation.type : undefined;
}

/**
 * Each file of src with its AST nodes, without the local service: its codes belong to its own API.
 */
const FILES = readdirSync("src", { recursive: true, encoding: "utf8" })
  .filter((file) => /(?<!\.d)\.ts$/.test(file) && !/^server\b(?!.store)|error-codes/.test(file))
  .map((file) => ({
    file,
    nodes: nodesIn(parseAst(readFileSync(`src/${file}`, "utf8"), { lang: "ts" }, file)),
  }));

/** Functions that take a `code: string`, with the index of this parameter. */
function helpersIn(nodes: readonly Node[]): ReadonlyMap<string, number> {
  return new Map(
    nodes.flatMap((node): [string, number][] => {
      const made = isNode(node["init"]) ? node["init"] : node;
      const name = nameOf(node["id"]);
      if (name === undefined || !/Function/.test(made.type)) return [];
      // It takes all parameters of another helper (the code is the first), or a parameter of this
      // name.
      const at = listOf(made["params"]).findIndex(
        (one) =>
          (one.type === "RestElement" && JSON.stringify(one).includes('"name":"Parameters"')) ||
          (nameOf(one) === "code" &&
            isNode(one["typeAnnotation"]) &&
            typeOf(one["typeAnnotation"]) === "TSStringKeyword"),
      );
      return at < 0 ? [] : [[name, at]];
    }),
  );
}

/** The texts that an expression can evaluate to; `undefined` if this test cannot analyse it. */
function textsOf(value: unknown, nodes: readonly Node[]): readonly (string | undefined)[] {
  if (!isNode(value)) return [undefined];
  const { type } = value;
  if (type === "Literal") return [String(value["value"])];
  if (type === "TemplateLiteral") {
    const [first] = listOf(value["quasis"]);
    const piece: unknown = first?.["value"];
    const isPiece = typeof piece === "object" && piece !== null && "cooked" in piece;
    const cooked = isPiece ? String(piece.cooked) : "";
    return BUILT[cooked] ?? [cooked.replace(/-$/, "")];
  }
  if (type === "ConditionalExpression")
    return ["consequent", "alternate"].flatMap((part) => textsOf(value[part], nodes));
  if (type === "LogicalExpression")
    return ["left", "right"].flatMap((part) => textsOf(value[part], nodes));
  if (type === "ArrayExpression") return textsOf(listOf(value["elements"])[0], nodes);
  // A code that is passed on was counted where it was created.
  if (type === "SpreadElement" || type === "ChainExpression" || nameOf(value) === "code") return [];
  const named = nameOf(type === "MemberExpression" ? value["object"] : value);
  const all = [...nodes, ...FILES.flatMap((one) => one.nodes)];
  const found = all.find(
    (node) => node.type === "VariableDeclarator" && nameOf(node["id"]) === named,
  );
  const made = found?.["init"];
  if (isNode(made) && made.type === "ObjectExpression")
    return listOf(made["properties"]).flatMap((one) => textsOf(one["value"], nodes));
  return isNode(made) && made.type === "Literal" ? textsOf(made, nodes) : [undefined];
}

const STATE_PROBLEMS = readFileSync("src/state/problem.ts", "utf8").matchAll(
  /^  "?([a-z-]+)"?: \(/gm,
);

/** Codes that are composed of a prefix and a name, by prefix. */
const BUILT: Readonly<Record<string, readonly string[]>> = {
  "state-": [...STATE_PROBLEMS].map(([, kind]) => `state-${kind}`),
  "policy-": POLICY_RULES.map(
    (rule) => `policy-${rule.replace(/[A-Z]/g, (big) => `-${big.toLowerCase()}`)}`,
  ),
};

function codesOfSource(): ReadonlyMap<string | undefined, string> {
  const exported = FILES.flatMap(({ nodes }) =>
    nodes.filter(({ type }) => type === "ExportNamedDeclaration"),
  );
  const shared = helpersIn(nodesIn(exported).filter(({ type }) => type !== "Identifier"));
  const codes = FILES.flatMap(({ file, nodes }) => {
    const own = helpersIn(nodes);
    const imported = new Set(
      nodes.flatMap(({ type, local }) => (type === "ImportSpecifier" ? [nameOf(local)] : [])),
    );
    const makesTuples = nodes.some(
      ({ type, label }) => type === "TSNamedTupleMember" && nameOf(label) === "code",
    );
    const found = nodes.flatMap((node) => {
      // A function that returns a tuple that starts with the code.
      if (/^(?:ReturnStatement|ArrowFunctionExpression)$/.test(node.type) && makesTuples) {
        const tuple = node["argument"] ?? node["body"];
        return isNode(tuple) && tuple.type === "ArrayExpression" ? textsOf(tuple, nodes) : [];
      }
      // A choice between two tuples that start with the code.
      if (node.type === "VariableDeclarator" && isNode(node["id"]) && isNode(node["init"])) {
        const isTuple = nameOf(listOf(node["id"]["elements"])[0]) === "code";
        return isTuple && node["init"].type === "ConditionalExpression"
          ? textsOf(node["init"], nodes)
          : [];
      }
      if (node.type === "CallExpression") {
        const name = nameOf(node["callee"]) ?? "";
        const at = (imported.has(name) ? shared : own).get(name) ?? -1;
        return at < 0 ? [] : textsOf(listOf(node["arguments"])[at], nodes);
      }
      if (node.type !== "ObjectExpression") return [];
      const parts = new Map(
        listOf(node["properties"]).map((one) => [nameOf(one["key"]), one["value"]]),
      );
      const isDiagnostic = parts.has("code") && (parts.has("severity") || parts.has("detail"));
      return isDiagnostic ? textsOf(parts.get("code"), nodes) : [];
    });
    return found.map((code): [string | undefined, string] => [code, file]);
  });
  return new Map(codes);
}

test("the catalogue lists exactly the codes that the source uses", () => {
  const codes = codesOfSource();
  expect(codes.size).toBeGreaterThan(150);
  const unknown = [...codes].filter(
    ([code]) => code === undefined || errorCode(code) === undefined,
  );
  expect(unknown).toEqual([]);
  const reasons = Object.keys(EXIT).filter((reason) => reason !== "done" && reason !== "changes");
  const used = new Set<string | undefined>([...codes.keys(), ...reasons, ...ATTENTION_CODES]);
  expect([...ERROR_CODES.keys()].filter((code) => !used.has(code))).toEqual([]);
  expect(ATTENTION_CODES.filter((code) => errorCode(code) === undefined)).toEqual([]);
});

test("all codes of the YAML reader share one entry, and so do all codes of HTTP statuses", () => {
  expect(errorCode("yaml-tab")).toBe(ERROR_CODES.get("yaml"));
  expect(errorCode("http-404")).toBe(ERROR_CODES.get("http"));
  expect(errorCode("http-x")).toBeUndefined();
});
