import { setImmediate } from "node:timers/promises";
import { type Address, type Kind, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress } from "../model/desired.ts";
import type { Failed, Failure, Outcome } from "../model/events.ts";
import type { Field } from "../model/fields.ts";
import type { Path } from "../model/json.ts";
import { inBatches } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { RunChanges, StateEvent } from "../model/state.ts";
import { scopeTest } from "../plan/scope.ts";
import { levelName, namesOf } from "../plan/match.ts";
import { forgetEvents } from "../plan/orphans.ts";
import type { Planned } from "../plan/plan.ts";
import { refreshEvents, renewalEvents } from "../plan/record.ts";
import { isRediscovering, isShown } from "../plan/staleness.ts";
import {
  type ApplyContext,
  type Run,
  allSaved,
  endsWithAnswers,
  failureIn,
  folderName,
  halfwayOf,
  hasStatus,
  loseState,
  mayContinue,
  record,
  recordSoon,
  replan,
  sessionOf,
  settle,
  startRun,
  stopped,
  watchStates,
} from "./run.ts";
import { notKnown } from "./create.ts";
import {
  type DiscoveriesBefore,
  awaitBatches,
  awaitDiscoveries,
  discoveriesBefore,
  failGenerations,
  waitsForGeneration,
} from "./generations.ts";
import { type Step, patchStep, runPhase, withoutGenerating } from "./phase.ts";
import { lookAgain, readEarly, recordRefresh, reread } from "./refresh.ts";

/**
 * Carries out a reviewed plan (design contract, section 5), in this order:
 *
 * 1. record what the plan saw: bindings of adopted resources, moves, recovered creations; forget what
 * `removed:` names,
 * 2. targets, 3. environments, 4. discoveries in the order of prerequisites,
 * 5. read targets with creations again, and plan again with the function that made the plan,
 * 6. patches of test cases and elements,
 * 7. for test cases that the service regenerates: the remaining differences; with a wait, once it
 * has finished,
 * 8. batch generations,
 * 9. final check: everything that was written must be there.
 *
 * The changes of one step run concurrently. A failure stops only the changes that depend on it.
 */
export async function apply(context: ApplyContext): Promise<Outcome> {
  const run = startRun(context);
  const stopWatching = watchStates(run);
  const { changes } = run.planned.plan;
  const of = (kind: Kind): readonly Change[] =>
    changes.filter(({ address, action }) => action !== "forget" && address.startsWith(`${kind}.`));
  run.emit({ type: "started", changes: changes.length });
  const before = await discoveriesBefore(run, of("testCase"));
  await recordStart(run);
  failUncertain(run);
  const renewed = renewRecords(run).catch((error: unknown) => {
    run.saving.error ??= { error };
  });
  let unfinished: Outcome["unfinished"] = [];
  let notWaited: Outcome["notWaited"] = [];
  try {
    await runPhase(run, inTurn(run, of("target")));
    await runPhase(run, inTurn(run, of("environment")));
    await runPhase(run, creations(run, of("testCase")));
    await patchTestCases(run, of("testCase"), before);
    const deadline = run.now() + (run.wait ?? 0);
    unfinished = await awaitDiscoveries(run, before, deadline);
    await patchAgain(run, before);
    await runPhase(run, batches(run, of("batchGeneration")));
    if (run.wait !== undefined) {
      const open = await awaitBatches(run, deadline);
      unfinished = [...unfinished, ...open.unfinished];
      notWaited = open.notWaited;
    }
  } catch (error) {
    // State was lost between two phases. Changes that were not reached are reported as skipped.
    loseState(run, error);
    unfinished = [];
  } finally {
    await renewed;
  }
  await allSaved(run);
  if (run.progress.fatal !== undefined)
    for (const { address } of changes)
      if (!run.progress.statuses.has(address)) settle(run, address, stopped(run));
  for (const change of halfwayOf(run)) {
    const { address, calls } = change;
    // All its certain calls were answered; only the look at the service's result is missing.
    const isSent = (run.progress.answered.get(address) ?? 0) >= calls.length;
    settle(
      run,
      address,
      isSent || unfinished.includes(address) ? { kind: "done", change } : stopped(run),
    );
  }
  const planned = await lastLook(run);
  stopWatching();
  failGenerations(run);
  return { ...outcomeOf(run, planned, unfinished), notWaited };
}

