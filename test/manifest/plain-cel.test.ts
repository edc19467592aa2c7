import { Environment } from "@marcbachmann/cel-js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileExpression } from "../../src/manifest/cel.ts";
import { type RuleValue, plainOf } from "../../src/manifest/plain-cel.ts";

/** Expressions that run without the library say what the library says. */

const text = fc.constantFrom("", "a", "web", "team:a", "a😀b", "constructor");
const quoted = text.map((one) => JSON.stringify(one));
const named = fc.constantFrom("status", "folder", "description", "discovery.prompt");
const list = fc.constantFrom("tags", "elements", "[]", '["web", "a"]', '["a", status]');
const order = fc.constantFrom("<", "<=", ">", ">=", "==", "!=");
const count = fc.constantFrom("0", "1", "3", "-1", "2.5");

/** Returns expressions that are true or false. @param item the name of the item of a list */
function conditions(depth: number, item?: string): fc.Arbitrary<string> {
  const some =
    item === undefined ? named : fc.constantFrom(item, `${item}.ignoreFailure`, "status");
  const value = fc.oneof(some, quoted);
  const sized = fc.oneof(
    fc.oneof(value, list).map((one) => `size(${one})`),
    fc.oneof(some, list).map((one) => `${one}.size()`),
  );
  const simple = fc.oneof(
    fc.constantFrom("true", "false"),
    fc
      .tuple(
        fc.oneof(value, list),
        fc.constantFrom("==", "!="),
        fc.oneof(value, fc.constant("null")),
      )
      .map((parts) => parts.join(" ")),
    fc.tuple(sized, order, fc.oneof(sized, count)).map((parts) => parts.join(" ")),
    fc
      .tuple(value, fc.constantFrom("startsWith", "endsWith", "contains"), value)
      .map(([of, method, other]) => `${of}.${method}(${other})`),
    fc
      .tuple(value, fc.constantFrom('"^a"', '"(web|a)+$"', "status"))
      .map(([of, pattern]) => `${of}.matches(${pattern})`),
    fc.tuple(value, list).map(([of, all]) => `${of} in ${all}`),
  );
  if (depth === 0) return simple;
  const inner = conditions(depth - 1, item);
  // A name of a variable hides it.
  const own = fc
    .constantFrom("t", "status", "tags")
    .chain((name) =>
      fc
        .tuple(list, fc.constantFrom("exists", "all"), conditions(depth - 1, name))
        .map(([all, method, holds]) => `${all}.${method}(${name}, ${holds})`),
    );
  return fc.oneof(
    simple,
    own,
    inner.map((one) => `!(${one})`),
    fc
      .tuple(inner, fc.constantFrom("&&", "||"), inner)
      .map(([left, sign, right]) => `(${left}) ${sign} (${right})`),
  );
}

const leaf = fc.oneof(text, fc.constantFrom<RuleValue>(null, true, false, 3n, 0.5));
const step = fc.record({ ignoreFailure: leaf }, { requiredKeys: [], noNullPrototype: true });
const value = fc.oneof(
  { weight: 3, arbitrary: text },
  leaf,
  fc.array(fc.oneof({ weight: 4, arbitrary: text }, leaf), { maxLength: 3 }),
  fc.array(fc.oneof(step, leaf), { maxLength: 3 }),
  fc.record({ prompt: leaf }, { requiredKeys: [], noNullPrototype: true }),
);
const NAMES = ["status", "folder", "description", "discovery", "tags", "elements"];
const variables = fc
  .tuple(...NAMES.map(() => value))
  .map((values) => Object.fromEntries(NAMES.map((name, at) => [name, values[at] ?? null])));

/** Compares what an expression says of values with what the library says. */
function compare(condition: string, all: readonly Readonly<Record<string, RuleValue>>[]): void {
  const own = compileExpression("testCase", condition);
  // Only the library knows `? :`.
  const other = compileExpression("testCase", `(${condition}) ? true : false`);
  if ("summary" in own || "summary" in other) expect("summary" in own).toBe("summary" in other);
  else for (const given of all) expect(own.holds(given)).toEqual(other.holds(given));
}

describe("expressions that run without the library", () => {
  test("say what it says, for all values, also of what cannot be evaluated", () => {
    fc.assert(fc.property(conditions(2), fc.array(variables, { minLength: 5 }), compare), {
      numRuns: 500,
    });
  });

  test.each<[string, Record<string, RuleValue>]>([
    ["status in tags", { status: "a", tags: [null, "a"] }],
    ["status in tags", { status: "a", tags: ["web", null] }],
    ["status == folder", { status: "a", folder: true }],
    ["status == folder", { status: 3n, folder: 0.5 }],
    ["status != folder", { status: "a", folder: null }],
    ["tags.exists(status, tags.exists(t, t == status))", { status: "b", tags: ["a"] }],
    ["tags.exists(status, status == folder)", { status: "b", tags: ["a"], folder: "b" }],
    ["tags.exists(t, t == status)", { status: "a", tags: [3n, "a"] }],
    ["tags.all(t, size(t) < 2)", { tags: [null, "abc"] }],
    ["discovery.prompt == null", { discovery: {} }],
    ["description.matches(status)", { description: "a", status: "(" }],
    ["size(description) == 1", { description: "\u{1f600}" }],
  ])("%s of %o", (condition, given) => {
    compare(condition, [given]);
  });

  test.each([
    "size(tags) > 0",
    'status == "ENABLED" && folder != null',
    'tags.exists(t, t.startsWith("team:")) || !("smoke" in tags)',
    'tags.all(t, t in ["web", "smoke"] || t.startsWith("team:"))',
    "elements.exists(e, e.assertion != null && e.ignoreFailure != true)",
    "discovery.prompt.size() >= 20",
  ])("%s is one", (expression) => {
    const methods = { startsWith: (one: string, other: string) => one.startsWith(other) };
    expect(plainOf(new Environment().parse(expression).ast, methods)).toBeDefined();
  });

  test.each(["size(tags) + 1 > 0", 'status == "ENABLED" || tags[0] == "web"', "size(tags) > 0.5"])(
    "%s is none",
    (expression) => {
      expect(plainOf(new Environment().parse(expression).ast, {})).toBeUndefined();
    },
  );
});
