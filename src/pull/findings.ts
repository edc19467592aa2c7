import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { TARGET_FIELDS } from "../fields/target.ts";
import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import { liveEnvironmentOf, liveTargetOf, liveTestCaseOf } from "../explain/identity.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import { memoryOf } from "../plan/memory.ts";
import { expectedLive } from "../plan/prerequisite.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Seen } from "../plan/seen.ts";
import type { Planned } from "../plan/plan.ts";
import type { Draft } from "../rewrite/draft.ts";
import type { Unit, Wish } from "../rewrite/unit.ts";
import { judge } from "./live-value.ts";
import type { Verdict } from "./live-value.ts";

export interface PullRequest {
  readonly stage: string;
  /** All stages of the project. */
  readonly stages: readonly string[];
  readonly planned: Planned;
  readonly inScope: (address: Address) => boolean;
  /** By name; all where it is empty. */
  readonly fields: ReadonlySet<string>;
  readonly holdsSecret: (value: Json) => boolean;
}

/** A declared field that is not what is live. */
export interface Finding {
  readonly resource: DesiredResource;
  readonly field: Field<never>;
  readonly verdict: Exclude<Verdict, { readonly kind: "same" }>;
  /** Only where something is to be written. */
  readonly wish: Wish | undefined;
  /** The plan would send the field, and the service shows nothing of it. */
  readonly pending: boolean;
}

/** What a target's resources declare otherwise than it is live. */
export function findingsIn(seen: Seen, start: Draft, request: PullRequest): readonly Finding[] {
  const { planned, inScope } = request;
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  return resourcesOf(seen.target)
    .filter(({ address }) => inScope(address))
    .flatMap((resource) => {
      const change = changes.get(resource.address);
      const judged = <L extends { readonly id: string }>(
        rows: readonly Field<L>[],
        live: L | undefined,
      ): readonly Finding[] =>
        live === undefined
          ? []
          : rows.flatMap((row) => findingOf(row, live, seen, resource, change, start, request) ?? []);
      switch (resource.kind) {
        case "target":
          return judged(TARGET_FIELDS, liveTargetOf(seen));
        case "environment":
          return judged(ENVIRONMENT_FIELDS, liveEnvironmentOf(resource, seen));
        case "testCase":
          return judged(TEST_CASE_FIELDS, liveTestCaseOf(resource, seen));
        case "batchGeneration":
          return [];
      }
    });
}

function findingOf<L extends { readonly id: string }>(
  row: Field<L>,
  live: L,
  seen: Seen,
  resource: DesiredResource,
  change: Change | undefined,
  start: Draft,
  { stage, fields, holdsSecret }: PullRequest,
): Finding | undefined {
  const field = fieldsOf(resource.kind).find(({ name }) => name === row.name);
  const value = resource.fields[row.name];
  if (field === undefined || value === undefined || (fields.size > 0 && !fields.has(row.name)))
    return undefined;
  const unit: Unit = { stage, address: resource.address, field };
  const verdict = judge(row, live, {
    value,
    written: start.written(unit) ?? null,
    memory: memoryOf(resource.address, live.id, seen.state, seen.fingerprints),
    expected: (declared) => {
      const own = TEST_CASE_FIELDS.find(({ name }) => name === row.name);
      return own && expectedLive(seen, own, declared);
    },
    addressOfId: (id) => addressOfId(id, seen),
    holdsSecret,
  });
  if (verdict.kind === "same") return undefined;
  const pending = change?.fields.some(({ path }) => row.path.every((step, at) => path[at] === step)) ?? false;
  const wish =
    verdict.kind === "pull"
      ? { unit, isMet: (now: Json | undefined) => sameJson(now, verdict.written) }
      : undefined;
  return { resource, field, verdict, wish, pending };
}

function addressOfId(id: string, { testCaseMatches }: Seen): Address | undefined {
  for (const [address, match] of testCaseMatches) if (match.found && match.id === id) return address;
  return undefined;
}
