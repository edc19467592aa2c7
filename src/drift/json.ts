import { diagnosticJson } from "../render/json.ts";
import type { Drift } from "./drift.ts";

export interface DriftMeta {
  readonly tool: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly stage: string;
  readonly baseUrl: string;
}

/** The drift for programs; keys in a fixed order. */
export function driftJson(
  { changes, removed, problems }: Drift,
  { tool, createdAt, stage, baseUrl }: DriftMeta,
) {
  return {
    formatVersion: "1.0",
    tool,
    stage,
    baseUrl,
    createdAt,
    summary: { changed: changes.length, removed: removed.length },
    changes,
    removed,
    diagnostics: problems.map((problem) => ({ ...diagnosticJson(problem) })),
  };
}
