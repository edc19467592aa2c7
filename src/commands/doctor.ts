import { arch, platform } from "node:os";
import { mergedAt } from "../manifest/resolve.ts";
import { MISSING_SECRET } from "../manifest/interpolation.ts";
import { settingsLayers } from "../manifest/stages.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, TascError } from "../model/error.ts";
import type { CallFinished } from "../model/events.ts";
import { placeText } from "../render/diagnostics.ts";
import { diagnosticView } from "../render/json.ts";
import type { Block, View } from "../render/view.ts";
import { count, list, nonZero } from "../model/words.ts";
import { ServiceError, describeFailure } from "../service/failure.ts";
import { parseHttpDate } from "../service/refusal.ts";
import { createLockInfo } from "../state/lock.ts";
import { describeHolder, explainProblem, problemOf } from "../state/problem.ts";
import type { Host } from "../app/project.ts";
import { type Session, withSession } from "../app/session.ts";
import type { Context } from "./context.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { READING } from "./shared-options.ts";

export const command = defineCommand({
  group: "Start",
  summary: "check configuration, credentials, service and state",
  examples: {
    "tasc doctor --stage production": "print one line per check; exit with 1 if one fails",
    "tasc doctor --format json": "print the checks as JSON",
  },
  options: READING,
  run: doctor,
});

/** The checks of `tasc doctor`, in the order of its output. */
const CHECKS = ["config", "stage", "key", "service", "clock", "version", "state", "lock"] as const;
type CheckName = (typeof CHECKS)[number];

/** `skipped`: an earlier check failed, or there is nothing to check. */
type CheckStatus = "ok" | "warn" | "fail" | "skipped";

type Check = ReturnType<typeof check>;

/**
 * @param summary the finding
 * @param detail what follows from it and what to do; empty if there is nothing to do
 */
function check(name: CheckName, status: CheckStatus, summary: string, detail = "") {
  return { name, status, summary, detail };
}

/** Returns a failed check from an error. @throws any error other than a TascError */
function failedBy(name: CheckName, error: unknown): Check {
  if (!(error instanceof TascError)) throw error;
  const [first] = error.diagnostics;
  return check(name, "fail", first?.summary ?? error.message, first?.detail);
}

/**
 * Checks everything that a plan and an apply need, and says what to do. Removes stale locks;
 * changes nothing else.
 */
async function doctor(options: OptionsOf<typeof READING>, { host }: Context): Promise<View> {
  const version = checkVersion(host.version, process.versions.node, `${platform()} ${arch()}`);
  const found = [...(await checkProject(options, host)), version];
  let cause: CheckName = "config";
  const all = CHECKS.map((name) => {
    // A missing check was prevented by the last check that failed before it.
    const own = found.find((one) => one.name === name);
    if (own?.status === "fail") cause = name;
    return own ?? check(name, "skipped", `not checked, since ${cause} failed`);
  });
  return checksView(all);
}

/** The service's last answer, and this machine's time when it arrived. */
type Answer = CallFinished & { readonly local: number };

async function checkProject(
  options: OptionsOf<typeof READING>,
  host: Host,
): Promise<readonly Check[]> {
  let last: Answer | undefined;
  const watching: Host = {
    ...host,
    warn: () => {},
    onClientEvent: (event) => {
      if (event.kind === "finished") last = { ...event, local: host.now() };
    },
  };
  // Missing secrets are reported by a check of their own and prevent no other. By default, each
  // call is sent once.
  const once = { ...options, retries: options.retries ?? 0 };
  const work = async (session: Session): Promise<readonly Check[]> => {
    const { stage, stages } = session.settings;
    return [
      checkConfig(session, options.allowMissingSecrets),
      check("stage", "ok", stages.length > 1 ? `${stage}, of ${list(stages)}` : stage),
      ...(await checkService(session, () => last)),
      ...(await checkState(session)),
    ];
  };
  try {
    return await withSession(once, watching, work, {
      needsApiKey: false,
      allowMissingSecrets: true,
    });
  } catch (error) {
    if (error instanceof TascError) return unreadable(error.diagnostics);
    throw error;
  }
}

function unreadable(diagnostics: readonly Diagnostic[]): readonly Check[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const stage = errors.find(({ code }) => code === "no-stage" || code === "unknown-stage");
  const others = errors.filter((error) => error !== stage);
  const [first] = others;
  const all = others.length > 1 ? "\nShow all errors with their lines:\ntasc validate" : "";
  const config =
    first === undefined
      ? check("config", "ok", "tasc.yaml and the manifests can be read")
      : check(
          "config",
          "fail",
          `${count(others.length, "error")}; the first: ${withPlace(first)}`,
          `${first.detail}${all}`,
        );
  return stage === undefined
    ? [config]
    : [config, check("stage", "fail", stage.summary, stage.detail)];
}

