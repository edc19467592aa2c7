import { type Address, type Kind, parseAddress, targetAddress } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Failure, Outcome } from "../model/events.ts";
import type { Path } from "../model/json.ts";
import type { LiveDiscovery, LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { scopeTest, targetOf } from "../plan/input.ts";
import { namesOf } from "../plan/match.ts";
import type { Planned } from "../plan/plan.ts";
import { discoveryMark, hasEnded, refreshEvents } from "../plan/record.ts";
import { isRediscovering } from "../plan/staleness.ts";
import {
  type ApplyContext,
  type Run,
  folderName,
  idOf,
  loseState,
  mayContinue,
  record,
  recordSoon,
  replan,
  sessionOf,
  startRun,
} from "./context.ts";
import { notKnown, recordRefresh, reread, rereadTestCases } from "./create.ts";
import {
  type Step,
  changesOf,
  endsWithAnswers,
  fail,
  finishChange,
  isFinished,
  patchStep,
  runPhase,
  skip,
  whyStopped,
  withoutGenerating,
} from "./phase.ts";

/**
 * Carries out a reviewed plan (design contract, section 5), in this order:
 *
 * 1. what the plan saw is recorded: bindings of adopted resources, moves, recovered creations,
 * 2. targets, 3. environments, 4. discoveries in the order of prerequisites,
 * 5. targets with creations are read again, and planned again by the function that made the plan,
 * 6. patches of test cases and elements,
 * 7. where the service regenerates test cases, what then still differs; with a wait, once it has finished,
 * 8. batch generations,
 * 9. a last look: what was written must be there.
 *
 * Each step carries out what the plan lists for it side by side. A failure stops what depends on it and nothing else.
 */
export async function apply(context: ApplyContext): Promise<Outcome> {
  const run = startRun(context);
  const { changes } = context.planned.plan;
  const of = (kind: Kind): readonly Change[] =>
    changes.filter(({ address }) => parseAddress(address)?.kind === kind);
  context.emit({ type: "started", changes: changes.length });
  const seenBefore = await discoveriesBefore(run, of("testCase"));
  await recordStart(run);
  failUncertain(run);
  const unfinished = await runPhases(run, of, seenBefore).catch((error: unknown) => {
    // State was lost between two phases: what was not reached is told as skipped.
    loseState(run.progress, error);
    return [];
  });
  for (const { address } of run.progress.fatal === undefined ? [] : changes)
    if (!isFinished(run, address)) skip(run, address, whyStopped(run));
  return finish(run, unfinished);
}

async function runPhases(
  run: Run,
  of: (kind: Kind) => readonly Change[],
  seenBefore: DiscoveriesBefore,
): Promise<Outcome["unfinished"]> {
  const { context } = run;
  await runPhase(run, inTurn(run, of("target")));
  await runPhase(run, inTurn(run, of("environment")));
  await runPhase(run, creations(run, of("testCase")));
  await patchTestCases(run, of("testCase"));
  const unfinished = await awaitDiscoveries(run, seenBefore);
  const { generating, done } = run.progress;
  const generated =
    context.wait === undefined ? [] : [...new Set([...generating, ...seenBefore.underWay.keys()])];
  await patchAgain(
    run,
    generated.filter((address) => done.has(address) || seenBefore.settled.has(address)),
  );
  await runPhase(run, inTurn(run, of("batchGeneration")));
  return unfinished;
}

async function recordStart(run: Run): Promise<void> {
  const { planned, fingerprints, input, sessions, wait, run: began } = run.context;
  const inScope = scopeTest(input.scope);
  const records = [...sessions.keys()].map(async (key) => {
    const matched = planned.matched.get(key);
    await record(run, key, [
      ...(planned.stateEvents.get(key) ?? []),
      ...(matched === undefined ? [] : refreshEvents(matched, fingerprints, inScope)),
      ...(began === undefined ? [] : beganEvents(began, key, planned.plan.changes, wait !== undefined)),
    ]);
  });
  await Promise.all(records);
}

/** What the history is to know of a run that is cut off. */
function beganEvents(
  run: NonNullable<ApplyContext["run"]>,
  target: string,
  changes: readonly Change[],
  mayFollowUp: boolean,
): readonly StateEvent[] {
  const own = changes.filter(({ address }) => targetOf(address) === target);
  if (own.length === 0 && !mayFollowUp) return [];
  const entries = own.map((change) => {
    const calls = change.calls.length + (endsWithAnswers(change) ? 0 : 1);
    return [change.address, { action: change.action, calls }] as const;
  });
  return [{ type: "began", run, changes: Object.fromEntries(entries) }];
}

/** Batch generations whose POST was cut off in an earlier run: this one finds that out, so it says so and fails. */
function failUncertain(run: Run): void {
  const { plan, stateEvents } = run.context.planned;
  const planned = new Set(plan.changes.map(({ address }) => address));
  for (const event of [...stateEvents.values()].flat())
    if (event.type === "batch" && run.resources.has(event.address) && !planned.has(event.address))
      fail(run, event.address, notKnown(event.address, CUT_OFF));
}

const CUT_OFF: Failure = {
  summary: "an earlier apply was interrupted",
  detail: "It was interrupted before the service answered.",
  acted: "maybe",
  fatal: false,
};

function inTurn(run: Run, changes: readonly Change[]): readonly Step[] {
  const before = alikeBefore(
    changes.filter(({ action }) => action === "create"),
    run.resources,
  );
  return changes.map((change) => ({ change, after: before.get(change.address) ?? [] }));
}

/** The POST of each test case; its patches come later, once it can be seen what the service made of it. */
function creations(run: Run, changes: readonly Change[]): readonly Step[] {
  const made = changes.filter(({ action }) => action === "create");
  return inTurn(run, made).map(({ change, after }) => {
    const post = { ...change, calls: change.calls.filter((call) => call.method === "POST") };
    return { change: post, after, partOf: change };
  });
}

async function finish(run: Run, unfinished: Outcome["unfinished"]): Promise<Outcome> {
  const { context, progress } = run;
  const generating = new Set(unfinished);
  for (const change of progress.halfway.values())
    if (generating.has(change.address) || isSent(run, change)) finishChange(run, change);
    else skip(run, change.address, whyStopped(run));
  const planned = await lastLook(run);
  return {
    done: [...progress.done],
    failed: [...progress.failed.values()],
    skipped: [...progress.skipped.values()],
    notTaken: planned === undefined ? [] : notTaken(run, planned),
    unfinished,
    calls: progress.calls,
    interrupted: context.stopping(),
    fatal: progress.fatal,
  };
}

/** Whether all that is certain of a change was answered, and only what the service makes of it was left to be seen. */
function isSent({ progress }: Run, { address, calls }: Change): boolean {
  return (progress.answered.get(address) ?? 0) >= calls.length;
}

/** Reads what was written since it was last read; what the plan then says of it did not take. */
async function lastLook(run: Run): Promise<Planned | undefined> {
  const { context, progress } = run;
  if (progress.touched.size === 0 || !mayContinue(run)) return undefined;
  context.emit({ type: "reading", why: "final check" });
  progress.fatal = await reread(run, [...progress.dirty]);
  if (progress.fatal !== undefined) return undefined;
  try {
    return await recordRefresh(run, progress.touched);
  } catch (error) {
    loseState(progress, error);
    return undefined;
  }
}

/** What was written and reads otherwise. What somebody else has changed by now, the next plan shows. */
function notTaken({ context, progress }: Run, { plan }: Planned): Outcome["notTaken"] {
  const reviewed = new Map(context.planned.plan.changes.map((change) => [change.address, change]));
  return plan.changes.flatMap(({ address, fields }) => {
    const written = reviewed.get(address);
    if (!progress.done.has(address)) return [];
    const paths = fields.map(({ path }) => path).filter((path) => isWritten(written, path));
    return paths.length === 0 ? [] : [{ address, paths }];
  });
}

/** Of what this run made, had generated, or patched only after the end of an earlier discovery, all that is declared counts. */
function isWritten(change: Change | undefined, path: Path): boolean {
  if (change === undefined) return true;
  const { action, fields } = change;
  return action === "create" || isRediscovering(change) || fields.some((field) => field.path[0] === path[0]);
}

/** Milliseconds between two looks. */
const INTERVAL = 2000;

/** What was known of discoveries when the apply began. */
interface DiscoveriesBefore {
  /** Ids of notifications: what they tell is of earlier discoveries. */
  readonly notified: ReadonlySet<string>;
  /** By address, discoveries that an earlier run started, with what was shown before them. */
  readonly underWay: ReadonlyMap<Address, string>;
  /** Those of them that were as declared: what differs of them later, their discovery has changed. */
  readonly settled: ReadonlySet<Address>;
}

/** Read only where the apply is to wait. */
async function discoveriesBefore(run: Run, changes: readonly Change[]): Promise<DiscoveriesBefore> {
  const { context } = run;
  if (context.wait === undefined) return { notified: new Set(), underWay: new Map(), settled: new Set() };
  const inScope = scopeTest(context.input.scope);
  const underWay = new Map(
    [...context.sessions.values()].flatMap(({ state }) =>
      [...state.bindings].flatMap(([address, { generating }]) =>
        generating !== undefined && inScope(address) && run.resources.has(address)
          ? [[address, generating] as const]
          : [],
      ),
    ),
  );
  const generating = changes.filter((change) => change.action === "create" || isRediscovering(change));
  const keys = new Set([...generating.map(({ address }) => address), ...underWay.keys()].map(targetOf));
  const ids = [...keys].flatMap((key) => context.planned.matched.get(key)?.live?.id ?? []);
  const answers = await Promise.all(ids.map((id) => context.service.finishedDiscoveries(id)));
  const notified = answers.flatMap((answer) => (answer.ok ? answer.value.map(({ id }) => id) : []));
  // Looked up in a plan of now: a saved one leaves out what has changed in the manifests since.
  const differing = underWay.size === 0 ? new Map<Address, Change>() : changesOf(replan(run));
  const settled = new Set([...underWay.keys()].filter((address) => !differing.has(address)));
  return { notified: new Set(notified), underWay, settled };
}

/**
 * Waits until the discoveries that this run or an earlier one started have finished: a notification says so, or the
 * list's discovery status (service-api.md, "Events" and "Test case"). Which of the two a service tells first is not
 * shown, so either counts.
 *
 * @returns what had not finished when the time was over.
 */
async function awaitDiscoveries(run: Run, before: DiscoveriesBefore): Promise<readonly Address[]> {
  const { context, progress } = run;
  if (context.wait === undefined) return [];
  const deadline = context.now() + context.wait;
  const { generating, failed, skipped } = progress;
  const started = [...generating].filter((address) => !failed.has(address) && !skipped.has(address));
  let open: readonly Address[] = [...new Set([...before.underWay.keys(), ...started])];
  while (open.length > 0 && mayContinue(run)) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || context.now() >= deadline || !mayContinue(run)) break;
    context.emit({ type: "waiting", unfinished: open.length });
    await context.sleep(Math.min(INTERVAL, Math.max(1, deadline - context.now())));
  }
  return open;
}

