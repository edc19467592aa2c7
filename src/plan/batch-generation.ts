import { BATCH_GENERATION_FIELDS } from "../fields/batch-generation.ts";
import type { Field } from "../fields/field.ts";
import { addressOf } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { BodyValue } from "../model/plan.ts";
import type { Fingerprint } from "../model/state.ts";
import { IdOf, isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { knownText, sendable } from "./declared.ts";
import { declaredChanges } from "./field-changes.ts";
import type { Fingerprinter } from "./inputs.ts";
import type { Match } from "./match.ts";
import { keyHolds } from "./memory.ts";
import { unmanagedPrerequisiteProblem } from "./prerequisite.ts";
import { caution } from "./problem.ts";
import { needsTarget, targetId, testCaseReference, UNCHANGED, unmanagedByName } from "./seen.ts";
import type { Decision, Seen } from "./seen.ts";

type BatchGeneration = DesiredResource<"batchGeneration">;

/** service-api.md, operation 11: it runs once per content, and nothing can be read of it afterwards. */
export function decideBatchGeneration(seen: Seen, resource: BatchGeneration, run: boolean): Decision {
  if (run || seen.live === undefined) return runBatchGeneration(seen, resource);
  const record = seen.state?.batchGenerations.get(resource.address);
  if (record === undefined) return hasHistory(seen) ? runBatchGeneration(seen, resource) : held(resource);
  switch (record.status) {
    case "undone":
      return runBatchGeneration(seen, resource);
    case "held":
      return held(resource);
    case "done":
      return contentChanged(seen, resource, record.content) ? runBatchGeneration(seen, resource) : UNCHANGED;
    case "uncertain":
      return contentChanged(seen, resource, record.content)
        ? runBatchGeneration(seen, resource)
        : uncertain(resource);
  }
}

/** A target that tasc has applied before: what it has not recorded there did not run. */
function hasHistory({ state }: Seen): boolean {
  return state !== undefined && state.bindings.size > 0;
}

/** Without the key, or with another one, nobody can tell; and then it must not run a second time. */
function contentChanged(seen: Seen, resource: BatchGeneration, recorded: Fingerprint | undefined): boolean {
  if (seen.fingerprints === undefined || recorded === undefined) return false;
  if (!keyHolds(seen.state, seen.fingerprints) || Object.values(resource.fields).some(isUnknown))
    return false;
  return batchContent(seen.fingerprints, resource) !== recorded;
}

/** The record of a batch generation's content: of what is sent, wherever `moved:` may have taken the address. */
export function batchContent(fingerprints: Fingerprinter, resource: DesiredResource): Fingerprint {
  const content = sentFields(resource).map(({ field, value }) => [field.name, value] as const);
  return fingerprints.of("batchGeneration", reveal(Object.fromEntries(content)));
}

function held(resource: BatchGeneration): Decision {
  return {
    diagnostics: [
      waysOn(
        resource,
        "batch-held",
        "Held: state does not know whether it ran",
        "The test target was there before tasc kept state of it.",
      ),
    ],
  };
}

function uncertain(resource: BatchGeneration): Decision {
  return {
    diagnostics: [
      waysOn(
        resource,
        "batch-uncertain",
        "Not known whether it ran",
        "An earlier apply sent it and got no readable answer, and the interface cannot read batch generations.",
      ),
    ],
  };
}

/** A batch generation that is not run again by itself, and the two ways on. */
function waysOn(resource: BatchGeneration, code: string, summary: string, why: string): Diagnostic {
  return caution(
    code,
    resource,
    summary,
    `${why}\nIf it ran:      tasc state mark ${resource.address} done\nIf it is to run: tasc apply --run ${resource.address}`,
  );
}

function runBatchGeneration(seen: Seen, resource: BatchGeneration): Decision {
  const declared = sentFields(resource);
  const lowered = declared.map(({ field, value }) => ({ field, ...lower(seen, resource, field, value) }));
  const problems = lowered.flatMap(({ problem }) => problem ?? []);
  if (problems.length > 0) return { diagnostics: problems };
  const body: Record<string, BodyValue> = {};
  for (const { field, sent } of lowered)
    if (field.create !== undefined && sent !== undefined) body[field.create] = sent;
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        { method: "POST", path: ["apiKey", "v3", "test-targets", targetId(seen), "batch-generations"], body },
      ],
      followUps: [],
      dependsOn: [...needsTarget(seen), ...lowered.flatMap(({ needs }) => needs ?? [])],
    },
    diagnostics: [],
  };
}

/** A declared null is left out, and so is what is not known. */
function sentFields(resource: DesiredResource) {
  return BATCH_GENERATION_FIELDS.flatMap((field) => {
    const value = sendable(resource, field.name);
    return value === undefined ? [] : [{ field, value }];
  });
}

/** A field as it goes into the body, and the creation that must come first; or why it cannot be sent. */
interface Lowered {
  readonly sent?: BodyValue;
  readonly needs?: Address;
  readonly problem?: Diagnostic;
}

function lower(seen: Seen, resource: BatchGeneration, field: Field<never>, value: Value): Lowered {
  if (field.shape.type !== "reference") return { sent: value };
  if (field.shape.to === "environment") {
    const address = addressOf("environment", seen.target.key, knownText(resource, field.name) ?? "");
    return idOrNeed(address, seen.environmentMatches.get(address));
  }
  const reference = testCaseReference(seen, value);
  if (reference === undefined) return {};
  if ("key" in reference) return idOrNeed(reference.key, seen.testCaseMatches.get(reference.key));
  const problem = unmanagedPrerequisiteProblem(seen, resource, reference.description, field.name);
  const [found] = unmanagedByName(seen, reference.description);
  return problem === undefined && found !== undefined ? { sent: found.id } : { ...(problem && { problem }) };
}

function idOrNeed(address: Address, match: Match<unknown> | undefined): Lowered {
  return match?.found === true ? { sent: match.id } : { sent: new IdOf(address), needs: address };
}