function outcomeOf(
  run: Run,
  planned: Planned | undefined,
  unfinished: Outcome["unfinished"],
): Omit<Outcome, "notWaited"> {
  const statuses = [...run.progress.statuses];
  return {
    done: statuses.flatMap(([address, { kind }]) => (kind === "done" ? [address] : [])),
    failed: statuses.flatMap(([address, status]) =>
      status.kind === "failed" ? [failedChange(run, address, status.failure)] : [],
    ),
    skipped: statuses.flatMap(([address, status]) =>
      status.kind === "skipped" ? [{ address, reason: status.reason }] : [],
    ),
    notTaken: planned === undefined ? [] : notTaken(run, planned),
    unfinished,
    words: run.generations.words,
    calls: run.progress.calls,
    interrupted: run.stopping(),
    fatal: run.progress.fatal,
  };
}

function failedChange({ generations }: Run, address: Address, failure: Failure): Failed {
  return generations.failed.get(address) === failure
    ? { address, failure, generation: true }
    : { address, failure };
}

async function recordStart(run: Run): Promise<void> {
  const { planned, fingerprints, input, sessions, wait, history } = run;
  const inScope = scopeTest(input.scope);
  const recordOne = async (key: string): Promise<void> => {
    const matched = planned.matched.get(key);
    const own = planned.plan.changes.filter(({ address }) => targetOf(address) === key);
    // For the history, in case this run is cut off.
    const changes: RunChanges = Object.fromEntries(
      own.map((change) => {
        const calls = change.calls.length + (endsWithAnswers(change) ? 0 : 1);
        return [change.address, { action: change.action, calls }];
      }),
    );
    const began: readonly StateEvent[] =
      history !== undefined && (wait !== undefined || own.length > 0)
        ? [{ type: "began", run: history, changes }]
        : [];
    const forgotten = own.flatMap(({ address, action }) => (action === "forget" ? [address] : []));
    await record(run, key, [
      ...(planned.stateEvents.get(key) ?? []),
      ...forgetEvents(forgotten),
      ...(matched === undefined ? [] : refreshEvents(matched, fingerprints, inScope, NOT_NOW)),
      ...began,
    ]);
  };
  // Not all at once, as the first apply records all of them.
  const sizeOf = (key: string) => planned.matched.get(key)?.resources.size ?? 0;
  await inBatches([...sessions.keys()], sizeOf, recordOne);
  for (const change of planned.plan.changes)
    if (change.action === "forget") settle(run, change.address, { kind: "done", change });
}

/** What is bound is looked at beside the calls. */
const NOT_NOW = (): undefined => undefined;

/**
 * Renews records of what the plan does not change, while calls are in flight: the digests of 10,000
 * test cases take half a second, and nothing that is sent depends on them.
 */
async function renewRecords(run: Run): Promise<void> {
  const { planned, fingerprints, input, sessions } = run;
  const inScope = scopeTest(input.scope);
  const reviewed = byAddress(planned.plan.changes);
  const dueOf = (address: Address) => {
    const change = reviewed.get(address);
    return (field: Field): boolean => !isShown(change, field);
  };
  let seen = 0;
  for (const key of sessions.keys()) {
    const matched = planned.matched.get(key);
    if (!mayContinue(run) || matched === undefined) continue;
    const events: StateEvent[] = [];
    for (const own of renewalEvents(matched, fingerprints, inScope, dueOf)) {
      events.push(...own);
      // Answers are taken in between, so that no call waits for the digests.
      if (seen++ % RENEWED_AT_ONCE === 0) await setImmediate();
    }
    recordSoon(run, key, events, "for good");
  }
}

/** Number of resources that are renewed at once, which takes one or two milliseconds. */
const RENEWED_AT_ONCE = 16;

/**
 * Fails batch generations whose POST was cut off in an earlier run, because this run is the first
 * to notice it.
 */
function failUncertain(run: Run): void {
  const { plan, stateEvents } = run.planned;
  const planned = new Set(plan.changes.map(({ address }) => address));
  for (const event of [...stateEvents.values()].flat())
    if (event.type === "batch" && run.resources.has(event.address) && !planned.has(event.address))
      settle(run, event.address, { kind: "failed", failure: notKnown(CUT_OFF) });
}

const CUT_OFF: Failure = {
  summary: "an earlier apply was interrupted",
  detail: "It was interrupted before the service answered.",
  acted: "maybe",
  fatal: false,
};

/**
 * Returns the steps of these changes, with similar creations one after another. If two with the
 * same name were in flight and both answers were lost, it would be impossible to say which live
 * resource belongs to which address.
 */
