import { type Address, type Kind, targetAddress } from "../model/address.ts";
import { type DesiredResource, byAddress } from "../model/desired.ts";
import type { Failure, Outcome } from "../model/events.ts";
import type { Field } from "../model/fields.ts";
import type { Path } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { RunChanges, StateEvent } from "../model/state.ts";
import { scopeTest, targetOf } from "../plan/input.ts";
import { levelName, namesOf } from "../plan/match.ts";
import type { Planned } from "../plan/plan.ts";
import { discoveryMark, hasEnded, refreshEvents } from "../plan/record.ts";
import { isRediscovering, isShown } from "../plan/staleness.ts";
import type { LiveNotification } from "../service/answers.ts";
import {
  type ApplyContext,
  type Run,
  endsWithAnswers,
  failureIn,
  failureOf,
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
} from "./context.ts";
import { notKnown } from "./create.ts";
import { type Step, patchStep, runPhase, withoutGenerating } from "./phase.ts";
import { lookAgain, recordRefresh, reread, rereadTestCases } from "./refresh.ts";

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
  const { changes } = run.planned.plan;
  const of = (kind: Kind): readonly Change[] =>
    changes.filter(({ address }) => address.startsWith(`${kind}.`));
  run.emit({ type: "started", changes: changes.length });
  const before = await discoveriesBefore(run, of("testCase"));
  await recordStart(run);
  failUncertain(run);
  let unfinished: Outcome["unfinished"] = [];
  try {
    await runPhase(run, inTurn(run, of("target")));
    await runPhase(run, inTurn(run, of("environment")));
    await runPhase(run, creations(run, of("testCase")));
    await patchTestCases(run, of("testCase"));
    unfinished = await awaitDiscoveries(run, before);
    await patchAgain(run, before);
    await runPhase(run, inTurn(run, of("batchGeneration")));
  } catch (error) {
    // State was lost between two phases: what was not reached is told as skipped.
    loseState(run, error);
    unfinished = [];
  }
  if (run.fatal !== undefined)
    for (const { address } of changes) if (!run.statuses.has(address)) settle(run, address, stopped(run));
  for (const change of halfwayOf(run)) {
    const { address, calls } = change;
    // All that is certain of it was answered, and only what the service makes of it was left to be seen.
    const isSent = (run.answered.get(address) ?? 0) >= calls.length;
    settle(run, address, isSent || unfinished.includes(address) ? { kind: "done", change } : stopped(run));
  }
  const planned = await lastLook(run);
  return outcomeOf(run, planned, unfinished);
}

function outcomeOf(run: Run, planned: Planned | undefined, unfinished: Outcome["unfinished"]): Outcome {
  const statuses = [...run.statuses];
  return {
    done: statuses.flatMap(([address, { kind }]) => (kind === "done" ? [address] : [])),
    failed: statuses.flatMap(([address, status]) =>
      status.kind === "failed" ? [{ address, failure: status.failure }] : [],
    ),
    skipped: statuses.flatMap(([address, status]) =>
      status.kind === "skipped" ? [{ address, reason: status.reason }] : [],
    ),
    notTaken: planned === undefined ? [] : notTaken(run, planned),
    unfinished,
    calls: run.calls,
    interrupted: run.stopping(),
    fatal: run.fatal,
  };
}

async function recordStart(run: Run): Promise<void> {
  const { planned, fingerprints, input, sessions, wait, history } = run;
  const inScope = scopeTest(input.scope);
  const reviewed = byAddress(planned.plan.changes);
  // What a plan changes is not as declared.
  const isAnew = (address: Address, field: Field): boolean => !isShown(reviewed.get(address), field);
  const recording = [...sessions.keys()].map((key) => {
    const matched = planned.matched.get(key);
    const own = planned.plan.changes.filter(({ address }) => targetOf(address) === key);
    // What the history is to know of a run that is cut off.
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
    return record(run, key, [
      ...(planned.stateEvents.get(key) ?? []),
      ...(matched === undefined ? [] : refreshEvents(matched, fingerprints, inScope, isAnew)),
      ...began,
    ]);
  });
  await Promise.all(recording);
}

