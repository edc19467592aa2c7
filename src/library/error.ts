import { EXIT, type ExitCode } from "../cli/options.ts";
import type { DiagnosticJson } from "../model/plan.ts";

/** Why nothing came of a call, after the exit codes of the command line. */
export type TascErrorReason = "failed" | "invalid" | "stale" | "locked" | "unreachable" | "interrupted";

const REASONS: Readonly<Partial<Record<ExitCode, TascErrorReason>>> = {
  [EXIT.invalid]: "invalid",
  [EXIT.stale]: "stale",
  [EXIT.locked]: "locked",
  [EXIT.unreachable]: "unreachable",
  [EXIT.interrupted]: "interrupted",
};

/** The one error that the library throws. */
export class TascError extends Error {
  override readonly name = "TascError";
  readonly reason: TascErrorReason;
  /** What the command line would have said on stderr, warnings included. */
  readonly diagnostics: readonly DiagnosticJson[];
  /** What the command line would have ended with. */
  readonly exitCode: number;

  constructor(exitCode: number, diagnostics: readonly DiagnosticJson[]) {
    super(messageOf(diagnostics));
    this.reason = reasonOf(exitCode);
    this.exitCode = exitCode;
    this.diagnostics = diagnostics;
  }
}

function reasonOf(exitCode: number): TascErrorReason {
  return Object.entries(REASONS).find(([code]) => Number(code) === exitCode)?.[1] ?? "failed";
}

function messageOf(diagnostics: readonly DiagnosticJson[]): string {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  const texts = errors.map(({ summary, detail }) => (detail === "" ? summary : `${summary}\n${detail}`));
  return texts.join("\n") || "It failed";
}
