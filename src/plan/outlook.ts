import { DELETED } from "../fields/test-case.ts";
import type { DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { LiveTarget } from "../model/live.ts";
import type { Change, Orphan } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { decideBatchGeneration } from "./batch-generation.ts";
import { decideEnvironment } from "./environment.ts";
import type { PlanInput } from "./inputs.ts";
import { matchEnvironments, matchTestCases } from "./match.ts";
import type { Match } from "./match.ts";
import { keyHolds } from "./memory.ts";
import { countUnmanaged, disableOrphan, orphansOf } from "./orphans.ts";
import { caution } from "./problem.ts";
import { byAddress, resourcesOf } from "../model/desired.ts";
import type { Decision, Seen } from "./seen.ts";
import { decideTarget } from "./target.ts";
import { decideTestCase } from "./test-case.ts";

/** What one target comes to. */
export interface Outlook {
  readonly target: DesiredTarget;
  /** Nothing where the target itself is unclear, so that nothing can be said of what is in it. */
  readonly seen: Seen | undefined;
  readonly changes: readonly Change[];
  readonly disables: readonly Change[];
  readonly orphans: readonly Orphan[];
  readonly unmanaged: number;
  readonly diagnostics: readonly Diagnostic[];
}

/** Matches all that is in a target, and decides on each part of it. */
export function lookAt(
  target: DesiredTarget,
  diagnostics: readonly Diagnostic[],
  match: Match<LiveTarget> | undefined,
  state: State | undefined,
  input: PlanInput,
): Outlook {
  if (match === undefined) return unclear(target, diagnostics);
  const live = match.found ? match.live : undefined;
  if (live === undefined && target.left) return unclear(target, diagnostics);
  const testCases = (input.live.testCases.get(live?.id ?? "") ?? []).filter(
    (testCase) => testCase.status !== DELETED,
  );
  const environments = matchEnvironments(target, live?.environments ?? [], state);
  const cases = matchTestCases(target, testCases, state);
  const seen: Seen = {
    target,
    resources: byAddress(resourcesOf(target)),
    live,
    testCases,
    state,
    fingerprints: input.fingerprints,
    environmentMatches: environments.byAddress,
    testCaseMatches: cases.byAddress,
  };
  const own = decideTarget(seen);
  if (live === undefined && own.change === undefined)
    return unclear(target, [...diagnostics, ...own.diagnostics]);
  const decisions = [own, ...decideParts(seen, input)];
  const orphans = orphansOf(seen);
  return {
    target,
    seen,
    changes: decisions.flatMap(({ change }) => change ?? []),
    disables: disablesOrphans(target, input) ? orphans.flatMap((one) => disableOrphan(seen, one) ?? []) : [],
    orphans,
    unmanaged: countUnmanaged(seen, orphans),
    diagnostics: [
      ...diagnostics,
      ...keyWarning(seen),
      ...removedWarnings(match, seen),
      ...environments.problems,
      ...cases.problems,
      ...decisions.flatMap((decision) => decision.diagnostics),
    ],
  };
}

function unclear(target: DesiredTarget, diagnostics: readonly Diagnostic[]): Outlook {
  return { target, seen: undefined, changes: [], disables: [], orphans: [], unmanaged: 0, diagnostics };
}

function disablesOrphans(target: DesiredTarget, input: PlanInput): boolean {
  return input.disableRemoved || target.onRemove === "disable";
}

function decideParts(seen: Seen, input: PlanInput): readonly Decision[] {
  return [
    ...seen.target.environments.map((resource) => decideEnvironment(seen, resource)),
    ...seen.target.testCases.map((resource) =>
      decideTestCase(seen, resource, input.rediscover.has(resource.address)),
    ),
    ...seen.target.batchGenerations.map((resource) =>
      decideBatchGeneration(seen, resource, input.run.has(resource.address)),
    ),
  ];
}

function keyWarning({ target, state, fingerprints }: Seen): readonly Diagnostic[] {
  if (fingerprints === undefined || keyHolds(state, fingerprints)) return [];
  return [
    caution(
      "key-changed",
      target,
      "State was written with another key",
      "What state remembers of write-only fields was made with another API key or `state.fingerprintKey`, so these fields are sent once more. Prompts are recorded anew and not sent, and batch generations not run again: what was changed of them together with the key, send with `--rediscover` and `--run`.",
    ),
  ];
}

function removedWarnings(match: Match<LiveTarget>, seen: Seen): readonly Diagnostic[] {
  const { target, environmentMatches, testCaseMatches } = seen;
  return [
    ...removedWarning(target, match),
    ...target.environments.flatMap((one) => removedWarning(one, environmentMatches.get(one.address))),
    ...target.testCases.flatMap((one) => removedWarning(one, testCaseMatches.get(one.address))),
  ];
}

function removedWarning(resource: DesiredResource, match: Match<unknown> | undefined): readonly Diagnostic[] {
  if (match === undefined || match.found || match.removed === undefined) return [];
  return [
    caution(
      "removed-outside",
      resource,
      "Removed outside tasc",
      `It was ${match.removed}, which the service no longer lists. It is created again; take it out of the manifest if it is to stay away.`,
    ),
  ];
}