function withPlace(diagnostic: Diagnostic): string {
  const place = placeText(diagnosticView(diagnostic));
  return place === "" ? diagnostic.summary : `${diagnostic.summary} (${place})`;
}

function checkConfig({ project }: Session, allowMissingSecrets: boolean): Check {
  const { desired, documents, diagnostics } = project;
  const resources = desired.targets.flatMap(resourcesOf).length;
  const size = `${count(resources, "resource")} in ${count(documents.length, "document")}`;
  const missing = diagnostics.filter(({ code }) => code === MISSING_SECRET);
  const names = [...new Set(missing.map(({ summary }) => `${summary}.`))];
  if (names.length > 0)
    return check(
      "config",
      allowMissingSecrets ? "warn" : "fail",
      `${size}; ${count(names.length, "secret")} missing`,
      `${names.join("\n")}\nSet the environment variables, or load them from a file with --dotenv. To plan without them, add --allow-missing-secrets.`,
    );
  const [first] = diagnostics;
  if (first === undefined) return check("config", "ok", size);
  const warnings = `${count(diagnostics.length, "warning")}, the first: ${withPlace(first)}`;
  return check("config", "warn", `${size}; ${warnings}`, first.detail);
}

/** Makes the checks `key`, `service` and `clock`, which need only one call. */
async function checkService(session: Session, lastAnswer: () => Answer | undefined) {
  const { baseUrl, apiKey } = session.settings;
  if (apiKey === undefined) return [missingKey(session)];
  const untried = check("key", "skipped", "set, but not tried, since service failed");
  try {
    const listed = await session.client().listTargets();
    const answer = lastAnswer();
    const answers = `${baseUrl} answers in ${answer?.ms ?? 0} ms: ${count(listed.length, "test target")}`;
    return [
      check("key", "ok", "the service accepts it"),
      check("service", "ok", answers),
      ...clockOf(answer),
    ];
  } catch (error) {
    if (!(error instanceof ServiceError)) return [failedBy("service", error), untried];
    const { failure } = error;
    const { summary, detail } = describeFailure(failure);
    const clock = clockOf(lastAnswer());
    const refused = check("key", "fail", summary, detail);
    if (failure.kind === "unsendable") return [refused, ...clock];
    if (failure.kind === "key-refused")
      return [refused, check("service", "ok", `${baseUrl} answers`), ...clock];
    return [untried, check("service", "fail", `${baseUrl}: ${summary}`, detail), ...clock];
  }
}

function missingKey({ project, settings }: Session): Check {
  const declared = mergedAt(settingsLayers(project.project, settings.stage), ["service", "apiKey"]);
  const [why, advice] =
    typeof declared === "string"
      ? [
          `${declared}, which is not set`,
          "Set the environment variable, or load it from a file with --dotenv.",
        ]
      : [
          "missing",
          `Declare it in tasc.yaml, for the project or for the stage:\nservice: { apiKey: "\${secret:TASC_API_KEY}" }`,
        ];
  return check("key", "fail", `\`service.apiKey\` is ${why}`, advice);
}

function clockOf(answer: Answer | undefined): readonly Check[] {
  if (answer?.status === undefined) return [];
  const service = parseHttpDate((answer.date ?? "").trim());
  if (service !== undefined) return [checkClock(answer.local - service)];
  return [check("clock", "skipped", "not checked, since the service does not send the time")];
}

async function checkState(session: Session): Promise<readonly Check[]> {
  const failed = (error: unknown) => failedBy("state", error);
  const tried = await tryLocks(session).catch(failed);
  const read = await readStates(session).catch(failed);
  if (tried.name === "state") return [read.status === "fail" ? read : tried];
  return read.status === "fail" && tried.status === "ok" ? [read] : [read, tried];
}

/** Checks that every document of the stage can be read and belongs to this service. */
async function readStates(session: Session): Promise<Check> {
  const { stage, state: config } = session.settings;
  const { backend } = await session.states();
  const declared = session.desired.targets.map(({ key }) => key);
  const targets = [...new Set([...declared, ...(await backend.list(stage))])];
  const stored = [...(await backend.readAll(targets.map((target) => session.stateKey(target))))];
  const keyCheck = session.fingerprints?.keyCheck;
  const otherKey = stored.filter(
    ([, { state }]) =>
      keyCheck !== undefined && state.keyCheck !== undefined && state.keyCheck !== keyCheck,
  );
  const journalled = stored.filter(([, one]) => one.journalled);
  const named = (some: typeof stored): string => list(some.map(([target]) => target));
  // A server that grants locks may still refuse documents.
  const writable = config.backend === "http" ? "" : " writable,";
  const summary = `${config.backend}: readable,${writable} of this service; state of ${stored.length} of ${count(targets.length, "target")}`;
  const words = [
    otherKey.length > 0 &&
      `The state of ${named(otherKey)} was written with another key: the next apply sends write-only fields again.`,
    journalled.length > 0 &&
      `A run on ${named(journalled)} was interrupted: the next apply recovers it.`,
  ].filter((one) => one !== false);
  return check("state", words.length === 0 ? "ok" : "warn", summary, words.join("\n"));
}

