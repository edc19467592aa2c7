import { setTimeout as delay } from "node:timers/promises";
import { survey } from "../../app/survey.ts";
import { type Session, targetsNamed } from "../../app/session.ts";
import {
  type GateResult,
  type JudgedTarget,
  gateView,
  judgeReports,
  shaOf,
} from "../../inspect/gate.ts";
import { addressesIn } from "../../inspect/reports.ts";
import { placesIn } from "../../manifest/problem.ts";
import type { Address } from "../../model/address.ts";
import { byAddress, originOf } from "../../model/desired.ts";
import { failed, invalid } from "../../model/error.ts";
import { sideBySide } from "../../model/live.ts";
import { SENSITIVE } from "../../model/value.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import { secretFields } from "../../plan/memory.ts";
import { newestByPlatform } from "../../plan/results.ts";
import { failureJson } from "../../render/json.ts";
import type { View } from "../../render/view.ts";
import type { LiveReport } from "../../service/answers.ts";
import { ServiceError } from "../../service/failure.ts";
import { isFinished, readReports, statusOf, withResults } from "../../service/reports.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";
import { choice, duration, text } from "../options.ts";
import { READING, TARGET } from "../shared-options.ts";

const OPTIONS = {
  report: text("--report <id>", "judge this report; default: the newest of each managed target"),
  sha: text(
    "--sha <commit>",
    "judge the newest report of this commit in each browser and breakpoint",
  ),
  ...TARGET,
  wait: duration("--wait <duration>", "how long to wait for the end of a report, e.g. 30m", {
    examples: "90s or 30m",
    least: 1,
  }),
  format: choice("--format <format>", "output format", [
    "text",
    "json",
    "junit",
    "markdown",
    "github",
  ]),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "exit with 0 if every test case outside quarantine has passed",
  examples: {
    "tasc reports gate --sha $GITHUB_SHA --wait 30m":
      "let the application's pipeline wait for its tests",
    "tasc reports gate --target shop": "judge the newest report of one target",
    "tasc reports gate --format github": "annotate a pull request with what failed",
  },
  options: OPTIONS,
  run: inProject(gate),
});

async function gate(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { report, sha, target, wait = 0 } = options;
  if (report !== undefined && sha !== undefined)
    throw invalid("bad-option", "--report and --sha cannot be combined; choose one");
  if (report !== undefined && !/^[\w-]+$/.test(report))
    throw invalid("bad-id", "This is not the id of a report", "List them:\n  tasc reports list");
  if (sha !== undefined && !/^[0-9a-fA-F]{7,64}$/.test(sha))
    throw invalid("bad-option", "--sha takes a commit of 7 or more hexadecimal digits");
  const { host } = session;
  const wanted = targetsNamed(target, session.desired).map(({ key }) => key);
  const only = target === undefined ? [] : wanted.map((key) => `target.${key}`);
  const { planned, remembered } = await survey(session, { only });
  const targets = wanted.map((key) => ({ key, matched: planned.matched.get(key) }));
  const known = [...remembered.states.values(), ...remembered.strays];
  const bound = addressesIn(known);
  const live = new Map(
    targets.flatMap(({ matched }) =>
      [...(matched?.matches ?? [])].map(([address, { live: one }]) => [one?.id, address] as const),
    ),
  );
  const secrets = secretFields(known);
  const end = host.now() + wait;
  for (let pause = 500; ; pause = Math.min(2 * pause, 10_000)) {
    // oxlint-disable-next-line no-await-in-loop -- a report is asked for again until it has ended
    const judged = await judgedReports(session, targets, options);
    const isOver = judged.every(({ reports }) => reports.length > 0 && reports.every(isFinished));
    const left = end - host.now();
    if (isOver || left <= 0) {
      const shown = judged.map((one) => ({
        ...one,
        reports: one.reports.map((own) => withoutSecretNames(own, secrets)),
      }));
      const result = judgeReports(shown, {
        now: host.now(),
        missingCount: sha !== undefined,
        addressOf: (id) => live.get(id) ?? bound(id),
      });
      const failure = failed(
        "gate",
        "Not every test case outside quarantine has passed",
        nextStep(result, options),
      );
      // oxlint-disable-next-line no-await-in-loop -- the last round
      const placeOf = await placesOf(session);
      return gateView(result, placeOf, result.passed ? {} : failureJson(failure));
    }
    // oxlint-disable-next-line no-await-in-loop
    await delay(Math.min(pause, left), undefined, host.signal && { signal: host.signal });
  }
}

