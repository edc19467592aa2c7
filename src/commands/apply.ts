import { EXIT, type ExitCode, type Given, flagOption, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type Look, desiredInScope } from "../look/look.ts";
import { parseDuration } from "../manifest/shape.ts";
import { scopeTest } from "../plan/input.ts";
import { type Remembered, withLeft } from "../plan/orphans.ts";
import type { Client } from "../service/client.ts";
import { StateFailure } from "../state/problem.ts";
import type { Session } from "../state/session.ts";
import type { Job } from "./apply-job.ts";
import { carryOut } from "./carry-out.ts";
import { type CallSettings, connect } from "./connect.ts";
import { sayError } from "./diagnostics.ts";
import { disablesRemoved, lookAround } from "./look.ts";
import { openProject } from "./opening.ts";
import { withPlaces } from "./plan.ts";
import { judge, overriddenRules } from "./policy.ts";
import { printPlan } from "./print-plan.ts";
import { ask } from "./question.ts";
import { type PlanRequest, checkRequest } from "./request.ts";
import { contradicts, refusedByPolicy, refusedWhenMade } from "./saved-plan-verdict.ts";
import { type SavedPlan, readSavedPlan } from "./saved-plan.ts";
import { openDisplay } from "./say-apply.ts";
import { asReviewed, sayOtherService, sayStale, sayWithoutKey } from "./stale.ts";
import {
  closeSessions,
  openSessions,
  openStates,
  readStates,
  readStrays,
  sayStateProblem,
} from "./states.ts";
import { listenForStop } from "./stop.ts";

const WAIT_BY_DEFAULT = 15 * 60_000;

/** `tasc apply`: plans, asks, and makes the service what the manifests say. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const [file] = given.args;
  const saved = file === undefined ? undefined : readSavedPlan(file, world);
  const opened = await openProject(withStage(given, saved?.ok === true ? saved.saved : undefined), world, {
    needsApiKey: true,
    leave: "warnings",
  });
  if (!opened.ok) return opened.code;
  if (saved?.ok === false) {
    sayError(opened.console, saved.summary, saved.detail);
    return EXIT.invalid;
  }
  if (saved !== undefined && contradicts(given, saved.saved, opened.console)) return EXIT.invalid;
  if (saved !== undefined && refusedWhenMade(given, saved.saved, opened.console)) return EXIT.failed;
  const wait = durationOption(given, "wait", WAIT_BY_DEFAULT);
  const lockTimeout = durationOption(given, "lockTimeout", 0);
  if (wait === "wrong" || lockTimeout === "wrong") {
    sayError(opened.console, "--wait and --lock-timeout take a duration such as 90s or 10m");
    return EXIT.invalid;
  }
  const display = openDisplay(opened.console, world);
  const stop = listenForStop(display.stopping);
  try {
    return await runJob({
      given,
      world,
      opened,
      stop,
      wait,
      lockTimeout: lockTimeout ?? 0,
      saved: saved?.saved,
      display,
    });
  } finally {
    stop.end();
    display.end();
  }
}

/** Opens the state and does the work under its locks. */
export async function runJob(job: Omit<Job, "states">): Promise<ExitCode> {
  const { opened, world } = job;
  try {
    const states = await openStates(opened, world);
    if (!states.ok) return states.code;
    try {
      return await underLock({ ...job, states: states.value });
    } finally {
      await states.value.backend.close();
    }
  } catch (error) {
    if (error instanceof StateFailure) return sayStateProblem(opened.console, error.problem);
    throw error;
  }
}

/** A saved plan carries its stage. */
function withStage(given: Given, saved: SavedPlan | undefined): Given {
  return saved === undefined ? given : { ...given, options: { ...given.options, stage: saved.plan.stage } };
}

/** A duration in milliseconds; the flag alone means the default. */
function durationOption(given: Given, name: string, fallback: number): number | undefined | "wrong" {
  if (flagOption(given, name)) return fallback;
  const text = textOption(given, name);
  return text === undefined ? undefined : (parseDuration(text) ?? "wrong");
}

