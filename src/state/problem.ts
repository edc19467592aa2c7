import type { LockInfo, StateKey } from "./backend.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type FailureReason, TascError } from "../model/error.ts";

/**
 * Everything that can stand between an apply and its state; `explainProblem` words it. `where` names the file,
 * the row or the address, without credentials.
 */
export type StateProblem =
  /** Not a document of ours, or a damaged one. */
  | { readonly kind: "corrupt"; readonly where: string; readonly reason: string }
  /** Git left its conflict markers, or both sides' lines. */
  | { readonly kind: "conflicted"; readonly where: string; readonly line: number }
  /** Written by a later tasc. */
  | {
      readonly kind: "newer";
      readonly where: string;
      readonly version: number;
      readonly understood: number;
    }
  /** The document of another stage or target stands in this place. */
  | {
      readonly kind: "misplaced";
      readonly where: string;
      readonly expected: StateKey;
      readonly found: StateKey;
    }
  | {
      readonly kind: "other-service";
      readonly where: string;
      readonly expected: string;
      readonly found: string;
    }
  /** A journal of an interrupted run whose document was replaced since by something else. */
  | { readonly kind: "stranded-journal"; readonly where: string; readonly journal: string }
  /** Somebody else holds the lock; `holder` is absent where the backend cannot tell. */
  | { readonly kind: "locked"; readonly key: StateKey; readonly holder?: LockInfo }
  /** The lock was ours and is no more, so nothing was written. */
  | { readonly kind: "lock-lost"; readonly key: StateKey; readonly reason: string }
  /** Somebody else wrote since it was read, so nothing was written. */
  | { readonly kind: "changed"; readonly where: string }
  /** The file system, the database or the server failed. */
  | { readonly kind: "failed"; readonly where: string; readonly reason: string }
  /** Ctrl-C while a lock was waited for. */
  | { readonly kind: "interrupted" }
  /** `state:` of the project does not fit its backend. */
  | { readonly kind: "misconfigured"; readonly reason: string };

const REASONS: Partial<Record<StateProblem["kind"], FailureReason>> = {
  misconfigured: "invalid",
  locked: "locked",
  interrupted: "interrupted",
};

/** Stops a command, or an apply that could not record what it is about to send and so must not send it. */
export class StateFailure extends TascError {
  readonly problem: StateProblem;

  constructor(problem: StateProblem) {
    super(REASONS[problem.kind] ?? "failed", [explainProblem(problem)]);
    this.problem = problem;
  }
}

/** The problem that an error tells of, if it is of this kind. @throws the error otherwise */
export function problemOf<K extends StateProblem["kind"]>(
  error: unknown,
  kind: K,
): Extract<StateProblem, { readonly kind: K }> {
  const isOfKind = (problem: StateProblem): problem is Extract<StateProblem, { readonly kind: K }> =>
    problem.kind === kind;
  if (error instanceof StateFailure && isOfKind(error.problem)) return error.problem;
  throw error;
}

/** Errors of files, a database or a server become a problem; anything else is a mistake of ours and stays an exception. */
export async function attempt<T>(where: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const code = codeOf(error);
    if (error instanceof StateFailure || !(error instanceof TascError || code !== undefined)) throw error;
    // A refused connection may come without a message, for it is several errors: one for each address.
    const { message } = error instanceof Error ? error : { message: "" };
    throw new StateFailure({ kind: "failed", where, reason: message || String(code) });
  }
}

/** The code of an error of the system, or the SQLSTATE of what a database said. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** A problem for the person who must act: what is so, why it matters, what to do. */
export function explainProblem(problem: StateProblem): Diagnostic {
  return { severity: "error", code: `state-${problem.kind}`, ...words(problem) };
}

/** The word about a lock that was taken over. */
export function explainTakeover({ stage, target }: StateKey, from: LockInfo): Diagnostic {
  return {
    severity: "warning",
    code: "state-lock-taken-over",
    summary: `The lock of target "${target}" in stage "${stage}" was left by a run that has ended; it was taken over`,
    detail: `${describeHolder(from)} That run was interrupted before it could release the lock. Its records are kept, and tasc now checks the requests it had in flight.`,
  };
}

/** The word about what an earlier run could not save. @param file where it was kept */
export function explainTakenIn({ stage, target }: StateKey, file: string): Diagnostic {
  return {
    severity: "warning",
    code: "state-errored-taken-in",
    summary: `State of target "${target}" in stage "${stage}" now includes what an earlier run could not save`,
    detail: `It was kept in ${file}, which has been removed.`,
  };
}

/** The word while a lock is waited for. */
export function explainWaiting({ stage, target }: StateKey, holder: LockInfo | undefined): Diagnostic {
  return {
    severity: "warning",
    code: "state-lock-waiting",
    summary: `Waiting for the lock of target "${target}" in stage "${stage}"`,
    detail: describeHolder(holder),
  };
}

