import type { Address } from "../model/address.ts";
import type { Change } from "../model/plan.ts";
import { mayGoOn } from "./context.ts";
import type { Run } from "./context.ts";
import { carryOut } from "./change.ts";
import { runTasks } from "./schedule.ts";

/** A change of a phase; `refresh` looks once more, just before it is sent, whether it is still needed. */
export interface Step {
  readonly change: Change;
  /** Addresses of the same phase that must have been tried before. */
  readonly after: readonly Address[];
  readonly refresh?: () => Change | undefined;
  /** Whether more is to come for this address in a later phase, so that it is not done yet. */
  readonly unfinished?: boolean;
}

/** Carries out the changes of one phase side by side; what needs something that did not come about is skipped. */
export async function runPhase(run: Run, steps: readonly Step[]): Promise<void> {
  const { context, progress } = run;
  const tasks = steps.map((step) => ({
    key: step.change.address,
    after: [...step.change.dependsOn, ...step.after],
    run: () => runStep(run, step),
  }));
  await runTasks(tasks, context.concurrency, () => mayGoOn(run));
  const reason =
    progress.fatal === undefined ? ({ kind: "interrupted" } as const) : ({ kind: "fatal" } as const);
  for (const { change } of steps) if (!isSettled(run, change.address)) skip(run, change.address, reason);
}

async function runStep(run: Run, step: Step): Promise<void> {
  const { context, progress } = run;
  const { address, action } = step.change;
  if (progress.failed.has(address) || progress.skipped.has(address)) return;
  const missing = step.change.dependsOn.find((needed) => isMissing(run, needed));
  if (missing !== undefined) return skip(run, address, { kind: "needs", address: missing });
  context.emit({ type: "changeStarted", address, action });
  const change = step.refresh === undefined ? step.change : step.refresh();
  const failure = change === undefined ? undefined : await carryOut(run, change);
  if (failure !== undefined) {
    if (failure.fatal) progress.fatal = failure;
    progress.failed.set(address, { address, failure });
    context.emit({ type: "changeFailed", address, failure });
  } else if (step.unfinished !== true) {
    progress.done.add(address);
    context.emit({ type: "changeDone", address, action });
  }
}

/** A creation that did not come about; one that came about and failed afterwards can be built upon. */
function isMissing({ progress }: Run, address: Address): boolean {
  return (progress.failed.has(address) && !progress.created.has(address)) || progress.skipped.has(address);
}

/** Whether the end report will say what became of an address. */
export function isSettled({ progress }: Run, address: Address): boolean {
  return (
    progress.done.has(address) ||
    progress.failed.has(address) ||
    progress.skipped.has(address) ||
    progress.created.has(address)
  );
}

export function skip(
  { context, progress }: Run,
  address: Address,
  reason: { readonly kind: "interrupted" | "fatal" } | { readonly kind: "needs"; readonly address: Address },
): void {
  progress.skipped.set(address, { address, reason });
  context.emit({ type: "changeSkipped", address, reason });
}
