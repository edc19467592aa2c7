import { setTimeout as delay } from "node:timers/promises";
import { apply } from "../apply/apply.ts";
import { hasErrors, locate } from "../manifest/problem.ts";
import type { Address } from "../model/address.ts";
import { warning } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, TascError, failed, stale } from "../model/error.ts";
import type { ApplyEvent, Outcome } from "../model/events.ts";
import type { Change, Plan } from "../model/plan.ts";
import { type Remembered, forgottenIn } from "../plan/orphans.ts";
import { scopeTest } from "../plan/scope.ts";
import { type Refreshed, desiredInScope } from "../plan/refresh.ts";
import type { Planned } from "../plan/plan.ts";
import { idsIn, ranWith } from "../plan/batches.ts";
import { StateFailure } from "../state/problem.ts";
import type { LockedState } from "../state/locked.ts";
import { refuseDoubles } from "./backend-note.ts";
import { beginRun, endRun, refuseSecond } from "./history.ts";
import { type Review, judge, review } from "./plan.ts";
import { type ReviewOptions, checkRequest } from "./survey.ts";
import type { SavedPlan } from "./plan-file.ts";
import { requestOf, toSavedPlan } from "./saved-plan.ts";
import type { PlanRequest, Session } from "./session.ts";
import { asReviewed } from "./stale-plan.ts";

export interface ApplyRequest extends ReviewOptions {
  readonly saved?: SavedPlan | undefined;
  readonly overridePolicy: readonly string[];
  /** How long to wait for discoveries, in milliseconds; default: no wait. */
  readonly wait?: number | undefined;
  readonly lockTimeout?: number | undefined;
  /** Whether the state backend is meant to be new, although the project's folder has state. */
  readonly newState?: boolean | undefined;
}

export interface ApplyObserver {
  /** Receives a new plan before it is applied, including one with errors. */
  readonly reviewed?: (review: Review) => Promise<void>;
  /**
   * Called before anything is sent, to approve the plan.
   * @throws TascError if it is not approved
   */
  readonly approve?: (plan: Plan) => Promise<void>;
  readonly begins?: () => void;
  readonly emit: (event: ApplyEvent) => void;
  /**
   * Once aborted, calls in flight finish and state is saved, but nothing else starts and nothing is
   * waited for.
   */
  readonly signal?: AbortSignal | undefined;
}

export type Applied = Awaited<ReturnType<typeof carryOut>>;

export function outcomeJson({
  done,
  failed,
  skipped,
  notTaken,
  unfinished,
  words,
  notWaited,
}: Outcome) {
  return {
    done,
    failed: failed.map(({ address, failure: { summary, detail } }) => ({
      address,
      summary,
      detail,
    })),
    skipped: skipped.map(({ address, reason }) => ({ address, reason: { ...reason } })),
    notTaken: notTaken.map(({ address, paths }) => ({
      address,
      paths: paths.map((path) => [...path]),
    })),
    unfinished,
    ...(words.size === 0 ? {} : { statuses: Object.fromEntries(words) }),
    ...(notWaited.length === 0 ? {} : { notWaited }),
  };
}

/**
 * Plans, has the plan approved, and applies it under the locks of its targets.
 * @throws TascError if nothing was applied
 */
export async function applyProject(
  session: Session,
  options: ApplyRequest,
  observer: ApplyObserver,
): Promise<Applied> {
  const { saved, lockTimeout = 0, overridePolicy } = options;
  const { signal = new AbortController().signal } = observer;
  if (saved !== undefined) refuseErrors(saved);
  session.requireFingerprintKey();
  const remembered = await session.remembered();
  const checked = checkRequest(options, remembered);
  const request = saved === undefined ? checked : requestOf(saved);
  const { targets } = desiredInScope(remembered.desired, request.scope, remembered.states);
  const strays = remembered.strays.filter((state) =>
    forgottenIn(state, remembered.desired).some(scopeTest(request.scope)),
  );
  const keys = [...targets.map(({ key }) => key), ...strays.map(({ target }) => target)];
  const patience = { timeout: lockTimeout, signal, why: "tasc apply" };
  let unsaved: StateFailure | undefined;
  const work = async (
    sessions: ReadonlyMap<string, LockedState>,
    lost: AbortSignal,
  ): Promise<Applied> => {
    if (saved?.digest !== undefined) await refuseSecond(session, saved.digest);
    const withoutState = new Set(
      [...sessions].flatMap(([key, { isNew }]) => (isNew && options.newState !== true ? key : [])),
    );
    const known = underLocks(remembered, sessions);
    const refresh = (plan?: { readonly changes: readonly Pick<Change, "address">[] }) => {
      // What a person has reviewed is compared with its values now, whatever is left to do.
      const whole = new Set(plan?.changes.map(({ address }) => address));
      const needs = { ...request, needs: "records", whole } as const;
      return refreshLate(session, needs, known, signal);
    };
    const refreshed = await refresh(saved?.plan);
    if (signal.aborted) throw new TascError("interrupted", []);
    if (saved !== undefined) {
      const planned = await stillReviewed(session, refreshed, saved, overridePolicy);
      await refuseDoubles(session, planned.plan, withoutState);
      return carryOut(
        session,
        { ...refreshed, planned },
        sessions,
        options,
        { ...observer, signal },
        lost,
      );
    }
    const survey = { ...refreshed, request, remembered };
    const reviewed = await review(session, survey, overridePolicy, "apply");
    await observer.reviewed?.(reviewed);
    if (hasErrors(reviewed.plan.diagnostics))
      throw failed("plan-errors", "Nothing was applied: the plan has errors");
    await refuseDoubles(session, reviewed.plan, withoutState);
    const { fingerprints } = refreshed.input;
    if (
      observer.approve === undefined ||
      fingerprints === undefined ||
      reviewed.plan.changes.length === 0
    )
      return carryOut(session, refreshed, sessions, options, { ...observer, signal }, lost);
    const asked = await toSavedPlan(reviewed, session);
    await observer.approve(reviewed.plan);
    // Approval may have taken hours, in which others may have made the same changes. So plan again
    // and compare.
    const now = await refresh(reviewed.plan);
    const planned = asReviewed(asked, now.planned, fingerprints, session.redactor);
    return carryOut(session, { ...now, planned }, sessions, options, { ...observer, signal }, lost);
  };
  const applied = await session.withLocks(keys, patience, work, (error) => {
    if (!(error instanceof StateFailure)) throw error;
    unsaved = error;
  });
  if (unsaved === undefined) return applied;
  // Not thrown, because the summary of what was done must still be shown.
  session.host.warn(unsaved.diagnostics);
  return { ...applied, exitCode: applied.exitCode === EXIT.done ? EXIT.failed : applied.exitCode };
}

