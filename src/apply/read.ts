import { type Address, targetAddress } from "../model/address.ts";
import type { StateEvent } from "../model/state.ts";
import { changedFields } from "../plan/guard.ts";
import type { Planned } from "../plan/plan.ts";
import { scopeTest } from "../plan/scope.ts";
import type { Seen } from "../plan/seen.ts";
import { settleEvents } from "../plan/settle.ts";
import { applyEvents } from "../state/events.ts";
import { type Run, idOf, record, replan, sessionOf } from "./context.ts";
import type { Failure } from "./service.ts";

/** Reads targets again: the list of targets, and the test cases of the targets named. */
export async function reread(run: Run, targetKeys: Iterable<string>): Promise<Failure | undefined> {
  const { context, progress } = run;
  const targets = await context.service.listTargets();
  if (!targets.ok) return targets.failure;
  progress.targets = targets.value;
  // A target that is gone, and whose replacement could not be made, has none to read.
  const ids = new Set(targets.value.map(({ id }) => id));
  const keys = [...targetKeys].filter((key) => ids.has(idOf(run, targetAddress(key)) ?? ""));
  const failures = await Promise.all(keys.map((key) => rereadTestCases(run, key)));
  const failure = failures.find((one) => one !== undefined);
  // Called between phases, when nothing is in flight that the answer could have missed.
  if (failure === undefined) for (const key of keys) progress.dirty.delete(key);
  return failure;
}

/** Reads one target's test cases again. */
export async function rereadTestCases(run: Run, key: string): Promise<Failure | undefined> {
  const { context, progress } = run;
  const id = idOf(run, targetAddress(key));
  if (id === undefined) return undefined;
  const testCases = await context.service.listTestCases(id);
  if (!testCases.ok) return testCases.failure;
  progress.testCases.set(id, testCases.value);
  return undefined;
}

/**
 * Records what a look at targets has shown (folder ids, that what was written is there, what open creations have made),
 * and plans anew from it. Only for targets that were just read: of others, an open creation would seem to have made
 * nothing.
 */
export async function recordSight(run: Run, targetKeys: Iterable<string>): Promise<Planned> {
  const planned = replan(run);
  const keys = [...targetKeys];
  const isAnew = isChanging(run);
  const learned = await Promise.all(keys.map((key) => recordTarget(run, planned, key, isAnew)));
  // All but the id of a folder the plan has taken into account already.
  return learned.includes(true) ? replan(run) : planned;
}

async function recordTarget(
  run: Run,
  planned: Planned,
  key: string,
  isAnew: (address: Address, field: string) => boolean,
): Promise<boolean> {
  const { context, progress } = run;
  const inScope = scopeTest(context.input.scope);
  const touched = (address: Address): boolean =>
    inScope(address) || progress.done.has(address) || progress.created.has(address);
  const seen = planned.seen.get(key);
  if (seen === undefined) return false;
  const folders = folderSights(run, seen);
  const state = applyEvents(seen.state ?? sessionOf(run, key).state, folders);
  await record(run, key, [
    ...(planned.stateEvents.get(key) ?? []),
    ...folders,
    ...settleEvents({ ...seen, state }, context.fingerprints, touched, isAnew),
  ]);
  return folders.length > 0;
}

/** A field that the plan does not change was as declared at the start, and has its record since then. */
function isChanging({ context }: Run): (address: Address, field: string) => boolean {
  const changes = new Map(context.planned.plan.changes.map((change) => [change.address, change]));
  const fields = new Map<Address, readonly string[]>();
  return (address, field) => {
    const change = changes.get(address);
    if (change === undefined) return true;
    const own = fields.get(address) ?? changedFields(change);
    fields.set(address, own);
    return own.includes(field);
  };
}

/** A folder that was written by name and now shows its id. */
function folderSights({ progress }: Run, { testCaseMatches, state }: Seen): readonly StateEvent[] {
  const known = new Map(state?.folders);
  const events: StateEvent[] = [];
  for (const [address, name] of progress.folders) {
    const match = testCaseMatches.get(address);
    const id = match?.found === true ? match.live.folderId : undefined;
    if (typeof id !== "string" || known.get(name) === id) continue;
    known.set(name, id);
    events.push({ type: "folder", name, id });
  }
  return events;
}
