import { type Address, compareAddresses, compareText } from "../model/address.ts";
import { type Json, defined } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { SENSITIVE } from "../model/value.ts";
import type { SecretFields } from "../plan/memory.ts";
import { html, xmlAttribute } from "../render/escape.ts";
import { Outside } from "../render/redact.ts";
import {
  type Block,
  type Line,
  type Markup,
  type Section,
  type View,
  faint,
  markup,
  strong,
} from "../render/view.ts";
import { groupBy } from "../model/collections.ts";
import type { LiveNotification, LiveReport, LiveResult, NewReports } from "../service/answers.ts";
import { type ReadReports, newestFirst, readReports, timeOf } from "../service/reports.ts";

/** Returns the address that an id is bound to in any of the states. */
export type AddressOf = (id: string | undefined) => Address | undefined;

export function addressesIn(states: Iterable<State>): AddressOf {
  const byId = new Map<string, Address>();
  for (const { bindings } of states)
    for (const [address, { id }] of [...bindings].toSorted(([a], [b]) => compareAddresses(b, a)))
      byId.set(id, address);
  return (id) => (id === undefined ? undefined : byId.get(id));
}

/**
 * Adds the target's key to a report, and hides names and an address that may show a former secret.
 */
export function reportOf(
  { key, environments }: Pick<LiveTarget, "environments"> & { readonly key: string },
  report: LiveReport,
  secrets: SecretFields,
) {
  const mayShow = (id: string | undefined, field: string): boolean =>
    secrets.get(id)?.includes(field) === true;
  const ranAtSecret = environments.some(({ id }) => mayShow(id, "discoveryUrl"));
  return {
    ...report,
    target: key,
    executionUrl: ranAtSecret ? SENSITIVE : report.executionUrl,
    results: report.results.map((one) =>
      mayShow(one.testCaseId, "description") ? { ...one, name: SENSITIVE } : one,
    ),
  };
}

type TargetReport = ReturnType<typeof reportOf>;

/** Returns the newest reports of a target, at most as many as the limit. */
export async function newestReports(
  pages: AsyncIterable<NewReports>,
  limit: number,
): Promise<Pick<ReadReports, "reports" | "end">> {
  const { reports, end } = await readReports(pages, ({ length }) => length >= limit);
  return { reports: reports.slice(0, limit), end };
}

/** Returns the notifications that were not seen yet, oldest first, and adds their ids to `seen`. */
export function newNotifications(notifications: readonly TargetNotification[], seen: Set<string>) {
  const fresh = notifications.filter(({ id }) => !seen.has(id));
  for (const { id } of fresh) seen.add(id);
  return fresh.toSorted((a, b) => timeOf(a) - timeOf(b) || compareText(a.id, b.id));
}

export type TargetNotification = LiveNotification & { readonly target: string };

export function notificationsView(
  notifications: readonly TargetNotification[],
  addressOf: AddressOf,
): View {
  const rows = notifications.map((one) => notificationCells(one, addressOf));
  return {
    json: {
      formatVersion: "1.0",
      notifications: notifications.map(({ payload, ack = null, ...rest }) => {
        const address = addressOf(testCaseIn(payload)) ?? null;
        return { ...rest, address, payload: new Outside(payload), ack };
      }),
    },
    text: [table(["CREATED", "TARGET", "TYPE", "ABOUT"], rows, "No notifications.")],
  };
}

function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  nothing: string,
): Section {
  return [rows.length === 0 ? nothing : { headings, rows }];
}

/** Shows notifications that arrived after the table: lines without headings. */
export function laterView(
  notifications: readonly TargetNotification[],
  addressOf: AddressOf,
): View {
  return {
    json: null,
    text: [notifications.map((one) => notificationCells(one, addressOf).join("  "))],
  };
}

function notificationCells(
  { createdAt, target, type, payload }: TargetNotification,
  addressOf: AddressOf,
) {
  return [createdAt, target, type, addressOf(testCaseIn(payload)) ?? JSON.stringify(payload)];
}

/** Returns the value of the only documented key of a payload (service-api.md, "Notification"). */
function testCaseIn({ testCaseId: id }: LiveNotification["payload"]): string | undefined {
  return typeof id === "string" ? id : undefined;
}

/**
 * Shows reports as a table, the newest first.
 * @param complete whether the service returned all of them
 */
export function reportsView(reports: readonly TargetReport[], complete: boolean): View {
  const sorted = newestFirst(reports);
  const rows = sorted.map((report) => [
    report.createdAt ?? "-",
    report.target,
    report.status ?? "-",
    countsText(report.results),
    browserText(report) ?? "-",
    report.id,
  ]);
  return {
    json: {
      formatVersion: "1.0",
      complete,
      reports: sorted.map((one) => ({
        ...headJson(one),
        results: new Outside(countResults(one.results)),
      })),
    },
    text: [
      table(["CREATED", "TARGET", "STATUS", "RESULTS", "BROWSER", "REPORT"], rows, "No reports."),
    ],
  };
}

/**
 * Shows one report: its properties, its results, and the errors of the failed ones; also as a JUnit
 * report, for CI.
 */
