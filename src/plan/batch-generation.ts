import { BATCH_GENERATION_FIELDS } from "../fields/batch-generation.ts";
import { addressOf } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { BodyValue } from "../model/plan.ts";
import type { Fingerprint } from "../model/state.ts";
import { IdOf, isUnknown, reveal } from "../model/value.ts";
import { declaredChanges } from "./field-changes.ts";
import type { Fingerprinter } from "./inputs.ts";
import { keyHolds } from "./memory.ts";
import { caution } from "./problem.ts";
import { needsTarget, targetId, testCaseReference, UNCHANGED, unmanagedByName } from "./seen.ts";
import type { Decision, Seen } from "./seen.ts";
import { unmanagedPrerequisiteProblem } from "./test-case.ts";

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

/** The record of a batch generation's content. */
export function batchContent(fingerprints: Fingerprinter, resource: DesiredResource): Fingerprint {
  return fingerprints.of(resource.address, reveal(resource.fields));
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
  const body: Record<string, BodyValue> = {};
  const dependsOn: Address[] = [...needsTarget(seen)];
  for (const field of BATCH_GENERATION_FIELDS) {
    const value = resource.fields[field.name];
    if (field.create === undefined || value === undefined || value === null || isUnknown(value)) continue;
    if (field.shape.type !== "reference") body[field.create] = value;
    else if (field.shape.to === "environment")
      body[field.create] = environmentId(seen, reveal(value), dependsOn);
    else {
      const id = prerequisiteId(seen, resource, value, dependsOn);
      if (id instanceof Object && "code" in id) return { diagnostics: [id] };
      body[field.create] = id;
    }
  }
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: BATCH_GENERATION_FIELDS.flatMap((field) => {
        const value = resource.fields[field.name];
        return value === undefined || value === null || isUnknown(value) ? [] : declaredChanges(field, value);
      }),
      calls: [
        { method: "POST", path: ["apiKey", "v3", "test-targets", targetId(seen), "batch-generations"], body },
      ],
      followUps: [],
      dependsOn,
    },
    diagnostics: [],
  };
}

function environmentId(seen: Seen, key: unknown, dependsOn: Address[]): string | IdOf {
  const address = addressOf("environment", seen.target.key, String(key));
  const match = seen.environmentMatches.get(address);
  if (match?.found === true) return match.id;
  dependsOn.push(address);
  return new IdOf(address);
}

function prerequisiteId(
  seen: Seen,
  resource: BatchGeneration,
  value: Parameters<typeof testCaseReference>[1],
  dependsOn: Address[],
): string | IdOf | Diagnostic {
  const reference = testCaseReference(seen, value);
  if (reference === undefined) return "";
  if ("description" in reference) {
    const [found] = unmanagedByName(seen, reference.description);
    return (
      unmanagedPrerequisiteProblem(seen, resource, reference.description, "prerequisite") ?? found?.id ?? ""
    );
  }
  const match = seen.testCaseMatches.get(reference.key);
  if (match?.found === true) return match.id;
  dependsOn.push(reference.key);
  return new IdOf(reference.key);
}
