/** The steps of a test case, compared with those that a person accepted (design contract, section 7). */
export const STEPS_STATES = [
  "accepted",
  "selectorOnly",
  "changed",
  "weakened",
  "notAccepted",
  "withoutSteps",
  "generating",
] as const;
export type StepsState = (typeof STEPS_STATES)[number];

/** `selector`: an interaction finds its element another way. `weakened`: the test checks less. */
export type StepClass = "selector" | "changed" | "weakened";

export interface StepDifference {
  readonly kind: "removed" | "added" | "changed";
  readonly class: StepClass;
  /** The number of the step, from 1: the accepted one's if it was removed, else the live one's. */
  readonly step: number;
  /** The accepted line. */
  readonly before?: string;
  /** The live line. */
  readonly after?: string;
}

/** A step in words, part by part; a part that the step does not have is empty. */
export interface Step {
  readonly interaction: string;
  readonly assertion: string;
  readonly selectors: string;
  readonly ignoreFailure: boolean;
  /** Properties that service-api.md does not describe. */
  readonly extra: string;
}

export interface Acceptance {
  readonly state: StepsState;
  readonly differences: readonly StepDifference[];
  /** When the steps were generated, or why there are none. */
  readonly note?: string;
  /** The live steps, if a command needs them. */
  readonly steps?: readonly Step[];
}

/** Whether the steps are as accepted, but perhaps for the way in which they find elements. */
export function areAccepted({ state }: Acceptance): boolean {
  return state === "accepted" || state === "selectorOnly";
}

/** What the states say of a test case, after its address. */
export const STEPS_SAYS: Readonly<Record<StepsState, string>> = {
  accepted: "as accepted",
  weakened: "weakened on the service since it was accepted",
  changed: "changed on the service since it was accepted",
  selectorOnly: "finds elements another way than when it was accepted",
  notAccepted: "not accepted yet",
  withoutSteps: "has no steps",
  generating: "is not generated yet",
};
