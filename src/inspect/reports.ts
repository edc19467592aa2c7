import type { Read } from "../look/look.ts";
import { type Address, compareAddresses, compareText } from "../model/address.ts";
import { type JsonObject, isObject } from "../model/json.ts";
import type { State } from "../model/state.ts";
import { safeLine, safeLines, xml } from "../render/escape.ts";
import type { Redactor } from "../render/redact.ts";
import { type Style, padTo, textWidth } from "../render/style.ts";
import type { LiveNotification, LiveReport, LiveResult, NewReports, PageEnd } from "../service/answers.ts";

/** Which address has an id, by all that state binds. */
export type AddressOf = (id: string | undefined) => Address | undefined;

export function addressesIn(states: Iterable<State>): AddressOf {
  const byId = new Map<string, Address>();
  for (const { bindings } of states)
    for (const [address, { id }] of [...bindings].toSorted(([a], [b]) => compareAddresses(b, a)))
      byId.set(id, address);
  return (id) => (id === undefined ? undefined : byId.get(id));
}

/** The newest report that has come to its end. */
export interface NewestFinished {
  /** Nothing where no report has. */
  readonly report: LiveReport | undefined;
  /** The list ended before its end and in no order that would tell, so that a newer one may be missing. */
  readonly unsure: boolean;
}

/** Reads pages until the newest finished report is among them: all, unless they go from new to old. */
export async function newestFinished<F>(
  pages: AsyncIterable<Read<NewReports, F>>,
): Promise<Read<NewestFinished, F>> {
  const reports: LiveReport[] = [];
  let whole = true;
  for await (const page of pages) {
    if (!page.ok) return page;
    reports.push(...page.value.reports);
    const report = newestFirst(reports).find(isFinished);
    if (report !== undefined && goesDown(reports)) return { ok: true, value: { report, unsure: false } };
    whole = page.value.next === "end" || page.value.next === "more";
  }
  return { ok: true, value: { report: newestFirst(reports).find(isFinished), unsure: !whole } };
}

/** service-api.md, "States and transitions": a report is WAITING until all of its results are done. */
function isFinished({ status }: LiveReport): boolean {
  return status !== undefined && status !== "WAITING";
}

/** A report of a managed target. */
export interface TargetReport {
  readonly target: string;
  readonly report: LiveReport;
}

/** What was read of a target's reports, and why it ended there. */
export interface ReadReports {
  readonly reports: readonly LiveReport[];
  /** `limit`: there are as many as were wanted, and no older one can be newer. */
  readonly end: Exclude<PageEnd, "more"> | "limit";
}

/**
 * Reads pages until the newest so many reports are among them. The order of the list is not stated (service-api.md,
 * operation 12), but its key is a point in time, so it goes one way or the other: where it goes from new to old the
 * first are the newest, and else the last are, so that all must be read.
 */
export async function newestReports<F>(
  pages: AsyncIterable<Read<NewReports, F>>,
  limit: number,
): Promise<Read<ReadReports, F>> {
  const reports: LiveReport[] = [];
  for await (const page of pages) {
    if (!page.ok) return page;
    reports.push(...page.value.reports);
    const { next } = page.value;
    if (next !== "more")
      return { ok: true, value: { reports: newestFirst(reports).slice(0, limit), end: next } };
    if (reports.length >= limit && goesDown(reports))
      return { ok: true, value: { reports: reports.slice(0, limit), end: "limit" } };
  }
  return { ok: true, value: { reports: newestFirst(reports).slice(0, limit), end: "end" } };
}

/** From new to old, as far as was read; one moment alone shows no order. */
function goesDown(reports: readonly LiveReport[]): boolean {
  const times = reports.map(({ createdAt }) => createdAt ?? "");
  const [first = "", last = ""] = [times[0], times.at(-1)];
  return first > last && times.every((time, at) => at === 0 || time <= (times[at - 1] ?? ""));
}

function newestFirst(reports: readonly LiveReport[]): readonly LiveReport[] {
  return reports.toSorted(
    (a, b) => compareText(b.createdAt ?? "", a.createdAt ?? "") || compareText(a.id, b.id),
  );
}

