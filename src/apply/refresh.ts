import { type Address, targetAddress, targetOf } from "../model/address.ts";
import { byAddress } from "../model/desired.ts";
import { sideBySide } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { scopeTest } from "../plan/scope.ts";
import type { Planned } from "../plan/plan.ts";
import { type IsDue, refreshEvents } from "../plan/record.ts";
import { keeping } from "../plan/refresh.ts";
import { isShown } from "../plan/staleness.ts";
import { applyEvents } from "../state/events.ts";
import {
  type Run,
  failureIn,
  hasStatus,
  mayContinue,
  record,
  replan,
  sessionOf,
  settle,
} from "./run.ts";

/** Reads the list of targets again, and the test cases of the given targets. */
export async function reread(run: Run, targetKeys: Iterable<string>): Promise<void> {
  run.live.targets = await run.service.listTargets();
  // A target that is gone, and that could not be created again, has no test cases to read.
  const ids = new Set(run.live.targets.map(({ id }) => id));
  const keys = [...targetKeys].filter((key) =>
    ids.has(run.known.ids.get(targetAddress(key)) ?? ""),
  );
  await sideBySide(keys.map((key) => rereadTestCases(run, key)));
  // Called between phases, so there is no request in flight that the answer could have missed.
  for (const key of keys) run.live.outdated.delete(key);
}

/** Reads one target's test cases again. */
export async function rereadTestCases(run: Run, key: string): Promise<void> {
  const id = run.known.ids.get(targetAddress(key));
  const target = run.input.desired.targets.find((one) => one.key === key);
  if (id === undefined || target === undefined) return;
  // Of a test case that is generated, the end of its generation is looked at as well.
  const options = { ...run.input, needs: "records", whole: run.generations.started } as const;
  const keep = keeping(target, sessionOf(run, key).state, options);
  run.live.testCases.set(id, await run.service.listTestCases(id, keep));
}

/**
 * Reads the test cases of a target again once all its changes have ended, while other targets are
 * still written to. If it fails, the final check reads them.
 */
export async function readEarly(run: Run, key: string): Promise<void> {
  const isOpen = run.planned.plan.changes.some(
    ({ address }) =>
      targetOf(address) === key && !hasStatus(run, address, "done", "failed", "skipped"),
  );
  if (isOpen || !run.live.outdated.has(key) || !mayContinue(run)) return;
  const failure = await failureIn(run, rereadTestCases(run, key));
  if (failure === undefined) run.live.outdated.delete(key);
}

/**
 * Reads the targets of these test cases again and returns the changes by address. If that fails,
 * the test cases fail.
 */
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
 * Records what a read of targets has shown (folder ids, written values, results of open creations),
 * and plans again from it. Only for targets that were just read: in others, open creations would
 * seem to have failed.
 */
export async function recordRefresh(run: Run, targetKeys: ReadonlySet<string>): Promise<Planned> {
  const planned = replan(run, targetKeys);
  const changes = byAddress(run.planned.plan.changes);
  // A field that the plan does not change was as declared at the start, and is recorded beside the
  // calls. The digests of 9,000 test cases that take no part took a third of a second after 1,000
  // changes.
  const dueOf = (address: Address): IsDue => {
    const change = changes.get(address);
    if (change !== undefined) return (field) => isShown(change, field);
    return run.progress.statuses.has(address) ? () => true : undefined;
  };
  const recording = [...targetKeys].map((key) => recordTarget(run, planned, key, dueOf));
  // The plan already considers everything except new folder ids.
  return (await Promise.all(recording)).includes(true) ? replan(run, targetKeys) : planned;
}

/** Records what a read of one target has shown. @returns whether it showed a new folder id */
async function recordTarget(
  run: Run,
  planned: Planned,
  key: string,
  dueOf: (address: Address) => IsDue,
): Promise<boolean> {
  const matched = planned.matched.get(key);
  if (matched === undefined) return false;
  const inScope = scopeTest(run.input.scope);
  const isTouched = (address: Address): boolean =>
    inScope(address) || hasStatus(run, address, "done") || run.progress.created.has(address);
  const folders = folderEvents(run, matched);
  const state = applyEvents(matched.state ?? sessionOf(run, key).state, folders);
  await record(run, key, [
    ...(planned.stateEvents.get(key) ?? []),
    ...folders,
    ...refreshEvents({ ...matched, state }, run.fingerprints, isTouched, dueOf),
  ]);
  return folders.length > 0;
}

/** Returns the events of folders that were written by name and whose ids are visible now. */
function folderEvents(
  { known: written }: Run,
  { matches, state }: MatchedTarget,
): readonly StateEvent[] {
  const known = new Map(state?.folders);
  return [...written.folders].flatMap(([address, name]): readonly StateEvent[] => {
    const id = matches.get(address)?.live?.folderId;
    if (typeof id !== "string" || known.get(name) === id) return [];
    known.set(name, id);
    return [{ type: "folder", name, id }];
  });
}
