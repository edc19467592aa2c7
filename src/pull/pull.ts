import { ENVIRONMENT_FIELDS } from "../fields/environment.ts";
import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { TARGET_FIELDS } from "../fields/target.ts";
import { TEST_CASE_FIELDS } from "../fields/test-case.ts";
import { liveEnvironmentOf, liveTargetOf, liveTestCaseOf } from "../explain/identity.ts";
import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import { originOf } from "../model/desired.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { Change } from "../model/plan.ts";
import { display } from "../plan/field-changes.ts";
import { memoryOf } from "../plan/memory.ts";
import { ordered } from "../plan/ordered.ts";
import { expectedLive } from "../plan/prerequisite.ts";
import { resourcesOf } from "../plan/resources.ts";
import type { Seen } from "../plan/seen.ts";
import type { Planned } from "../plan/plan.ts";
import { Draft } from "../rewrite/draft.ts";
import { place } from "../rewrite/place.ts";
import type { Candidate } from "../rewrite/place.ts";
import type { Left, Rewrite, Rewritten } from "../rewrite/rewriting.ts";
import { baseSpot, setAt, stageSpot, topSpot } from "../rewrite/spots.ts";
import { wishesOf } from "../rewrite/unit.ts";
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

/**
 * The manifests in which one stage says what is live, wherever it declared something else.
 *
 * A value is written where the one that counts stands now, and so reaches the other stages that share the place: they
 * are named, for whoever reviews the change. Only defaults are spared where they hold for another test case that is not
 * live like that; then the value goes to the resource itself.
 */
export function pull(start: Draft, request: PullRequest): Rewrite {
  const findings = [...request.planned.seen.values()].flatMap((seen) => findingsIn(seen, start, request));
  const wishes = wishesOf(findings.flatMap(({ wish }) => wish ?? []));
  const rules = { start, wishes, stages: [request.stage] };
  const changes: Rewritten[] = [];
  const left: Left[] = findings.flatMap((finding) => leftOf(finding));
  let draft = start;
  for (const finding of findings) {
    const { wish, verdict } = finding;
    if (wish === undefined || verdict.kind !== "pull") continue;
    const met = wish.isMet(draft.written(wish.unit));
    const placed = met ? undefined : place(draft, wish, candidates(draft, wish.unit, verdict.written), rules);
    if (placed !== undefined) draft = placed.draft;
    const spot = placed?.spot ?? (met ? topSpot(draft, wish.unit) : undefined);
    if (spot === undefined)
      left.push({ ...about(finding), reason: "No place was found for it that would change nothing else." });
    else
      changes.push({
        address: finding.resource.address,
        path: finding.field.path,
        before: ordered(display(finding.resource.fields[finding.field.name] ?? null)),
        after: ordered(verdict.live),
        layer: spot.layer,
        origin: { file: spot.file, path: spot.path },
      });
  }
  const all = changes.map((change) => withStages(change, start, draft, request));
  return { draft, changes: all, left: [...left, ...absent(request)] };
}

/** A declared field that is not what is live. */
interface Finding {
  readonly resource: DesiredResource;
  readonly field: Field<never>;
  readonly verdict: Exclude<Verdict, { readonly kind: "same" }>;
  /** Only where something is to be written. */
  readonly wish: Wish | undefined;
  /** The plan would send the field, and the service shows nothing of it. */
  readonly pending: boolean;
}

function findingsIn(seen: Seen, start: Draft, request: PullRequest): readonly Finding[] {
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
          : rows.flatMap((row) => finding(row, live, seen, resource, change, start, request) ?? []);
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

function finding<L extends { readonly id: string }>(
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

function candidates(draft: Draft, unit: Unit, value: Json): readonly Candidate[] {
  const spots = [topSpot(draft, unit), baseSpot(draft, unit), stageSpot(draft, unit)];
  return spots.flatMap((spot) => (spot === undefined ? [] : [{ spot, edits: [setAt(spot, value)] }]));
}

function leftOf(finding: Finding): readonly Left[] {
  const { verdict, pending } = finding;
  if (verdict.kind === "left") return [{ ...about(finding), reason: verdict.reason }];
  if (verdict.kind === "hidden" && pending)
    return [{ ...about(finding), reason: "The service does not show it; the next apply sends it." }];
  return [];
}

function about({ resource, field }: Finding): Omit<Left, "reason"> {
  const origin = originOf(resource, field.path);
  return { address: resource.address, path: field.path, ...(origin === undefined ? {} : { origin }) };
}

/** What is declared and not live has nothing to be pulled. */
function absent({ planned, inScope }: PullRequest): readonly Left[] {
  const resources = new Map(
    [...planned.seen.values()]
      .flatMap((seen) => [...seen.resources.values()])
      .map((one) => [one.address, one]),
  );
  return planned.plan.changes.flatMap(({ address, action }) => {
    const resource = resources.get(address);
    if (action !== "create" || resource?.kind === "batchGeneration" || !inScope(address)) return [];
    const origin = resource && originOf(resource);
    const reason = "It is not on the service, so there is nothing to pull; the next apply makes it.";
    return [{ address, reason, ...(origin === undefined ? {} : { origin }) }];
  });
}

function withStages(
  change: Rewritten,
  before: Draft,
  after: Draft,
  { stage, stages }: PullRequest,
): Rewritten {
  const { address, path } = change;
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) return change;
  const alsoStages = stages.filter((other) => {
    const unit = { stage: other, address, field };
    const [was, now] = [before.written(unit), after.written(unit)];
    return other !== stage && was !== undefined && !(now !== undefined && sameJson(was, now));
  });
  return alsoStages.length === 0 ? change : { ...change, alsoStages };
}
