import { arch, platform } from "node:os";
import { mergedAt } from "../manifest/resolve.ts";
import { MISSING_SECRET } from "../manifest/interpolation.ts";
import { settingsLayers } from "../manifest/settings.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, TascError } from "../model/error.ts";
import type { CallFinished } from "../model/events.ts";
import { placeText } from "../render/diagnostics.ts";
import { diagnosticView } from "../render/json.ts";
import type { Block, View } from "../render/view.ts";
import { count, list } from "../render/words.ts";
import { ServiceError, describeFailure } from "../service/describe-failure.ts";
import { parseHttpDate } from "../service/exchange.ts";
import type { Failure } from "../service/request.ts";
import { createLockInfo } from "../state/lock.ts";
import { StateFailure, describeHolder, explainProblem } from "../state/problem.ts";
import { type Host, type ProjectOptions, type Session, withSession } from "./session.ts";

/** What `tasc doctor` looks at, in the order in which it tells. */
const CHECKS = ["config", "stage", "key", "service", "clock", "version", "state", "lock"] as const;
type CheckName = (typeof CHECKS)[number];

/** `skipped`: an earlier check failed, or there is nothing to look at. */
type CheckStatus = "ok" | "warn" | "fail" | "skipped";

interface Check {
  readonly name: CheckName;
  readonly status: CheckStatus;
  /** What was found. */
  readonly summary: string;
  /** What follows from it and what to do; nothing where all is well. */
  readonly detail: string;
}

function check(name: CheckName, status: CheckStatus, summary: string, detail = ""): Check {
  return { name, status, summary, detail };
}

/** A check that cannot be made since another one failed. */
function skipped(name: CheckName, because: CheckName): Check {
  return check(name, "skipped", `not checked, since ${because} failed`);
}

/** @throws whatever is not a failure of ours */
function failedBy(name: CheckName, error: unknown): Check {
  if (!(error instanceof TascError)) throw error;
  const [first] = error.diagnostics;
  return check(name, "fail", first?.summary ?? error.message, first?.detail);
}

/**
 * Checks everything that a plan and an apply need, and says what to do. It removes stale locks, and changes nothing else.
 */
export async function doctor(options: ProjectOptions, host: Host): Promise<View> {
  const versions = { tasc: host.version, node: process.versions.node, platform: `${platform()} ${arch()}` };
  const found = [...(await checkProject(options, host)), checkVersion(versions)];
  // Where nothing else says so, the first check that failed kept it from being made.
  const cause = found.find(({ status }) => status === "fail")?.name ?? "config";
  const checks = CHECKS.map((name) => found.find((one) => one.name === name) ?? skipped(name, cause));
  const failed = checks.some(({ status }) => status === "fail");
  return { ...checksView(checks, failed), exitCode: failed ? EXIT.failed : EXIT.done };
}

/** What the service answered last. */
interface Answer extends CallFinished {
  /** What this machine's clock said then. */
  readonly local: number;
}

async function checkProject(options: ProjectOptions, host: Host): Promise<readonly Check[]> {
  let last: Answer | undefined;
  const heard: Host["heard"] = (event) => {
    if (event.kind === "finished") last = { ...event, local: host.now() };
  };
  // Missing secrets are a check of their own, which keeps no other from being made. Each call is sent once.
  const lenient = { ...options, allowMissingSecrets: true, retries: options.retries ?? 0 };
  try {
    return await withSession(
      lenient,
      { ...host, heard, warn: () => {} },
      async (session) => [
        checkConfig(session, options.allowMissingSecrets ?? false),
        checkStage(session),
        ...(await checkService(session, () => last)),
        ...(await checkState(session)),
      ],
      { apiKey: false },
    );
  } catch (error) {
    if (error instanceof TascError) return unreadable(error.diagnostics);
    throw error;
  }
}

