import { describe, expect, test } from "vitest";
import { compileExpression, faultsIn, resourceReader } from "../../src/manifest/cel.ts";
import type { RuleSubject } from "../../src/model/settings.ts";
import { Secret, type Value } from "../../src/model/value.ts";

/** Returns what an expression says of a test case with these fields. */
function ask(text: string, fields: Record<string, Value> = {}): unknown {
  const compiled = compileExpression("testCase", text);
  if ("summary" in compiled) return compiled;
  const read = resourceReader("testCase", compiled.names);
  const address = "testCase.shop.login" as const;
  return compiled.holds(
    read("staging", { kind: "testCase", address, key: "login", fields, layers: [] }),
  );
}

describe("expressions", () => {
  const steps = [
    { interaction: { action: "CLICK" }, selectors: [{ selectorType: "TEXT", selector: "Pay" }] },
    { assertion: { expectation: "VISIBLE" }, ignoreFailure: true },
  ];
  test.each<[text: string, fields: Record<string, Value>, expected: unknown]>([
    ['status == "ENABLED"', { status: "ENABLED" }, true],
    ['status == "ENABLED"', {}, false],
    ["status == null", {}, true],
    ["status != null", { status: "DRAFT" }, true],
    ["tags == []", {}, true],
    ['tags.exists(t, t.startsWith("team:"))', { tags: ["web", "team:pay"] }, true],
    ['tags.exists(t, t.startsWith("team:"))', { tags: ["web"] }, false],
    ['"web" in tags && size(tags) < 3', { tags: ["web"] }, true],
    ["folder == null", { folder: null }, true],
    ['key == "login" && target == "shop" && stage == "staging"', {}, true],
    ['address.endsWith(".login")', {}, true],
    ["discovery.prompt == null", {}, true],
    ["size(discovery.prompt) > 3", { "discovery.prompt": "Log in." }, true],
    ['discovery.type == "LOGIN"', { "discovery.type": "LOGIN" }, true],
    ["elements == []", {}, true],
    ["elements.exists(e, e.assertion != null)", { elements: steps }, true],
    ["elements.all(e, e.ignoreFailure != true)", { elements: steps }, false],
    ['elements[0].interaction.action == "CLICK"', { elements: steps }, true],
    ['elements[0].selectors[0].selector == "Pay"', { elements: steps }, true],
    ["elements[1].selectors == []", { elements: steps }, true],
    // A value with a secret reads as null, so that no rule can tell anything of it.
    ["entryPointUrlPath == null", { entryPointUrlPath: new Secret("/s3cret") }, true],
    ["elements == null", { elements: [{ interaction: { calledWith: new Secret("x") } }] }, true],
    ['description.matches("^Log")', { description: "Log in" }, true],
    ['tags.all(t, t.matches("^[a-z:]+$"))', { tags: ["a", "B"] }, false],
    ['description . matches ( "in$" )', { description: "Log in" }, true],
  ])("%s of %o is %o", (text, fields, expected) => {
    expect(ask(text, fields)).toBe(expected);
  });

  test("what cannot be evaluated says why", () => {
    expect(JSON.stringify(ask('description.startsWith("x")'))).toContain("no matching overload");
    expect(ask("discovery.prompt.size() > 1")).toHaveProperty("fault");
  });

  test("matching takes linear time", () => {
    // A matcher that backtracks takes 2 to the power of the length.
    expect(ask('description.matches("^(a+)+$")', { description: `${"a".repeat(5000)}b` })).toBe(
      false,
    );
  });
});

describe("mistakes are found without data", () => {
  test.each<[RuleSubject, string, summary: string, word: string]>([
    ["testCase", 'stats == "ENABLED"', "there is no variable `stats`", "stats"],
    ["testCase", "discovery.promt == null", "there is no field `promt`", "promt"],
    [
      "testCase",
      "elements.all(e, e.ignorFailure)",
      "there is no field `ignorFailure`",
      "ignorFailure",
    ],
    ["testCase", "tags > 3", "`>` does not take list<string> and int", "tags > 3"],
    ["testCase", "discovery == 3", "`==` does not take map and int", "discovery == 3"],
    ["testCase", '"a" in 3', "`in` does not take string and int", '"a" in 3'],
    ["testCase", "!tags", "`!` does not take list<string>", "!tags"],
    ["testCase", 'key.startWith("a")', "there is no function `startWith`", "startWith"],
    [
      "testCase",
      "key.startsWith(1)",
      "there is no function `string.startsWith(int)`",
      "key.startsWith(1)",
    ],
    ["testCase", "(status == null", "expected `)`, and found the end", ""],
    ["testCase", "status", "it is of the type string, and must be true or false", "status"],
    ["testCase", "status ==", "the end cannot stand here", ""],
    [
      "testCase",
      "description.matches('(')",
      "its pattern cannot be used: error parsing regexp: missing closing ): `(`",
      "(",
    ],
    ["testCase", "app == 'x'", "there is no variable `app`", "app"],
    ["change", "status == null", "there is no variable `status`", "status"],
    ["plan", "created > 1", "there is no variable `created`", "created"],
    ["plan", 'disable == "1"', "`==` does not take int and string", 'disable == "1"'],
  ])("%s: %s", (subject, text, summary, word) => {
    expect(compileExpression(subject, text)).toMatchObject({ summary, word });
  });

  test("a rule's name is not taken twice", () => {
    const rule = { name: "owner", for: "plan", require: "total < 5", level: "deny" } as const;
    expect(faultsIn([rule, rule, { ...rule, name: "protected" }])).toMatchObject([
      { key: "name", summary: "is the name of another rule in this list" },
      { key: "name", summary: "is the name of a built-in rule" },
    ]);
  });
});
