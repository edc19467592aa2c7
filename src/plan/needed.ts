import type { Address } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Change } from "../model/plan.ts";
import { scopeTest } from "./scope.ts";
import type { Scope } from "./scope.ts";

export interface Needed {
  readonly changes: readonly Change[];
  readonly problems: readonly Diagnostic[];
}

/**
 * The changes in scope, and the creations that they cannot do without: `--only` takes these along, as there would be
 * no target, environment or prerequisite to point at; what `--exclude` rules out is not made all the same, and then
 * the change that needs it is a problem.
 */
export function withNeeded(
  all: readonly Change[],
  inScope: (address: Address) => boolean,
  scope: Scope,
): Needed {
  const byAddress = new Map(all.map((change) => [change.address, change]));
  const allowed = scopeTest({ only: [], exclude: scope.exclude });
  const kept = new Set(all.filter((change) => inScope(change.address)));
  const problems: Diagnostic[] = [];
  // A set that grows while it is walked: prerequisites of prerequisites get their turn.
  for (const { address, dependsOn } of kept)
    for (const needed of dependsOn) {
      const change = byAddress.get(needed);
      if (!allowed(needed)) problems.push(excluded(address, needed));
      else if (change === undefined) problems.push(unmakeable(address, needed));
      else kept.add(change);
    }
  return { changes: [...kept], problems };
}

function excluded(address: Address, needed: Address): Diagnostic {
  return {
    severity: "error",
    code: "needs-excluded",
    address,
    summary: `Needs ${needed}, which --exclude leaves out`,
    detail: `${needed} does not exist yet, and ${address} cannot be made without it. Exclude both, or neither.`,
  };
}

function unmakeable(address: Address, needed: Address): Diagnostic {
  return {
    severity: "error",
    code: "needs-problem",
    address,
    summary: `Needs ${needed}, which cannot be created`,
    detail: `Mend ${needed} first; ${address} cannot be made without it.`,
  };
}
