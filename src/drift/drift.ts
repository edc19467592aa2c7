import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, Path } from "../model/json.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import { scopeTest } from "../plan/scope.ts";
import type { Scope } from "../plan/scope.ts";
import type { Planned } from "../plan/plan.ts";
import type { Seen } from "../plan/seen.ts";

/**
 * What the service changed since the last apply. A plan tells it already, field by field, wherever state holds a
 * record of what was applied; here is what is left of a plan when everything the manifests changed is taken away.
 */
export interface Drift {
  /** Sorted by address, as are those removed. */
  readonly changes: readonly DriftedResource[];
  readonly removed: readonly Removed[];
  /** Errors of the plan, and reasons for which drift cannot be told. */
  readonly problems: readonly Diagnostic[];
}

export type DriftedResource = {
  readonly address: Address;
  readonly id: string;
  readonly fields: readonly DriftedField[];
};

export type DriftedField = {
  readonly path: Path;
  /** As the manifests say; unless they changed too, it is what was last applied. */
  readonly declared?: Json;
  /** Absent where the service does not show it. */
  readonly live?: Json;
  readonly sensitive?: true;
  readonly changedBy: Exclude<ChangedBy, "manifest">;
};

/** A bound resource that the service no longer lists. */
export type Removed = {
  readonly address: Address;
  readonly id: string;
  /** What is found by the same name now. */
  readonly replacedBy?: string;
};

export function driftOf({ plan, seen }: Planned, scope: Scope): Drift {
  const inScope = scopeTest(scope);
  const removed = [...seen.values()].flatMap(removedFrom).filter(({ address }) => inScope(address));
  return {
    changes: plan.changes.flatMap(({ address, id, fields }) => {
      const drifted = fields.flatMap(driftedField);
      return id === undefined || drifted.length === 0 ? [] : [{ address, id, fields: drifted }];
    }),
    removed: removed.toSorted((a, b) => compareAddresses(a.address, b.address)),
    problems: problemsOf(plan.diagnostics, new Set(removed.map(({ address }) => address))),
  };
}

export function hasDrifted({ changes, removed }: Drift): boolean {
  return changes.length > 0 || removed.length > 0;
}

/** A plan goes from what is live to what is declared; drift went the other way. */
function driftedField({ path, before, after, sensitive, changedBy }: FieldChange): readonly DriftedField[] {
  if (changedBy === undefined || changedBy === "manifest") return [];
  if (sensitive) return [{ path, sensitive, changedBy }];
  return [
    {
      path,
      ...(after === undefined ? {} : { declared: after }),
      ...(before === undefined ? {} : { live: before }),
      changedBy,
    },
  ];
}

function removedFrom(seen: Seen): readonly Removed[] {
  const { target, live, environmentMatches, testCaseMatches } = seen;
  const parts: readonly DesiredResource[] = [...target.environments, ...target.testCases];
  return [
    ...removedResource(seen, target, live?.id),
    ...parts.flatMap((resource) => {
      const match = environmentMatches.get(resource.address) ?? testCaseMatches.get(resource.address);
      return match === undefined ? [] : removedResource(seen, resource, match.found ? match.id : undefined);
    }),
  ];
}

/** Another id by the manifest's own word is a correction, and not the service's doing. */
function removedResource(
  { state }: Seen,
  { address, id: byHand }: DesiredResource,
  now: string | undefined,
): readonly Removed[] {
  const id = state?.bindings.get(address)?.id;
  if (id === undefined || id === now || byHand !== undefined) return [];
  return [{ address, id, ...(now === undefined ? {} : { replacedBy: now }) }];
}

/** Without records made with the key at hand nothing can be said, and silence would pass for "no drift". */
function problemsOf(
  diagnostics: readonly Diagnostic[],
  removed: ReadonlySet<Address>,
): readonly Diagnostic[] {
  return diagnostics.flatMap((diagnostic): readonly Diagnostic[] => {
    // What was removed is drift, also where a plan could not make it again.
    if (diagnostic.address !== undefined && removed.has(diagnostic.address)) return [];
    if (diagnostic.severity === "error") return [diagnostic];
    if (diagnostic.code !== "key-changed") return [];
    const detail =
      "What was last applied is recorded under another API key or `state.fingerprintKey`, so nobody can tell who changed a field since. Apply once with the key at hand, or use the one that applied last.";
    return [{ ...diagnostic, severity: "error", summary: "Drift cannot be told", detail }];
  });
}
