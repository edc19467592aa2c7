import type { LiveResult } from "../client/index.ts";
import { compareText } from "../model/address.ts";
import { safeLine, safeLines } from "../output/safe.ts";
import type { Style } from "../render/style.ts";
import type { AddressOf } from "./bound.ts";
import { countsText } from "./list-text.ts";
import type { TargetReport } from "./list.ts";
import { renderTable } from "./table.ts";

/** One report for people: what it is, its results, and what the failed ones say. */
export function renderReport({ target, report }: TargetReport, addressOf: AddressOf, style: Style): string {
  const results = inOrder(report.results, addressOf);
  const table = results.map((result) => [result.status ?? "-", nameOf(result, addressOf), traceOf(result)]);
  const notes = results.flatMap((result) => errorLines(result, addressOf, style));
  return [
    head(target, report, style),
    results.length === 0 ? "No results.\n" : renderTable(["STATUS", "TEST CASE", "TRACE"], table, style),
    ...(notes.length === 0 ? [] : [notes.map((line) => `${line}\n`).join("")]),
  ].join("\n");
}

function head(target: string, report: TargetReport["report"], style: Style): string {
  const facts = [
    ["target", target],
    ["status", `${report.status ?? "-"} (${countsText(report.results)})`],
    ["created", report.createdAt],
    ["updated", report.updatedAt],
    [
      "browser",
      [report.browser, report.breakpoint].filter((part) => part !== undefined).join(" ") || undefined,
    ],
    ["run", report.executionUrl],
  ];
  const lines = facts.flatMap(([name = "", value]) =>
    value === undefined ? [] : [`  ${style.faint(name.padEnd(8))} ${safeLine(value)}`],
  );
  return [`${style.strong("Report")} ${safeLine(report.id)}`, ...lines].map((line) => `${line}\n`).join("");
}

/** Failed ones first, then what still waits, then the rest, each by name. */
export function inOrder(results: readonly LiveResult[], addressOf: AddressOf): readonly LiveResult[] {
  return results.toSorted(
    (a, b) => rank(a) - rank(b) || compareText(nameOf(a, addressOf), nameOf(b, addressOf)),
  );
}

function rank({ status }: LiveResult): number {
  return status === "FAILED" ? 0 : status === "PASSED" ? 2 : 1;
}

/** The address that a result is about, or, where nothing here manages the case, what the service calls it. */
export function nameOf({ testCaseId, name }: LiveResult, addressOf: AddressOf): string {
  const address = addressOf(testCaseId);
  if (address !== undefined) return address;
  return [name, testCaseId === undefined ? undefined : `(${testCaseId})`]
    .filter((part) => part !== undefined && part !== "")
    .join(" ");
}

function traceOf({ traceUrl }: LiveResult): string {
  return traceUrl ?? "-";
}

function errorLines(result: LiveResult, addressOf: AddressOf, style: Style): readonly string[] {
  if (result.errorMessage === undefined) return [];
  return [
    `${style.error(safeLine(result.status ?? "-"))} ${style.strong(safeLine(nameOf(result, addressOf)))}`,
    ...safeLines(result.errorMessage)
      .trimEnd()
      .split("\n")
      .map((line) => `  ${line}`.trimEnd()),
  ];
}
