import type { DesiredResource } from "../../model/desired.ts";
import { isUnknown } from "../../model/value.ts";
import { idsIn, liveIds, ranWith } from "../batches.ts";
import type { MatchedTarget } from "../matched-target.ts";
import { type Decision, UNCHANGED, created } from "../decision.ts";
import { keyHolds } from "../memory.ts";
import { caution } from "../problem.ts";

/**
 * Decides on a batch generation (service-api.md, operation 11): it runs once per content and can
 * never be read.
 */
export function decideBatchGeneration(
  matched: MatchedTarget,
  resource: DesiredResource,
  run: boolean,
): Decision {
  const { live, state, fingerprints } = matched;
  const record = state?.batchGenerations.get(resource.address);
  // On a target that tasc has applied before, an unrecorded batch generation did not run.
  const isNew = record === undefined && state !== undefined && state.bindings.size > 0;
  // Without the key, or with another one, contents cannot be compared, and it must not run a second
  // time.
  const isOther =
    record?.content !== undefined &&
    record.status !== "held" &&
    fingerprints !== undefined &&
    keyHolds(state, fingerprints) &&
    !Object.values(resource.fields).some(isUnknown) &&
    !ranWith(record, fingerprints, resource, liveIds(matched), idsIn(state));
  if (run || live === undefined || record?.status === "undone" || isNew || isOther)
    return created(matched, resource, "batch-generations");
  if (record?.status === "done") return UNCHANGED;
  const { address } = resource;
  const [code, summary, why] =
    record?.status === "uncertain"
      ? [
          "batch-uncertain",
          "Unknown whether it ran",
          "An earlier apply sent it and got no readable answer, and the API cannot read batch generations.",
        ]
      : [
          "batch-held",
          "Held: state does not record whether it ran",
          "The test target existed before tasc recorded state for it.",
        ];
  const ways = `If it ran:      tasc state mark ${address} done\nTo run it now: tasc apply --run ${address}`;
  return [caution(code, resource, summary, `${why}\n${ways}`)];
}
