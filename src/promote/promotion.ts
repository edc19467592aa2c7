import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { parseAddress } from "../model/address.ts";
import { sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { isSensitive, reveal } from "../model/value.ts";
import type { Draft } from "../rewrite/draft.ts";
import type { Left, Rewritten } from "../rewrite/rewriting.ts";
import type { Spot } from "../rewrite/spots.ts";
import type { Unit, Wish } from "../rewrite/unit.ts";
import { escaped, placeholdersIn } from "../rewrite/written.ts";
import type { Difference } from "../stages/difference.ts";
import { sameMeaning } from "../stages/meaning.ts";
import type { Meaning } from "../stages/meaning.ts";
import type { StageView } from "../stages/stage-view.ts";

/** One field of one test case, on its way. */
export interface Promotion {
  readonly difference: Difference;
  readonly wish: Wish;
  /** What to write, the best first; none where the value is to go, or would carry a credential. */
  readonly texts: readonly Json[];
  readonly wanted: Meaning | undefined;
}

/** What is wished for a field that differs, and the ways to write it. */
export function promotionOf(difference: Difference, draft: Draft, from: StageView, to: StageView): Promotion {
  const field = fieldAt(difference);
  const unit: Unit = { stage: to.stage, address: difference.address, field };
  const written = draft.written({ ...unit, stage: from.stage });
  const wanted = from.meaningOf(field, written);
  const isMet = (now: Json | undefined): boolean => sameMeaning(field, wanted, to.meaningOf(field, now));
  const there = to.meaningOf(field, draft.written(unit));
  const literal = spelt(wanted);
  const both = written === undefined || sameJson(written, literal) ? [literal] : [written, literal];
  const texts = written === undefined || carriesCredential(wanted, there) ? [] : both;
  return { difference, wish: { unit, isMet }, texts, wanted };
}

/** As it stands in one stage, without the variables of that; secrets stay placeholders. */
function spelt(wanted: Meaning | undefined): Json {
  if (wanted === undefined) return null;
  return isSensitive(wanted.value) ? wanted.spelt : escaped(reveal(wanted.value));
}

/** Credentials belong to a stage: only those go along that the other stage uses in the same place. */
function carriesCredential(wanted: Meaning | undefined, there: Meaning | undefined): boolean {
  if (wanted === undefined || !isSensitive(wanted.value)) return false;
  const known = new Set(there === undefined ? [] : placeholdersIn(there.spelt));
  return placeholdersIn(wanted.spelt).some((placeholder) => !known.has(placeholder));
}

function fieldAt({ address, path }: Difference): Field<never> {
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) throw new TypeError(`no field ${path.join(".")} of ${address}`);
  return field;
}

/** Where a field stands that is left. */
export function whereOf({ difference }: Promotion): Pick<Left, "origin"> {
  const origin = difference.to?.origin ?? difference.from?.origin;
  return origin === undefined ? {} : { origin };
}

/** Why nothing could be written. */
export function whyLeft({ difference, wanted, wish }: Promotion): Left {
  const { address, path } = difference;
  const { stage } = wish.unit;
  if (wanted !== undefined && isSensitive(wanted.value))
    return {
      address,
      path,
      reason: `It holds a secret that ${stage} does not use here, and credentials are not promoted. Write it by hand.`,
    };
  return { address, path, reason: "No place was found for it that would change nothing else." };
}

/** A field that is promoted, and where its value stands. */
export function rewritten({ difference, wish }: Promotion, spot: Spot | undefined): Rewritten {
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
