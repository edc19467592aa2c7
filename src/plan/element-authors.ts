import { ELEMENT } from "../model/fields.ts";
import { type Json, isArray } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import type { ChangedBy } from "../model/plan.ts";
import { type ValueObject, reveal } from "../model/value.ts";
import { inOrderPairs } from "./align.ts";
import { type ElementMatch, projectElement, withoutLine } from "./elements.ts";
import { lazy } from "./match.ts";
import { type Memory, recordedSteps, stepDigest } from "./memory.ts";

/** Says who changed each step since the last apply. */
export interface Authors {
  /** Who changed, added or moved a declared step, or removed its live one. */
  readonly ofDeclared: (match: ElementMatch) => ChangedBy;
  /** Who added a live step that is not declared, or removed its declaration. */
  readonly ofUndeclared: (element: LiveElement) => ChangedBy;
}

/**
 * Compares both lists with the steps that were recorded, in their order: a step that is in the
 * record is unchanged on its side. Returns undefined if state has no record.
 */
export function authorsOf(
  declared: readonly ValueObject[],
  matches: readonly ElementMatch[],
  current: readonly LiveElement[],
  memory: Memory,
): Authors | undefined {
  const recorded = recordedSteps(memory);
  const { fingerprints, id } = memory;
  if (recorded === undefined || fingerprints === undefined) return undefined;
  const digest = (step: Json): string => stepDigest(fingerprints, id, step);
  const now = declared.map((step) => digest(reveal(withoutLine(step))));
  const inManifest = new Set(
    inOrderPairs(now.length, recorded.length, (i, k) => now[i] === recorded[k]).map(([i]) => i),
  );
  // A record does not say which parts of a step were declared. A live step counts as recorded if
  // it equals the record for any choice of parts.
  const declaredFor = new Map(matches.map(({ live, declared: own }) => [live, own]));
  const before = current.map((element) => {
    const digests = (choices: typeof PART_CHOICES) =>
      new Set(choices.map((choice) => digest(projectElement(choice(element), element))));
    const own = declaredFor.get(element);
    return {
      // The parts declared now are the first guess, and nearly always right.
      asNow: own === undefined ? undefined : digest(projectElement(own, element)),
      anyChoice: lazy(() => digests(PART_CHOICES)),
    };
  });
  const isRecorded = (j: number, k: number): boolean => {
    const [live, known = ""] = [before[j], recorded[k]];
    return live?.asNow === known || live?.anyChoice().has(known) === true;
  };
  const onService = new Set(
    inOrderPairs(current.length, recorded.length, isRecorded).map(([j]) => current[j]),
  );
  const isWhole = ({ size }: ReadonlySet<unknown>, steps: readonly unknown[]): boolean =>
    size === steps.length && size === recorded.length;
  // The side that changed, if the other one is as recorded.
  const only = isWhole(onService, current)
    ? "manifest"
    : isWhole(inManifest, declared)
      ? "service"
      : undefined;
  return {
    ofDeclared: ({ at, live, movedFrom }) => {
      if (only !== undefined) return only;
      const isOld = inManifest.has(at);
      if (live === undefined) return isOld ? "service" : "manifest";
      const isLive = onService.has(live);
      // A step that both sides still have, but paired with another one, was removed by each.
      if (isOld === isLive && movedFrom === undefined) return "both";
      return isOld ? "service" : isLive ? "manifest" : "both";
    },
    ofUndeclared: (element) => only ?? (onService.has(element) ? "manifest" : "service"),
  };
}

/**
 * Every choice of parts that an element can be declared with; objects and list items are whole or
 * have only the required keys.
 */
const PART_CHOICES = Object.entries(ELEMENT.parts).reduce<
  readonly ((element: LiveElement) => ValueObject)[]
>(
  (choices, [name, { shape, writeOnly }]) => {
    if (writeOnly === true) return choices;
    const item = shape.type === "list" ? shape.of : shape;
    const required = item.type === "object" ? (item.required ?? []) : [];
    const least = Object.fromEntries(required.map((key) => [key, ""]));
    const leastOf = (live: Json | undefined) => (isArray(live) ? live.map(() => least) : least);
    return choices.flatMap((choice) => [
      choice,
      (element) => ({ ...choice(element), [name]: "" }),
      ...(required.length === 0
        ? []
        : [
            (element: LiveElement) => ({
              ...choice(element),
              [name]: leastOf(element.parts[name]),
            }),
          ]),
    ]);
  },
  [() => ({})],
);
