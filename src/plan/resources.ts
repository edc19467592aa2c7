import type { Address } from "../model/address.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";

/** Every declared resource of a target, the target first. */
export function resourcesOf(target: DesiredTarget): readonly DesiredResource[] {
  const inner = [...target.environments, ...target.testCases, ...target.batchGenerations];
  return target.left ? inner : [target, ...inner];
}

export function byAddress(resources: readonly DesiredResource[]): ReadonlyMap<Address, DesiredResource> {
  return new Map(resources.map((resource) => [resource.address, resource]));
}