/** Returns what was known before the locks were taken, with the states as they are under the locks. */
function underLocks<R extends Remembered>(
  remembered: R,
  sessions: ReadonlyMap<string, LockedState>,
): R {
  const locked = [...sessions].filter(([, { isNew }]) => !isNew);
  const others = [...remembered.states].filter(([key]) => !sessions.has(key));
  const declared = new Set(remembered.desired.targets.map(({ key }) => key));
  const current = locked.map(([key, { state }]) => [key, state] as const);
  return {
    ...remembered,
    states: new Map([...others, ...current.filter(([key]) => declared.has(key))]),
    strays: [
      ...remembered.strays.filter(({ target }) => !sessions.has(target)),
      ...current.flatMap(([key, state]) => (declared.has(key) ? [] : [state])),
    ],
  };
}

/** Refuses a saved plan with errors. Those of the policy are allowed: it is checked again. */
function refuseErrors(saved: SavedPlan): void {
  if (errorCodes(saved).some((code) => code?.startsWith("policy-") !== true))
    throw failed(
      "plan-errors",
      "Nothing was applied: the plan has errors",
      "`tasc show` prints it with them. Correct what they report, and plan again.",
    );
}

function errorCodes({ plan, extras: { diagnostics: known = [] } }: SavedPlan) {
  return plan.diagnostics.flatMap(({ severity }, at) =>
    severity === "error" ? [known[at]?.code] : [],
  );
}

/**
 * Milliseconds until a service no longer works on a call whose caller is gone, and until it lists
 * what it created.
 */
const [CALL_ENDED, LISTED_WITHIN] = [10_000, 3_000] as const;

/**
 * Reads the service and plans. The service may still work on a creation of an interrupted apply, or
 * not list its result yet. So tasc looks for the result as long as that may take, before it creates
 * the resource again.
 */
