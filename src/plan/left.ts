import { targetAddress } from "../model/address.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import type { State } from "../model/state.ts";

/** What is wanted, and what is remembered of it and of what was wanted before. */
export interface Remembered {
  readonly desired: Desired;
  /** By target key. */
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that nothing declares and nothing is to happen to. */
  readonly strays: readonly State[];
}

/**
 * With `onRemove: disable` as the project's policy, the test cases of a target that left the manifests as a whole are
 * disabled like any that left one by one. For that the target is looked at, as one that declares nothing.
 */
export function withLeft(remembered: Remembered, disableRemoved: boolean): Remembered {
  const { desired, states, strays } = remembered;
  if (!disableRemoved || strays.length === 0) return remembered;
  return {
    desired: { ...desired, targets: [...desired.targets, ...strays.map(({ target }) => leftTarget(target))] },
    states: new Map([...states, ...strays.map((state) => [state.target, state] as const)]),
    strays: [],
  };
}

function leftTarget(key: string): DesiredTarget {
  return {
    kind: "target",
    address: targetAddress(key),
    key,
    left: true,
    fields: {},
    layers: [],
    onRemove: "disable",
    environments: [],
    testCases: [],
    batchGenerations: [],
    moved: [],
  };
}
