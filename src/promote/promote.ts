import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { isArray, isObject, sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { isSensitive, reveal } from "../model/value.ts";
import { escapeTemplate } from "../manifest/template/parse.ts";
import type { Draft, FileEdit } from "../rewrite/draft.ts";
import { place } from "../rewrite/place.ts";
import type { Candidate, PlaceRules } from "../rewrite/place.ts";
import type { Left, Rewrite, Rewritten } from "../rewrite/rewriting.ts";
import { deleteAt, setAt, stageSpot, topSpot } from "../rewrite/spots.ts";
import type { Spot } from "../rewrite/spots.ts";
import { wishesOf } from "../rewrite/unit.ts";
import type { Unit, Wish } from "../rewrite/unit.ts";
import { diffStages } from "../stages/difference.ts";
import type { Difference } from "../stages/difference.ts";
import { sameMeaning } from "../stages/meaning.ts";
import type { Meaning } from "../stages/meaning.ts";
import type { StageView } from "../stages/stage-view.ts";

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

/** One field of one test case, on its way. */
interface Promotion {
  readonly difference: Difference;
  readonly wish: Wish;
  /** What to write, the best first; none where the value is to go, or holds a secret that would show. */
  readonly texts: readonly Json[];
  readonly wanted: Meaning | undefined;
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

function promotionOf(difference: Difference, draft: Draft, from: StageView, to: StageView): Promotion {
  const field = fieldAt(difference);
  const unit: Unit = { stage: to.stage, address: difference.address, field };
  const written = draft.written({ ...unit, stage: from.stage });
  const wanted = from.meaningOf(field, written);
  const isMet = (now: Json | undefined): boolean => sameMeaning(field, wanted, to.meaningOf(field, now));
  const literal = wanted === undefined || isSensitive(wanted.value) ? undefined : reveal(wanted.value);
  const texts = [
    ...(written === undefined ? [] : [written]),
    ...(literal === undefined ? [] : [escaped(literal)]),
  ];
  return { difference, wish: { unit, isMet }, texts, wanted };
}

function fieldAt({ address, path }: Difference): Field<never> {
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) throw new TypeError(`no field ${path.join(".")} of ${address}`);
  return field;
}

/** A value as a manifest says it, so that nothing in it is taken for a placeholder. */
function escaped(value: Json): Json {
  if (typeof value === "string") return escapeTemplate(value);
  if (isArray(value)) return value.map(escaped);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, escaped(part)]));
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

function whereOf({ difference }: Promotion): Pick<Left, "origin"> {
  const origin = difference.to?.origin ?? difference.from?.origin;
  return origin === undefined ? {} : { origin };
}

function whyLeft({ difference, wanted, wish }: Promotion): Left {
  const { address, path } = difference;
  const { stage } = wish.unit;
  if (wanted !== undefined && isSensitive(wanted.value))
    return {
      address,
      path,
      reason: `It holds a secret, and written as it is it means something else in ${stage}. Write it by hand.`,
    };
  return { address, path, reason: "No place was found for it that would change nothing else." };
}

function rewritten({ difference, wish }: Promotion, spot: Spot | undefined): Rewritten {
  const { address, path, sensitive, from, to } = difference;
  const before = to?.value;
  const after = from?.value;
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    layer: spot?.layer ?? "stage",
    origin:
      spot === undefined
        ? (to?.origin ?? { file: "", path: wish.unit.field.path })
        : { file: spot.file, path: spot.path },
  };
}

function lone(address: Address, here: StageView, there: StageView, origin: Left["origin"]): Left {
  return {
    address,
    reason: `Only ${here.stage} has it, and promotion neither makes nor removes test cases. Declare it for ${there.stage}, too, or for all stages.`,
    ...(origin === undefined ? {} : { origin }),
  };
}