function inTurn({ resources }: Run, changes: readonly Change[]): readonly Step[] {
  const earlier = new Map<string, Address[]>();
  return changes.map((change) => {
    const { address, action } = change;
    const resource = action === "create" ? resources.get(address) : undefined;
    const names = resource === undefined ? [] : foundBy(resource);
    const after = new Set(names.flatMap((name) => earlier.get(name) ?? []));
    for (const name of names) earlier.set(name, [...(earlier.get(name) ?? []), address]);
    return { change, after: [...after] };
  });
}

/**
 * Returns the names by which a creation is found if its answer is lost; names of different kinds
 * never coincide.
 */
function foundBy(resource: DesiredResource): readonly string[] {
  const { kind, address } = resource;
  if (kind === "batchGeneration") return [];
  const within = kind === "target" ? "" : targetOf(address);
  const { name = "", externalId } = namesOf(resource);
  const names = [`${kind}\n${within}\n${levelName(name)}`];
  return externalId === undefined
    ? names
    : [...names, `externalId\n${within}\n${levelName(externalId)}`];
}

/**
 * Returns the POSTs of test cases. Their patches follow later, when the result of the service can
 * be read.
 */
function creations(run: Run, changes: readonly Change[]): readonly Step[] {
  const made = changes.filter(({ action }) => action === "create");
  return inTurn(run, made).map(({ change, after }) => {
    const calls = change.calls.filter(({ method }) => method === "POST");
    return { change: { ...change, calls }, after, partOf: change };
  });
}

/** Returns the POSTs of batch generations; with a wait, each is done once it has ended. */
function batches(run: Run, changes: readonly Change[]): readonly Step[] {
  const steps = inTurn(run, changes);
  return run.wait === undefined ? steps : steps.map((one) => ({ ...one, partOf: one.change }));
}

/**
 * Reads everything that was written since its last read, and plans again: remaining changes did not
 * take effect.
 */
async function lastLook(run: Run): Promise<Planned | undefined> {
  if (run.progress.touched.size === 0 || !mayContinue(run)) return undefined;
  run.emit({ type: "reading", why: "final check" });
  run.progress.fatal = await failureIn(run, reread(run, run.live.outdated));
  if (run.progress.fatal !== undefined) return undefined;
  try {
    return await recordRefresh(run, run.progress.touched);
  } catch (error) {
    loseState(run, error);
    return undefined;
  }
}

/**
 * Returns the written fields that have another value now. Later changes by others appear in the
 * next plan.
 */
function notTaken(run: Run, { plan }: Planned): Outcome["notTaken"] {
  const reviewed = byAddress(run.planned.plan.changes);
  return plan.changes.flatMap(({ address, fields }) => {
    const written = reviewed.get(address);
    if (!hasStatus(run, address, "done")) return [];
    // All declared fields count if this run created or generated it, or patched it only after an
    // earlier discovery.
    const isWhole =
      written === undefined || written.action === "create" || isRediscovering(written);
    const isWritten = (path: Path) =>
      isWhole || written.fields.some((field) => field.path[0] === path[0]);
    const paths = fields.map(({ path }) => path).filter(isWritten);
    return paths.length === 0 ? [] : [{ address, paths }];
  });
}

/**
 * Sends the patches of test cases (design contract, section 5): the reviewed ones, and those for
 * fields that the service derived differently from a prompt. Targets with creations are read again
 * first, to see what the service has set.
 */
async function patchTestCases(
  run: Run,
  changes: readonly Change[],
  before: DiscoveriesBefore,
): Promise<void> {
  const isHalfway = (address: Address): boolean => hasStatus(run, address, "halfway");
  const made = changes
    .map(({ address }) => address)
    .filter((address) => isHalfway(address) && run.progress.created.has(address));
  const targets = new Set(made.map(targetOf));
  const planned = await lookAgain(run, made, "after creations");
  const steps = changes.flatMap((reviewed): readonly Step[] => {
    const { address, action } = reviewed;
    if (action === "create" && !isHalfway(address)) return [];
    if (waitsForGeneration(run, reviewed, before)) {
      settle(run, address, { kind: "halfway", change: reviewed });
      return [];
    }
    const isRead = planned !== undefined && targets.has(targetOf(address));
    return [patchStep(run, reviewed, isRead ? planned.get(address) : reviewed)];
  });
  await patchByFolders(run, steps);
}

