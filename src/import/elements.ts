import type { Json, JsonObject } from "../model/json.ts";
import type { LiveElement, LiveSelector } from "../model/live.ts";

/**
 * Live elements in the manifest's form, without ids and with nothing in it that says no more than its absence: a part
 * that the service shows as null, a failure that is not ignored.
 */
export function elementsInWords(elements: readonly LiveElement[]): Json {
  return elements.map(elementInWords);
}

function elementInWords({ interaction, assertion, selectors, ignoreFailure }: LiveElement): JsonObject {
  return {
    ...(interaction === null ? {} : { interaction: shown(interaction) }),
    ...(assertion === null ? {} : { assertion: shown(assertion) }),
    ...(selectors.length === 0 ? {} : { selectors: selectors.map(selectorInWords) }),
    ...(ignoreFailure === true ? { ignoreFailure } : {}),
  };
}

function selectorInWords({ selectorType, selector, options = {} }: LiveSelector): JsonObject {
  return shown({
    selectorType,
    selector,
    options: Object.keys(options).length === 0 ? undefined : options,
  });
}

function shown(parts: Readonly<Record<string, Json | undefined>>): JsonObject {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(parts))
    if (value !== undefined && value !== null) entries.push([key, value]);
  return Object.fromEntries(entries);
}
