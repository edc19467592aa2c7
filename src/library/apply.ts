import type { ApplyEvent, Outcome } from "../apply/context.ts";
import { EXIT } from "../cli/options.ts";
import { runJob } from "../commands/apply.ts";
import { refusedWhenMade } from "../commands/saved-plan-verdict.ts";
import { parseDuration } from "../manifest/shape.ts";
import type { DiagnosticJson, PlanJson } from "../model/plan.ts";
import { checkOptions } from "./arguments.ts";
import { CALL_KINDS, type CallOptions, callsGiven } from "./calls.ts";
import { planInsides } from "./inside.ts";
import { libraryWorld, publicDiagnostics, quietly, refusal } from "./silent.ts";

export interface ApplyOptions extends CallOptions {
  /** Is told what happens, while it happens. */
  readonly onEvent?: (event: ApplyEvent) => void;
  /** How long to wait for discoveries to finish, such as `15m`; not at all unless given. */
  readonly wait?: string;
  /** How long to wait for a lock that somebody holds, such as `2m`; not at all unless given. */
  readonly lockTimeout?: string;
  /** Once aborted, what is in flight finishes, state is saved and nothing else starts. */
  readonly signal?: AbortSignal;
}

const KINDS = {
  onEvent: "function",
  wait: "text",
  lockTimeout: "text",
  signal: "signal",
  ...CALL_KINDS,
} as const;

/** What became of an apply. */
export interface ApplyOutcome extends Outcome {
  /** Whether all of it was done, and reads as it was written. */
  readonly ok: boolean;
  /** What the command line would have ended with. */
  readonly exitCode: number;
  /** Warnings that came up on the way. */
  readonly diagnostics: readonly DiagnosticJson[];
}

/**
 * Carries out exactly a plan that `plan` made, under the locks of its targets, as `tasc apply FILE` does.
 * @returns what was done, what failed and what was skipped; a change that failed is no exception
 * @throws TascError where nothing was applied: the plan has errors or is refused by the policy, it is stale, the state
 * is locked, or the service cannot be reached
 */
export async function apply(plan: PlanJson, options: ApplyOptions = {}): Promise<ApplyOutcome> {
  checkOptions(options, KINDS);
  const reviewed = planInsides.get(plan);
  if (reviewed === undefined) throw new TypeError("This is no plan that plan() gave");
  const { saved, calls, complete } = reviewed;
  return quietly(reviewed.opened, async (opened) => {
    const { console } = opened;
    const invalid = (summary: string): Error =>
      refusal(console, EXIT.invalid, { severity: "error", code: "", summary, detail: "" });
    if (!complete) throw invalid("A project that was loaded with allowMissingSecrets cannot be applied");
    const given = { args: [], options: callsGiven({ ...calls, ...options }) };
    if (refusedWhenMade(given, saved, console)) throw refusal(console, EXIT.failed);
    const wait = options.wait === undefined ? undefined : parseDuration(options.wait);
    const lockTimeout = options.lockTimeout === undefined ? 0 : parseDuration(options.lockTimeout);
    if ((options.wait !== undefined && wait === undefined) || lockTimeout === undefined)
      throw invalid("wait and lockTimeout take a duration such as 90s or 10m");
    let outcome: Outcome | undefined;
    const exitCode = await runJob({
      given,
      world: libraryWorld(opened.root, opened.env),
      opened,
      stop: {
        stopping: () => options.signal?.aborted ?? false,
        signal: new AbortController().signal,
        end() {},
      },
      wait,
      lockTimeout,
      saved,
      display: {
        // Single calls are no part of the interface.
        heard: (event) => "type" in event && options.onEvent?.(event),
        stopping() {},
        aside: (question) => question(),
        end() {},
      },
      ended: (ended) => void (outcome = ended),
    });
    if (outcome === undefined) throw refusal(console, exitCode);
    const diagnostics = publicDiagnostics(console.said, console.redactor);
    return { ...outcome, ok: exitCode === EXIT.done, exitCode, diagnostics };
  });
}
