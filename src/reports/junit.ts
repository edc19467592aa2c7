import type { LiveResult } from "../client/index.ts";
import { xml } from "../output/escape.ts";
import type { AddressOf } from "./bound.ts";
import type { TargetReport } from "./list.ts";
import { inOrder, nameOf } from "./show-text.ts";

/**
 * A report for CI. What has not ended, or ended in a way that service-api.md does not list, is skipped and says so:
 * it neither passed nor failed.
 */
export function renderReportJunit({ target, report }: TargetReport, addressOf: AddressOf): string {
  const results = inOrder(report.results, addressOf);
  const failures = results.filter(({ status }) => status === "FAILED").length;
  const passed = results.filter(({ status }) => status === "PASSED").length;
  const counts = ` tests="${results.length}" failures="${failures}" skipped="${results.length - failures - passed}"`;
  const when = report.createdAt === undefined ? "" : ` timestamp="${attribute(report.createdAt)}"`;
  return [
    `<?xml version="1.0" encoding="UTF-8"?>`,
    `<testsuites name="${attribute(`report ${report.id}`)}"${counts}>`,
    `  <testsuite name="${attribute(target)}"${counts}${when}>`,
    ...results.flatMap((result) => caseLines(result, target, addressOf)),
    `  </testsuite>`,
    `</testsuites>`,
    "",
  ].join("\n");
}

function caseLines(result: LiveResult, target: string, addressOf: AddressOf): readonly string[] {
  const open = `    <testcase classname="${attribute(target)}" name="${attribute(nameOf(result, addressOf))}"`;
  const inner = [...outcomeLines(result), ...traceLines(result)];
  return inner.length === 0 ? [`${open}/>`] : [`${open}>`, ...inner, `    </testcase>`];
}

function outcomeLines({ status, errorMessage }: LiveResult): readonly string[] {
  if (status === "PASSED") return [];
  if (status !== "FAILED") return [`      <skipped message="${attribute(status ?? "no status")}"/>`];
  const text = errorMessage ?? "The service gives no reason.";
  return [`      <failure message="${attribute(text.split("\n", 1)[0] ?? "")}">${xml(text)}</failure>`];
}

function traceLines({ traceUrl }: LiveResult): readonly string[] {
  return traceUrl === undefined ? [] : [`      <system-out>${xml(`trace: ${traceUrl}`)}</system-out>`];
}

/** Inside an attribute a line break would be read as a blank. */
function attribute(text: string): string {
  return xml(text).replaceAll("\n", "&#10;").replaceAll("\t", "&#9;");
}
