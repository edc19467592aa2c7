import type { Address } from "../model/address.ts";
import { DELETED } from "../model/fields.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Place } from "../model/diagnostic.ts";
import type { LiveTestCase } from "../model/live.ts";
import { STEPS_SAYS, type StepsState } from "../model/steps.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import { hasSteps } from "../plan/generation.ts";
import { type Quarantine, quarantineOf } from "../plan/quarantine.ts";
import type { CaseResult } from "../plan/results.ts";
import { reviewed } from "../plan/steps.ts";
import type { Drift } from "./drift.ts";

/** `tasc status`: the suite at a glance, as plain data. */

export type Runs = "on" | "off" | "draft" | "not live";

/** A declared test case of a stage. */
export interface CaseStatus {
  readonly address: Address;
  readonly name: string;
  readonly folder: string;
  readonly runs: Runs;
  /** The newest first. */
  readonly results: readonly CaseResult[];
  readonly quarantine?: Quarantine;
  readonly overdue: boolean;
  readonly withoutSteps: boolean;
  /** How its steps are, where the policy asks for accepted ones. */
  readonly steps?: StepsState;
  readonly drifted: boolean;
  readonly place?: Place;
}

export interface TargetStatus {
  readonly target: string;
  readonly counts: Counts;
  readonly testCases: readonly CaseStatus[];
}

export type Counts = ReturnType<typeof countsOf>;

export interface StageStatus {
  readonly stage: string;
  /** Why the stage could not be read. */
  readonly error?: string;
  readonly targets: readonly TargetStatus[];
}

export interface StatusInput {
  readonly matched: MatchedTarget | undefined;
  readonly key: string;
  readonly drift: Drift;
  readonly unmanaged: number;
  readonly now: number;
  readonly last: number;
  readonly resultsOf: (address: Address) => readonly CaseResult[];
  readonly placeOf: (resource: DesiredResource) => Place | undefined;
  /** Returns the text of a field that may be shown. */
  readonly textOf: (resource: DesiredResource, field: string) => string | undefined;
}

/** Returns the status of one target. */
export function targetStatus(input: StatusInput): TargetStatus {
  const { matched, key, drift, now, last, unmanaged, resultsOf, placeOf, textOf } = input;
  const drifted = new Set([...drift.changes, ...drift.removed].map(({ address }) => address));
  const testCases = (matched?.target.testCases ?? []).map((resource): CaseStatus => {
    const { address } = resource;
    const live: LiveTestCase | undefined = matched?.matches.get(address)?.live;
    const runs = runsOf(live);
    const quarantine = quarantineOf(resource);
    const place = placeOf(resource);
    const steps = live && reviewed(matched?.steps, resource, live)?.state;
    return {
      address,
      name: textOf(resource, "description") ?? address,
      folder: textOf(resource, "folder") ?? "",
      runs,
      results: resultsOf(address).slice(0, last),
      ...(quarantine === undefined ? {} : { quarantine }),
      overdue: quarantine !== undefined && quarantine.ends <= now && runs === "on",
      withoutSteps: live !== undefined && hasSteps(live) === false,
      ...(steps === undefined ? {} : { steps }),
      drifted: drifted.has(address),
      ...(place === undefined ? {} : { place }),
    };
  });
  return { target: key, counts: countsOf(testCases, unmanaged, now), testCases };
}

function runsOf(live: LiveTestCase | undefined): Runs {
  if (live === undefined || live.status === DELETED) return "not live";
  const { status = "ENABLED", runStatus = "ON" } = live;
  if (status === "DRAFT") return "draft";
  return status === "ENABLED" && runStatus === "ON" ? "on" : "off";
}

function countsOf(all: readonly CaseStatus[], unmanaged: number, now: number) {
  const count = (is: (one: CaseStatus) => boolean): number => all.filter(is).length;
  return {
    on: count(({ runs }) => runs === "on"),
    off: count(({ runs }) => runs === "off"),
    draft: count(({ runs }) => runs === "draft"),
    quarantined: count(({ quarantine }) => quarantine !== undefined && now < quarantine.ends),
    overdue: count(({ overdue }) => overdue),
    withoutSteps: count(({ withoutSteps }) => withoutSteps),
    notAccepted: count(isNotAccepted),
    drifted: count(({ drifted }) => drifted),
    unmanaged,
    failing: count(isFailing),
  };
}

/** Whether a person would have to accept the steps. */
function isNotAccepted({ steps }: CaseStatus): boolean {
  return steps === "weakened" || steps === "changed" || steps === "notAccepted";
}

/** Whether the newest result in any browser and breakpoint is FAILED. */
export function isFailing({ results, runs }: CaseStatus): boolean {
  const seen = new Set<string>();
  if (runs !== "on") return false;
  return results.some(({ platform, status }) => {
    const isNewest = !seen.has(platform);
    seen.add(platform);
    return isNewest && status === "FAILED";
  });
}

/** Why somebody must look at a test case, the most harmful first. */
export function needsOf(one: CaseStatus): readonly string[] {
  const until = one.quarantine?.until ?? "";
  return [
    ...(one.overdue ? [`its quarantine ended on ${until}`] : []),
    ...(isFailing(one) && (one.quarantine === undefined || one.overdue) ? ["it fails"] : []),
    ...(one.withoutSteps ? [one.runs === "on" ? "it runs without steps" : "it has no steps"] : []),
    ...(one.steps !== undefined && isNotAccepted(one)
      ? [`its steps: ${STEPS_SAYS[one.steps]}`]
      : []),
    ...(one.drifted ? ["it was changed on the service"] : []),
  ];
}
