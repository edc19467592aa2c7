import { fieldsOf } from "../fields/fields.ts";
import { parseAddress } from "../model/address.ts";
import { originOf } from "../model/desired.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { display } from "../plan/field-changes.ts";
import { ordered } from "../plan/ordered.ts";
import type { Draft } from "../rewrite/draft.ts";
import { place } from "../rewrite/place.ts";
import type { Candidate } from "../rewrite/place.ts";
import type { Left, Rewrite, Rewritten } from "../rewrite/rewriting.ts";
import { baseSpot, setAt, stageSpot, topSpot } from "../rewrite/spots.ts";
import { wishesOf } from "../rewrite/unit.ts";
import type { Unit } from "../rewrite/unit.ts";
import { findingsIn } from "./findings.ts";
import type { Finding, PullRequest } from "./findings.ts";

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
  const left: Left[] = findings.flatMap(leftOf);
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
        // Elements keep what the service does not show, a locator line for one.
        after: ordered(finding.field.behaviour.kind === "elements" ? verdict.written : verdict.live),
        layer: spot.layer,
        origin: { file: spot.file, path: spot.path },
      });
  }
  const all = changes.map((change) => withStages(change, start, draft, request));
  return { draft, changes: all, left: [...left, ...absent(request)] };
}

function candidates(draft: Draft, unit: Unit, value: Json): readonly Candidate[] {
  const spots = [topSpot(draft, unit), baseSpot(draft, unit), stageSpot(draft, unit)];
  return spots.flatMap((spot) => (spot === undefined ? [] : [{ spot, edits: [setAt(spot, value)] }]));
}

function leftOf(found: Finding): readonly Left[] {
  const { verdict, pending } = found;
  if (verdict.kind === "left") return [{ ...about(found), reason: verdict.reason }];
  if (verdict.kind === "hidden" && pending)
    return [{ ...about(found), reason: "The service does not show it; the next apply sends it." }];
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