async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: DiscoveriesBefore,
): Promise<readonly Address[]> {
  const keys = [...new Set(open.map(targetOf))];
  const ended = await Promise.all(keys.map((key) => endedIn(run, key, before)));
  const hasEndedBy = new Map(keys.map((key, at) => [key, ended[at]]));
  const over = open.filter((address) => hasEndedBy.get(targetOf(address))?.(address) === true);
  for (const address of over)
    recordSoon(run, targetOf(address), [{ type: "generated", address }], "from a crash");
  return open.filter((address) => !over.includes(address));
}

/** A look at one target: a test for the test cases whose discovery has ended. A failed look tells of none. */
async function endedIn(
  run: Run,
  key: string,
  before: DiscoveriesBefore,
): Promise<(address: Address) => boolean> {
  const { context, progress } = run;
  const targetId = idOf(run, targetAddress(key)) ?? "";
  const [notified, failure] = await Promise.all([
    context.service.finishedDiscoveries(targetId),
    rereadTestCases(run, key),
  ]);
  if (failure?.fatal === true) progress.fatal = failure;
  const told = notified.ok ? notified.value : [];
  const live = discoveries(progress.testCases.get(targetId));
  const reviewed = discoveries(context.planned.matched.get(key)?.testCases);
  return (address) => {
    const id = idOf(run, address);
    if (id === undefined) return false;
    const earlier = progress.generating.has(address) ? undefined : before.underWay.get(address);
    // Of a creation every notification tells; of others an older one may be of the discovery before.
    const counts = (notification: string): boolean =>
      !before.notified.has(notification) ||
      (earlier !== undefined && (earlier === "" || live.get(id) === undefined));
    return (
      told.some((one) => one.testCaseId === id && counts(one.id)) ||
      hasEnded(live.get(id), earlier ?? discoveryMark(reviewed.get(id)))
    );
  };
}

