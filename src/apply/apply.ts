import { type Address, type Kind, targetAddress, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress } from "../model/desired.ts";
import type { Failure, Outcome } from "../model/events.ts";
import type { Field } from "../model/fields.ts";
import type { Path } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { RunChanges, StateEvent } from "../model/state.ts";
import { scopeTest } from "../plan/scope.ts";
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
 * 1. record what the plan saw: bindings of adopted resources, moves, recovered creations,
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
    // State was lost between two phases. Changes that were not reached are reported as skipped.
    loseState(run, error);
    unfinished = [];
  }
  if (run.fatal !== undefined)
    for (const { address } of changes)
      if (!run.statuses.has(address)) settle(run, address, stopped(run));
  for (const change of halfwayOf(run)) {
    const { address, calls } = change;
    // All its certain calls were answered; only the look at the service's result is missing.
    const isSent = (run.answered.get(address) ?? 0) >= calls.length;
    settle(
      run,
      address,
      isSent || unfinished.includes(address) ? { kind: "done", change } : stopped(run),
    );
  }
  const planned = await lastLook(run);
  return outcomeOf(run, planned, unfinished);
}

function outcomeOf(
  run: Run,
  planned: Planned | undefined,
  unfinished: Outcome["unfinished"],
): Outcome {
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
  // A field that the plan changes is not as declared, so its record is not checked again.
  const isDue = (address: Address, field: Field): boolean => !isShown(reviewed.get(address), field);
  const recording = [...sessions.keys()].map((key) => {
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
    return record(run, key, [
      ...(planned.stateEvents.get(key) ?? []),
      ...(matched === undefined ? [] : refreshEvents(matched, fingerprints, inScope, isDue)),
      ...began,
    ]);
  });
  await Promise.all(recording);
}

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

/**
 * Reads everything that was written since its last read, and plans again: remaining changes did not
 * take effect.
 */
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

/** Milliseconds between two polls. */
const INTERVAL = 2000;

/** The discoveries that were known when the apply began. */
type DiscoveriesBefore = Awaited<ReturnType<typeof discoveriesBefore>>;

/** Reads the discoveries, but only if the apply is to wait. */
async function discoveriesBefore(run: Run, changes: readonly Change[]) {
  const inScope = scopeTest(run.input.scope);
  /**
   * Discoveries that an earlier run started, by address, with the mark of the discovery before
   * them.
   */
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
  const keys = new Set(
    [...generating.map(({ address }) => address), ...underWay.keys()].map(targetOf),
  );
  const ids = [...keys].flatMap((key) => run.planned.matched.get(key)?.live?.id ?? []);
  const answers = await Promise.all(ids.map((id) => finishedDiscoveries(run, id)));
  // Ids of notifications about earlier discoveries.
  const notified = new Set(answers.flat().map(({ id }) => id));
  // Looked up in a new plan, because a saved one does not contain later changes to the manifests.
  const differing = underWay.size === 0 ? new Map() : byAddress(replan(run).plan.changes);
  // Test cases under discovery that are as declared now: if one differs later, its discovery has
  // changed it.
  const settled = new Set([...underWay.keys()].filter((address) => !differing.has(address)));
  return { notified, underWay, settled };
}

/**
 * Waits until the discoveries that this run or an earlier one started have finished, according to a
 * notification or to the discovery status in the list (service-api.md, "Events" and "Test case").
 * Which of the two comes first is not documented.
 * @returns the test cases that had not finished at the timeout
 */
async function awaitDiscoveries(run: Run, before: DiscoveriesBefore): Promise<readonly Address[]> {
  if (run.wait === undefined) return [];
  const deadline = run.now() + run.wait;
  const started = [...run.generating].filter(
    (address) => !hasStatus(run, address, "failed", "skipped"),
  );
  let open: readonly Address[] = [...new Set([...before.underWay.keys(), ...started])];
  while (open.length > 0 && mayContinue(run)) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || run.now() >= deadline || !mayContinue(run)) break;
    run.emit({ type: "waiting", unfinished: open.length });
    await run.sleep(Math.min(INTERVAL, Math.max(1, deadline - run.now())));
  }
  return open;
}

/** Polls the targets of open discoveries once. If reading fails, its discoveries remain open. */
async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: DiscoveriesBefore,
): Promise<readonly Address[]> {
  const over = new Set<Address>();
  const look = async (key: string): Promise<void> => {
    const targetId = run.ids.get(targetAddress(key)) ?? "";
    const [ended, failure] = await Promise.all([
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
      // For a creation, every notification counts; for others, an older one may be about the
      // previous discovery.
      const counts = (notification: string): boolean =>
        !before.notified.has(notification) ||
        (earlier !== undefined && (earlier === "" || live.get(id) === undefined));
      const isNotified = ended.some((one) => one.payload["testCaseId"] === id && counts(one.id));
      const shown = earlier ?? discoveryMark(reviewed.get(id));
      if (isNotified || hasEnded(live.get(id), shown)) over.add(address);
    }
  };
  await Promise.all([...new Set(open.map(targetOf))].map(look));
  return open.filter((address) => {
    if (!over.has(address)) return true;
    recordSoon(run, targetOf(address), [{ type: "generated", address }], "from a crash");
    return false;
  });
}

/** Returns a target's notifications of finished discoveries; empty if they cannot be read. */
async function finishedDiscoveries(
  run: Run,
  targetId: string,
): Promise<readonly LiveNotification[]> {
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
 * Sends the patches of test cases (design contract, section 5): the reviewed ones, and those for
 * fields that the service derived differently from a prompt. Targets with creations are read again
 * first, to see what the service has set.
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
  const generated = run.wait === undefined ? [] : [...run.generating, ...underWay.keys()];
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
  { statuses }: Run,
  address: Address,
  current: Change | undefined,
): readonly Step[] {
  const status = statuses.get(address);
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
  if (unsure.length === 0) return byAddress(replan(run).plan.changes);
  const targets = new Set(unsure.map(({ change }) => targetOf(change.address)));
  const failure = await failureIn(run, reread(run, targets));
  if (failure === undefined) return byAddress((await recordRefresh(run, targets)).plan.changes);
  if (failure.fatal) run.fatal = failure;
  return undefined;
}
