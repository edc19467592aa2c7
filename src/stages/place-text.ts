import type { Origin } from "../model/diagnostic.ts";
import { safeLine } from "../output/safe.ts";
import type { PlaceOf } from "./json.ts";

/** `file:line:column`, or the file alone where no more is known. */
export function placeText(origin: Origin | undefined, placeOf: PlaceOf): string {
  if (origin === undefined) return "";
  const place = placeOf(origin);
  return safeLine(place === undefined ? origin.file : `${place.file}:${place.line}:${place.column}`);
}
