import { TARGET_FIELDS } from "../fields/target.ts";
import type { LiveTarget } from "../model/live.ts";
import type { BodyValue, PlannedCall } from "../model/plan.ts";
import { IdOf, isUnknown } from "../model/value.ts";
import { declaredChanges } from "./field-changes.ts";
import { diffFields } from "./field-diff.ts";
import { memoryOf } from "./memory.ts";
import { problem } from "./problem.ts";
import { sendable } from "./declared.ts";
import { UNCHANGED } from "./seen.ts";
import type { Decision, Seen } from "./seen.ts";

/** service-api.md, operations 2 and 4. */
export function decideTarget(seen: Seen): Decision {
  return seen.live === undefined ? createTarget(seen) : updateTarget(seen, seen.live);
}

function updateTarget({ target, state, fingerprints }: Seen, live: LiveTarget): Decision {
  const diffs = diffFields(
    TARGET_FIELDS,
    target,
    live,
    memoryOf(target.address, live.id, state, fingerprints),
  );
  if (diffs.length === 0) return UNCHANGED;
  return {
    change: {
      address: target.address,
      action: "update",
      id: live.id,
      fields: diffs.flatMap((diff) => diff.shown),
      calls: [patchTarget(live.id, bodyOf(diffs))],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function createTarget({ target }: Seen): Decision {
  const environment = target.environments.find((candidate) => candidate.key === "default");
  const app = sendable(target, "app");
  const discoveryUrl = environment && sendable(environment, "discoveryUrl");
  if (app === undefined || discoveryUrl === undefined) return uncreatable(target, app === undefined);
  const declared = TARGET_FIELDS.flatMap((field) => {
    const value = target.fields[field.name];
    return value === undefined || value === null || isUnknown(value) ? [] : [{ field, value }];
  });
  const settings = declared.filter(({ field }) => field.create === undefined);
  return {
    change: {
      address: target.address,
      action: "create",
      fields: declared.flatMap(({ field, value }) => declaredChanges(field, value)),
      calls: [
        {
          method: "POST",
          path: ["apiKey", "v3", "test-targets"],
          body: { testTarget: { app, discoveryUrl } },
        },
        ...(settings.length === 0 ? [] : [patchTarget(new IdOf(target.address), bodyOf(settings))]),
      ],
      followUps: [],
      dependsOn: [],
    },
    diagnostics: [],
  };
}

function uncreatable(target: Seen["target"], lacksApp: boolean): Decision {
  const missing = lacksApp ? "app" : "environments.default.discoveryUrl";
  return {
    diagnostics: [
      problem(
        "cannot-create",
        target,
        `No live test target fits, and it cannot be created without ${missing}`,
        `Declare \`${missing}\` of ${target.address}, or bind it to a live one with \`id:\`.`,
      ),
    ],
  };
}

function patchTarget(id: string | IdOf, body: PlannedCall["body"]): PlannedCall {
  return { method: "PATCH", path: ["apiKey", "v3", "test-targets", id], body };
}

/** The body of a PATCH: each differing field under its name on the service, objects with all declared parts. */
export function bodyOf(
  diffs: readonly { readonly field: { readonly update?: string }; readonly value: BodyValue }[],
): { readonly [key: string]: BodyValue } {
  const body: Record<string, BodyValue> = {};
  for (const { field, value } of diffs) if (field.update !== undefined) body[field.update] = value;
  return body;
}