/** Says how to go on after a gate that is not passed, with the command on a line of its own. */
function nextStep(
  { failed: bad, reports, missing, undecided }: GateResult,
  { target, sha }: OptionsOf<typeof OPTIONS>,
): string {
  const ended = reports.find(({ report }) => statusOf(report) === "FAILED");
  if (bad.length > 0 && ended !== undefined)
    return `Read the report:\n  tasc reports show ${ended.report.id}`;
  if (missing.length + undecided.length === 0) return "";
  const ofTarget = target === undefined ? "" : `--target ${target} `;
  const ofCommit = sha === undefined ? "" : `--sha ${sha} `;
  return `Wait for the end of the run:\n  tasc reports gate ${ofTarget}${ofCommit}--wait 30m`;
}

function withoutSecretNames(report: LiveReport, secrets: ReturnType<typeof secretFields>) {
  const mayShow = (id: string | undefined) => secrets.get(id)?.includes("description") === true;
  const results = report.results.map((one) =>
    mayShow(one.testCaseId) ? { ...one, name: SENSITIVE } : one,
  );
  return { ...report, results };
}

async function placesOf({ project, desired }: Session) {
  const resources = byAddress(desired.targets.flatMap(({ testCases }) => testCases));
  const placeOf = await placesIn(project.sources);
  return (address: Address) => {
    const resource = resources.get(address);
    const origin = resource && originOf(resource);
    return origin && placeOf(origin);
  };
}

interface Target {
  readonly key: string;
  readonly matched: MatchedTarget | undefined;
}

/** Returns the targets that are judged, each with the reports that decide. */
async function judgedReports(
  session: Session,
  targets: readonly Target[],
  { report, sha }: OptionsOf<typeof OPTIONS>,
): Promise<readonly JudgedTarget[]> {
  if (report !== undefined) return [await oneReport(session, targets, report)];
  return sideBySide(
    targets.map(async (target) => {
      const id = target.matched?.live?.id;
      if (id === undefined) return { ...target, reports: [] };
      const client = session.client();
      const isEnough = ({ length }: readonly LiveReport[]) => sha === undefined && length > 0;
      const { reports, unsure } = await readReports(client.allReports(id), isEnough);
      if (unsure)
        throw failed(
          "newest-report-unknown",
          `Cannot determine the newest report of target ${target.key}`,
          "The service returned only some of its reports, in no particular order. Name one with --report.",
        );
      const isOfCommit = (one: LiveReport) =>
        shaOf(one)
          ?.toLowerCase()
          .startsWith(sha?.toLowerCase() ?? "") === true;
      const deciding =
        sha === undefined ? reports.slice(0, 1) : newestByPlatform(reports.filter(isOfCommit));
      const whole = await withResults(deciding, (one) => client.getReport(id, one));
      return { ...target, reports: whole };
    }),
  );
}

/** The path of a report contains its target, so each one is asked until one has the report. */
async function oneReport(
  session: Session,
  targets: readonly Target[],
  id: string,
): Promise<JudgedTarget> {
  for (const target of targets)
    try {
      const targetId = target.matched?.live?.id;
      if (targetId === undefined) continue;
      // oxlint-disable-next-line no-await-in-loop
      return { ...target, reports: [await session.client().getReport(targetId, id)] };
    } catch (error) {
      const failure = error instanceof ServiceError ? error.failure : undefined;
      // A service may also answer that an unknown id is invalid.
      if (failure?.kind !== "status" || ![400, 404, 410, 422].includes(failure.status)) throw error;
    }
  const searched = targets.map(({ key }) => key).join(", ") || "no target";
  throw failed(
    "unknown-report",
    `There is no report ${id}`,
    `Searched in ${searched}. List the reports:\n  tasc reports list`,
  );
}
