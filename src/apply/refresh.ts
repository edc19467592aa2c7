import { type Address, targetAddress } from "../model/address.ts";
import { byAddress } from "../model/desired.ts";
import { sideBySide } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import type { MatchedTarget } from "../plan/compare.ts";
import { scopeTest, targetOf } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import { refreshEvents } from "../plan/record.ts";
import { keeping } from "../plan/refresh.ts";
import { isShown } from "../plan/staleness.ts";
import { applyEvents } from "../state/events.ts";
import { type Run, failureIn, hasStatus, mayContinue, record, replan, sessionOf, settle } from "./context.ts";

/** Reads targets again: the list of targets, and the test cases of the targets named. */
export async function reread(run: Run, targetKeys: Iterable<string>): Promise<void> {
  run.targets = await run.service.listTargets();
  // A target that is gone, and whose replacement could not be made, has none to read.
  const ids = new Set(run.targets.map(({ id }) => id));
  const keys = [...targetKeys].filter((key) => ids.has(run.ids.get(targetAddress(key)) ?? ""));
  await sideBySide(keys.map((key) => rereadTestCases(run, key)));
  // Called between phases, when nothing is in flight that the answer could have missed.
  for (const key of keys) run.dirty.delete(key);
}

/** Reads one target's test cases again. */
export async function rereadTestCases(run: Run, key: string): Promise<void> {
  const id = run.ids.get(targetAddress(key));
  const target = run.input.desired.targets.find((one) => one.key === key);
  if (id === undefined || target === undefined) return;
  const keep = keeping(target, sessionOf(run, key).state, run.input);
  run.testCases.set(id, await run.service.listTestCases(id, keep));
}

/** Changes by address, from another look at the targets of some test cases; these fail if there can be none. */
export async function lookAgain(
  run: Run,
  addresses: readonly Address[],
  why: "after creations" | "after generations",
): Promise<ReadonlyMap<Address, Change> | undefined> {
  if (addresses.length === 0 || !mayContinue(run)) return undefined;
  run.emit({ type: "reading", why });
  const targets = new Set(addresses.map(targetOf));
  const failure = await failureIn(run, reread(run, targets));
  if (failure === undefined) return byAddress((await recordRefresh(run, targets)).plan.changes);
  for (const address of addresses) settle(run, address, { kind: "failed", failure });
  return undefined;
}

/**
 * Records what a look at targets has shown (folder ids, that what was written is there, what open creations have made),
 * and plans again from it. Only for targets that were just read: in others, open creations would seem to have failed.
 */
export async function recordRefresh(run: Run, targetKeys: Iterable<string>): Promise<Planned> {
  const planned = replan(run);
  const changes = byAddress(run.planned.plan.changes);
  // A field that the plan does not change was as declared at the start, and has its record since then.
  const isAnew: IsAnew = (address, field) => !changes.has(address) || isShown(changes.get(address), field);
  const recording = [...targetKeys].map((key) => recordTarget(run, planned, key, isAnew));
  // All but the id of a folder the plan has taken into account already.
  return (await Promise.all(recording)).includes(true) ? replan(run) : planned;
}

type IsAnew = Parameters<typeof refreshEvents>[3];

/** @returns whether the id of a folder was learnt */
async function recordTarget(run: Run, planned: Planned, key: string, isAnew: IsAnew): Promise<boolean> {
  const matched = planned.matched.get(key);
  if (matched === undefined) return false;
  const inScope = scopeTest(run.input.scope);
  const isTouched = (address: Address): boolean =>
    inScope(address) || hasStatus(run, address, "done") || run.created.has(address);
  const folders = folderEvents(run, matched);
  const state = applyEvents(matched.state ?? sessionOf(run, key).state, folders);
  await record(run, key, [
    ...(planned.stateEvents.get(key) ?? []),
    ...folders,
    ...refreshEvents({ ...matched, state }, run.fingerprints, isTouched, isAnew),
  ]);
  return folders.length > 0;
}

/** Folders that were written by name and now show their ids. */
function folderEvents({ folders }: Run, { matches, state }: MatchedTarget): readonly StateEvent[] {
  const known = new Map(state?.folders);
  return [...folders].flatMap(([address, name]): readonly StateEvent[] => {
    const id = matches.get(address)?.live?.folderId;
    if (typeof id !== "string" || known.get(name) === id) return [];
    known.set(name, id);
    return [{ type: "folder", name, id }];
  });
}