/** The checks `config` and `stage` of a project that cannot be opened. */
function unreadable(diagnostics: readonly Diagnostic[]): readonly Check[] {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const stage = errors.find(({ code }) => code === "no-stage" || code === "unknown-stage");
  if (stage === undefined) return [faultyConfig(errors)];
  const others = errors.filter((error) => error !== stage);
  return [
    others.length === 0
      ? check("config", "ok", "tasc.yaml and the manifests can be read")
      : faultyConfig(others),
    check("stage", "fail", stage.summary, stage.detail),
  ];
}

function faultyConfig(errors: readonly Diagnostic[]): Check {
  const [first] = errors;
  if (first === undefined) return check("config", "fail", "the project cannot be read");
  const summary = `${count(errors.length, "error")}; the first: ${withPlace(first)}`;
  const all = errors.length > 1 ? "\nShow all errors with their lines:\ntasc validate" : "";
  return check("config", "fail", summary, `${first.detail}${all}`);
}

function withPlace(diagnostic: Diagnostic): string {
  const place = placeText(diagnosticView(diagnostic));
  return place === undefined ? diagnostic.summary : `${diagnostic.summary} (${place})`;
}

function checkConfig({ project }: Session, allowMissingSecrets: boolean): Check {
  const { desired, documents, diagnostics } = project;
  const resources = desired.targets.flatMap(resourcesOf).length;
  const size = `${count(resources, "resource")} in ${count(documents.length, "document")}`;
  const missing = diagnostics.filter(({ code }) => code === MISSING_SECRET).map(({ summary }) => summary);
  const names = [...new Set(missing)];
  if (names.length > 0)
    return check(
      "config",
      allowMissingSecrets ? "warn" : "fail",
      `${size}; ${count(names.length, "secret")} missing`,
      `${names.map((summary) => `${summary}.`).join("\n")}\nSet the environment variables, or load them from a file with --dotenv. To plan without them, add --allow-missing-secrets.`,
    );
  const [first] = diagnostics;
  if (first === undefined) return check("config", "ok", size);
  return check(
    "config",
    "warn",
    `${size}; ${count(diagnostics.length, "warning")}, the first: ${withPlace(first)}`,
    first.detail,
  );
}

function checkStage({ settings }: Session): Check {
  const { stage, stages } = settings;
  return check("stage", "ok", stages.length > 1 ? `${stage}, of ${list(stages)}` : stage);
}

/** The checks `key`, `service` and `clock`: one call answers them all. */
async function checkService(
  session: Session,
  lastAnswer: () => Answer | undefined,
): Promise<readonly Check[]> {
  const { baseUrl, apiKey } = session.settings;
  if (apiKey === undefined) return [missingKey(session), skipped("service", "key"), skipped("clock", "key")];
  try {
    const listed = await session.client().listTargets();
    const answer = lastAnswer();
    const answers = `${baseUrl} answers in ${answer?.ms ?? 0} ms: ${count(listed.length, "test target")}`;
    return [check("key", "ok", "the service accepts it"), check("service", "ok", answers), clockOf(answer)];
  } catch (error) {
    if (error instanceof ServiceError) return [...refused(error.failure, baseUrl), clockOf(lastAnswer())];
    return [failedBy("service", error), untriedKey(), skipped("clock", "service")];
  }
}

function missingKey({ project, settings }: Session): Check {
  const declared = mergedAt(settingsLayers(project.project, settings.stage), ["service", "apiKey"]);
  const [summary, detail] =
    typeof declared === "string"
      ? [
          `\`service.apiKey\` is ${declared}, which is not set`,
          "Set the environment variable, or load it from a file with --dotenv.",
        ]
      : [
          "`service.apiKey` is missing",
          'Declare it in tasc.yaml, for the project or for the stage:\nservice: { apiKey: "${secret:TASC_API_KEY}" }',
        ];
  return check("key", "fail", summary, detail);
}

function untriedKey(): Check {
  return check("key", "skipped", "set, but not tried, since service failed");
}

