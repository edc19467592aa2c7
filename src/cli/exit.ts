/** Exit codes (design contract, section 6): this table is the only place that knows them. */
export const EXIT = {
  done: 0,
  /** A call or a change failed, the plan has errors, a policy, gate or question refused it, state is unreadable. */
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
