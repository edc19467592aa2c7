import type { Diagnostic } from "./diagnostic.ts";

/** Why a command could not do its work; the command line makes an exit code of it (design contract, section 6). */
export type FailureReason = "failed" | "invalid" | "stale" | "locked" | "unreachable" | "interrupted";

/**
 * Stops a command. Everything below the command line throws this one error, and one handler renders it. It is not for
 * partial results: what an apply has done before it failed is a value.
 */
export class TascError extends Error {
  override readonly name = "TascError";

  readonly reason: FailureReason;
  /** What the user reads, errors among them. */
  readonly diagnostics: readonly Diagnostic[];

  constructor(reason: FailureReason, diagnostics: readonly Diagnostic[]) {
    super(diagnostics.find(({ severity }) => severity === "error")?.summary ?? reason);
    this.reason = reason;
    this.diagnostics = diagnostics;
  }
}

/** The error for a single problem that has no place in a manifest. @param code stays the same across wordings */
export function stop(reason: FailureReason, code: string, summary: string, detail = ""): TascError {
  return new TascError(reason, [{ severity: "error", code, summary, detail }]);
}
