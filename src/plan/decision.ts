import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveResource } from "../model/live.ts";
import type { Change, PlannedCall } from "../model/plan.ts";
import { bodyOf, callOf, patchOf, sendableFields, shownFields } from "./calls.ts";
import { diffFields } from "./compare.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { memoryOf } from "./memory.ts";
import { problem } from "./problem.ts";
import { resolveReference } from "./reference.ts";

/** A test case that the plan would switch on if it had steps, and these were as accepted. */
interface Held {
  readonly held: Address;
}

/** The changes and diagnostics of one address. */
export type Decision = readonly (Change | Diagnostic | Held)[];

export const UNCHANGED: Decision = [];

export const isChange = (one: Decision[number]) => "action" in one;
export const isDiagnostic = (one: Decision[number]) => "severity" in one;
export const isHeld = (one: Decision[number]) => "held" in one;

/** Plans one change; follow-ups and what must be created before it are none if not given. */
export function decided(
  { address }: Pick<Change, "address">,
  action: Change["action"],
  rest: Pick<Change, "fields" | "calls"> & Partial<Change>,
): Decision {
  return [{ address, action, followUps: [], dependsOn: [], ...rest }];
}

export function refused(...refusal: Parameters<typeof problem>): Decision {
  return [problem(...refusal)];
}

/** Returns the target's address if the target must be created first. */
export function needsTarget({ live, target }: MatchedTarget): readonly Address[] {
  return live === undefined ? [target.address] : [];
}

/**
 * Plans the update of a live target or environment.
 * @param path segments after the target's id
 */
export function updated(
  matched: MatchedTarget,
  resource: DesiredResource,
  live: LiveResource,
  path: PlannedCall["path"],
): Decision {
  const diffs = diffFields(resource, live, memoryOf(resource.address, live.id, matched));
  if (diffs.length === 0) return UNCHANGED;
  const fields = diffs.flatMap(({ shown }) => shown);
  return decided(resource, "update", { id: live.id, fields, calls: patchOf(matched, path, diffs) });
}

/**
 * Plans a creation: the POST carries all the fields it can, with references resolved.
 * @param after calls after the POST
 */
export function created(
  matched: MatchedTarget,
  resource: DesiredResource,
  path: string,
  after: Pick<Change, "calls"> & Partial<Change> = { calls: [] },
): Decision {
  const sent = sendableFields(resource);
  const resolved = sent.map((one) => resolveReference(matched, resource, one));
  const problems = resolved.flatMap((one) => one.problem ?? []);
  if (problems.length > 0) return problems;
  return decided(resource, "create", {
    ...after,
    fields: shownFields(sent),
    calls: [callOf("POST", matched, [path], bodyOf(resolved, "create")), ...after.calls],
    dependsOn: [...needsTarget(matched), ...resolved.flatMap(({ needs }) => needs ?? [])],
  });
}
