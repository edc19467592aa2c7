import { type Look, type LookOptions, type Read, look } from "../look/look.ts";
import type { Address } from "../model/address.ts";
import type { Desired, DesiredResource, DesiredTarget } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Settings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import { UNKNOWN } from "../model/value.ts";
import { changedFields } from "../plan/guard.ts";
import { makePlan } from "../plan/plan.ts";
import { sameService } from "../state/backend.ts";
import type { SnapshotHead } from "./head.ts";
import type { Snapshot, SnapshotProblem } from "./read.ts";

/** Why a snapshot is not the one for these settings; `undefined` if it is. */
export function mismatch({ stage, baseUrl }: SnapshotHead, settings: Settings): SnapshotProblem | undefined {
  if (stage !== settings.stage)
    return {
      summary: `The snapshot is of stage ${stage}, and this plan is for ${settings.stage}`,
      detail: `Its ids mean nothing here. Take one of ${settings.stage}, or plan with --stage ${stage}.`,
    };
  if (!sameService(baseUrl, settings.baseUrl))
    return {
      summary: "The snapshot is of another service",
      detail: `It was taken at ${baseUrl}, and this project's service is ${settings.baseUrl}. Correct service.baseUrl or the variable behind it, or take a snapshot there.`,
    };
  return undefined;
}

/** The states of a snapshot, as a plan takes them. */
export function snapshotStates(
  { states }: SnapshotHead,
  { targets }: Desired,
): { readonly states: ReadonlyMap<string, State>; readonly strays: readonly State[] } {
  const declared = new Set(targets.map(({ key }) => key));
  return {
    states: new Map(
      states.filter(({ target }) => declared.has(target)).map((state) => [state.target, state]),
    ),
    strays: states.filter(({ target }) => !declared.has(target)),
  };
}

export type SnapshotLookOptions = Omit<LookOptions, "fingerprints">;

/**
 * Plans from a snapshot, as from the service: the same function over the same data. Without fingerprints write-only
 * fields are unknown and no changes; and the live values of sensitive fields were taken out of the snapshot, so these
 * are not compared either.
 */
export async function lookAtSnapshot(
  snapshot: Snapshot,
  options: SnapshotLookOptions,
): Promise<Read<Look, SnapshotProblem>> {
  const found = await look(snapshot.reader, { ...options, fingerprints: undefined });
  if (!found.ok) return found;
  const { input, planned } = withoutHidden(found.value);
  const diagnostics = [takenAt(snapshot.head), ...planned.plan.diagnostics];
  return { ok: true, value: { input, planned: { ...planned, plan: { ...planned.plan, diagnostics } } } };
}

function takenAt({ createdAt }: SnapshotHead): Diagnostic {
  return {
    severity: "warning",
    code: "from-snapshot",
    summary: `Planned from a snapshot of ${createdAt}`,
    detail:
      "The service was not asked, so what changed there since does not show. Write-only and secret fields are not compared.",
  };
}

/** Plans once more with what only seems to differ, since the snapshot holds nothing to compare it with, left out. */
function withoutHidden(found: Look): Look {
  const hidden = hiddenFields(found);
  if (hidden.size === 0) return found;
  const input = { ...found.input, desired: withUnknown(found.input.desired, hidden) };
  return { input, planned: makePlan(input) };
}

type Hidden = ReadonlyMap<Address, readonly string[]>;

/** A creation compares nothing; and what is sent on demand is sent whatever is there. */
function hiddenFields({ planned, input }: Look): Hidden {
  return new Map(
    planned.plan.changes
      .filter(({ action, address }) => action !== "create" && !input.rediscover.has(address))
      .map(({ address, fields }): [Address, readonly string[]] => [
        address,
        changedFields({ address, fields: fields.filter(({ sensitive }) => sensitive) }),
      ])
      .filter(([, names]) => names.length > 0),
  );
}

function withUnknown(desired: Desired, hidden: Hidden): Desired {
  return { ...desired, targets: desired.targets.map((target) => targetWithUnknown(target, hidden)) };
}

function targetWithUnknown(target: DesiredTarget, hidden: Hidden): DesiredTarget {
  return {
    ...resourceWithUnknown(target, hidden),
    environments: target.environments.map((one) => resourceWithUnknown(one, hidden)),
    testCases: target.testCases.map((one) => resourceWithUnknown(one, hidden)),
  };
}

function resourceWithUnknown<R extends DesiredResource>(resource: R, hidden: Hidden): R {
  const names = hidden.get(resource.address);
  if (names === undefined) return resource;
  const unknown = Object.fromEntries(names.map((name) => [name, UNKNOWN]));
  return { ...resource, fields: { ...resource.fields, ...unknown } };
}
