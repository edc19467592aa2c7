import { type Diagnostic, fault } from "./diagnostic.ts";

/** Exit codes (design contract, section 6): this table is the only place that knows them. */
export const EXIT = {
  done: 0,
  /**
   * A call or change failed, the plan has errors, a policy, gate or prompt refused it, or state is
   * unreadable.
   */
  failed: 1,
  /** `--detailed-exitcode`, `drift`: there are changes. */
  changes: 2,
  /** The manifests or the arguments are wrong. */
  invalid: 3,
  /** The saved plan is stale. */
  stale: 4,
  /** The state is locked. */
  locked: 5,
  /** The service refused the key or cannot be reached. */
  unreachable: 6,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The reason why a command failed; it determines the exit code. */
export type FailureReason = Exclude<keyof typeof EXIT, "done" | "changes">;

/** Returns the text of a manifest, for the excerpts in diagnostics. */
export type ReadSource = (file: string) => string | undefined;

/**
 * An error that stops a command; one handler renders it. What a failed apply has done is an
 * `Outcome`, not this error.
 */
export class TascError extends Error {
  override readonly name = "TascError";

  readonly reason: FailureReason;
  /** The diagnostics to show, including the errors. */
  readonly diagnostics: readonly Diagnostic[];
  readonly source: ReadSource | undefined;
  /** The stage that suggested commands must name. */
  readonly stage: string | undefined;

  constructor(
    reason: FailureReason,
    found: readonly Diagnostic[],
    source?: ReadSource,
    stage?: string,
  ) {
    super(found.find(({ severity }) => severity === "error")?.summary ?? reason);
    this.reason = reason;
    this.diagnostics = found;
    this.source = source;
    this.stage = stage;
  }
}

/** Makes the error for a single problem that has no place in a manifest. */
export function stop(reason: FailureReason, code: string, summary: string, detail = ""): TascError {
  return new TascError(reason, [fault(code, summary, detail)]);
}

/** Makes the error for a single problem in the manifests or the arguments. */
export function invalid(code: string, summary: string, detail = ""): TascError {
  return stop("invalid", code, summary, detail);
}

/** Throws if there are faults in the manifests or the arguments. @throws TascError */
export function refuseAll(faults: readonly Diagnostic[]): void {
  if (faults.length > 0) throw new TascError("invalid", faults);
}

export function failed(code: string, summary: string, detail = ""): TascError {
  return stop("failed", code, summary, detail);
}

/** Makes the error for a saved plan that cannot be applied any more. */
export function stale(code: string, summary: string, detail: string): TascError {
  return stop(
    "stale",
    code,
    summary,
    `${detail}\nNothing was applied. Plan again and review that:\ntasc plan --out FILE`,
  );
}

/** Returns the code of a system error, or the SQLSTATE of a database error. */
export function codeOf(error: unknown): string | undefined {
  return isSystemError(error) ? error.code : undefined;
}

export function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
