import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { sameJson } from "../model/json.ts";
import type { Draft, FileEdit } from "../rewrite/draft.ts";
import { place } from "../rewrite/place.ts";
import type { Candidate, PlaceRules } from "../rewrite/place.ts";
import type { Left, Rewrite, Rewritten } from "../rewrite/rewriting.ts";
import { deleteAt, setAt, stageSpot, topSpot } from "../rewrite/spots.ts";
import type { Spot } from "../rewrite/spots.ts";
import { wishesOf } from "../rewrite/unit.ts";
import type { Unit } from "../rewrite/unit.ts";
import { diffStages } from "../stages/difference.ts";
import type { StageView } from "../stages/stage-view.ts";
import { promotionOf, rewritten, whereOf, whyLeft } from "./promotion.ts";
import type { Promotion } from "./promotion.ts";

export interface PromoteRequest {
  readonly from: StageView;
  readonly to: StageView;
  /** All stages of the project. */
  readonly stages: readonly string[];
  readonly inScope: (address: Address) => boolean;
}

/**
 * The manifests in which stage `to` resolves every promoted field as stage `from` does, and every other stage as
 * before.
 *
 * A value is written where the one that counts stands now, so that comments and order stay: an override is set and
 * not taken away, or the next change of the base would reach the stage without a promotion. Where that place is shared
 * with another stage or test case that is to stay as it is, the value goes into the stage's own override.
 *
 * A test case that only one of the stages has is left and said. To make one it takes a description, an external id and
 * what is fixed after creation, which promotion never carries; and the interface can delete none.
 */
export function promote(start: Draft, { from, to, stages, inScope }: PromoteRequest): Rewrite {
  const diff = diffStages(from, to, "promoted", inScope);
  const promotions = diff.differences.map((difference) => promotionOf(difference, start, from, to));
  const rules = { start, stages, wishes: wishesOf(promotions.map(({ wish }) => wish)) };
  const settled = settle(start, promotions, rules);
  const { draft } = settled;
  const changes: Rewritten[] = [];
  const left: Left[] = [];
  for (const one of promotions) {
    if (one.wish.isMet(draft.written(one.wish.unit)))
      changes.push(rewritten(one, settled.spots.get(one) ?? topSpot(draft, one.wish.unit)));
    else left.push({ ...whyLeft(one), ...whereOf(one) });
  }
  for (const { address, origin } of diff.onlyFrom) left.push(lone(address, from, to, origin));
  for (const { address, origin } of diff.onlyTo) left.push(lone(address, to, from, origin));
  return { draft, changes, left };
}

/** The manifests with all wishes met that can be, and where each value was written that was. */
interface Settled {
  readonly draft: Draft;
  readonly spots: ReadonlyMap<Promotion, Spot>;
}

/**
 * Meets wishes until no more can be met: a shared default can go only once those test cases that want another value
 * have it elsewhere, and one that all its sharers wish is written once for all.
 */
function settle(start: Draft, promotions: readonly Promotion[], rules: PlaceRules): Settled {
  const spots = new Map<Promotion, Spot>();
  let draft = start;
  for (let met = -1; met < spots.size;) {
    met = spots.size;
    for (const one of promotions) {
      if (one.wish.isMet(draft.written(one.wish.unit))) continue;
      const placed = place(draft, one.wish, candidatesOf(draft, one), rules);
      if (placed === undefined) continue;
      spots.set(one, placed.spot);
      ({ draft } = placed);
    }
  }
  return { draft, spots };
}

function candidatesOf(draft: Draft, { wish: { unit }, texts, wanted }: Promotion): readonly Candidate[] {
  const top = topSpot(draft, unit);
  if (wanted === undefined) return top === undefined ? [] : removals(draft, unit, top);
  const spots = [top, stageSpot(draft, unit)].filter((spot) => spot !== undefined);
  return spots.flatMap((spot) => texts.map((text) => ({ spot, edits: [setAt(spot, text)] })));
}

/**
 * The value goes; and where the stage's defaults have one below it, that as well. Where others take theirs from there
 * and are to keep it, they get it in their own overrides.
 */
function removals(draft: Draft, unit: Unit, top: Spot): readonly Candidate[] {
  const once = [deleteAt(top)];
  const below = topSpot(draft.with(once), unit);
  const lowest = below ?? top;
  const all = below === undefined ? once : [...once, deleteAt(below)];
  return [
    { spot: top, edits: once },
    { spot: lowest, edits: all },
    { spot: lowest, edits: [...all, ...pins(draft, draft.with(all), unit)] },
  ];
}

function pins(before: Draft, after: Draft, unit: Unit): readonly FileEdit[] {
  const parts = parseAddress(unit.address);
  const siblings = parts === undefined ? [] : before.addressesOf(parts.target, parts.kind);
  return siblings.flatMap((address) => {
    const sibling = { ...unit, address };
    const was = before.written(sibling);
    const now = after.written(sibling);
    if (address === unit.address || was === undefined || (now !== undefined && sameJson(was, now))) return [];
    const spot = stageSpot(before, sibling);
    return spot === undefined ? [] : [setAt(spot, was)];
  });
}

function lone(address: Address, here: StageView, there: StageView, origin: Left["origin"]): Left {
  return {
    address,
    reason: `Only ${here.stage} has it, and promotion neither makes nor removes test cases. Declare it for ${there.stage}, too, or for all stages.`,
    ...(origin === undefined ? {} : { origin }),
  };
}