/** Batch generations whose POST was cut off in an earlier run: this one finds that out, so it says so and fails. */
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
 * Creations that look alike go one after another. Were two of one name under way at once and both answers lost,
 * nobody could tell which live resource came of which.
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

/** What a creation is found by when its answer is lost; no two names of different kinds are the same. */
function foundBy(resource: DesiredResource): readonly string[] {
  const { kind, address } = resource;
  if (kind === "batchGeneration") return [];
  const within = kind === "target" ? "" : targetOf(address);
  const { name = "", externalId } = namesOf(resource);
  const names = [`${kind}\n${within}\n${levelName(name)}`];
  return externalId === undefined ? names : [...names, `externalId\n${within}\n${levelName(externalId)}`];
}

/** The POST of each test case; its patches come later, once it can be seen what the service made of it. */
function creations(run: Run, changes: readonly Change[]): readonly Step[] {
  const made = changes.filter(({ action }) => action === "create");
  return inTurn(run, made).map(({ change, after }) => {
    const calls = change.calls.filter(({ method }) => method === "POST");
    return { change: { ...change, calls }, after, partOf: change };
  });
}

/** Reads what was written since it was last read; what the plan then says of it did not take. */
async function lastLook(run: Run): Promise<Planned | undefined> {
  if (run.touched.size === 0 || !mayContinue(run)) return undefined;
  run.emit({ type: "reading", why: "final check" });
  run.fatal = await failureIn(run, reread(run, run.dirty));
  if (run.fatal !== undefined) return undefined;
  try {
    return await recordRefresh(run, run.touched);
  } catch (error) {
    loseState(run, error);
    return undefined;
  }
}

/** What was written and reads otherwise. What somebody else has changed by now, the next plan shows. */
function notTaken(run: Run, { plan }: Planned): Outcome["notTaken"] {
  const reviewed = byAddress(run.planned.plan.changes);
  return plan.changes.flatMap(({ address, fields }) => {
    const written = reviewed.get(address);
    if (!hasStatus(run, address, "done")) return [];
    // Of what this run made, had generated, or patched only after the end of an earlier discovery, all declared counts.
    const isWhole = written === undefined || written.action === "create" || isRediscovering(written);
    const isWritten = (path: Path) => isWhole || written.fields.some((field) => field.path[0] === path[0]);
    const paths = fields.map(({ path }) => path).filter(isWritten);
    return paths.length === 0 ? [] : [{ address, paths }];
  });
}

/** Milliseconds between two looks. */
const INTERVAL = 2000;

/** What was known of discoveries when the apply began. */
type DiscoveriesBefore = Awaited<ReturnType<typeof discoveriesBefore>>;

/** Read only where the apply is to wait. */
async function discoveriesBefore(run: Run, changes: readonly Change[]) {
  /** By address, discoveries that an earlier run started, with what was shown before them. */
  const inScope = scopeTest(run.input.scope);
  const underWay = new Map(
    (run.wait === undefined ? [] : [...run.sessions.values()]).flatMap(({ state }) =>
      [...state.bindings].flatMap(([address, { generating }]) =>
        generating !== undefined && inScope(address) && run.resources.has(address)
          ? [[address, generating] as const]
          : [],
      ),
    ),
  );
  const generating = changes.filter(
    (change) => run.wait !== undefined && (change.action === "create" || isRediscovering(change)),
  );
  const keys = new Set([...generating.map(({ address }) => address), ...underWay.keys()].map(targetOf));
  const ids = [...keys].flatMap((key) => run.planned.matched.get(key)?.live?.id ?? []);
  const answers = await Promise.all(ids.map((id) => finishedDiscoveries(run, id)));
  // Ids of notifications: what they tell is of earlier discoveries.
  const notified = new Set(answers.flat().map(({ id }) => id));
  // Looked up in a plan of now: a saved one leaves out what has changed in the manifests since.
  const differing = underWay.size === 0 ? new Map() : byAddress(replan(run).plan.changes);
  // Of those under way, what was as declared: what differs of it later, its discovery has changed.
  const settled = new Set([...underWay.keys()].filter((address) => !differing.has(address)));
  return { notified, underWay, settled };
}