export function reportView(shown: TargetReport, addressOf: AddressOf): View {
  const { results, context } = shown;
  // Failed results first, then those that neither failed nor passed, then the passed ones, each
  // group by title.
  const rank = ({ status }: LiveResult): number =>
    status === "FAILED" ? 0 : status === "PASSED" ? 2 : 1;
  const sorted = results
    .map((result): Named => {
      // The title is the address, or, for a test case that is not managed, its name on the service.
      const { name = "", testCaseId: id } = result;
      return {
        ...result,
        title: addressOf(id) ?? [name, id && `(${id})`].filter(Boolean).join(" "),
      };
    })
    .toSorted((a, b) => rank(a) - rank(b) || compareText(a.title, b.title));
  const rows = sorted.map(({ status, title, traceUrl }) => [status ?? "-", title, traceUrl ?? "-"]);
  return {
    json: {
      formatVersion: "1.0",
      ...headJson(shown),
      context: context === undefined ? null : new Outside(context),
      summary: new Outside(countResults(results)),
      results: results.map(({ testCaseId, name, status, errorMessage, traceUrl }) =>
        orNull({
          address: addressOf(testCaseId),
          testCaseId,
          name,
          status,
          errorMessage,
          traceUrl,
        }),
      ),
    },
    text: [
      headSection(shown),
      table(["STATUS", "TEST CASE", "TRACE"], rows, "No results."),
      sorted.flatMap(({ status = "-", title, errorMessage }): readonly Block[] =>
        errorMessage === undefined
          ? []
          : [
              [{ style: "error", text: status }, " ", strong(title)],
              { indent: 2, blocks: [{ lines: errorMessage }] },
            ],
      ),
    ],
    documents: { junit: junitReport(shown, sorted) },
  };
}

function headJson(report: TargetReport) {
  const { id, target, status, createdAt, updatedAt, browser, breakpoint, executionUrl } = report;
  return orNull({ id, target, status, createdAt, updatedAt, browser, breakpoint, executionUrl });
}

function orNull(
  fields: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, Json>> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, value ?? null]));
}

function countResults(results: readonly LiveResult[]): Readonly<Record<string, number>> {
  const groups = groupBy(results, ({ status = "UNKNOWN" }) => status);
  const names = new Set(["PASSED", "FAILED", "WAITING", ...groups.keys()]);
  return Object.fromEntries([...names].map((name) => [name, groups.get(name)?.length ?? 0]));
}

/**
 * The words that may be shown in lower case. Others may be a secret, and a short secret is only
 * found in its own case.
 */
const STATUS = /^(?:PASSED|FAILED|WAITING|SKIPPED|UNKNOWN)$/;

/** Returns e.g. `12 passed, 1 failed`, without counts of zero. */
function countsText(results: readonly LiveResult[]): string {
  const parts = Object.entries(countResults(results)).filter(([, amount]) => amount > 0);
  const worded = parts.map(
    ([name, amount]) => `${amount} ${STATUS.test(name) ? name.toLowerCase() : name}`,
  );
  return worded.join(", ") || "none";
}

function browserText({ browser, breakpoint }: LiveReport): string | undefined {
  return [browser, breakpoint].filter((part) => part !== undefined).join(" ") || undefined;
}

function headSection(report: TargetReport): Section {
  const facts = defined({
    target: report.target,
    status: `${report.status ?? "-"} (${countsText(report.results)})`,
    created: report.createdAt,
    updated: report.updatedAt,
    browser: browserText(report),
    run: report.executionUrl,
  });
  return [
    [strong("Report"), ` ${report.id}`],
    ...Object.entries(facts).map(([name, value]): Line => [
      "  ",
      faint(name.padEnd(8)),
      ` ${value}`,
    ]),
  ];
}

type Named = LiveResult & { readonly title: string };

/**
 * Writes a JUnit report. Skipped, with their status: results that have not ended or whose status
 * service-api.md lacks.
 */
function junitReport({ target, id, createdAt }: TargetReport, results: readonly Named[]): Markup {
  const [failures = 0, passed = 0] = ["FAILED", "PASSED"].map(
    (wanted) => results.filter(({ status }) => status === wanted).length,
  );
  const skipped = results.length - failures - passed;
  const counts = [` tests="${results.length}" failures="${failures}" skipped="${skipped}"`];
  const time = createdAt === undefined ? [] : attribute` timestamp="${createdAt}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    ...attribute`<testsuites name="report ${id}"${counts}>\n  <testsuite name="${target}"${counts}${time}>\n`,
    ...results.flatMap((result) => {
      const inside = junitOutcome(result);
      const end = inside.length === 0 ? ["/>\n"] : [">\n", ...inside, "    </testcase>\n"];
      return attribute`    <testcase classname="${target}" name="${result.title}"${end}`;
    }),
    "  </testsuite>\n</testsuites>\n",
  ];
}

const attribute = markup(xmlAttribute);
const firstLine = markup((text) => xmlAttribute(text.split("\n", 1)[0] ?? ""));
const body = markup(html);

function junitOutcome({ status = "no status", errorMessage, traceUrl }: LiveResult): Markup {
  const message = errorMessage ?? "The service gives no reason.";
  const failure = [
    ...firstLine`      <failure message="${message}">`,
    ...body`${message}</failure>\n`,
  ];
  const skipped = attribute`      <skipped message="${status}"/>\n`;
  const trace =
    traceUrl === undefined ? [] : body`      <system-out>trace: ${traceUrl}</system-out>\n`;
  return [...(status === "PASSED" ? [] : status === "FAILED" ? failure : skipped), ...trace];
}
