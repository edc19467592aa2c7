import type { Secret } from "./value.ts";

/** `tasc.yaml` resolved for one stage (design contract, section 1). */
export interface Settings {
  readonly stage: string;
  /** All declared stages, in the order of the file. */
  readonly stages: readonly string[];
  readonly baseUrl: string;
  /** Absent where it may be: `validate`, and plans from a snapshot. */
  readonly apiKey: Secret | undefined;
  /** Calls in flight, of any kind. */
  readonly concurrency: number;
  /** Milliseconds. */
  readonly requestTimeout: number;
  /** Sends after the first. */
  readonly retries: number;
  /** Most calls in a second with one API key. */
  readonly rateLimit?: number;
  readonly state: StateSettings;
  readonly policy: Policy;
}

export interface StateSettings {
  readonly backend: "local" | "postgres" | "http";
  /** Key for fingerprints in place of the API key. */
  readonly fingerprintKey?: Secret;
  /** A fingerprint key is declared, and its secret is missing (`--allow-missing-secrets`): no fingerprints then. */
  readonly fingerprintKeyUnknown?: true;
  /** What the backend itself understands, after interpolation; `src/state` checks it. */
  readonly options: Readonly<Record<string, string | number | boolean | Secret>>;
}

/** The rules of a policy that can refuse a plan, and that `--override-policy` takes. */
export const POLICY_RULES = [
  "maxChanges",
  "maxDisabledPercent",
  "protected",
  "requireTags",
  "maxGenerations",
] as const;
export type PolicyRule = (typeof POLICY_RULES)[number];

/** Section 8 of the design contract. */
export interface Policy {
  readonly maxChanges?: number;
  readonly maxDisabledPercent?: number;
  /** Globs over addresses, and those of them that are the trust file's: manifests cannot take these away again. */
  readonly protected?: readonly string[];
  readonly pinned?: readonly string[];
  readonly requireTags?: readonly string[];
  /** Rediscoveries, created test cases and batch generations of one plan. */
  readonly maxGenerations?: number;
  /** How long a saved plan can be applied, in milliseconds. */
  readonly planExpiry?: number;
  /** A saved plan is applied only from the git commit that it was made from. */
  readonly sameCommit?: boolean;
  readonly onRemove?: "ignore" | "disable";
}
