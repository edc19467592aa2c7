import type { Diagnostic } from "../model/diagnostic.ts";
import type { FailureReason } from "../model/error.ts";
import type { JsonObject } from "../model/json.ts";
import { codedDiagnosticJson } from "../render/json.ts";

/** What a program reads of a failure: what was wrong, all that was said of it, and the commands that help. */
export function failureJson(reason: FailureReason, said: readonly Diagnostic[]): JsonObject {
  return {
    error: errorOf(reason, said),
    diagnostics: said.map(codedDiagnosticJson),
    next: nextSteps(reason, said),
  };
}

function errorOf(reason: FailureReason, said: readonly Diagnostic[]): JsonObject {
  const first = said.find(({ severity }) => severity === "error");
  const { code = "", summary = reason } = first ?? {};
  return { code: code === "" ? reason : code, message: summary };
}

/** What helps where no diagnostic names a command. */
const NEXT: Readonly<Record<FailureReason, readonly string[]>> = {
  failed: ["tasc doctor"],
  invalid: ["tasc validate"],
  stale: ["tasc plan --out FILE"],
  locked: ["tasc apply --lock-timeout 10m"],
  unreachable: ["tasc doctor"],
  interrupted: ["tasc plan"],
};

/** Diagnostics put commands on lines of their own. */
function nextSteps(reason: FailureReason, said: readonly Diagnostic[]): readonly string[] {
  const lines = said.flatMap(({ detail }) => detail.split("\n")).map((line) => line.trim());
  const commands = [...new Set(lines.filter((line) => line.startsWith("tasc ")))];
  return commands.length > 0 ? commands : NEXT[reason];
}
