import type { JsonObject } from "../model/json.ts";
import type { PlaceOf } from "../stages/json.ts";
import { patchOf } from "./patch.ts";
import type { Left, Rewriting, Rewritten } from "./rewriting.ts";
import type { NewText } from "./texts.ts";

export interface RewritingMeta {
  /** What it is about: stages, the service. */
  readonly head: JsonObject;
  readonly written: boolean;
  readonly texts: readonly NewText[];
  readonly placeOf: PlaceOf;
}

/** A rewriting for programs; keys in a fixed order. */
export function rewritingJson(
  { changes, left }: Rewriting,
  { head, written, texts, placeOf }: RewritingMeta,
) {
  return {
    formatVersion: "1.0",
    ...head,
    written,
    summary: { changed: changes.length, left: left.length, files: texts.length },
    changes: changes.map((change) => changeJson(change, placeOf)),
    left: left.map((one) => leftJson(one, placeOf)),
    files: texts.map((text) => ({ file: text.file, diff: patchOf(text) })),
  };
}

function changeJson(
  { address, path, sensitive, before, after, layer, origin, alsoStages = [] }: Rewritten,
  placeOf: PlaceOf,
) {
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    layer,
    ...(placeOf(origin) ?? { file: origin.file }),
    ...(alsoStages.length === 0 ? {} : { alsoStages }),
  };
}

function leftJson({ address, path, reason, origin }: Left, placeOf: PlaceOf) {
  return {
    address,
    ...(path === undefined ? {} : { path }),
    reason,
    ...(origin === undefined ? {} : placeOf(origin)),
  };
}