function discoveries(
  testCases: readonly LiveTestCase[] = [],
): ReadonlyMap<string, LiveDiscovery | undefined> {
  return new Map(testCases.map(({ id, discovery }) => [id, discovery]));
}

/**
 * The patches of test cases (design contract, section 5): those that were reviewed, and what the service made of a
 * prompt otherwise than declared. Targets with creations are read again before, since only then can be seen what the
 * service has set by itself.
 */
async function patchTestCases(run: Run, changes: readonly Change[]): Promise<void> {
  const { created, halfway } = run.progress;
  const made = changes.filter(({ address }) => halfway.has(address) && created.has(address));
  const targets = new Set(made.map(({ address }) => targetOf(address)));
  const planned = await lookAgain(
    run,
    made.map(({ address }) => address),
    "after creations",
  );
  const patches = changes.filter(({ action, address }) => action !== "create" || halfway.has(address));
  const steps = patches.map((reviewed): Step => {
    const isRead = planned !== undefined && targets.has(targetOf(reviewed.address));
    return patchStep(run, reviewed, isRead ? planned.get(reviewed.address) : reviewed);
  });
  await patchByFolders(run, steps);
}

/** Changes by address, from another look at the targets of some test cases; these fail if there can be none. */
async function lookAgain(
  run: Run,
  addresses: readonly Address[],
  why: "after creations" | "after generations",
): Promise<ReadonlyMap<Address, Change> | undefined> {
  if (addresses.length === 0 || !mayContinue(run)) return undefined;
  run.context.emit({ type: "reading", why });
  const targets = new Set(addresses.map(targetOf));
  const failure = await reread(run, targets);
  if (failure === undefined) return changesOf(await recordRefresh(run, targets));
  for (const address of addresses) fail(run, address, failure);
  return undefined;
}

