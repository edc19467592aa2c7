import type { Origin } from "./diagnostic.ts";
import type { Secret } from "./value.ts";

/** The settings of `tasc.yaml`, resolved for one stage (design contract, section 1). */
export interface Settings {
  readonly stage: string;
  /** All declared stages, in the order of the file. */
  readonly stages: readonly string[];
  readonly baseUrl: string;
  /** Undefined only where it is optional: `validate`, and plans from a snapshot. */
  readonly apiKey: Secret | undefined;
  /** Maximum number of calls in flight, of any kind. */
  readonly concurrency: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Maximum number of sends after the first. */
  readonly retries: number;
  /** Maximum number of calls per second with one API key. */
  readonly rateLimit?: number;
  readonly state: StateSettings;
  readonly policy: Policy;
  /** The policies of the other stages. */
  readonly otherPolicies: ReadonlyMap<string, Policy>;
  /** The base URLs of the other stages. */
  readonly otherBaseUrls: ReadonlyMap<string, string>;
}

export interface StateSettings {
  readonly backend: "local" | "postgres" | "http";
  /** Key for fingerprints, used instead of the API key. */
  readonly fingerprintKey?: Secret;
  /**
   * A fingerprint key is declared but its secret is missing (`--allow-missing-secrets`), so there
   * are no fingerprints.
   */
  readonly fingerprintKeyUnknown?: true;
  /** The backend's own options, after interpolation; `src/state` checks them. */
  readonly options: Readonly<Record<string, string | number | boolean | Secret>>;
}

/** The policy rules that can refuse a plan; `--override-policy` accepts them. */
export const POLICY_RULES = [
  "maxChanges",
  "maxDisabledPercent",
  "protected",
  "requireTags",
  "maxGenerations",
  "quarantine",
  "offNeedsReason",
  "passedIn",
] as const;
export type PolicyRule = (typeof POLICY_RULES)[number];

/** What a rule of `policy.rules` can be about: a kind of resource, a change, or the whole plan. */
export const RULE_SUBJECTS = [
  "target",
  "environment",
  "testCase",
  "batchGeneration",
  "change",
  "plan",
] as const;
export type RuleSubject = (typeof RULE_SUBJECTS)[number];

/** The counts of a plan that its rules read; `total` is the number of changes. */
export const RULE_COUNTS = [
  "create",
  "update",
  "rediscover",
  "disable",
  "forget",
  "total",
] as const;

/** An entry of `policy.rules`: a rule of the project's own, in CEL. */
export interface Rule {
  /** The name by which `--override-policy` ignores it. */
  readonly name: string;
  readonly for: RuleSubject;
  /** The rule applies only where this expression is true. */
  readonly when?: string;
  /** What must be true. */
  readonly require: string;
  /** What to do, for the person who breaks the rule. */
  readonly message?: string;
  readonly level: "warn" | "deny";
  /** Its place in `tasc.yaml`; `undefined` if it comes from the trust file. */
  readonly origin?: Origin;
}

/** The project's policy (design contract, section 8). */
export interface Policy {
  readonly maxChanges?: number;
  readonly maxDisabledPercent?: number;
  /**
   * Globs over addresses. `pinned` are those from the trust file, which manifests cannot remove.
   */
  readonly protected?: readonly string[];
  readonly pinned?: readonly string[];
  readonly requireTags?: readonly string[];
  /** Maximum number of rediscoveries, created test cases and batch generations in one plan. */
  readonly maxGenerations?: number;
  /** The time in which a saved plan can be applied, in milliseconds. */
  readonly planExpiry?: number;
  /** Whether a saved plan can only be applied from the git commit that it was made from. */
  readonly sameCommit?: boolean;
  readonly onRemove?: "ignore" | "disable";
  readonly rules?: readonly Rule[];
  readonly quarantine?: QuarantinePolicy;
  /** Whether the manifest that switches a test case off must say why. */
  readonly offNeedsReason?: boolean;
  readonly passedIn?: PassedIn;
  /** Whether the steps that the service generated are compared with accepted ones. */
  readonly steps?: StepsPolicy;
}

/** What must have passed in another stage before a plan may take it over. */
export interface PassedIn {
  readonly stage: string;
  /** How many of the last results must be PASSED, in each browser and breakpoint. */
  readonly passes: number;
  /** Minimum age of the oldest of them, in milliseconds. */
  readonly soak: number;
  /** Globs over addresses that the rule does not judge. */
  readonly except: readonly string[];
}

/** The parts of a quarantine that `policy.quarantine.require` can ask for. */
export const QUARANTINE_NOTES = ["owner", "issue"] as const;

export interface QuarantinePolicy {
  /** Maximum number of days from today to the end of a quarantine. */
  readonly maxDays?: number;
  /** Maximum share of a target's declared test cases. */
  readonly maxPercent?: number;
  readonly require?: readonly (typeof QUARANTINE_NOTES)[number][];
}

/** From the loosest to the strictest. */
export const STEPS_POLICIES = ["off", "report", "reviewed"] as const;
export type StepsPolicy = (typeof STEPS_POLICIES)[number];
