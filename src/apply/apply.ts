import { fieldsOf } from "../fields/fields.ts";
import { parseAddress } from "../model/address.ts";
import type { Address, Kind } from "../model/address.ts";
import type { BodyValue, Change } from "../model/plan.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { scopeTest, targetOf } from "../plan/scope.ts";
import { settleEvents } from "../plan/settle.ts";
import { decideTestCase } from "../plan/test-case.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Planned } from "../plan/plan.ts";
import { mayGoOn, replan, sessionOf, startRun } from "./context.ts";
import type { ApplyContext, Run } from "./context.ts";
import type { Outcome } from "./outcome.ts";
import { runPhase } from "./phase.ts";
import type { Step } from "./phase.ts";
import { recordSight, reread } from "./read.ts";
import { awaitDiscoveries, discoveriesBefore } from "./wait.ts";

/**
 * Carries out a reviewed plan (design contract, section 5), in this order:
 *
 * 1. what the plan saw is recorded: bindings of adopted resources, moves, recovered creations,
 * 2. targets, 3. environments, 4. discoveries in the order of prerequisites,
 * 5. targets with creations are read again, and planned again by the function that made the plan,
 * 6. patches of test cases and elements,
 * 7. where the service generates anew, what then still differs; with a wait, once it has finished,
 * 8. batch generations,
 * 9. a last look: what was written must be there.
 *
 * Each step carries out what the plan lists for it side by side. A failure stops what depends on it and nothing else.
 */
export async function apply(context: ApplyContext): Promise<Outcome> {
  const run = startRun(context);
  const { changes } = context.planned.plan;
  context.emit({ type: "started", changes: changes.length });
  const seenBefore = await discoveriesBefore(run);
  await recordStart(run);
  await runPhase(run, plainSteps(changes, "target"));
  await runPhase(run, plainSteps(changes, "environment"));
  await runPhase(run, creationSteps(run, changes));
  await patchTestCases(run, changes);
  await patchGenerated(run, run.progress.generating);
  const unfinished = await awaitDiscoveries(run, seenBefore);
  if (context.wait !== undefined) await patchGenerated(run, run.progress.generating);
  await runPhase(run, plainSteps(changes, "batchGeneration"));
  return finish(run, unfinished);
}

async function recordStart({ context }: Run): Promise<void> {
  const { planned, fingerprints, input } = context;
  const inScope = scopeTest(input.scope);
  const records = [...context.sessions].map(async ([key, session]) => {
    const seen = planned.seen.get(key);
    const events = [
      ...(planned.stateEvents.get(key) ?? []),
      ...(seen === undefined ? [] : settleEvents(seen, fingerprints, inScope)),
    ];
    if (events.length > 0) await session.record(events);
  });
  await Promise.all(records);
}

function isKind(change: Change, kind: Kind): boolean {
  return parseAddress(change.address)?.kind === kind;
}

function plainSteps(changes: readonly Change[], kind: Kind): readonly Step[] {
  return changes.filter((change) => isKind(change, kind)).map((change) => ({ change, after: [] }));
}

/** The POST of each test case; its patches come later, once it can be seen what the service made of it. */
function creationSteps(run: Run, changes: readonly Change[]): readonly Step[] {
  const lastOfName = new Map<string, Address>();
  return changes
    .filter((change) => isKind(change, "testCase") && change.action === "create")
    .map((change) => {
      // Of two with one name, an unreadable answer to the first could be settled by finding the second.
      const name = nameOf(run, change.address);
      const before = lastOfName.get(name);
      lastOfName.set(name, change.address);
      const post = { ...change, calls: change.calls.filter((call) => call.method === "POST") };
      return { change: post, after: before === undefined ? [] : [before], unfinished: true };
    });
}

function nameOf(run: Run, address: Address): string {
  const description = run.resources.get(address)?.fields["description"];
  const text = description === undefined || isUnknown(description) ? "" : reveal(description);
  return `${targetOf(address)}\n${String(text)}`;
}

async function patchTestCases(run: Run, changes: readonly Change[]): Promise<void> {
  const { progress, context } = run;
  const cases = changes.filter((change) => isKind(change, "testCase"));
  const made = cases.filter((change) => change.action === "create" && progress.created.has(change.address));
  const targets = new Set(made.map((change) => targetOf(change.address)));
  let planned = context.planned;
  if (targets.size > 0 && !context.stopping()) {
    context.emit({ type: "reading", why: "after creations" });
    const failure = await reread(run, targets);
    if (failure !== undefined) {
      for (const { address } of made) progress.failed.set(address, { address, failure });
      if (failure.fatal) progress.fatal = failure;
    } else planned = await recordSight(run, targets);
  }
  const current = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const steps = cases
    .filter((change) => change.action !== "create" || progress.created.has(change.address))
    .map((reviewed): Step => {
      const change = targets.has(targetOf(reviewed.address)) ? current.get(reviewed.address) : reviewed;
      const own = reviewed.action === "create" ? change && withoutGenerating(change) : change;
      return { change: own ?? { ...reviewed, calls: [] }, after: [] };
    });
  await runPhase(run, withScouts(run, planned, steps));
}