function refused(failure: Failure, baseUrl: string): readonly Check[] {
  const { summary, detail } = describeFailure(failure);
  if (failure.kind === "unsendable")
    return [check("key", "fail", summary, detail), skipped("service", "key")];
  if (failure.kind === "key-refused")
    return [check("key", "fail", summary, detail), check("service", "ok", `${baseUrl} answers`)];
  return [untriedKey(), check("service", "fail", `${baseUrl}: ${summary}`, detail)];
}

function clockOf(answer: Answer | undefined): Check {
  if (answer?.status === undefined) return skipped("clock", "service");
  const { date = "", local } = answer;
  const service = parseHttpDate(date.trim(), local);
  return service === undefined
    ? check("clock", "skipped", "not checked, since the service does not send the time")
    : checkClock({ service, local });
}

/** The checks `state` and `lock`. */
async function checkState(session: Session): Promise<readonly Check[]> {
  try {
    const { lock, unwritable } = await tryLocks(session);
    const read = await readStates(session).catch((error: unknown) => failedBy("state", error));
    const state = read.status === "fail" || unwritable === undefined ? read : failedBy("state", unwritable);
    return [state, state.status === "fail" && lock.status === "ok" ? skipped("lock", "state") : lock];
  } catch (error) {
    return [failedBy("state", error), skipped("lock", "state")];
  }
}

/** Reads every document of the stage: that it can be read, and that it is of this service. */
async function readStates(session: Session): Promise<Check> {
  const { stage, state: config } = session.settings;
  const { backend } = await session.states();
  const listed = await backend.list(stage);
  const targets = [...new Set([...keysOf(session), ...listed])];
  const keyCheck = session.fingerprints?.keyCheck;
  const [stored, otherKey, journalled]: [string[], string[], string[]] = [[], [], []];
  for (const target of targets) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as every command reads them
    const read = await backend.read(session.stateKey(target));
    if (read === undefined) continue;
    stored.push(target);
    const { state } = read;
    if (read.journalled) journalled.push(target);
    if (keyCheck !== undefined && state.keyCheck !== undefined && state.keyCheck !== keyCheck)
      otherKey.push(target);
  }
  // That a server hands out locks does not say that it takes documents.
  const writable = config.backend === "http" ? "" : " writable,";
  const summary = `${config.backend}: readable,${writable} of this service; state of ${stored.length} of ${count(targets.length, "target")}`;
  const words: string[] = [];
  if (otherKey.length > 0)
    words.push(
      `The state of ${list(otherKey)} was written with another key: the next apply sends write-only fields again.`,
    );
  if (journalled.length > 0)
    words.push(`A run on ${list(journalled)} was interrupted: the next apply recovers it.`);
  return check("state", words.length === 0 ? "ok" : "warn", summary, words.join("\n"));
}

/**
 * Takes each target's lock for a moment. No backend tells otherwise who holds one, and whoever can take a lock can
 * write where it is kept. `unwritable` says why that place, which is that of the documents, cannot be written.
 */
async function tryLocks(
  session: Session,
): Promise<{ readonly lock: Check; readonly unwritable?: StateFailure }> {
  const targets = keysOf(session);
  const { backend, world } = await session.states();
  if (session.settings.state.options["lock"] === false)
    return { lock: check("lock", "skipped", "not checked, since the state's server has no locks") };
  const held: string[] = [];
  const stale: string[] = [];
  for (const target of targets) {
    // oxlint-disable-next-line no-await-in-loop -- never several at once
    const lock = await backend
      .lock(session.stateKey(target), createLockInfo(world, "tasc doctor"))
      .catch((error: unknown) => {
        if (error instanceof StateFailure) return error;
        throw error;
      });
    if (lock instanceof StateFailure) {
      if (lock.problem.kind !== "locked") return { lock: skipped("lock", "state"), unwritable: lock };
      const { summary, detail } = explainProblem(lock.problem);
      held.push(`${summary}\n${detail}`);
      continue;
    }
    const { takenOver } = lock;
    if (takenOver !== undefined)
      stale.push(`${target}: stale lock from a finished run, removed. ${describeHolder(takenOver)}`);
    // oxlint-disable-next-line no-await-in-loop -- given back before the next is tried
    await lock.unlock();
  }
  return { lock: lockCheck(targets.length, held, stale) };
}

