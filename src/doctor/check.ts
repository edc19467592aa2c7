/** What `tasc doctor` looks at, in the order in which it tells. */
export const CHECKS = ["config", "stage", "key", "service", "clock", "version", "state", "lock"] as const;
export type CheckName = (typeof CHECKS)[number];

/** `skipped`: an earlier check failed, or there is nothing to look at. */
export type CheckStatus = "ok" | "warn" | "fail" | "skipped";

export interface Check {
  readonly name: CheckName;
  readonly status: CheckStatus;
  /** What was found. */
  readonly summary: string;
  /** What follows from it and what to do; nothing where all is well. */
  readonly detail: string;
}

export function check(name: CheckName, status: CheckStatus, summary: string, detail = ""): Check {
  return { name, status, summary, detail };
}

/** A check that cannot be made since another one failed. */
export function skipped(name: CheckName, because: CheckName): Check {
  return check(name, "skipped", `not checked, since ${because} failed`);
}

export function hasFailed(checks: readonly Check[]): boolean {
  return checks.some(({ status }) => status === "fail");
}