/** Results by status, those seen first. */
function countResults(results: readonly LiveResult[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = { PASSED: 0, FAILED: 0, WAITING: 0 };
  for (const { status = "UNKNOWN" } of results) counts[status] = (counts[status] ?? 0) + 1;
  return counts;
}

export function oldestFirst(notifications: readonly TargetNotification[]): readonly TargetNotification[] {
  return notifications.toSorted(
    ({ notification: a }, { notification: b }) =>
      compareText(a.createdAt, b.createdAt) || compareText(a.id, b.id),
  );
}

/** Those that were not seen yet; their ids are added to those seen. */
export function newNotifications(
  notifications: readonly TargetNotification[],
  seen: Set<string>,
): readonly TargetNotification[] {
  const fresh = notifications.filter(({ notification }) => !seen.has(notification.id));
  for (const { notification } of fresh) seen.add(notification.id);
  return oldestFirst(fresh);
}

const HEADINGS = ["CREATED", "TARGET", "TYPE", "ABOUT"];

export function renderNotifications(
  notifications: readonly TargetNotification[],
  addressOf: AddressOf,
  style: Style,
): string {
  if (notifications.length === 0) return "No notifications.\n";
  return renderTable(
    HEADINGS,
    notifications.map((one) => rowOf(one, addressOf)),
    style,
  );
}

/** Lines without headings, for those that come later. */
export function renderLater(notifications: readonly TargetNotification[], addressOf: AddressOf): string {
  return notifications.map((one) => `${rowOf(one, addressOf).map(safeLine).join("  ")}\n`).join("");
}

function rowOf({ target, notification }: TargetNotification, addressOf: AddressOf): readonly string[] {
  const about = addressOf(testCaseIn(notification)) ?? JSON.stringify(notification.payload);
  return [notification.createdAt, target, notification.type, about];
}

/** Takes secrets out of what the service says in its own words, before a renderer cuts or escapes it. */
export function redactReport(report: LiveReport, redactor: Redactor): LiveReport {
  return {
    ...report,
    executionUrl: redacted(report.executionUrl, redactor),
    context: report.context && redactedObject(report.context, redactor),
    results: report.results.map((result) => redactResult(result, redactor)),
  };
}

function redactResult(result: LiveResult, redactor: Redactor): LiveResult {
  return {
    ...result,
    name: redacted(result.name, redactor),
    errorMessage: redacted(result.errorMessage, redactor),
    traceUrl: redacted(result.traceUrl, redactor),
  };
}

export function redactNotification(notification: LiveNotification, redactor: Redactor): LiveNotification {
  return { ...notification, payload: redactedObject(notification.payload, redactor) };
}

function redacted(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.text(text);
}

function redactedObject(value: JsonObject, redactor: Redactor): JsonObject {
  const json = redactor.json(value);
  return isObject(json) ? json : {};
}

/** Reports for programs; keys in a fixed order, what the service did not show is null. */
export function reportsJson(reports: readonly TargetReport[], complete: boolean) {
  return {
    formatVersion: "1.0",
    complete,
    reports: reports.map(({ target, report }) => ({
      ...headJson(target, report),
      results: countResults(report.results),
    })),
  };
}

export function reportJson({ target, report }: TargetReport, addressOf: AddressOf) {
  return {
    formatVersion: "1.0",
    ...headJson(target, report),
    context: report.context ?? null,
    summary: countResults(report.results),
    results: report.results.map((result) => resultJson(result, addressOf)),
  };
}

function headJson(target: string, report: LiveReport) {
  return {
    id: report.id,
    target,
    status: report.status ?? null,
    createdAt: report.createdAt ?? null,
    updatedAt: report.updatedAt ?? null,
    browser: report.browser ?? null,
    breakpoint: report.breakpoint ?? null,
    executionUrl: report.executionUrl ?? null,
  };
}

function resultJson(result: LiveResult, addressOf: AddressOf) {
  return {
    address: addressOf(result.testCaseId) ?? null,
    testCaseId: result.testCaseId ?? null,
    name: result.name ?? null,
    status: result.status ?? null,
    errorMessage: result.errorMessage ?? null,
    traceUrl: result.traceUrl ?? null,
  };
}

/** A notification of a managed target. */
export interface TargetNotification {
  readonly target: string;
  readonly notification: LiveNotification;
}

export function notificationsJson(notifications: readonly TargetNotification[], addressOf: AddressOf) {
  return {
    formatVersion: "1.0",
    notifications: notifications.map(({ target, notification }) => ({
      id: notification.id,
      target,
      type: notification.type,
      createdAt: notification.createdAt,
      updatedAt: notification.updatedAt,
      address: addressOf(testCaseIn(notification)) ?? null,
      payload: notification.payload,
      ack: notification.ack ?? null,
    })),
  };
}

/** The only key of a payload that is described (service-api.md, "Notification"). */
function testCaseIn({ payload }: LiveNotification): string | undefined {
  const id = payload["testCaseId"];
  return typeof id === "string" ? id : undefined;
}

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

/** Reports as a table, as they are given. */
export function renderReports(reports: readonly TargetReport[], style: Style): string {
  if (reports.length === 0) return "No reports.\n";
  return renderTable(
    ["CREATED", "TARGET", "STATUS", "RESULTS", "BROWSER", "REPORT"],
    reports.map(({ target, report }) => [
      report.createdAt ?? "-",
      target,
      report.status ?? "-",
      countsText(report.results),
      [report.browser, report.breakpoint].filter((part) => part !== undefined).join(" ") || "-",
      report.id,
    ]),
    style,
  );
}

/** `12 passed, 1 failed`; what there is none of is left out. */
function countsText(results: TargetReport["report"]["results"]): string {
  const parts = Object.entries(countResults(results)).filter(([, amount]) => amount > 0);
  return parts.map(([status, amount]) => `${amount} ${status.toLowerCase()}`).join(", ") || "none";
}

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
function inOrder(results: readonly LiveResult[], addressOf: AddressOf): readonly LiveResult[] {
  return results.toSorted(
    (a, b) => rank(a) - rank(b) || compareText(nameOf(a, addressOf), nameOf(b, addressOf)),
  );
}

function rank({ status }: LiveResult): number {
  return status === "FAILED" ? 0 : status === "PASSED" ? 2 : 1;
}

/** The address that a result is about, or, where nothing here manages the case, what the service calls it. */
function nameOf({ testCaseId, name }: LiveResult, addressOf: AddressOf): string {
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

/** Columns of text under headings; the last one takes what it needs. */
function renderTable(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  style: Style,
): string {
  const safe = rows.map((row) => row.map(safeLine));
  const widths = headings.map((heading, at) =>
    safe.reduce((most, row) => Math.max(most, textWidth(row[at] ?? "")), textWidth(heading)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => (at === cells.length - 1 ? cell : padTo(cell, widths[at] ?? 0)))
      .join("  ")
      .trimEnd();
  return [style.faint(line(headings)), ...safe.map(line)].map((text) => `${text}\n`).join("");
}
