import type { Address } from "../model/address.ts";
import { type DesiredTarget, byAddress, resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { DELETED } from "../model/fields.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Change, Orphan } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { isChange, isDiagnostic, isHeld } from "./decision.ts";
import type { PlanInput } from "./input.ts";
import { decideBatchGeneration } from "./kinds/batch-generation.ts";
import { decideEnvironment } from "./kinds/environment.ts";
import { decideTarget } from "./kinds/target.ts";
import { decideTestCase, disableOrphan } from "./kinds/test-case.ts";
import { type Match, type Matches, matchEnvironments, matchTestCases } from "./match.ts";
import { type SecretFields, keyHolds } from "./memory.ts";
import { countUnmanaged, leftOffWarnings, renamedWarnings, undeclaredBindings } from "./orphans.ts";
import { caution } from "./problem.ts";

/** The plan of one target. */
export interface TargetPlan {
  /** Absent if the target itself is unclear, so that nothing in it can be planned. */
  readonly matched?: MatchedTarget;
  readonly changes: readonly Change[];
  readonly held: readonly Address[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

const UNCLEAR: TargetPlan = { changes: [], held: [], orphans: [], unmanaged: 0, diagnostics: [] };

/** Matches all resources of a target, and decides on each of them. */
export function planTarget(
  target: DesiredTarget,
  match: Match<LiveTarget> | undefined,
  state: State | undefined,
  input: PlanInput,
  secrets: SecretFields,
): TargetPlan {
  const { live } = match ?? {};
  if (match === undefined || (live === undefined && target.left)) return UNCLEAR;
  const testCases = (input.live.testCases.get(live?.id ?? "") ?? []).filter(
    ({ status }) => status !== DELETED,
  );
  // A target that left the manifests counts as orphaned, so no address matches it.
  const matches: Matches = new Map(target.left ? [] : [[target.address, match]]);
  const problems = [
    ...matchEnvironments(target, live?.environments ?? [], state, matches),
    ...matchTestCases(target, testCases, state, matches),
  ];
  const matched: MatchedTarget = {
    target,
    resources: byAddress(resourcesOf(target)),
    live,
    testCases,
    state,
    fingerprints: input.fingerprints,
    secrets,
    matches,
    steps: input.steps,
  };
  const own = decideTarget(matched);
  if (live === undefined && !own.some(isChange))
    return { ...UNCLEAR, diagnostics: own.filter(isDiagnostic) };
  const { orphans } = undeclaredBindings(matched);
  const disables = input.disableRemoved || target.onRemove === "disable" ? orphans : [];
  const decided = [
    own,
    ...target.environments.map((one) => decideEnvironment(matched, one)),
    ...target.testCases.map((one) =>
      decideTestCase(matched, one, input.rediscover.has(one.address)),
    ),
    ...target.batchGenerations.map((one) =>
      decideBatchGeneration(matched, one, input.run.has(one.address)),
    ),
    ...disables.map((one) => disableOrphan(matched, one)),
  ].flat();
  const changes = decided.filter(isChange);
  return {
    matched,
    changes,
    held: decided.filter(isHeld).map(({ held }) => held),
    orphans,
    unmanaged: countUnmanaged(matched, orphans),
    diagnostics: [
      ...keyWarnings(matched),
      ...removedWarnings(matched),
      ...problems,
      ...decided.filter(isDiagnostic),
      ...renamedWarnings(matched, changes, orphans),
      ...leftOffWarnings(matched),
    ],
  };
}

/** Warns if the digests in state were made with another key, so that nothing equals them. */
function keyWarnings({ target, state, fingerprints }: MatchedTarget): readonly Diagnostic[] {
  if (fingerprints === undefined || keyHolds(state, fingerprints)) return [];
  return [
    caution(
      "key-changed",
      target,
      fingerprints.source === "fingerprintKey"
        ? "`state.fingerprintKey` is not the key that state was written with, so write-only fields are sent again; unless the key was changed on purpose, it is the wrong one"
        : "State was written with another API key, or by tasc 1.0, so write-only fields are sent again; set `state.fingerprintKey` to avoid this when keys change",
      "Prompts and batch generations are not re-sent. If you changed any together with the key, use `--rediscover` or `--run`.",
    ),
  ];
}

/** Warns of each bound resource that the service no longer lists. */
function removedWarnings({ matches, resources }: MatchedTarget): readonly Diagnostic[] {
  return [...matches].flatMap(([address, { removed, live: now }]) => {
    const resource = resources.get(address);
    if (removed === undefined || resource === undefined) return [];
    const next = now
      ? `${now.id} has its name and will be used instead; set \`id:\` if another one is meant.`
      : "It will be created again. To prevent this, remove it from the manifest; if other stages still have it, leave it out of this stage with `onlyStages` instead.";
    const detail = `It was ${removed}, which the service no longer lists. ${next}`;
    return [caution("removed-outside", resource, "Removed outside tasc", detail)];
  });
}