/** What was generated a moment ago must not be generated again because the service shows its prompt otherwise. */
function withoutGenerating(change: Change): Change {
  const generating = fieldsOf("testCase").flatMap((field) => (field.generates ? [field.update] : []));
  const calls = change.calls.flatMap((call) => {
    const body: Record<string, BodyValue> = {};
    for (const [key, value] of Object.entries(call.body)) if (!generating.includes(key)) body[key] = value;
    return Object.keys(body).length === 0 ? [] : [{ ...call, body }];
  });
  return { ...change, calls };
}

/**
 * As long as a folder's id is unknown, every test case that belongs in it seems to differ; one answer tells the id.
 * So one goes ahead for each name, preferably one that is to be patched anyway, and the others look again after it.
 */
function withScouts(run: Run, planned: Planned, steps: readonly Step[]): readonly Step[] {
  const scouts = new Map<string, Step>();
  for (const step of steps) {
    const folder = unknownFolder(run, step.change);
    if (folder === undefined) continue;
    const scout = scouts.get(folder);
    if (scout === undefined || (bodySize(scout.change) === 1 && bodySize(step.change) > 1))
      scouts.set(folder, step);
  }
  return steps.map((step) => {
    const folder = unknownFolder(run, step.change);
    const scout = folder === undefined ? undefined : scouts.get(folder);
    if (scout === undefined || scout === step) return step;
    return { ...step, after: [scout.change.address], refresh: () => decideAgain(run, planned, step.change) };
  });
}

function bodySize(change: Change): number {
  return change.calls.reduce((sum, call) => sum + Object.keys(call.body).length, 0);
}

/** The folder that a change writes although it may be there already, with the target's key. */
function unknownFolder(run: Run, change: Change): string | undefined {
  const name = change.calls[0]?.body["folderName"];
  if (typeof name !== "string" || sessionOf(run, change.address).state.folders.has(name)) return undefined;
  return `${targetOf(change.address)}\n${name}`;
}

/** The change as it is by now: with the folder's id known, there may be nothing left of it. */
function decideAgain(run: Run, planned: Planned, change: Change): Change | undefined {
  const seen = planned.seen.get(targetOf(change.address));
  const resource = run.resources.get(change.address);
  if (seen === undefined || resource === undefined || !isTestCase(resource)) return change;
  const { state } = sessionOf(run, change.address);
  const rediscover = run.context.input.rediscover.has(change.address);
  return decideTestCase({ ...seen, state }, resource, rediscover).change;
}

function isTestCase(resource: DesiredResource): resource is DesiredResource<"testCase"> {
  return resource.kind === "testCase";
}

/** After a generation: what the service set otherwise is patched once more. */
async function patchGenerated(run: Run, generating: ReadonlySet<Address>): Promise<void> {
  const { progress, context } = run;
  const addresses = [...generating].filter((address) => progress.done.has(address));
  const targets = new Set(addresses.map(targetOf));
  if (![...targets].some((key) => progress.dirty.has(key)) || !mayGoOn(run)) return;
  context.emit({ type: "reading", why: "after generations" });
  const failure = await reread(run, targets);
  if (failure !== undefined) {
    if (failure.fatal) progress.fatal = failure;
    return;
  }
  const planned = await recordSight(run, targets);
  const wanted = new Set(addresses);
  const steps = planned.plan.changes
    .filter((change) => wanted.has(change.address))
    .map(withoutGenerating)
    .filter((change) => change.calls.length > 0)
    .map((change): Step => ({ change, after: [] }));
  await runPhase(run, steps);
}

async function finish(run: Run, unfinished: readonly Address[]): Promise<Outcome> {
  const { context, progress } = run;
  const stale = [...progress.touched];
  if (stale.length > 0 && mayGoOn(run)) {
    context.emit({ type: "reading", why: "final check" });
    progress.fatal = await reread(run, stale);
    if (progress.fatal === undefined) await recordSight(run, stale);
  }
  return {
    done: [...progress.done],
    failed: [...progress.failed.values()],
    skipped: [...progress.skipped.values()],
    notTaken: progress.fatal === undefined && !context.stopping() ? notTaken(run) : [],
    unfinished,
    calls: progress.calls,
    interrupted: context.stopping(),
    fatal: progress.fatal,
  };
}

/** What was written and reads otherwise: found by planning once more. */
function notTaken(run: Run): Outcome["notTaken"] {
  return replan(run).plan.changes.flatMap((change) => {
    if (!run.progress.done.has(change.address) || isKind(change, "batchGeneration")) return [];
    return [{ address: change.address, paths: change.fields.map((field) => field.path) }];
  });
}