/** Looks at a time: one to send elements that differ, one to learn their ids if no answer told them. */
const LOOKS = 2;

/**
 * Finishes what is halfway there, and after a generation patches once more what the service set otherwise.
 *
 * @param generated what the service has generated since it was last looked at, beyond what is halfway.
 */
async function patchAgain(run: Run, generated: Iterable<Address>): Promise<void> {
  const { halfway } = run.progress;
  let addresses = new Set([...halfway.keys(), ...generated]);
  for (let look = 0; look < LOOKS && addresses.size > 0 && mayContinue(run); look++) {
    const current = await lookAgain(run, [...addresses], "after generations");
    if (current === undefined) return;
    await runPhase(
      run,
      [...addresses].flatMap((address) => stepAgain(run, address, current.get(address))),
    );
    addresses = new Set(halfway.keys());
  }
  // What still does not take shows in the last look.
  if (mayContinue(run)) for (const change of halfway.values()) finishHalfway(run, change);
}

function stepAgain({ progress }: Run, address: Address, current: Change | undefined): readonly Step[] {
  const halfway = progress.halfway.get(address);
  const change = halfway ?? current;
  // One that is gone by now is not made again; the last look tells.
  const calls = current === undefined || current.action === "create" ? [] : withoutGenerating(current).calls;
  if (change === undefined || (halfway === undefined && calls.length === 0)) return [];
  return [{ change: { ...change, calls, dependsOn: [] }, after: [] }];
}

