import { type Address, targetAddress } from "../model/address.ts";
import type { Desired, DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { TEST_CASE_FIELDS } from "../model/fields.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import type { Change, Orphan } from "../model/plan.ts";
import type { State, StateEvent } from "../model/state.ts";
import { isSensitive } from "../model/value.ts";
import { compareField } from "./compare.ts";
import type { MatchedTarget } from "./matched-target.ts";
import type { PlanInput } from "./input.ts";
import { caution } from "./problem.ts";
import { matchedIds } from "./match.ts";
import { mayHoldSecret, memoryOf, recordField } from "./memory.ts";
import { recordedAddresses } from "../state/edit.ts";
import { expectedLive } from "./reference.ts";

/**
 * Returns undeclared bindings of a target: `orphans` are listed and match no declared address, the
 * rest is `gone`.
 */
export function undeclaredBindings(matched: MatchedTarget): {
  readonly orphans: readonly Orphan[];
  readonly gone: readonly Address[];
} {
  const { live, testCases, resources, matches, state } = matched;
  const left: Orphan[] = [];
  for (const [address, { id }] of state?.bindings ?? [])
    if (!resources.has(address)) left.push({ address, id });
  if (left.length === 0) return { orphans: [], gone: [] };
  const managed = matchedIds(matches);
  const listed = new Set(listedIn(live, testCases));
  const isOrphan = ({ id }: Orphan): boolean => listed.has(id) && !managed.has(id);
  return {
    orphans: left.filter(isOrphan),
    gone: left.flatMap((one) => (isOrphan(one) ? [] : [one.address])),
  };
}

/**
 * Returns the bindings of undeclared targets that are live and not matched to a declared one,
 * without reading contents.
 */
export function undeclaredOrphans(
  undeclared: readonly State[],
  targets: readonly LiveTarget[],
  meant: ReadonlySet<string>,
): readonly Orphan[] {
  const live = new Set(targets.map((target) => target.id));
  return undeclared.flatMap((state) => {
    const own = state.bindings.get(targetAddress(state.target));
    if (own === undefined || !live.has(own.id) || meant.has(own.id)) return [];
    return [...state.bindings].map(([address, { id }]) => ({ address, id }));
  });
}

/** Yields the ids that the service lists for a target: its own and those inside it. */
function* listedIn(
  live: LiveTarget | undefined,
  testCases: readonly LiveTestCase[],
): Generator<string> {
  if (live !== undefined) yield live.id;
  for (const { id } of live?.environments ?? []) yield id;
  for (const { id } of testCases) yield id;
}

/** Counts the live test cases and environments that no manifest declares, without orphans. */
export function countUnmanaged(
  { target, live, testCases, matches }: MatchedTarget,
  orphans: readonly Orphan[],
): number {
  if (target.left) return 0;
  const known = new Set([...matchedIds(matches), ...orphans.map(({ id }) => id)]);
  return new Set([...listedIn(live, testCases)].filter((id) => !known.has(id))).size;
}

/** Maximum number of pairs that are searched for renamed test cases. */
const MOST_PAIRS = 100_000;

/**
 * Warns about test cases that would be created although an orphaned one has all that they declare
 * except the name.
 */
export function renamedWarnings(
  matched: MatchedTarget,
  changes: readonly Change[],
  orphans: readonly Orphan[],
): readonly Diagnostic[] {
  const { resources, testCases, state } = matched;
  const created = changes.flatMap(({ action, address }) => {
    const resource = action === "create" ? resources.get(address) : undefined;
    return resource?.kind === "testCase" ? [resource] : [];
  });
  if (created.length * orphans.length > MOST_PAIRS) return [];
  const live = new Map(orphans.length === 0 ? [] : testCases.map((one) => [one.id, one]));
  const isSame = (resource: DesiredResource, { address, id }: Orphan): boolean => {
    const other = live.get(id);
    // Readable fields suffice for a hint. So a snapshot, which has no key, gives the same hints.
    const memory = memoryOf(address, id, { state, fingerprints: undefined });
    return TEST_CASE_FIELDS.every((field) => {
      const value = resource.fields[field.name];
      if (value === undefined || field.recognizedBy === "name") return true;
      // Secrets are not compared for a hint: a snapshot has none, and must give the same plan as
      // the service.
      if (isSensitive(value) || mayHoldSecret(field, memory)) return false;
      const kind =
        other &&
        compareField(field, value, other, memory, expectedLive(matched, field, value)).kind;
      // What the service never shows says nothing against it.
      return kind === "same" || field.read === undefined;
    });
  };
  return created.flatMap((resource) => {
    const old = orphans.find((orphan) => isSame(resource, orphan))?.address;
    if (old === undefined) return [];
    const { address } = resource;
    return [
      caution(
        "looks-renamed",
        resource,
        `${address} looks renamed from ${old}`,
        `${old} left the manifests, and the service has it with the same prompt, so ${address} would be a second one. If it is the same test case, add to the target:\nmoved: [{ from: ${old}, to: ${address} }]`,
      ),
    ];
  });
}

const SWITCHES = TEST_CASE_FIELDS.filter(({ off }) => off !== undefined);

/**
 * Warns about test cases that tasc took out of runs and whose manifest no longer declares this: it
 * may go unnoticed.
 */
export function leftOffWarnings(matched: MatchedTarget): readonly Diagnostic[] {
  const { resources, matches, state, fingerprints } = matched;
  return [...resources.values()].flatMap((resource) => {
    const live = matches.get(resource.address)?.live;
    if (live === undefined || resource.kind !== "testCase" || fingerprints === undefined) return [];
    return SWITCHES.flatMap((field): readonly Diagnostic[] => {
      const { name, off = null } = field;
      if (resource.fields[name] !== undefined || field.read?.(live) !== off) return [];
      const { binding } = memoryOf(resource.address, live.id, { state, fingerprints });
      if (binding?.fields[name] !== recordField(fingerprints, live.id, field, off)) return [];
      const detail = `tasc set it when the test case left the manifests or was declared so. No manifest declares \`${name}\` now, so the test case stays out of runs. Declare \`${name}\` to decide whether it runs.`;
      return [caution("left-off", resource, `${name} is still ${off}, as tasc set it`, detail)];
    });
  });
}

/** Returns the addresses of a state that `removed:` names, by themselves or with their target. */
export function forgottenIn(
  state: State,
  { removed = [] }: Pick<Desired, "removed">,
): readonly Address[] {
  if (removed.length === 0) return [];
  const named = new Set(removed.map(({ address }) => address));
  const known = recordedAddresses(state);
  return named.has(targetAddress(state.target)) ? known : known.filter((one) => named.has(one));
}

/** Returns the changes by which state forgets addresses. */
export function forgets(state: State, addresses: readonly Address[]): readonly Change[] {
  const nothing = { fields: [], calls: [], followUps: [], dependsOn: [] };
  return addresses.map((address) => {
    const id = state.bindings.get(address)?.id;
    return { address, action: "forget", ...(id !== undefined && { id }), ...nothing };
  });
}

/** Returns what the record of a forgotten address becomes: nothing is left of it. */
export function forgetEvents(addresses: readonly Address[]): readonly StateEvent[] {
  return addresses.flatMap((address) => [
    { type: "unbound", address },
    { type: "settled", address },
  ]);
}

/** The desired configuration, with the states of declared and undeclared targets. */
export type Remembered = Pick<PlanInput, "desired" | "states" | "strays">;

/**
 * Adds removed targets, as targets that declare nothing, if the project's policy is `onRemove:
 * disable`. The test cases of a target that was removed as a whole are then disabled like
 * individually removed ones.
 */
export function withRemovedTargets(remembered: Remembered, disableRemoved: boolean): Remembered {
  const { desired, states, strays } = remembered;
  if (!disableRemoved || strays.length === 0) return remembered;
  // What `removed:` names is not touched on the service.
  const isForgotten = ({ target }: State): boolean =>
    desired.removed?.some(({ address }) => address === targetAddress(target)) === true;
  const left = strays.filter((state) => !isForgotten(state));
  const targets = left.map(({ target: key }): DesiredTarget => ({
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
  }));
  return {
    desired: { ...desired, targets: [...desired.targets, ...targets] },
    states: new Map([...states, ...left.map((state) => [state.target, state] as const)]),
    strays: strays.filter(isForgotten),
  };
}