async function refreshLate(
  session: Session,
  request: PlanRequest,
  remembered: Remembered,
  signal: AbortSignal,
): Promise<Refreshed> {
  const { host, settings } = session;
  const start = host.now();
  const recent = Math.min(settings.requestTimeout, CALL_ENDED);
  const inScope = scopeTest(request.scope);
  for (let pause = 250; ; pause *= 2) {
    const refreshed = await session.refresh(request, remembered);
    const { matched, stateEvents } = refreshed.planned;
    // Interrupted creations that seem to have made nothing.
    const lost = [...remembered.states].flatMap(([key, { intents }]) =>
      stateEvents.get(key)?.some(({ type }) => type === "settled") ? [...intents.values()] : [],
    );
    // A start time in the future was taken from another machine's clock, so it counts as now.
    const ends = lost.map(({ at }) => Math.min(Date.parse(at), start) + recent);
    // A resource that is bound but not listed would be created again, or another one with its name
    // would be matched.
    const isLeftOut = [...matched.values()].some(({ matches, resources, state }) =>
      [...matches].some(([address, { live }]) => {
        const id = resources.get(address)?.id ?? state?.bindings.get(address)?.id;
        return id !== undefined && id !== live?.id && inScope(address);
      }),
    );
    if (isLeftOut) ends.push(start + LISTED_WITHIN);
    const left = Math.max(...ends) - host.now();
    if (!(left > 0) || signal.aborted) return refreshed;
    if (pause === 250)
      host.warn([
        warning(
          "creation-recent",
          "What an apply created a moment ago may not be listed yet",
          `An interrupted creation may still be under way, and a list may lag behind, so tasc looks for up to ${Math.ceil(left / 1000)} s before creating anything again.`,
        ),
      ]);
    await delay(Math.min(pause, left), undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Returns what is left of a saved plan, unless the policy refuses it. Changes elsewhere do not make
 * it stale.
 */
async function stillReviewed(
  session: Session,
  { planned, input }: Refreshed,
  saved: SavedPlan,
  overridePolicy: readonly string[],
): Promise<Planned> {
  if (input.fingerprints === undefined)
    throw stale(
      "plan-without-key",
      "The saved plan cannot be checked without the API key",
      "The key is missing.",
    );
  const left = asReviewed(saved, planned, input.fingerprints, session.redactor);
  const addresses = new Set(saved.plan.changes.map(({ address }) => address));
  const orphans = new Set(saved.plan.orphaned.map(({ address }) => address));
  const orphaned = left.plan.orphaned.filter(({ address }) => orphans.has(address));
  const judged = await judge(
    session,
    { ...left, plan: { ...left.plan, orphaned } },
    (address) => addresses.has(address),
    overridePolicy,
    "apply",
  );
  const located = await locate(judged.diagnostics, session.project.sources);
  // Only `plan --base` knew the addresses that the base's manifests give to live resources. If the
  // rule was overridden there, it must be overridden here, too, unless these manifests protect
  // nothing any more.
  const { protected: globs = [] } = session.settings.policy;
  const codes =
    globs.length === 0 ? errorCodes(saved) : saved.extras.diagnostics?.map(({ code }) => code);
  const isKnown =
    codes?.includes("policy-protected") === true && !overridePolicy.includes("protected");
  const refusing = new Set([...judged.refusing, ...(isKnown ? ["protected"] : [])]);
  if (refusing.size > 0) {
    const { diagnostics } = failed(
      "policy-refused",
      "Nothing was applied: the policy refuses this plan",
      `To apply it anyway, add:\n${[...refusing].map((rule) => `--override-policy ${rule}`).join(" ")}`,
    );
    throw new TascError("failed", [...located, ...diagnostics], session.source);
  }
  session.host.warn(located, session.source);
  return left;
}

async function carryOut(
  session: Session,
  refreshed: Refreshed,
  sessions: ReadonlyMap<string, LockedState>,
  { wait, saved }: ApplyRequest,
  { begins, emit, signal }: ApplyObserver & { readonly signal: AbortSignal },
  lost: AbortSignal,
) {
  const { fingerprints } = refreshed.input;
  if (fingerprints === undefined) throw new TypeError("an apply without a key");
  const { now } = session.host;
  const { concurrency, retries } = session.settings;
  begins?.();
  const startedAt = now();
  const { plan } = refreshed.planned;
  const run = await beginRun(session, plan, saved?.digest);
  const outcome = await apply({
    service: session.client(),
    sessions,
    fingerprints,
    input: refreshed.input,
    planned: refreshed.planned,
    concurrency,
    retries,
    wait,
    now,
    sleep: (ms) =>
      delay(ms, undefined, { signal: AbortSignal.any([signal, lost]) }).catch(() => undefined),
    stopping: () => signal.aborted,
    emit,
    history: run,
  });
  await endRun(session, run, plan, outcome, sessions, refreshed.input.states);
  return {
    outcome,
    plan,
    /** Batch generations that were sent and had no readable answer. */
    uncertain: uncertainBatches(outcome, refreshed, sessions),
    milliseconds: now() - startedAt,
    exitCode: exitCodeOf(outcome),
  };
}

/**
 * Returns failed batch generations that may have run with their current content, and not only with
 * an earlier one.
 */
function uncertainBatches(
  outcome: Outcome,
  { input: { desired, fingerprints } }: Refreshed,
  sessions: ReadonlyMap<string, LockedState>,
): readonly Address[] {
  const failed = new Set(outcome.failed.map(({ address }) => address));
  return desired.targets.flatMap(({ key, batchGenerations }) =>
    batchGenerations.flatMap((resource) => {
      const state = sessions.get(key)?.state;
      const record = state?.batchGenerations.get(resource.address);
      const isOpen =
        record?.status === "uncertain" &&
        fingerprints !== undefined &&
        ranWith(record, fingerprints, resource, idsIn(state));
      return isOpen && failed.has(resource.address) ? [resource.address] : [];
    }),
  );
}

function exitCodeOf({
  interrupted,
  fatal,
  failed,
  skipped,
  notTaken,
  unfinished,
}: Outcome): ExitCode {
  if (interrupted) return EXIT.interrupted;
  if (fatal !== undefined) return fatal.fatal ? EXIT.unreachable : EXIT.failed;
  const open = failed.length + skipped.length + notTaken.length + unfinished.length;
  return open === 0 ? EXIT.done : EXIT.failed;
}
