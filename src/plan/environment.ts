import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { LiveEnvironment } from "../model/live.ts";
import type { BodyValue, PlannedCall } from "../model/plan.ts";
import { IdOf, isUnknown } from "../model/value.ts";
import { declaredChanges } from "./field-changes.ts";
import { diffFields } from "./field-diff.ts";
import { memoryOf } from "./memory.ts";
import { problem } from "./problem.ts";
import { needsTarget, targetId, UNCHANGED } from "./seen.ts";
import type { Decision, Seen } from "./seen.ts";
import { bodyOf } from "./target.ts";

type Environment = DesiredResource<"environment">;

/** service-api.md, operations 5 and 6. */
export function decideEnvironment(seen: Seen, resource: Environment): Decision {
  const match = seen.environmentMatches.get(resource.address);
  if (match === undefined) return UNCHANGED;
  if (match.found) return updateEnvironment(seen, resource, match.live);
  if (resource.key !== "default") return createEnvironment(seen, resource);
  return seen.live === undefined ? createDefault(seen, resource) : withoutDefault(resource);
}

function updateEnvironment(seen: Seen, resource: Environment, live: LiveEnvironment): Decision {
  const memory = memoryOf(resource.address, live.id, seen.state, seen.fingerprints);
  const diffs = diffFields(ENVIRONMENT_FIELDS, resource, live, memory);
  if (diffs.length === 0) return UNCHANGED;
  return {
    change: {
      address: resource.address,
      action: "update",
      id: live.id,
      fields: diffs.flatMap((diff) => diff.shown),
      calls: [patchEnvironment(seen, live.id, bodyOf(diffs))],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function createEnvironment(seen: Seen, resource: Environment): Decision {
  const declared = declaredFields(resource);
  const body: Record<string, BodyValue> = { name: resource.key };
  for (const { field, value } of declared) if (field.create !== undefined) body[field.create] = value;
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        { method: "POST", path: ["apiKey", "v3", "test-targets", targetId(seen), "environments"], body },
      ],
      followUps: [],
      dependsOn: needsTarget(seen),
    },
    diagnostics: [],
  };
}

/** It is made with the target, URL and all; what else is declared of it takes a PATCH. */
function createDefault(seen: Seen, resource: Environment): Decision {
  const declared = declaredFields(resource);
  const settings = declared.filter(({ field }) => field.name !== "discoveryUrl");
  return {
    change: {
      address: resource.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls:
        settings.length === 0 ? [] : [patchEnvironment(seen, new IdOf(resource.address), bodyOf(settings))],
      followUps: [],
      dependsOn: needsTarget(seen),
    },
    diagnostics: [],
  };
}

/** What a creation sends of the declared fields: a null is left out, and so is what is not known. */
function declaredFields(resource: Environment) {
  return ENVIRONMENT_FIELDS.flatMap((field) => {
    const value = resource.fields[field.name];
    return value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
}

function withoutDefault(resource: Environment): Decision {
  return {
    diagnostics: [
      problem(
        "no-default-environment",
        resource,
        "The live test target has no DEFAULT environment",
        "The service makes it together with the target, and the interface cannot add one later. Bind the environment that is meant with `id:`, or declare it under another key.",
      ),
    ],
  };
}

function patchEnvironment(seen: Seen, id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return {
    method: "PATCH",
    path: ["apiKey", "v3", "test-targets", targetId(seen), "environments", id],
    body,
  };
}
