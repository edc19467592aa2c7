import type { ASTNode } from "@marcbachmann/cel-js";
import { isArray } from "../model/json.ts";

/*
 * The part of CEL that nearly all rules are made of, as plain functions. For each operator and value, the library looks
 * for the overload that fits: with it, five rules about 10,000 test cases took three times as long.
 *
 * Nothing here decides what is an error. A function returns undefined for a value that it is not made for, and the
 * library then evaluates the whole expression.
 */

/** A value that an expression reads. Integers are big, as CEL's are. */
export type RuleValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly RuleValue[]
  | { readonly [key: string]: RuleValue };

export type Variables = Readonly<Record<string, RuleValue>>;

/** @param item the item that `all` or `exists` looks at */
type Part = (given: Variables, item?: RuleValue) => RuleValue | undefined;

/** A function of two texts. It returns undefined if it cannot tell. */
export type OfTexts = (text: string, other: string) => boolean | undefined;

/**
 * Returns an expression as a function, or undefined if it has other parts than this module knows.
 * @param methods those of texts
 */
export function plainOf(
  expression: ASTNode,
  methods: Readonly<Record<string, OfTexts>>,
): Part | undefined {
  let isPlain = true;
  const other = (): Part => {
    isPlain = false;
    return () => undefined;
  };
  /** @param own the name of the item */
  const partOf = (node: ASTNode, own?: string): Part => {
    const pair = (of: Of, [left, right]: readonly [ASTNode, ASTNode]): Part => {
      const [a, b] = [partOf(left, own), partOf(right, own)];
      return (given, item) => of(a(given, item), b(given, item));
    };
    switch (node.op) {
      case "value":
        return isScalar(node.args) ? constant(node.args) : other();
      case "list":
        return node.args.every(isTextNode) ? constant(node.args.map(({ args }) => args)) : other();
      case "id":
        return node.args === own ? (_given, item) => item : ofVariable(node.args);
      case ".":
        return memberOf(partOf(node.args[0], own), node.args[1]);
      case "!_":
        return opposite(partOf(node.args, own));
      case "||":
      case "&&":
        return ofBoth(node.op === "||", partOf(node.args[0], own), partOf(node.args[1], own));
      case "==":
      case "!=":
      case "<":
      case "<=":
      case ">":
      case ">=":
      case "in":
        return pair(OPERATORS[node.op], node.args);
      case "call": {
        const [name, [of, ...others]] = node.args;
        return name === "size" && of !== undefined && others.length === 0
          ? sizeOf(partOf(of, own))
          : other();
      }
      case "rcall": {
        const [name, receiver, [first, second]] = node.args;
        if (first === undefined) return name === "size" ? sizeOf(partOf(receiver, own)) : other();
        const of = methods[name];
        if (of !== undefined && second === undefined) return pair(ofTexts(of), [receiver, first]);
        // In an inner one, there would be two items.
        if (first.op !== "id" || second === undefined || own !== undefined) return other();
        if (name !== "exists" && name !== "all") return other();
        return ofItems(name === "exists", partOf(receiver), partOf(second, first.args));
      }
      case ".?":
      case "[]":
      case "[?]":
      case "map":
      case "?:":
      case "-_":
      case "+":
      case "-":
      case "*":
      case "/":
      case "%":
        return other();
    }
  };
  const whole = partOf(expression);
  return isPlain ? whole : undefined;
}

function isTextNode(node: ASTNode): node is ASTNode & { readonly args: string } {
  return node.op === "value" && typeof node.args === "string";
}

type Of = (a: RuleValue | undefined, b: RuleValue | undefined) => boolean | undefined;

type Scalar = string | bigint | boolean | null;

function isScalar(value: unknown): value is Scalar {
  return (
    value === null ||
    typeof value === "string" ||
    typeof value === "bigint" ||
    typeof value === "boolean"
  );
}

type RuleMap = Exclude<RuleValue, Scalar | number | readonly RuleValue[]>;

function isMap(value: RuleValue | undefined): value is RuleMap {
  return typeof value === "object" && value !== null && !isArray(value);
}

function constant(value: RuleValue): Part {
  return () => value;
}

function ofVariable(name: string): Part {
  return (given) => given[name];
}

function memberOf(of: Part, name: string): Part {
  return (given, item) => {
    const value = of(given, item);
    return isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  };
}

function opposite(of: Part): Part {
  return (given, item) => {
    const value = of(given, item);
    return typeof value === "boolean" ? !value : undefined;
  };
}

/** Makes `a || b`, which is decided if one is true, or `a && b`, if one is false. */
function ofBoth(decides: boolean, left: Part, right: Part): Part {
  return (given, item) => {
    const first = left(given, item);
    if (first === decides || typeof first !== "boolean")
      return first === decides ? first : undefined;
    const second = right(given, item);
    return typeof second === "boolean" ? second : undefined;
  };
}

/** Makes `exists`, which is decided by an item for which it is true, or `all`, if it is false. */
function ofItems(decides: boolean, list: Part, holds: Part): Part {
  return (given) => {
    const items = list(given);
    if (!isArray(items)) return undefined;
    for (const item of items) {
      const value = holds(given, item);
      if (value === decides) return decides;
      if (typeof value !== "boolean") return undefined;
    }
    return !decides;
  };
}

function sizeOf(of: Part): Part {
  return (given, item) => {
    const value = of(given, item);
    if (typeof value === "string") return BigInt(lengthOf(value));
    return isArray(value) ? BigInt(value.length) : undefined;
  };
}

/** Returns the number of characters, which may be of two units. */
function lengthOf(text: string): number {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text).length : text.length;
}

function ofTexts(of: OfTexts): Of {
  return (a, b) => (typeof a === "string" && typeof b === "string" ? of(a, b) : undefined);
}

function equal(a: RuleValue | undefined, b: RuleValue | undefined): boolean | undefined {
  return isScalar(a) && isScalar(b) ? a === b : undefined;
}

function ordered(of: (a: bigint, b: bigint) => boolean): Of {
  return (a, b) => (typeof a === "bigint" && typeof b === "bigint" ? of(a, b) : undefined);
}

const OPERATORS: Readonly<Record<"==" | "!=" | "<" | "<=" | ">" | ">=" | "in", Of>> = {
  "==": equal,
  "!=": (a, b) => {
    const same = equal(a, b);
    return same === undefined ? undefined : !same;
  },
  "<": ordered((a, b) => a < b),
  "<=": ordered((a, b) => a <= b),
  ">": ordered((a, b) => a > b),
  ">=": ordered((a, b) => a >= b),
  in: (a, list) => (typeof a === "string" && isArray(list) ? list.includes(a) : undefined),
};