/**
 * Waits until the discoveries that this run or an earlier one started have finished: a notification says so, or the
 * list's discovery status (service-api.md, "Events" and "Test case"). Which of the two comes first is not shown.
 *
 * @returns what had not finished when the time was over.
 */
async function awaitDiscoveries(run: Run, before: DiscoveriesBefore): Promise<readonly Address[]> {
  if (run.wait === undefined) return [];
  const deadline = run.now() + run.wait;
  const started = [...run.generating].filter((address) => !hasStatus(run, address, "failed", "skipped"));
  let open: readonly Address[] = [...new Set([...before.underWay.keys(), ...started])];
  while (open.length > 0 && mayContinue(run)) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || run.now() >= deadline || !mayContinue(run)) break;
    run.emit({ type: "waiting", unfinished: open.length });
    await run.sleep(Math.min(INTERVAL, Math.max(1, deadline - run.now())));
  }
  return open;
}

/** Looks at the targets of discoveries once more. A failed look tells of no end. */
async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: DiscoveriesBefore,
): Promise<readonly Address[]> {
  const over = new Set<Address>();
  const look = async (key: string): Promise<void> => {
    const targetId = run.ids.get(targetAddress(key)) ?? "";
    const [told, failure] = await Promise.all([
      finishedDiscoveries(run, targetId),
      failureIn(run, rereadTestCases(run, key)),
    ]);
    if (failure?.fatal === true) run.fatal = failure;
    const live = discoveries(run.testCases.get(targetId));
    const reviewed = discoveries(run.planned.matched.get(key)?.testCases);
    for (const address of open) {
      const id = run.ids.get(address);
      if (targetOf(address) !== key || id === undefined) continue;
      const earlier = run.generating.has(address) ? undefined : before.underWay.get(address);
      // Of a creation every notification tells; of others an older one may be of the discovery before.
      const counts = (notification: string): boolean =>
        !before.notified.has(notification) ||
        (earlier !== undefined && (earlier === "" || live.get(id) === undefined));
      const isTold = told.some((one) => one.payload["testCaseId"] === id && counts(one.id));
      const shown = earlier ?? discoveryMark(reviewed.get(id));
      if (isTold || hasEnded(live.get(id), shown)) over.add(address);
    }
  };
  await Promise.all([...new Set(open.map(targetOf))].map(look));
  return open.filter((address) => {
    if (!over.has(address)) return true;
    recordSoon(run, targetOf(address), [{ type: "generated", address }], "from a crash");
    return false;
  });
}

/** A target's notifications of them; none where they cannot be read. */
async function finishedDiscoveries(run: Run, targetId: string): Promise<readonly LiveNotification[]> {
  try {
    const all = await run.service.listNotifications(targetId);
    return all.filter(({ type }) => type === "DISCOVERY_FINISHED");
  } catch (error) {
    failureOf(run, error);
    return [];
  }
}

function discoveries(testCases: readonly LiveTestCase[] = []) {
  return new Map(testCases.map(({ id, discovery }) => [id, discovery]));
}

/**
 * The patches of test cases (design contract, section 5): those that were reviewed, and what the service made of a
 * prompt otherwise than declared. Targets with creations are read again before, to see what the service has set.
 */
async function patchTestCases(run: Run, changes: readonly Change[]): Promise<void> {
  const isHalfway = (address: Address): boolean => hasStatus(run, address, "halfway");
  const made = changes
    .map(({ address }) => address)
    .filter((address) => isHalfway(address) && run.created.has(address));
  const targets = new Set(made.map(targetOf));
  const planned = await lookAgain(run, made, "after creations");
  const steps = changes.flatMap((reviewed): readonly Step[] => {
    const { address, action } = reviewed;
    if (action === "create" && !isHalfway(address)) return [];
    const isRead = planned !== undefined && targets.has(targetOf(address));
    return [patchStep(run, reviewed, isRead ? planned.get(address) : reviewed)];
  });
  await patchByFolders(run, steps);
}

