import type { DesiredResource } from "../../model/desired.ts";
import type { PlannedCall } from "../../model/plan.ts";
import { IdOf } from "../../model/value.ts";
import { bodyOf, callOf, patchOf, sendableFields, shownFields } from "../calls.ts";
import type { MatchedTarget } from "../matched-target.ts";
import { type Decision, UNCHANGED, decided, needsTarget, refused, updated } from "../decision.ts";

/** Decides on an environment (service-api.md, operations 5 and 6). */
export function decideEnvironment(matched: MatchedTarget, resource: DesiredResource): Decision {
  const match = matched.matches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  const { live } = match;
  if (live !== undefined) return updated(matched, resource, live, ["environments", live.id]);
  const sent = sendableFields(resource);
  const create = (calls: readonly PlannedCall[]): Decision =>
    decided(resource, "create", {
      fields: shownFields(sent),
      calls,
      dependsOn: needsTarget(matched),
    });
  const body = { name: resource.key, ...bodyOf(sent, "create") };
  if (resource.key !== "default") return create([callOf("POST", matched, ["environments"], body)]);
  // The service creates it with the target, including the URL; other declared fields need a PATCH.
  const settings = sent.filter(({ field }) => field.name !== "discoveryUrl");
  if (matched.live === undefined)
    return create(patchOf(matched, ["environments", new IdOf(resource.address)], settings));
  return refused(
    "no-default-environment",
    resource,
    "The live test target has no DEFAULT environment",
    "The service creates it together with the target, and the API cannot add one later. Bind the right environment with `id:`, or declare it under another key.",
  );
}