async function underLock(job: Job): Promise<ExitCode> {
  const { opened, states, given } = job;
  const { project, console } = opened;
  const { settings } = project;
  const shown = opened.console.redactor.text(settings.baseUrl);
  if (job.saved !== undefined && job.saved.plan.baseUrl !== shown) {
    sayOtherService(console, job.saved, shown);
    return EXIT.stale;
  }
  const targets = project.desired.targets.map((target) => target.key);
  const before = await readStates(states, targets, console);
  if (!before.ok) return before.code;
  const strays = await readStrays(states, targets, console);
  if (!strays.ok) return strays.code;
  const remembered = withLeft(
    { desired: project.desired, states: before.value, strays: strays.value },
    disablesRemoved(settings),
  );
  const { desired, states: known } = remembered;
  const checked = checkRequest(given, desired, [...known.values(), ...remembered.strays], console);
  if (!checked.ok) return checked.code;
  const request = job.saved?.request ?? checked.value;
  const inScope = desiredInScope(desired, request.scope, known);
  const sessions = await openSessions(
    states,
    inScope.targets.map((target) => target.key),
    console,
    {
      timeout: job.lockTimeout,
      signal: job.stop.signal,
      why: "tasc apply",
    },
  );
  if (!sessions.ok) return sessions.code;
  try {
    return await lookAndApply(job, request, sessions.value, remembered);
  } finally {
    await closeSessions(sessions.value);
  }
}

async function lookAndApply(
  job: Job,
  request: PlanRequest,
  sessions: ReadonlyMap<string, Session>,
  remembered: Remembered,
): Promise<ExitCode> {
  const { opened, given, world, stop } = job;
  const connected = connect(given, world, opened.project.settings, opened.console, {
    signal: stop.signal,
    heard: job.display.heard,
  });
  if (!connected.ok) return connected.code;
  try {
    const states = new Map(
      [...sessions].filter(([, { isNew }]) => !isNew).map(([key, session]) => [key, session.state]),
    );
    const look = await lookAround(opened, connected.client, { ...remembered, states }, request);
    if (!look.ok) return look.code;
    if (stop.stopping()) return EXIT.interrupted;
    return job.saved === undefined
      ? await reviewed(job, request, look.value, connected.client, connected.settings, sessions)
      : await unlessStale(job, job.saved, look.value, connected.client, connected.settings, sessions);
  } finally {
    await connected.client.close();
  }
}

/** Shows the plan and asks. */
async function reviewed(
  job: Job,
  { scope }: PlanRequest,
  look: Look,
  client: Client,
  calls: CallSettings,
  sessions: ReadonlyMap<string, Session>,
): Promise<ExitCode> {
  const { opened, given, world } = job;
  const judged = judge(look.planned, opened, scopeTest(scope), overriddenRules(given));
  const plan = await withPlaces(judged.planned.plan, opened);
  await printPlan(given, opened, plan, world);
  if (plan.diagnostics.some((diagnostic) => diagnostic.severity === "error")) {
    sayError(opened.console, "Nothing was applied: the plan has errors");
    return EXIT.failed;
  }
  if (plan.changes.length > 0 && !flagOption(given, "autoApprove")) {
    const answer = await job.display.aside(() =>
      ask(world, opened.console, `Apply these changes to ${plan.stage}?`),
    );
    if (answer === "interrupted") return EXIT.interrupted;
    if (answer === "no") return EXIT.failed;
  }
  return carryOut(job, look, client, calls, sessions);
}

async function unlessStale(
  job: Job,
  saved: SavedPlan,
  look: Look,
  client: Client,
  calls: CallSettings,
  sessions: ReadonlyMap<string, Session>,
): Promise<ExitCode> {
  const { console } = job.opened;
  if (saved.plan.changes.length > 0 && Object.keys(saved.guards).length === 0) {
    sayWithoutKey(console);
    return EXIT.stale;
  }
  const verdict = asReviewed(saved, look.planned, look.input.fingerprints);
  if (!verdict.ok) {
    sayStale(console, saved, verdict.stale);
    return EXIT.stale;
  }
  if (await refusedByPolicy(job.given, saved, verdict.planned, job.opened)) return EXIT.failed;
  return carryOut(job, { ...look, planned: verdict.planned }, client, calls, sessions);
}
