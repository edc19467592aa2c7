import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { fieldsOf } from "../model/fields.ts";
import { globTest } from "../model/glob.ts";
import { type Path, sameJson, startsWith } from "../model/json.ts";
import type { Change, Plan } from "../model/plan.ts";
import type { PassedIn } from "../model/settings.ts";
import { isUnknown, reveal } from "../model/value.ts";
import { normalise } from "./normalise.ts";
import { type CaseResult, byPlatform, passesIn } from "./results.ts";

/**
 * `policy.passedIn`: what a plan creates, switches on, or makes test something else must have passed
 * in another stage. Pure functions; all times are milliseconds since 1970.
 */

/** The fields that decide what a test case does. */
const TESTED = ["discovery.prompt", "elements", "entryPointUrlPath"] as const;
const TESTED_FIELDS = fieldsOf("testCase").filter(({ name }) => TESTED.some((one) => one === name));
const SWITCHES = fieldsOf("testCase").filter(({ off }) => off !== undefined);

export function isTested(path: Path): boolean {
  return TESTED_FIELDS.some((field) => startsWith(path, field.path));
}

/** Returns the test cases of a plan that the rule judges. Taking one out of runs is never gated. */
export function gatedIn({ changes }: Pick<Plan, "changes">, { except }: PassedIn) {
  const exempt = except.map((glob) => globTest(glob));
  return changes.flatMap((change) =>
    isGated(change) && !exempt.some((fits) => fits(change.address)) ? [change.address] : [],
  );
}

function isGated({ address, action, fields, calls }: Change): boolean {
  if (!address.startsWith("testCase.") || action === "disable" || action === "forget") return false;
  const switchesOn = calls.some(
    ({ method, body }) =>
      method === "PATCH" && (body["status"] === "ENABLED" || body["runStatus"] === "ON"),
  );
  const hidden = fields.some(
    ({ path, sensitive }) => sensitive && SWITCHES.some((field) => startsWith(path, field.path)),
  );
  return action === "create" || switchesOn || hidden || fields.some(({ path }) => isTested(path));
}

/** Returns the first field that makes a test case do something else in the other stage. */
export function otherThere(here: DesiredResource, there: DesiredResource): string | undefined {
  return TESTED_FIELDS.find(({ name, compare }) => {
    const [own, other] = [here.fields[name], there.fields[name]];
    if (own === undefined || other === undefined) return own !== other;
    if (isUnknown(own) || isUnknown(other)) return true;
    return !sameJson(normalise(compare, reveal(own)), normalise(compare, reveal(other)));
  })?.name;
}

/** What the other stage knows of a test case. */
export interface Evidence {
  /** Why its results say nothing about the test case, in words after "it". */
  readonly obstacle?: string | undefined;
  /** Its failures do not count, so it needs no passes. */
  readonly quarantined: boolean;
  /** Since the last apply and generation, the newest first. */
  readonly results: readonly CaseResult[];
  /** The newest finished report of the target. */
  readonly report: string | undefined;
  /** The moment from which results count, as text, if the history tells it. */
  readonly applied: string | undefined;
}

export interface Refusal {
  readonly address: Address;
  readonly outcome: "failed" | "missing" | "otherwise";
  /** One sentence without its full stop. */
  readonly why: string;
  /** How many of the required passes there are. */
  readonly passed: number;
  /** When the rule can hold at the earliest. */
  readonly earliest: number;
}

/** Test cases that the rule is for, but that nobody judged, and why. */
export interface NotJudged {
  readonly why: string;
  readonly addresses: readonly Address[];
}

/** What `policy.passedIn` says of a plan. */
export interface GateVerdict {
  readonly refused: readonly Refusal[];
  /** The other stage cannot be asked. */
  readonly open?: NotJudged;
  /** Nothing but their quarantine lets them pass. */
  readonly exempt?: NotJudged;
}

/** Returns why a test case is refused; undefined if the rule holds for it. */
export function refusalOf(
  address: Address,
  evidence: Evidence | undefined,
  { stage, passes, soak }: Pick<PassedIn, "stage" | "passes" | "soak">,
  now: number,
): Refusal | undefined {
  const groups = [...byPlatform(evidence?.results ?? [])];
  const missing = (why: string): Refusal => {
    const earliest = earliestOf([[]], passes, soak, now);
    return { address, outcome: "missing", why, passed: 0, earliest };
  };
  if (evidence === undefined) return missing(`it does not exist in ${stage}`);
  if (evidence.obstacle !== undefined) return missing(evidence.obstacle);
  if (evidence.quarantined) return undefined;
  if (groups.length === 0) return missing(whyNone(evidence));
  const earliest = earliestOf(
    groups.map(([, results]) => results),
    passes,
    soak,
    now,
  );
  const worst = groups.toSorted(([, a], [, b]) => passesIn(a) - passesIn(b))[0];
  const [platform = "", results = []] = worst ?? [];
  const passed = Math.min(passes, passesIn(results));
  if (passed === passes && earliest <= now) return undefined;
  const [newest] = results;
  const where = groups.length > 1 ? ` (${platform})` : "";
  const isOpen = newest !== undefined && newest.status !== "PASSED";
  const outcome = !isOpen ? "missing" : newest.status === "FAILED" ? "failed" : "otherwise";
  const why = isOpen
    ? `${newest.status} in report ${newest.report}${where}`
    : passed < passes
      ? `it needs more passes${where}`
      : "its passes are too recent";
  return { address, outcome, why, passed, earliest };
}

function whyNone({ report, applied }: Evidence): string {
  if (report === undefined) return "no test report of its target has finished";
  return applied === undefined
    ? `it is not in report ${report}`
    : `no report has finished since it was applied at ${applied}`;
}

/**
 * Returns when the rule can hold at the earliest, if all further results are PASSED and the missing
 * ones come now.
 * @param groups the results of each browser and breakpoint, the newest first
 */
export function earliestOf(
  groups: readonly (readonly CaseResult[])[],
  passes: number,
  soak: number,
  now: number,
): number {
  // Without soak, no time of the service is compared with this machine's clock.
  if (soak === 0) return now;
  const times = groups.map((results) => {
    const oldest = results[Math.min(passes, passesIn(results)) - 1];
    return (oldest?.at ?? now) + soak;
  });
  return Math.max(now, ...times);
}

/** Says in one line why a test case is refused, and when the rule can hold. */
export function refusalLine(refusal: Refusal, rule: Pick<PassedIn, "stage" | "passes">): string {
  return `${refusal.why}; ${outlook(refusal, rule)}`;
}

/** Says when the rule can hold, e.g. `passed 1 of 3 in staging; next possible 2026-11-25T09:12Z`. */
function outlook(
  { passed, earliest }: Refusal,
  { stage, passes }: Pick<PassedIn, "stage" | "passes">,
): string {
  const minute = new Date(Math.ceil(earliest / 60_000) * 60_000).toISOString().slice(0, 16);
  return `passed ${passed} of ${passes} in ${stage}; next possible ${minute}Z`;
}
