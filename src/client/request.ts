import type { Json } from "../model/json.ts";

export type Method = "GET" | "POST" | "PATCH";

/** Path segments that all operations begin with (service-api.md, "Endpoints"). */
export const ROOT: readonly string[] = ["apiKey", "v3"];

/** A call that changes something. */
export interface WriteCall {
  readonly method: "POST" | "PATCH";
  /** Segments from `apiKey`, `v3` on, not yet encoded. */
  readonly path: readonly string[];
  /** Plain data: secrets are revealed, ids are known. */
  readonly body: Json;
}

/** An id that can stand in a path: not empty, no `.` or `..`, which others on the way would resolve. */
const SEGMENT = /^(?!\.{1,2}$)[^\p{Cc}\p{Cs}]+$/u;

export function isSegment(text: string): boolean {
  return SEGMENT.test(text);
}

/**
 * The path of a request, each segment percent-encoded.
 * @throws RangeError for a segment that no path can carry; ids are checked where they are read.
 */
export function pathOf(segments: readonly string[]): string {
  const wrong = segments.find((segment) => !isSegment(segment));
  if (wrong !== undefined) throw new RangeError(`${JSON.stringify(wrong)} cannot be a part of a path`);
  return segments.map((segment) => `/${encodeURIComponent(segment)}`).join("");
}
