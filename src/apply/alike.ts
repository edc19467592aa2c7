import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Change } from "../model/plan.ts";
import { normalUrl } from "../plan/compare.ts";
import { knownText } from "../plan/declared.ts";
import { targetOf } from "../plan/scope.ts";

/**
 * Creations that look alike go one after another. Were two of one name under way at once and both answers lost,
 * nobody could tell which live resource came of which.
 *
 * @returns by address, what must be over before.
 */
export function alikeBefore(
  creations: readonly Change[],
  resources: ReadonlyMap<Address, DesiredResource>,
): ReadonlyMap<Address, readonly Address[]> {
  const earlier = new Map<string, Address[]>();
  const before = new Map<Address, readonly Address[]>();
  for (const { address } of creations) {
    const resource = resources.get(address);
    const names = resource === undefined ? [] : namesOf(resource);
    before.set(address, [...new Set(names.flatMap((name) => earlier.get(name) ?? []))]);
    for (const name of names) earlier.set(name, [...(earlier.get(name) ?? []), address]);
  }
  return before;
}

/** What a creation is found by when its answer is lost; no two names of different kinds are the same. */
function namesOf(resource: DesiredResource): readonly string[] {
  const text = (field: string): string => knownText(resource, field) ?? "";
  const within = targetOf(resource.address);
  switch (resource.kind) {
    case "target":
      return [`app\n${text("app")}`];
    case "environment":
      return [`url\n${within}\n${normalUrl(text("discoveryUrl"))}`];
    case "testCase": {
      const externalId = knownText(resource, "externalId");
      const name = `name\n${within}\n${text("description")}`;
      return externalId === undefined ? [name] : [name, `externalId\n${within}\n${externalId}`];
    }
    case "batchGeneration":
      return [];
  }
}
