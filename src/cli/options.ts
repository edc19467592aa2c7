import { POLICY_RULES } from "../model/settings.ts";

/** What a command was given, as the command line parser leaves it. */
export interface Given {
  readonly args: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

/** An option that a command understands; `flags` in the parser's form. */
export interface OptionSpec {
  readonly flags: string;
  readonly description: string;
  /** The values that it takes; any where absent. */
  readonly choices?: readonly string[];
  /** It takes a whole number from this one up. */
  readonly least?: number;
  /** May be given several times. */
  readonly repeatable?: true;
}

export function textOption({ options }: Given, name: string): string | undefined {
  const value = options[name];
  return typeof value === "string" ? value : undefined;
}

export function flagOption({ options }: Given, name: string): boolean {
  return options[name] === true;
}

export function listOption({ options }: Given, name: string): readonly string[] {
  const value = options[name];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Options that every command takes. */
export const GLOBAL_OPTIONS: readonly OptionSpec[] = [
  { flags: "--chdir <dir>", description: "work in this folder instead of the current one" },
  { flags: "--stage <stage>", description: "stage to work on; else TASC_STAGE, else the project's default" },
  {
    flags: "--dotenv <file>",
    description: "read KEY=value lines; variables that are set already win",
    repeatable: true,
  },
  { flags: "--no-color", description: "print without colour, as NO_COLOR does" },
  {
    flags: "--log-level <level>",
    description: "how much to say on stderr",
    choices: ["error", "warn", "info", "debug"],
  },
];

/** Options of commands that call the service. */
export const SERVICE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--request-timeout <duration>", description: "time limit of each call, such as 30s" },
  { flags: "--retries <n>", description: "sends of a call after the first, at most" },
  { flags: "--concurrency <n>", description: "calls in flight, of any kind" },
  { flags: "--insecure", description: "allow plain http to an address that is not this machine's" },
];

export const SCOPE_OPTIONS: readonly OptionSpec[] = [
  { flags: "--only <address>", description: "an address or glob to narrow the plan to", repeatable: true },
  { flags: "--exclude <address>", description: "an address or glob to leave out", repeatable: true },
];

/** Options of commands that set one stage beside another. */
export const TWO_STAGES: readonly OptionSpec[] = [
  { flags: "--from <stage>", description: "the stage to begin with" },
  { flags: "--to <stage>", description: "the stage to compare it with, or to change" },
];

export const MISSING_SECRETS: OptionSpec = {
  flags: "--allow-missing-secrets",
  description: "take a missing secret as unknown and plan nothing from it",
};

export const REDISCOVER: OptionSpec = {
  flags: "--rediscover <address>",
  description: "send the prompt of this test case, whatever state says",
  repeatable: true,
};

export const RUN: OptionSpec = {
  flags: "--run <address>",
  description: "run this batch generation, whatever state says",
  repeatable: true,
};

export const OVERRIDE_POLICY: OptionSpec = {
  flags: "--override-policy <rule>",
  description: "let through what this rule of the project's policy refuses",
  choices: POLICY_RULES,
  repeatable: true,
};

export const LOCK_TIMEOUT: OptionSpec = {
  flags: "--lock-timeout <duration>",
  description: "how long to wait for a lock that somebody holds, such as 2m",
};

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
