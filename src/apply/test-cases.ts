import type { Address } from "../model/address.ts";
import type { Change } from "../model/plan.ts";
import { targetOf } from "../plan/scope.ts";
import { type Run, mayGoOn } from "./context.ts";
import { patchByFolders } from "./folders.ts";
import { changesOf, patchStep, withoutGenerating } from "./patch-step.ts";
import { type Step, fail, finishChange, runPhase } from "./phase.ts";
import { recordSight, reread } from "./read.ts";

/**
 * The patches of test cases (design contract, section 5): those that were reviewed, and what the service made of a
 * prompt otherwise than declared. Targets with creations are read again before, since only then can be seen what the
 * service has set by itself.
 */
export async function patchTestCases(run: Run, changes: readonly Change[]): Promise<void> {
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
  if (addresses.length === 0 || !mayGoOn(run)) return undefined;
  run.context.emit({ type: "reading", why });
  const targets = new Set(addresses.map(targetOf));
  const failure = await reread(run, targets);
  if (failure === undefined) return changesOf(await recordSight(run, targets));
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
export async function patchAgain(run: Run, generated: Iterable<Address>): Promise<void> {
  const { halfway, done } = run.progress;
  let addresses = new Set([...halfway.keys(), ...[...generated].filter((address) => done.has(address))]);
  for (let look = 0; look < LOOKS && addresses.size > 0 && mayGoOn(run); look++) {
    const current = await lookAgain(run, [...addresses], "after generations");
    if (current === undefined) return;
    await runPhase(
      run,
      [...addresses].flatMap((address) => stepAgain(run, address, current.get(address))),
    );
    addresses = new Set(halfway.keys());
  }
  // What still does not take shows in the last look.
  if (mayGoOn(run)) for (const change of halfway.values()) finishHalfway(run, change);
}

function stepAgain({ progress }: Run, address: Address, current: Change | undefined): readonly Step[] {
  const change = progress.halfway.get(address) ?? current;
  if (change === undefined) return [];
  const calls = current === undefined ? [] : withoutGenerating(current).calls;
  return [{ change: { ...change, calls, dependsOn: [] }, after: [] }];
}

function finishHalfway(run: Run, change: Change): void {
  run.progress.halfway.delete(change.address);
  finishChange(run, change);
}
