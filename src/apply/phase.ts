import type { Address } from "../model/address.ts";
import type { Change } from "../model/plan.ts";
import { carryOut } from "./change.ts";
import { allSaved, mayGoOn } from "./context.ts";
import type { Run } from "./context.ts";
import type { SkipReason } from "./outcome.ts";
import type { Failure } from "./service.ts";
import { runTasks } from "./schedule.ts";

export interface Step {
  readonly change: Change;
  /** Addresses of the same phase that must have been tried before, and whose outcome must be known by then. */
  readonly after: readonly Address[];
  /** The reviewed change, where this is but a part of it and the rest follows in a later phase. */
  readonly partOf?: Change;
}

/** Carries out the changes of one phase side by side; what needs something that did not come about is skipped. */
export async function runPhase(run: Run, steps: readonly Step[]): Promise<void> {
  const tasks = steps.map((step) => ({
    key: step.change.address,
    after: [...step.change.dependsOn, ...step.after],
    run: () => runStep(run, step),
  }));
  await runTasks(tasks, run.context.concurrency, () => mayGoOn(run));
  await allSaved(run);
  if (mayGoOn(run)) return;
  for (const { change } of steps)
    if (!isSettled(run, change.address)) skip(run, change.address, whyStopped(run));
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { context, progress } = run;
  const { address, action } = step.change;
  if (progress.failed.has(address) || progress.skipped.has(address)) return;
  const missing = missingFor(run, step);
  if (missing !== undefined) return skip(run, address, { kind: "needs", address: missing });
  if (!progress.halfway.has(address)) context.emit({ type: "changeStarted", address, action });
  progress.halfway.delete(address);
  const end = await carryOut(run, step.change);
  switch (end.kind) {
    case "failed":
      return fail(run, address, end.failure);
    case "stopped":
      return skip(run, address, whyStopped(run));
    case "halfway":
      return void progress.halfway.set(address, step.partOf ?? step.change);
    case "done":
      if (step.partOf === undefined) finishChange(run, step.change);
      else progress.halfway.set(address, step.partOf);
  }
}

/** What must be there and is not; or what could be taken for what this step makes, as long as it is not known. */
function missingFor({ progress }: Run, { change, after }: Step): Address | undefined {
  const { created, failed, skipped, open } = progress;
  const isMissing = (address: Address): boolean =>
    // One that came about and failed afterwards can be built upon.
    (failed.has(address) || skipped.has(address)) && !created.has(address);
  return change.dependsOn.find(isMissing) ?? after.find((address) => open.has(address));
}

export function finishChange({ context, progress }: Run, { address, action }: Change): void {
  progress.done.add(address);
  context.emit({ type: "changeDone", address, action });
}

export function fail({ context, progress }: Run, address: Address, failure: Failure): void {
  if (failure.fatal) progress.fatal = failure;
  progress.done.delete(address);
  progress.halfway.delete(address);
  progress.failed.set(address, { address, failure });
  context.emit({ type: "changeFailed", address, failure });
}

/** Whether it is known, or will be in a later phase, what became of an address. */
function isSettled({ progress }: Run, address: Address): boolean {
  const { done, failed, skipped, halfway } = progress;
  return done.has(address) || failed.has(address) || skipped.has(address) || halfway.has(address);
}

/** Why what was not started, or not finished, was not. */
export function whyStopped({ progress }: Run): SkipReason {
  return { kind: progress.fatal === undefined ? "interrupted" : "fatal" };
}

export function skip({ context, progress }: Run, address: Address, reason: SkipReason): void {
  progress.done.delete(address);
  progress.halfway.delete(address);
  progress.skipped.set(address, { address, reason });
  context.emit({ type: "changeSkipped", address, reason });
}
