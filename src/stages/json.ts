import type { Origin, Place } from "../model/diagnostic.ts";
import type { Difference, DiffSide, Lone, StageDiff } from "./difference.ts";

export type PlaceOf = (origin: Origin) => Place | undefined;

/** Two stages side by side, for programs; keys in a fixed order. */
export function stageDiffJson({ from, to, differences, onlyFrom, onlyTo }: StageDiff, placeOf: PlaceOf) {
  return {
    formatVersion: "1.0",
    from,
    to,
    summary: { different: differences.length, onlyFrom: onlyFrom.length, onlyTo: onlyTo.length },
    differences: differences.map((difference) => differenceJson(difference, placeOf)),
    onlyFrom: onlyFrom.map((one) => loneJson(one, placeOf)),
    onlyTo: onlyTo.map((one) => loneJson(one, placeOf)),
  };
}

function differenceJson({ address, path, sensitive, from, to }: Difference, placeOf: PlaceOf) {
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(from === undefined ? {} : { from: sideJson(from, placeOf) }),
    ...(to === undefined ? {} : { to: sideJson(to, placeOf) }),
  };
}

function sideJson({ value, origin }: DiffSide, placeOf: PlaceOf) {
  return { ...(value === undefined ? {} : { value }), ...(origin === undefined ? {} : placeOf(origin)) };
}

function loneJson({ address, origin }: Lone, placeOf: PlaceOf) {
  return { address, ...(origin === undefined ? {} : placeOf(origin)) };
}