/**
 * Takes each target's lock for a moment. Not every backend shows the holder of a lock otherwise,
 * and if a lock can be taken, the place where it is kept is writable. @throws the error that
 * prevents writing to that place
 */
async function tryLocks(session: Session): Promise<Check> {
  const targets = session.desired.targets.map(({ key }) => key);
  const { backend, world } = await session.states();
  if (session.settings.state.options["lock"] === false)
    return check("lock", "skipped", "not checked, since the state's server has no locks");
  if (targets.length === 0)
    return check("lock", "skipped", "not checked, since no target is declared");
  const held: string[] = [];
  const stale: string[] = [];
  for (const target of targets)
    try {
      // oxlint-disable-next-line no-await-in-loop -- never several at once
      const lock = await backend.lock(
        session.stateKey(target),
        createLockInfo(world, "tasc doctor"),
      );
      // oxlint-disable-next-line no-await-in-loop -- given back before the next is tried
      await lock.unlock();
      if (lock.takenOver !== undefined)
        stale.push(
          `${target}: stale lock from a finished run, removed. ${describeHolder(lock.takenOver)}`,
        );
    } catch (error) {
      const { summary, detail } = explainProblem(problemOf(error, "locked"));
      held.push(`${summary}\n${detail}`);
    }
  const detail = [...held, ...stale].join("\n");
  const locked = `${held.length} of ${count(targets.length, "target")} locked`;
  if (held.length > 0) return check("lock", "warn", locked, detail);
  return stale.length > 0
    ? check("lock", "warn", count(stale.length, "stale lock"), detail)
    : check("lock", "ok", "free");
}

/** Tolerance in milliseconds. HTTP dates have whole seconds only, and an answer takes some time. */
const TOLERANCE = 30_000;

/**
 * Checks the clock.
 * @param difference milliseconds by which this machine is ahead of the service
 */
export function checkClock(difference: number): Check {
  if (Math.abs(difference) <= TOLERANCE)
    return check("clock", "ok", "this machine and the service agree");
  const seconds = Math.abs(difference) / 1000;
  const minutes = Math.round(seconds / 60);
  const time = minutes < 1 ? `${Math.round(seconds)} s` : `${minutes} min`;
  return check(
    "clock",
    "warn",
    `this machine is ${time} ${difference > 0 ? "ahead of" : "behind"} the service`,
    "Dates of reports, notifications and locks may be wrong. Synchronise the machine's clock with NTP.",
  );
}

const MARKS = {
  ok: { sign: "✓", style: "added" },
  warn: { sign: "!", style: "warning" },
  fail: { sign: "✗", style: "error" },
  skipped: { sign: "-", style: "faint" },
} as const;

/** Columns for the names of checks, the longest of which is `version`. */
const NAME_WIDTH = 9;

function checksView(checks: readonly Check[]): View {
  const amount = (status: CheckStatus): number =>
    checks.filter((one) => one.status === status).length;
  const failed = amount("fail");
  const others = [count(amount("warn"), "warning"), `${amount("skipped")} not checked`];
  const summary = nonZero(`${count(failed, "check")} failed`, ...others);
  return {
    json: { formatVersion: "1.0", ok: failed === 0, checks: checks.map((one) => ({ ...one })) },
    text: [checks.flatMap(checkBlocks), [summary.join(", ") || "All checks passed."]],
    exitCode: failed === 0 ? EXIT.done : EXIT.failed,
  };
}

function checkBlocks({ name, status, summary, detail }: Check): readonly Block[] {
  const { sign, style } = MARKS[status];
  const word = status === "skipped" ? "" : status;
  return [
    [
      { style, text: sign },
      ` ${name.padEnd(NAME_WIDTH)} `,
      { style, text: word.padEnd(4) },
      ` ${summary}`,
    ],
    ...(detail.trim() === "" ? [] : [{ label: "", column: 2 + NAME_WIDTH + 6, beside: detail }]),
  ];
}

export const LEAST_NODE = "20.19";

/**
 * Checks the version of Node.
 * @param node without a `v`
 * @param system operating system and processor
 */
export function checkVersion(tasc: string, node: string, system: string): Check {
  const summary = `tasc ${tasc} on Node ${node}, ${system}`;
  if (node.localeCompare(LEAST_NODE, "en", { numeric: true }) >= 0)
    return check("version", "ok", summary);
  return check(
    "version",
    "fail",
    summary,
    `tasc needs Node ${LEAST_NODE} or later. Install a current one.`,
  );
}