/**
 * Number of looks: one to send elements that differ, one to read their ids if no answer contained
 * them.
 */
const LOOKS = 2;

/**
 * Finishes halfway changes. After a wait, also patches fields again that a generation has set
 * differently.
 */
async function patchAgain(run: Run, { underWay, settled }: DiscoveriesBefore): Promise<void> {
  const generated = run.wait === undefined ? [] : [...run.generations.started, ...underWay.keys()];
  let addresses = new Set([
    ...halfwayOf(run).map(({ address }) => address),
    ...generated.filter((address) => hasStatus(run, address, "done") || settled.has(address)),
  ]);
  for (let look = 0; look < LOOKS && addresses.size > 0 && mayContinue(run); look++) {
    const current = await lookAgain(run, [...addresses], "after generations");
    if (current === undefined) return;
    const steps = [...addresses].flatMap((address) =>
      stepAgain(run, address, current.get(address)),
    );
    await runPhase(run, steps);
    addresses = new Set(halfwayOf(run).map(({ address }) => address));
  }
  // Differences that still remain appear in the final check.
  if (mayContinue(run))
    for (const change of halfwayOf(run)) settle(run, change.address, { kind: "done", change });
}

function stepAgain(
  { progress }: Run,
  address: Address,
  current: Change | undefined,
): readonly Step[] {
  const status = progress.statuses.get(address);
  const halfway = status?.kind === "halfway" ? status.change : undefined;
  const change = halfway ?? current;
  // If it is gone by now, it is not created again; the final check reports it.
  const calls =
    current === undefined || current.action === "create" ? [] : withoutGenerating(current).calls;
  if (change === undefined || (halfway === undefined && calls.length === 0)) return [];
  return [{ change: { ...change, calls, dependsOn: [] }, after: [] }];
}

/**
 * Sends patches in two groups. While a folder's id is unknown, every test case that belongs in it
 * seems to differ, and one answer shows the id. So the first group has all certain patches, and one
 * doubtful patch for each other folder. The rest is planned again when the ids are known; usually
 * nothing remains to be done.
 */
async function patchByFolders(run: Run, steps: readonly Step[]): Promise<void> {
  const tried = new Set(steps.filter(({ change }) => !isDoubtful(change)).flatMap(folders));
  const later: Step[] = [];
  const first = steps.filter((step) => {
    const [folder] = isDoubtful(step.change) ? folders(step) : [];
    const goes = folder === undefined || !tried.has(folder);
    if (folder !== undefined) tried.add(folder);
    if (!goes) later.push(step);
    return goes;
  });
  await runPhase(run, first, (key) => readEarly(run, key));
  if (later.length === 0) return;
  const current = mayContinue(run) ? await lookAtFolders(run, later) : undefined;
  await runPhase(
    run,
    current === undefined
      ? later
      : later.map(({ change }) => patchStep(run, change, current.get(change.address))),
  );
}

function targetsOf(steps: readonly Step[]): ReadonlySet<string> {
  return new Set(steps.map(({ change }) => targetOf(change.address)));
}

/** Whether a change only sets the folder of a test case whose current folder is unknown. */
function isDoubtful({ calls, fields }: Change): boolean {
  const [call, ...others] = calls;
  if (call === undefined || others.length > 0 || fields[0]?.before !== undefined) return false;
  return Object.keys(call.body).length === 1 && folderName(call) !== undefined;
}

/** Returns the folders whose ids the answers of a step show, with their target. */
function folders({ change }: Step): readonly string[] {
  return change.calls.flatMap((call) => {
    const name = folderName(call);
    return name === undefined ? [] : [`${targetOf(change.address)}\n${name}`];
  });
}

/**
 * Returns the current changes. Reads a target again only if no answer contained the id of one of
 * its folders.
 */
async function lookAtFolders(
  run: Run,
  steps: readonly Step[],
): Promise<ReadonlyMap<Address, Change> | undefined> {
  const unsure = steps.filter(({ change }) => {
    const known = sessionOf(run, targetOf(change.address)).state.folders;
    return change.calls.some((call) => !known.has(folderName(call) ?? ""));
  });
  if (unsure.length === 0) return byAddress(replan(run, targetsOf(steps)).plan.changes);
  const targets = targetsOf(unsure);
  const failure = await failureIn(run, reread(run, targets));
  if (failure === undefined) return byAddress((await recordRefresh(run, targets)).plan.changes);
  if (failure.fatal) run.progress.fatal = failure;
  return undefined;
}
