import type { Address } from "../model/address.ts";
import type { Place } from "../model/diagnostic.ts";
import { EXIT } from "../model/error.ts";
import { type JsonObject, defined } from "../model/json.ts";
import { isDeclaredOff, quarantineNow } from "../plan/quarantine.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { badness, platformOf } from "../plan/results.ts";
import {
  annotationMessage,
  annotationProperty,
  html,
  markdownText,
  xmlAttribute,
} from "../render/escape.ts";
import { type Line, type Markup, type View, faint, markup, strong } from "../render/view.ts";
import { count, list } from "../model/words.ts";
import type { LiveReport } from "../service/answers.ts";
import { isFinished, statusOf } from "../service/reports.ts";

/** `tasc reports gate`: whether the test cases of reports have passed, apart from known failures. */

/** A target with the reports that decide. */
export interface JudgedTarget {
  readonly key: string;
  readonly matched: MatchedTarget | undefined;
  readonly reports: readonly LiveReport[];
}

export interface GateOptions {
  readonly now: number;
  /** Whether a running test case that stands in no report counts. */
  readonly missingCount: boolean;
  readonly addressOf: (id: string) => Address | undefined;
}

export type GateResult = ReturnType<typeof judgeReports>;

/** Returns the commit of a report, where its context shows one (service-api.md, "Context"). */
export function shaOf({ context }: LiveReport): string | undefined {
  const { sha } = context ?? {};
  return typeof sha === "string" ? sha : undefined;
}

/** Judges reports. Only what has finished can pass, and nothing passes for want of a report. */
export function judgeReports(
  targets: readonly JudgedTarget[],
  { now, missingCount, addressOf }: GateOptions,
) {
  const reports = targets.flatMap(({ key, reports: own }) =>
    own.map((report) => ({ target: key, report })),
  );
  const resources = new Map(
    targets.flatMap(({ matched }) =>
      (matched?.target.testCases ?? []).map((one) => [one.address, one]),
    ),
  );
  const ran = new Set<string>();
  const bad = reports.flatMap(({ target, report }) =>
    report.results.flatMap((result) => {
      const { testCaseId = "", status = "WAITING", name, traceUrl, errorMessage } = result;
      ran.add(testCaseId);
      if (!isFinished(report) || status === "PASSED") return [];
      const address = addressOf(testCaseId);
      const resource = address === undefined ? undefined : resources.get(address);
      const quarantine = resource && quarantineNow(resource, now);
      const more = defined({ address, traceUrl });
      return [
        {
          target,
          testCaseId,
          status,
          name,
          errorMessage,
          quarantine,
          platform: platformOf(report),
          ...more,
        },
      ];
    }),
  );
  const counting = bad.filter(({ quarantine }) => quarantine === undefined);
  const ignored = new Map(
    bad.flatMap(({ address, quarantine }) =>
      address === undefined || quarantine === undefined ? [] : [[address, quarantine] as const],
    ),
  );
  const missingTestCases = targets.flatMap(({ matched, reports: own }) =>
    own.length === 0 ? [] : missingIn(matched, ran, now),
  );
  const undecided = reports.flatMap(({ target, report }) => {
    if (!isFinished(report)) return [`report ${report.id} of ${target} has not finished`];
    if (report.results.length === 0) return [`report ${report.id} of ${target} is empty`];
    const isOdd =
      statusOf(report) !== "PASSED" && report.results.every((one) => one.status === "PASSED");
    return isOdd
      ? [`report ${report.id} of ${target} is ${statusOf(report)} without a failed result`]
      : [];
  });
  const missing = targets.flatMap(({ key, reports: own }) => (own.length === 0 ? [key] : []));
  const open = missing.length + undecided.length + counting.length;
  return {
    passed: open === 0 && targets.length > 0 && !(missingCount && missingTestCases.length > 0),
    reports,
    failed: counting.toSorted((a, b) => badness(b.status) - badness(a.status)),
    ignored: [...ignored],
    missing,
    missingTestCases,
    missingCount,
    undecided,
  };
}