function lockCheck(amount: number, held: readonly string[], stale: readonly string[]): Check {
  if (amount === 0) return check("lock", "skipped", "not checked, since no target is declared");
  const detail = [...held, ...stale].join("\n");
  if (held.length > 0)
    return check("lock", "warn", `${held.length} of ${count(amount, "target")} locked`, detail);
  if (stale.length > 0) return check("lock", "warn", count(stale.length, "stale lock"), detail);
  return check("lock", "ok", "free");
}

function keysOf({ desired }: Session): readonly string[] {
  return desired.targets.map(({ key }) => key);
}

/** Milliseconds. An HTTP date knows whole seconds, and an answer takes a while. */
const TOLERANCE = 30_000;

interface Clocks {
  /** The service's, as it answered. */
  readonly service: number;
  /** This machine's, when the answer was there. */
  readonly local: number;
}

export function checkClock({ service, local }: Clocks): Check {
  const difference = local - service;
  if (Math.abs(difference) <= TOLERANCE) return check("clock", "ok", "this machine and the service agree");
  const way = difference > 0 ? "ahead of" : "behind";
  return check(
    "clock",
    "warn",
    `this machine is ${inWords(Math.abs(difference))} ${way} the service`,
    "Dates of reports, notifications and locks may be wrong. Synchronise the machine's clock with NTP.",
  );
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 1 ? `${Math.round(ms / 1000)} s` : `${minutes} min`;
}

const SIGNS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", skipped: "-" };
const PAINT = { ok: "added", warn: "warning", fail: "error", skipped: "faint" } as const;

/** Columns of a check's name, the longest of which is `version`. */
const NAME_WIDTH = 9;
const INDENT = 2 + NAME_WIDTH + 6;

/** The checks, one a line, with what to do below those that need it, and a line that sums them up. */
function checksView(checks: readonly Check[], failed: boolean): View {
  return {
    json: {
      formatVersion: "1.0",
      ok: !failed,
      checks: checks.map((one) => ({ ...one })),
    },
    text: [checks.flatMap(checkBlocks), [summaryLine(checks)]],
  };
}

function checkBlocks({ name, status, summary, detail }: Check): readonly Block[] {
  const style = PAINT[status];
  const word = status === "skipped" ? "" : status;
  return [
    [
      { style, text: SIGNS[status] },
      ` ${name.padEnd(NAME_WIDTH)} `,
      { style, text: word.padEnd(4) },
      ` ${summary}`,
    ],
    ...(detail.trim() === "" ? [] : [{ label: "", column: INDENT, beside: detail }]),
  ];
}

function summaryLine(checks: readonly Check[]): string {
  const amount = (status: CheckStatus): number => checks.filter((one) => one.status === status).length;
  const [failed, warned, skipped] = [amount("fail"), amount("warn"), amount("skipped")];
  if (failed + warned + skipped === 0) return "All checks passed.";
  return [
    ...(failed === 0 ? [] : [`${count(failed, "check")} failed`]),
    ...(warned === 0 ? [] : [count(warned, "warning")]),
    ...(skipped === 0 ? [] : [`${skipped} not checked`]),
  ].join(", ");
}

/** As `engines` of package.json has it. */
export const LEAST_NODE = "20.19";

interface Versions {
  readonly tasc: string;
  /** Without a `v`. */
  readonly node: string;
  /** Operating system and processor. */
  readonly platform: string;
}

export function checkVersion({ tasc, node, platform }: Versions): Check {
  const summary = `tasc ${tasc} on Node ${node}, ${platform}`;
  return isAtLeast(node, LEAST_NODE)
    ? check("version", "ok", summary)
    : check("version", "fail", summary, `tasc needs Node ${LEAST_NODE} or later. Install a current one.`);
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
