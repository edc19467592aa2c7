import { elementsInWords } from "../import/elements.ts";
import { isArray, isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import { isValueObject, reveal } from "../model/value.ts";
import type { Value, ValueObject } from "../model/value.ts";
import {
  alignElements,
  declaredElements,
  locatorDifference,
  projectElement,
  sameElement,
  sameElements,
  withoutLine,
} from "../plan/elements.ts";
import type { ElementMatch } from "../plan/elements.ts";
import type { Memory } from "../plan/memory.ts";
import { escaped, placeholdersIn } from "../rewrite/written.ts";
import { graft } from "./graft.ts";
import type { Graft } from "./graft.ts";

/** Whether the live elements are others than what is declared, as far as the service shows them. */
export function elementsDiffer(
  value: Value | undefined,
  live: readonly LiveElement[],
  memory: Memory,
): boolean {
  const declared = declaredElements(value);
  if (!sameElements(declared, live)) return true;
  return declared.some((element, at) => movedByService({ declared: element, at, live: live[at] }, memory));
}

/**
 * The written elements changed to the live ones: an element that stays is left as it is written, one that was changed
 * in place keeps the parts that it declares, and what is new is written whole. A locator line whose selectors the
 * service has changed gives way to these.
 */
export function graftElements(
  written: Json,
  value: Value | undefined,
  live: readonly LiveElement[],
  memory: Memory,
): Graft {
  const items = isArray(written) ? written : [];
  const declared = declaredElements(value);
  const matches = sameElements(declared, live)
    ? declared.map((element, at) => ({ declared: element, at, live: live[at] }))
    : alignElements(declared, live, memory);
  const partner = new Map(matches.map((match) => [match.live, match]));
  const grafted = live.map((element): Graft => {
    const match = partner.get(element);
    if (match === undefined) return { ok: true, value: inWords(element) };
    return graftElement(items[match.at] ?? {}, match, element, memory);
  });
  const stays = new Set(live.flatMap((element) => partner.get(element)?.at ?? []));
  const gone = items.filter((_, at) => !stays.has(at)).flatMap(placeholdersIn);
  const placeholders = [...gone, ...grafted.flatMap((one) => (one.ok ? [] : one.placeholders))];
  if (placeholders.length > 0) return { ok: false, placeholders };
  return { ok: true, value: grafted.flatMap((one) => (one.ok ? [one.value] : [])) };
}

function graftElement(written: Json, match: ElementMatch, live: LiveElement, memory: Memory): Graft {
  const { declared } = match;
  const moved = movedByService(match, memory);
  if (sameElement(declared, live) && !moved) return { ok: true, value: written };
  const line = isObject(written) ? written["locatorLine"] : undefined;
  const keepsLine = line === undefined || locatorDifference(match, memory) === undefined;
  if (moved || !keepsLine || !sameKind(declared, live)) {
    const placeholders = placeholdersIn(written);
    return placeholders.length > 0 ? { ok: false, placeholders } : { ok: true, value: inWords(live) };
  }
  const own = isObject(written) ? Object.entries(written).filter(([part]) => part !== "locatorLine") : [];
  const graftedParts = graft(
    Object.fromEntries(own),
    reveal(withoutLine(declared)),
    projectElement(declared, live),
  );
  if (!graftedParts.ok || line === undefined || !isObject(graftedParts.value)) return graftedParts;
  return { ok: true, value: { ...graftedParts.value, locatorLine: line } };
}

/** Only where state knows which selectors the service once made of the line can it be told that it changed them. */
function movedByService(match: ElementMatch, memory: Memory): boolean {
  const difference = locatorDifference(match, memory);
  return difference === "service" || difference === "both";
}

/** A step that acts stays one that acts, and a check a check; else it is another step, and all of it is new. */
function sameKind(declared: ValueObject, live: LiveElement): boolean {
  const same = (part: "interaction" | "assertion"): boolean =>
    !Object.hasOwn(declared, part) || isValueObject(declared[part]) === (live[part] !== null);
  return same("interaction") && same("assertion");
}

function inWords(element: LiveElement): Json {
  const words = elementsInWords([element]);
  return escaped(isArray(words) ? (words[0] ?? {}) : words);
}