/** Returns the declared test cases that run, are not in quarantine, and stand in no report. */
function missingIn(
  matched: MatchedTarget | undefined,
  ran: ReadonlySet<string>,
  now: number,
): readonly Address[] {
  return (matched?.target.testCases ?? []).flatMap((resource) => {
    const live = matched?.matches.get(resource.address)?.live;
    const { status = "ENABLED", runStatus = "ON" } = live ?? {};
    const isOn = live !== undefined && status === "ENABLED" && runStatus === "ON";
    if (!isOn || ran.has(live.id) || isDeclaredOff(resource)) return [];
    return quarantineNow(resource, now) === undefined ? [resource.address] : [];
  });
}

/**
 * Shows a verdict.
 * @param placeOf returns where a manifest declares a test case
 * @param failure what every failure tells programs, if the gate is not passed
 */
export function gateView(
  result: GateResult,
  placeOf: (address: Address) => Place | undefined,
  failure: JsonObject = {},
): View {
  const { passed, reports, failed, ignored, missing, missingTestCases, undecided } = result;
  return {
    json: {
      passed,
      reports: reports.map(({ target, report }) => ({
        id: report.id,
        target,
        status: statusOf(report),
        sha: shaOf(report),
      })),
      failed: failed.map(({ address, testCaseId, status, traceUrl }) => ({
        address,
        testCaseId,
        status,
        traceUrl,
      })),
      ignored: ignored.map(([address, { until, reason }]) => ({ address, until, reason })),
      missing,
      missingTestCases,
      ...failure,
    },
    text: [
      [
        [{ style: passed ? "create" : "error", text: verdict(result) }],
        ...reports.map(({ target, report }): Line => [
          "  ",
          faint(`report ${report.id} of ${target}: ${statusOf(report)}, ${platformOf(report)}`),
        ]),
      ],
      failed.flatMap((one): Line[] => [
        [
          { style: "error", text: one.status },
          "  ",
          strong(titleOf(one)),
          faint(one.traceUrl === undefined ? "" : `  ${one.traceUrl}`),
        ],
      ]),
      notesOf(result),
    ],
    documents: {
      junit: junitOf(result),
      markdown: markdownOf(result),
      github: githubOf(result, placeOf),
    },
    exitCode: passed ? EXIT.done : EXIT.failed,
  };

  function notesOf({ missingCount }: GateResult): readonly string[] {
    const named = ignored.map(
      ([address, { ends }]) => `${keyOf(address)}, in quarantine until ${dayOf(ends)}`,
    );
    return [
      ...undecided.map((why) => `Not decided: ${why}.`),
      ...missing.map((target) => `No report: target ${target} has none that could decide.`),
      ...(missingTestCases.length === 0
        ? []
        : [
            `${count(missingTestCases.length, "running test case")} in none of the reports${missingCount ? "" : " (does not count without --sha)"}: ${missingTestCases.join(", ")}`,
          ]),
      ...(named.length === 0
        ? []
        : [`${count(named.length, "failure")} ignored: ${named.join("; ")}`]),
    ];
  }
}

function verdict({ passed, reports, failed }: GateResult): string {
  if (passed) return `Passed: ${count(reports.length, "report")}`;
  return failed.length === 0 ? "Not passed" : `Not passed: ${count(failed.length, "failure")}`;
}

type FailedCase = GateResult["failed"][number];

function titleOf({ address, name, testCaseId, target, platform }: FailedCase): string {
  const what = address ?? `${name ?? ""} (${testCaseId}, not managed, target ${target})`.trim();
  return platform === "CHROMIUM DESKTOP" ? what : `${what} in ${platform}`;
}

function keyOf(address: Address): string {
  return address.split(".").at(-1) ?? address;
}

