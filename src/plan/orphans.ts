import { parseAddress, targetAddress } from "../model/address.ts";
import type { Desired, DesiredTarget } from "../model/desired.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Change, Orphan } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import type { Seen } from "./compare.ts";
import { matchedIds } from "./match.ts";

/** What state binds of a target and no manifest declares any more, as far as the service still lists it. */
export function orphansOf(seen: Seen): readonly Orphan[] {
  const listed = listedIds(seen);
  const managed = managedIds(seen);
  const orphans: Orphan[] = [];
  for (const [address, { id }] of seen.state?.bindings ?? [])
    if (!seen.resources.has(address) && listed.has(id) && !managed.has(id)) orphans.push({ address, id });
  return orphans;
}

/**
 * What the states of undeclared targets bind, as far as the target is still there and no declared one means it; its
 * parts are not read.
 */
export function strayOrphans(
  strays: readonly State[],
  targets: readonly LiveTarget[],
  meant: ReadonlySet<string>,
): readonly Orphan[] {
  const live = new Set(targets.map((target) => target.id));
  return strays.flatMap((state) => {
    const own = state.bindings.get(targetAddress(state.target));
    if (own === undefined || !live.has(own.id) || meant.has(own.id)) return [];
    return [...state.bindings].map(([address, { id }]) => ({ address, id }));
  });
}

/** Ids that the service lists: of a target, and inside of it. */
export function listedIds({ testCases, live }: Seen): ReadonlySet<string> {
  const own = live === undefined ? [] : [live, ...live.environments];
  return new Set([...own, ...testCases].map((resource) => resource.id));
}

/** Ids that some address means. */
export function managedIds({ environmentMatches, testCaseMatches }: Seen): ReadonlySet<string> {
  return new Set([...matchedIds(environmentMatches), ...matchedIds(testCaseMatches)]);
}

/** Live cases and environments that nothing declares, orphans apart. */
export function countUnmanaged(seen: Seen, orphans: readonly Orphan[]): number {
  if (seen.target.left) return 0;
  const known = new Set([...managedIds(seen), ...orphans.map((orphan) => orphan.id), seen.live?.id]);
  return [...listedIds(seen)].filter((id) => !known.has(id)).length;
}

/** With `onRemove: disable`, an orphaned test case that is still in use is set to DISABLED. */
export function disableOrphan(seen: Seen, orphan: Orphan): Change | undefined {
  if (parseAddress(orphan.address)?.kind !== "testCase" || seen.live === undefined) return undefined;
  const live = seen.testCases.find((testCase) => testCase.id === orphan.id);
  if (live === undefined || live.status === "DISABLED") return undefined;
  return {
    address: orphan.address,
    action: "disable",
    id: orphan.id,
    fields: [{ path: ["status"], before: live.status ?? null, after: "DISABLED" }],
    calls: [
      {
        method: "PATCH",
        path: ["apiKey", "v3", "test-targets", seen.live.id, "test-cases", orphan.id],
        body: { status: "DISABLED" },
      },
    ],
    followUps: [],
    dependsOn: [],
  };
}

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
