import { isArray, isObject } from "../model/json.ts";
import type { Json, JsonObject } from "../model/json.ts";
import type { LiveElement } from "../model/live.ts";
import type { BodyValue } from "../model/plan.ts";
import { isSensitive, isValueList, isValueObject, Secret } from "../model/value.ts";
import type { ValueObject } from "../model/value.ts";
import type { ElementMatch } from "./elements.ts";

type Body = { readonly [key: string]: BodyValue };

/**
 * The `elements` of a PATCH (service-api.md, operation 8). It carries only what the text describes there, so what
 * the list shows beyond that (scroll states) stays behind, and no null where the text has none.
 *
 * With one sensitive leaf all of them are sensitive: what is kept of a live element may be what was secret before.
 */
export function elementBodies(
  matches: readonly ElementMatch[],
  live: readonly LiveElement[],
): readonly BodyValue[] {
  const keep = matches.some((match) => isSensitive(match.declared)) ? hidden : plain;
  const base = firstIndex(live.map((element) => element.raw));
  return matches.map((match, position) => elementBody(match, base + position, keep));
}

/** Whether the service counts from 0 or 1 is not shown; it goes on as it began. */
function firstIndex(raw: readonly JsonObject[]): number {
  const first = raw[0]?.["index"];
  return typeof first === "number" ? first : 0;
}

function elementBody({ declared, live }: ElementMatch, index: number, keep: Keep): Body {
  const raw = live?.raw ?? {};
  return {
    ...pick(raw, ["id"], plain),
    index,
    ...objectPart("interaction", ["id", "action", "calledWith", "testCaseElementId"], declared, raw, keep),
    ...objectPart("assertion", ["id", "expectation", "calledWith", "testCaseElementId"], declared, raw, keep),
    ...selectorsPart(declared, raw, keep),
    ...pick(raw, ["testCaseId"], plain),
    ...(declared["ignoreFailure"] === undefined
      ? pick(raw, ["ignoreFailure"], plain)
      : { ignoreFailure: declared["ignoreFailure"] }),
  };
}

function objectPart(
  name: "interaction" | "assertion",
  keys: readonly string[],
  declared: ValueObject,
  raw: JsonObject,
  keep: Keep,
): Body {
  const value = declared[name];
  const before = raw[name];
  const kept = isObject(before) ? pick(before, keys, keep) : {};
  if (isValueObject(value)) return { [name]: { ...kept, ...value } };
  if (value !== undefined) return { [name]: value };
  if (before === undefined) return {};
  return { [name]: before === null ? null : kept };
}

const SELECTOR_KEYS = ["id", "index", "selector", "selectorType", "options", "testCaseElementId"];

function selectorsPart(declared: ValueObject, raw: JsonObject, keep: Keep): Body {
  const shown = raw["selectors"];
  const before = isArray(shown) ? shown.filter(isObject) : [];
  const value = declared["selectors"];
  if (!isValueList(value))
    return isArray(shown) ? { selectors: before.map((one) => pick(one, SELECTOR_KEYS, keep)) } : {};
  const base = firstIndex(before);
  return {
    selectors: value.filter(isValueObject).map((selector, at) => ({
      ...pick(before[at] ?? {}, ["id", "testCaseElementId", "options"], keep),
      index: base + at,
      ...selector,
    })),
  };
}

/** How a part of a live element goes back to the service. */
type Keep = (value: Json, key: string) => BodyValue;

function plain(value: Json): BodyValue {
  return value;
}

const IDS: readonly string[] = ["id", "testCaseElementId"];

/** Sent as it is, shown as sensitive. */
function hidden(value: Json, key: string): BodyValue {
  if (IDS.includes(key)) return value;
  if (typeof value === "string") return new Secret(value);
  if (isArray(value)) return value.map((item) => hidden(item, ""));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([part, item]) => [part, hidden(item, part)]));
}

function pick(source: JsonObject, keys: readonly string[], keep: Keep): Body {
  return Object.fromEntries(
    keys.flatMap((key) => {
      const value = source[key];
      return value === undefined || value === null ? [] : [[key, keep(value, key)]];
    }),
  );
}