function finishHalfway(run: Run, change: Change): void {
  run.progress.halfway.delete(change.address);
  finishChange(run, change);
}

/**
 * As long as a folder's id is unknown, every test case that belongs in it seems to differ; one answer tells the id.
 * So what is certain goes first, with one that is not for each folder that nothing certain tells of; and the others
 * are looked at again when the id is known, at most of them nothing is left to do.
 */
async function patchByFolders(run: Run, steps: readonly Step[]): Promise<void> {
  const { first, later } = split(steps);
  await runPhase(run, first);
  if (later.length === 0) return;
  const current = mayContinue(run) ? await lookAtFolders(run, later) : undefined;
  await runPhase(
    run,
    later.map(({ change }) =>
      current === undefined ? { change, after: [] } : patchStep(run, change, current.get(change.address)),
    ),
  );
}

function split(steps: readonly Step[]): { readonly first: readonly Step[]; readonly later: readonly Step[] } {
  const told = new Set(steps.filter(({ change }) => !isDoubtful(change)).flatMap(folders));
  const later: Step[] = [];
  const first = steps.filter((step) => {
    const [folder] = isDoubtful(step.change) ? folders(step) : [];
    const goes = folder === undefined || !told.has(folder);
    if (folder !== undefined) told.add(folder);
    if (!goes) later.push(step);
    return goes;
  });
  return { first, later };
}

/** A change of nothing but the folder, of which it is not known where the test case is now. */
function isDoubtful({ calls, fields }: Change): boolean {
  const [call, ...others] = calls;
  const [field] = fields;
  return (
    call !== undefined &&
    others.length === 0 &&
    Object.keys(call.body).length === 1 &&
    folderName(call.body) !== undefined &&
    field?.before === undefined
  );
}

/** The folders that a step tells of, with their target. */
function folders({ change }: Step): readonly string[] {
  return change.calls.flatMap((call) => {
    const name = folderName(call.body);
    return name === undefined ? [] : [`${targetOf(change.address)}\n${name}`];
  });
}

/** The changes as they are by now; read again only where no answer told a folder's id. */
async function lookAtFolders(
  run: Run,
  steps: readonly Step[],
): Promise<ReturnType<typeof changesOf> | undefined> {
  const untold = steps.filter(({ change }) => {
    const known = sessionOf(run, targetOf(change.address)).state.folders;
    return change.calls.some((call) => !known.has(folderName(call.body) ?? ""));
  });
  if (untold.length === 0) return changesOf(replan(run));
  const targets = new Set(untold.map(({ change }) => targetOf(change.address)));
  const failure = await reread(run, targets);
  if (failure === undefined) return changesOf(await recordRefresh(run, targets));
  if (failure.fatal) run.progress.fatal = failure;
  return undefined;
}

/**
 * Creations that look alike go one after another. Were two of one name under way at once and both answers lost,
 * nobody could tell which live resource came of which.
 *
 * @returns by address, what must be over before.
 */
function alikeBefore(
  creations: readonly Change[],
  resources: ReadonlyMap<Address, DesiredResource>,
): ReadonlyMap<Address, readonly Address[]> {
  const earlier = new Map<string, Address[]>();
  const before = new Map<Address, readonly Address[]>();
  for (const { address } of creations) {
    const resource = resources.get(address);
    const names = resource === undefined ? [] : foundBy(resource);
    before.set(address, [...new Set(names.flatMap((name) => earlier.get(name) ?? []))]);
    for (const name of names) earlier.set(name, [...(earlier.get(name) ?? []), address]);
  }
  return before;
}

/** What a creation is found by when its answer is lost; no two names of different kinds are the same. */
function foundBy(resource: DesiredResource): readonly string[] {
  const { kind, address } = resource;
  if (kind === "batchGeneration") return [];
  const within = kind === "target" ? "" : targetOf(address);
  const { name = "", externalId } = namesOf(resource);
  const names = [`${kind}\n${within}\n${name}`];
  return externalId === undefined ? names : [...names, `externalId\n${within}\n${externalId}`];
}