interface Words {
  readonly summary: string;
  readonly detail: string;
}

const REBUILD =
  "Or move it out of the way: the next apply then matches its resources by name again, sends write-only fields once more, and holds batch generations until you say whether they ran.";

function words(problem: StateProblem): Words {
  switch (problem.kind) {
    case "corrupt":
      return {
        summary: "State cannot be read",
        detail: `${problem.where}: ${problem.reason}. It was not modified, because overwriting it would lose what can still be saved. Restore it from git or a backup. ${REBUILD}`,
      };
    case "conflicted":
      return {
        summary: "State contains an unresolved merge",
        detail: `${problem.where}:${problem.line}: git could not merge both sides, or kept a line of each. Keep one line for each binding, the one whose id the service still lists, and remove git's markers. ${REBUILD}`,
      };
    case "newer":
      return {
        summary: "State was written by a newer version of tasc",
        detail: `${problem.where} has version ${problem.version}; this tasc supports versions up to ${problem.understood}. Use the version of tasc that wrote it, or a newer one.`,
      };
    case "misplaced":
      return {
        summary: "State belongs to another stage or target",
        detail: `${problem.where} should contain ${nameOf(problem.expected)} but contains ${nameOf(problem.found)}. With its ids, tasc would change the wrong resources. Put the right document there, or give each stage and target its own place. ${REBUILD}`,
      };
    case "other-service":
      return {
        summary: "State was created for a different service",
        detail: `${problem.where} was created for ${problem.found}; you are using ${problem.expected}. If the address is wrong, correct service.baseUrl or the variable behind it. If the service has moved, change "service" in the document. If it is a different service, give it its own stage. ${REBUILD}`,
      };
    case "stranded-journal":
      return {
        summary: "An interrupted run left changes that no longer match its state",
        detail: `${problem.journal} contains what that run recorded, on top of a ${problem.where} that has been replaced since, for example by git. Ignoring it could create resources twice. Restore the document that was there when the run was interrupted (git stash, git checkout), run tasc apply, which completes it, and then merge the other version. Or remove ${problem.journal} if nothing of that run matters.`,
      };
    case "locked":
      return {
        summary: `Target "${problem.key.target}" in stage "${problem.key.stage}" is locked`,
        detail: `${describeHolder(problem.holder)} Wait for it, for example with --lock-timeout 10m. If you are sure that it is no longer running:\n  ${unlockCommand(problem.key, problem.holder)}`,
      };
    case "lock-lost":
      return {
        summary: `The lock of target "${problem.key.target}" in stage "${problem.key.stage}" was lost during the run`,
        detail: `${sentence(problem.reason)} Nothing was sent or written after that, so that two runs do not overwrite each other. What was saved before is kept. Run tasc again: it checks the requests that were in flight.`,
      };
    case "changed":
      return {
        summary: "State was changed by something else during the run",
        detail: `${problem.where} is not what this run read, although its lock is held: a tool or a person wrote it. It was not overwritten. Run tasc again: it starts from the current state.`,
      };
    case "failed":
      return {
        summary: "State cannot be reached",
        detail: `${problem.where}: ${sentence(problem.reason)} Without it, tasc does not know what it has created. Check that it exists, is readable and writable, and that there is free space.`,
      };
    case "interrupted":
      return { summary: "Interrupted while waiting for a lock", detail: "Nothing was changed." };
    case "misconfigured":
      return {
        summary: 'The "state" section of tasc.yaml is wrong',
        detail: `${problem.reason}.`,
      };
  }
}

function unlockCommand({ target, stage }: StateKey, holder: LockInfo | undefined): string {
  return `tasc state unlock ${target}${holder === undefined ? "" : ` ${holder.id}`} --stage ${stage}`;
}

/** Who holds a lock, since when, why and where, in sentences. */
export function describeHolder(holder: LockInfo | undefined): string {
  if (holder === undefined) return "The server does not say who holds it.";
  const process = holder.process === undefined ? "" : `, process ${holder.process.pid}`;
  const folder = holder.folder === undefined ? "" : ` in ${holder.folder}`;
  const job = holder.job === undefined ? "" : ` CI job: ${holder.job}`;
  return `Held by ${holder.who}${process}${folder}, since ${holder.since}, for: ${holder.why}.${job} Lock id: ${holder.id}.`;
}

function nameOf({ stage, target }: StateKey): string {
  return `target "${target}" of stage "${stage}"`;
}

function sentence(text: string): string {
  const full = /[.!?]$/.test(text) ? text : `${text}.`;
  return full.charAt(0).toUpperCase() + full.slice(1);
}
