import { describe, expect, test } from "vitest";
import { renderDiagnostics } from "../../src/render/diagnostics.ts";
import { type DiagnosticView, diagnosticView } from "../../src/render/json.ts";
import {
  renderDiagnosticsGithub,
  renderDiagnosticsJunit,
  renderDiagnosticsSarif,
} from "../../src/render/reports.ts";
import { PLAIN } from "../../src/render/style.ts";
import { DIAGNOSTICS, HOSTILE, PASSWORD, PROBLEM, SOURCE } from "./sample.ts";

const VIEWS = [...DIAGNOSTICS, PROBLEM].map(diagnosticView);
const OPTIONS = { style: PLAIN, width: 80, source: (): string => SOURCE };

const FORMATS: readonly (readonly [string, (views: readonly DiagnosticView[]) => string])[] = [
  ["txt", (views) => renderDiagnostics(views, OPTIONS)],
  ["github.txt", renderDiagnosticsGithub],
  ["sarif.json", (views) => renderDiagnosticsSarif(views, "tasc 1.0.0")],
  ["junit.xml", renderDiagnosticsJunit],
];

describe.each(FORMATS)("diagnostics as %s", (ending, render) => {
  test.each([
    ["diagnostics", VIEWS],
    ["diagnostics-none", []],
    ["diagnostics-hostile", HOSTILE.diagnostics.map(diagnosticView)],
  ])("%s", async (name, views) => {
    const text = render(views);
    await expect(text).toMatchFileSnapshot(`golden/${name}.${ending}`);
    expect(text).not.toContain(PASSWORD);
  });
});

function excerpt(
  line: string,
  column: number,
  view: Partial<DiagnosticView> = {},
): readonly string[] {
  const diagnostic: DiagnosticView = {
    severity: "error",
    summary: "s",
    detail: "",
    file: "f",
    line: 2,
    column,
    ...view,
  };
  const text = renderDiagnostics([diagnostic], {
    ...OPTIONS,
    source: () => `first\n${line}\nthird`,
  });
  return text.split("\n").filter((row) => row.includes("│"));
}

describe("the source line of a diagnostic", () => {
  test.each([
    ["the caret is under wide characters", "忘れ: x", 5, ["  2 │ 忘れ: x", "    │       ^"]],
    ["a tab shows, in two columns", "\tname: x", 2, ["  2 │ → name: x", "    │   ^"]],
    ["a carriage return at the end is no part of it", "name: x\r", 1, ["  2 │ name: x", "    │ ^"]],
    [
      "a password is not repeated",
      "password: hunter2",
      1,
      ["  2 │ password: (sensitive)", "    │ ^"],
    ],
    [
      "nor a quoted one with a comma",
      '{ password: "a, b", x: 1 }',
      3,
      ["  2 │ { password: (sensitive), x: 1 }", "    │   ^"],
    ],
    ["a key is hidden, too", "apiKey: 'it''s'", 1, ["  2 │ apiKey: (sensitive)", "    │ ^"]],
    [
      "a reference to a secret may be read",
      "password: ${secret:X}",
      1,
      ["  2 │ password: ${secret:X}", "    │ ^"],
    ],
    [
      "but not what stands beside one",
      'password: "${env:X}hunter2"',
      1,
      ["  2 │ password: (sensitive)", "    │ ^"],
    ],
    ["an empty line shows nothing", "  ", 1, []],
  ])("%s", (_, line, column, expected) => {
    expect(excerpt(line, column)).toEqual(expected);
  });

  test("hides a password on its own line", () => {
    const path = ["service", "apiKey"];
    expect(excerpt("    hunter2", 5, { path })).toEqual([]);
    expect(excerpt("    ${secret:X}", 5, { path })[0]).toBe("  2 │     ${secret:X}");
  });

  test("hides any value under headers", () => {
    const path = ["environments", "default", "additionalHeaderFields", "X-Key"];
    expect(excerpt("      X-Key: abc def", 14, { path })[0]).toBe("  2 │       X-Key: (sensitive)");
  });

  test("is left out if the source is missing", () => {
    const text = renderDiagnostics(VIEWS, { style: PLAIN, width: 80 });
    expect(text).not.toContain("│");
  });
});

test("sentences in a detail are wrapped, but commands are not", () => {
  const detail = `${"word ".repeat(30)}\n  tasc state mark ${"x".repeat(80)}  done`;
  const text = renderDiagnostics([{ severity: "warning", summary: "s", detail }], OPTIONS);
  expect(text.split("\n").map((line) => line.length)).toEqual([10, 76, 76, 106, 0]);
});

test("of many with the same words, all but the first five show only their place", () => {
  const alike = Array.from({ length: 7 }, (_, index) => ({
    severity: "error" as const,
    summary: "Blocked",
    detail: "Add a tag.",
    file: "f",
    line: index + 1,
    column: 3,
    address: `testCase.shop.t${index}`,
  }));
  const other = { severity: "error" as const, summary: "Blocked", detail: "Remove a tag." };
  const text = renderDiagnostics([...alike, other], { style: PLAIN, width: 80 });
  expect(text.split("\n\n").map((section) => section.trimEnd().split("\n"))).toEqual([
    ...alike
      .slice(0, 5)
      .map(({ line, address }) => ["Error: Blocked", `  f:${line}:3  ${address}`, "  Add a tag."]),
    ["Error: Blocked", "  Remove a tag."],
    ["2 more: Blocked", "  f:6:3  testCase.shop.t5", "  f:7:3  testCase.shop.t6"],
  ]);
});