/** Looks at a time: one to send elements that differ, one to learn their ids if no answer told them. */
const LOOKS = 2;

/** Finishes what is halfway there, and after a wait patches once more what a generation has set otherwise. */
async function patchAgain(run: Run, { underWay, settled }: DiscoveriesBefore): Promise<void> {
  const generated = run.wait === undefined ? [] : [...run.generating, ...underWay.keys()];
  let addresses = new Set([
    ...halfwayOf(run).map(({ address }) => address),
    ...generated.filter((address) => hasStatus(run, address, "done") || settled.has(address)),
  ]);
  for (let look = 0; look < LOOKS && addresses.size > 0 && mayContinue(run); look++) {
    const current = await lookAgain(run, [...addresses], "after generations");
    if (current === undefined) return;
    const steps = [...addresses].flatMap((address) => stepAgain(run, address, current.get(address)));
    await runPhase(run, steps);
    addresses = new Set(halfwayOf(run).map(({ address }) => address));
  }
  // What still does not take shows in the last look.
  if (mayContinue(run))
    for (const change of halfwayOf(run)) settle(run, change.address, { kind: "done", change });
}

function stepAgain({ statuses }: Run, address: Address, current: Change | undefined): readonly Step[] {
  const status = statuses.get(address);
  const halfway = status?.kind === "halfway" ? status.change : undefined;
  const change = halfway ?? current;
  // One that is gone by now is not made again; the last look tells.
  const calls = current === undefined || current.action === "create" ? [] : withoutGenerating(current).calls;
  if (change === undefined || (halfway === undefined && calls.length === 0)) return [];
  return [{ change: { ...change, calls, dependsOn: [] }, after: [] }];
}

/**
 * As long as a folder's id is unknown, every test case that belongs in it seems to differ; one answer tells the id.
 * So what is certain goes first, with one that is not for each folder that nothing certain tells of; and the others
 * are looked at again when the id is known, at most of them nothing is left to do.
 */
async function patchByFolders(run: Run, steps: readonly Step[]): Promise<void> {
  const told = new Set(steps.filter(({ change }) => !isDoubtful(change)).flatMap(folders));
  const later: Step[] = [];
  const first = steps.filter((step) => {
    const [folder] = isDoubtful(step.change) ? folders(step) : [];
    const goes = folder === undefined || !told.has(folder);
    if (folder !== undefined) told.add(folder);
    if (!goes) later.push(step);
    return goes;
  });
  await runPhase(run, first);
  if (later.length === 0) return;
  const current = mayContinue(run) ? await lookAtFolders(run, later) : undefined;
  await runPhase(
    run,
    current === undefined
      ? later
      : later.map(({ change }) => patchStep(run, change, current.get(change.address))),
  );
}

/** A change of nothing but the folder, of which it is not known where the test case is now. */
function isDoubtful({ calls, fields }: Change): boolean {
  const [call, ...others] = calls;
  if (call === undefined || others.length > 0 || fields[0]?.before !== undefined) return false;
  return Object.keys(call.body).length === 1 && folderName(call) !== undefined;
}

/** The folders that a step tells of, with their target. */
function folders({ change }: Step): readonly string[] {
  return change.calls.flatMap((call) => {
    const name = folderName(call);
    return name === undefined ? [] : [`${targetOf(change.address)}\n${name}`];
  });
}

/** The changes as they are by now; read again only where no answer told a folder's id. */
async function lookAtFolders(
  run: Run,
  steps: readonly Step[],
): Promise<ReadonlyMap<Address, Change> | undefined> {
  const untold = steps.filter(({ change }) => {
    const known = sessionOf(run, targetOf(change.address)).state.folders;
    return change.calls.some((call) => !known.has(folderName(call) ?? ""));
  });
  if (untold.length === 0) return byAddress(replan(run).plan.changes);
  const targets = new Set(untold.map(({ change }) => targetOf(change.address)));
  const failure = await failureIn(run, reread(run, targets));
  if (failure === undefined) return byAddress((await recordRefresh(run, targets)).plan.changes);
  if (failure.fatal) run.fatal = failure;
  return undefined;
}
