import { isArray } from "../../src/model/json.ts";
import type { Desired, DesiredResource, DesiredTarget } from "../../src/model/desired.ts";
import { type Value, isValueObject } from "../../src/model/value.ts";
import type { MemoryService } from "./memory-service.ts";

type Random = () => number;

function shuffled<T>(items: readonly T[], random: Random): T[] {
  return items
    .map((item) => [random(), item] as const)
    .toSorted(([a], [b]) => a - b)
    .map(([, item]) => item);
}

/** Reorders the lists whose order has no meaning. */
export function shuffledService({ targets }: MemoryService, random: Random): void {
  targets.splice(0, targets.length, ...shuffled(targets, random));
  for (const target of targets) {
    target.environments = shuffled(target.environments, random);
    target.testCases = shuffled(target.testCases, random);
    for (const testCase of target.testCases) testCase.tags = shuffled(testCase.tags, random);
  }
}

/**
 * Reorders the keys of all maps. Addresses keep their order, because the reader of the manifests
 * sorts them.
 */
export function shuffledDesired(desired: Desired, random: Random): Desired {
  return { ...desired, targets: desired.targets.map((target) => shuffledTarget(target, random)) };
}

function shuffledTarget(target: DesiredTarget, random: Random): DesiredTarget {
  return {
    ...shuffledResource(target, random),
    environments: target.environments.map((one) => shuffledResource(one, random)),
    testCases: target.testCases.map((one) => shuffledResource(one, random)),
    batchGenerations: target.batchGenerations.map((one) => shuffledResource(one, random)),
  };
}

function shuffledResource<R extends DesiredResource>(resource: R, random: Random): R {
  const fields = shuffled(Object.entries(resource.fields), random);
  return {
    ...resource,
    fields: Object.fromEntries(fields.map(([name, value]) => [name, shuffledValue(value, random)])),
  };
}

function shuffledValue(value: Value, random: Random): Value {
  if (isArray(value)) return value.map((item) => shuffledValue(item, random));
  if (!isValueObject(value)) return value;
  const parts = shuffled(Object.entries(value), random);
  return Object.fromEntries(parts.map(([key, part]) => [key, shuffledValue(part, random)]));
}
