import { parseAddress } from "../model/address.ts";
import type { Kind } from "../model/address.ts";
import type { Path } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import type { Planned } from "../plan/plan.ts";
import { isRediscovering } from "../plan/reviewed.ts";
import { scopeTest } from "../plan/scope.ts";
import { settleEvents } from "../plan/settle.ts";
import { alikeBefore } from "./alike.ts";
import { mayGoOn, record, startRun } from "./context.ts";
import type { ApplyContext, Run } from "./context.ts";
import type { Outcome } from "./outcome.ts";
import { finishChange, runPhase, skip, whyStopped } from "./phase.ts";
import type { Step } from "./phase.ts";
import { recordSight, reread } from "./read.ts";
import { patchAgain, patchTestCases } from "./test-cases.ts";
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
  const of = (kind: Kind): readonly Change[] =>
    changes.filter(({ address }) => parseAddress(address)?.kind === kind);
  context.emit({ type: "started", changes: changes.length });
  const seenBefore = await discoveriesBefore(run, of("testCase"));
  await recordStart(run);
  await runPhase(run, inTurn(run, of("target")));
  await runPhase(run, inTurn(run, of("environment")));
  await runPhase(run, creations(run, of("testCase")));
  await patchTestCases(run, of("testCase"));
  const unfinished = await awaitDiscoveries(run, seenBefore);
  await patchAgain(run, context.wait === undefined ? [] : run.progress.generating);
  await runPhase(run, inTurn(run, of("batchGeneration")));
  return finish(run, unfinished);
}

async function recordStart(run: Run): Promise<void> {
  const { planned, fingerprints, input, sessions } = run.context;
  const inScope = scopeTest(input.scope);
  const records = [...sessions.keys()].map(async (key) => {
    const seen = planned.seen.get(key);
    await record(run, key, [
      ...(planned.stateEvents.get(key) ?? []),
      ...(seen === undefined ? [] : settleEvents(seen, fingerprints, inScope)),
    ]);
  });
  await Promise.all(records);
}

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
    if (generating.has(change.address)) finishChange(run, change);
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

/** Reads what was written since it was last read; what the plan then says of it did not take. */
async function lastLook(run: Run): Promise<Planned | undefined> {
  const { context, progress } = run;
  if (progress.touched.size === 0 || !mayGoOn(run)) return undefined;
  context.emit({ type: "reading", why: "final check" });
  progress.fatal = await reread(run, [...progress.dirty]);
  if (progress.fatal !== undefined) return undefined;
  return recordSight(run, progress.touched);
}

/** What was written and reads otherwise. What somebody else has changed by now, the next plan shows. */
function notTaken({ context, progress }: Run, { plan }: Planned): Outcome["notTaken"] {
  const reviewed = new Map(context.planned.plan.changes.map((change) => [change.address, change]));
  return plan.changes.flatMap(({ address, fields }) => {
    const written = reviewed.get(address);
    if (written === undefined || !progress.done.has(address)) return [];
    const paths = fields.map(({ path }) => path).filter((path) => isWritten(written, path));
    return paths.length === 0 ? [] : [{ address, paths }];
  });
}

/** Of what this run made, or had generated, all that is declared counts. */
function isWritten(change: Change, path: Path): boolean {
  const { action, fields } = change;
  return action === "create" || isRediscovering(change) || fields.some((field) => field.path[0] === path[0]);
}