/** Returns the last day of a quarantine for people, e.g. `15 Dec`. */
function dayOf(ends: number): string {
  const day = new Date(ends - 1);
  const month = day.toLocaleString("en", { month: "short", timeZone: "UTC" });
  return `${day.getUTCDate()} ${month}`;
}

const attribute = markup(xmlAttribute);
const body = markup(html);
const words = markup(markdownText);

/** Every failure is a failed case, and so is what could not be decided; a passed gate is one case. */
function junitOf({
  passed,
  failed,
  missing,
  missingTestCases,
  missingCount,
  undecided,
}: GateResult): Markup {
  const others = [
    ...undecided,
    ...missing.map((target) => `target ${target} has no report`),
    ...(missingCount ? missingTestCases.map((one) => `${one} is in none of the reports`) : []),
  ];
  const cases = [
    ...failed.map((one) => ({
      title: titleOf(one),
      message: one.errorMessage ?? one.status,
      traceUrl: one.traceUrl,
    })),
    ...others.map((title) => ({ title, message: title, traceUrl: undefined })),
  ];
  const counts = [` tests="${Math.max(1, cases.length)}" failures="${cases.length}"`];
  return [
    '<?xml version="1.0" encoding="UTF-8"?>\n',
    ...attribute`<testsuites name="tasc reports gate"${counts}>\n  <testsuite name="gate"${counts}>\n`,
    ...(passed ? ['    <testcase classname="gate" name="passed"/>\n'] : []),
    ...cases.flatMap(({ title, message, traceUrl }) => [
      ...attribute`    <testcase classname="gate" name="${title}">\n      <failure message="${message.split("\n", 1)[0] ?? ""}">`,
      ...body`${message}</failure>\n`,
      ...(traceUrl === undefined ? [] : body`      <system-out>trace: ${traceUrl}</system-out>\n`),
      "    </testcase>\n",
    ]),
    "  </testsuite>\n</testsuites>\n",
  ];
}

function markdownOf(result: GateResult): Markup {
  const { failed, ignored, missing, missingTestCases, undecided } = result;
  return [
    ...words`**${verdict(result)}**\n\n`,
    ...failed.flatMap((one) => words`- ${one.status} ${titleOf(one)} ${one.traceUrl ?? ""}\n`),
    ...undecided.flatMap((why) => words`- Not decided: ${why}\n`),
    ...missing.flatMap((target) => words`- No report of target ${target}\n`),
    ...missingTestCases.flatMap((address) => words`- In none of the reports: ${address}\n`),
    ...ignored.flatMap(
      ([address, { until, reason }]) =>
        words`- Ignored: ${address}, in quarantine until ${until}: ${reason}\n`,
    ),
  ];
}

const property = markup(annotationProperty);
const message = markup(annotationMessage);

function githubOf(result: GateResult, placeOf: (address: Address) => Place | undefined): Markup {
  const { failed, missing, missingTestCases, missingCount, undecided } = result;
  const others = [
    ...undecided,
    ...missing.map((target) => `target ${target} has no report`),
    ...(missingCount && missingTestCases.length > 0
      ? [`in none of the reports: ${list(missingTestCases)}`]
      : []),
  ];
  return [
    ...failed.flatMap((one) => {
      const place = one.address === undefined ? undefined : placeOf(one.address);
      const at =
        place === undefined
          ? []
          : property`file=${place.file},line=${place.line},col=${place.column},`;
      const why = [one.errorMessage ?? one.status, one.traceUrl ?? ""].join("\n").trim();
      return [
        "::error ",
        ...at,
        ...property`title=${`${one.status} ${titleOf(one)}`}::`,
        ...message`${why}\n`,
      ];
    }),
    ...others.flatMap((why) => ["::error title=Not passed::", ...message`${why}\n`]),
    ...(result.passed ? ["Passed\n"] : []),
  ];
}
