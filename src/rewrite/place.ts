import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import { sameJson } from "../model/json.ts";
import type { Draft, FileEdit } from "./draft.ts";
import { topSpot } from "./spots.ts";
import type { Spot } from "./spots.ts";
import { unitKey } from "./unit.ts";
import type { Unit, Wish, Wishes } from "./unit.ts";

/** A way to meet a wish. */
export interface Candidate {
  readonly spot: Spot;
  readonly edits: readonly FileEdit[];
}

export interface Placed {
  readonly draft: Draft;
  readonly spot: Spot;
}

export interface PlaceRules {
  readonly wishes: Wishes;
  /** The stages in which nothing may change that nobody wishes. */
  readonly stages: readonly string[];
  /** The manifests before the first wish was met. */
  readonly start: Draft;
}

/**
 * Takes the first candidate that meets the wish and makes nothing worse: whatever else it touches, a sibling that
 * shares a default, another stage that shares the base, either stays as it is written or comes to be as wished.
 */
export function place(
  draft: Draft,
  wish: Wish,
  candidates: readonly Candidate[],
  rules: PlaceRules,
): Placed | undefined {
  for (const { spot, edits } of candidates) {
    const next = draft.with(edits);
    if (!wish.isMet(next.written(wish.unit))) continue;
    if (harmsNobody(draft, next, wish.unit, { spot, edits }, rules)) return { draft: next, spot };
  }
  return undefined;
}

function harmsNobody(
  before: Draft,
  after: Draft,
  own: Unit,
  { spot, edits }: Candidate,
  rules: PlaceRules,
): boolean {
  // Thousands may share a default, and the first that minds settles it.
  for (const unit of touched(before, own, spot, rules))
    if (!isFine(unit, before, after, rules) || !agrees(unit, spot, edits, rules)) return false;
  return true;
}

function isFine(unit: Unit, before: Draft, after: Draft, { wishes }: PlaceRules): boolean {
  const now = after.written(unit);
  const was = before.written(unit);
  const isKept = now === undefined || was === undefined ? now === was : sameJson(now, was);
  return isKept || wishes.get(unitKey(unit))?.isMet(now) === true;
}

/**
 * Whether a unit that took its value from a shared place is content with what is written there. One that wants another
 * value may have got it elsewhere by now; that does not make the shared place the right one.
 */
function agrees(
  unit: Unit,
  { file, path }: Spot,
  edits: readonly FileEdit[],
  { wishes, start }: PlaceRules,
): boolean {
  const wish = wishes.get(unitKey(unit));
  const top = wish && topSpot(start, unit);
  if (wish === undefined || top?.file !== file || !sameJson(top.path, path)) return true;
  const written = edits.find((one) => one.file === file && sameJson(one.edit.path, path))?.edit;
  return written?.kind !== "set" || wish.isMet(written.value);
}

/** The units that get their value through a place, or could. */
function* touched(draft: Draft, unit: Unit, { layer }: Spot, { stages }: PlaceRules): Generator<Unit> {
  const shared = layer === "defaults" || layer === "stage defaults";
  const ofStage = layer === "stage" || layer === "stage defaults";
  const places = ofStage ? stages.filter((stage) => stage === unit.stage) : stages;
  for (const address of shared ? siblings(draft, unit.address) : [unit.address])
    for (const stage of places) yield { ...unit, stage, address };
}

function siblings(draft: Draft, address: Address): readonly Address[] {
  const parts = parseAddress(address);
  return parts === undefined ? [] : draft.addressesOf(parts.target, parts.kind);
}
