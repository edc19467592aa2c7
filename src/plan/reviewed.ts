import { GENERATING_KEYS } from "../fields/fields.ts";
import type { BodyValue, Change } from "../model/plan.ts";

/** The calls of a change, without the keys of their bodies that are not to be sent, and without calls left empty. */
export function withBodyKeys(change: Change, keep: (key: string) => boolean): Change {
  const calls = change.calls.flatMap((call) => {
    const body: Record<string, BodyValue> = {};
    for (const [key, value] of Object.entries(call.body)) if (keep(key)) body[key] = value;
    return Object.keys(body).length === 0 ? [] : [{ ...call, body }];
  });
  return { ...change, calls };
}

/** Whether the service generates a test case again because of a change, whatever the change is called. */
export function isRediscovering({ calls }: Change): boolean {
  return calls.some(
    ({ method, body }) => method === "PATCH" && GENERATING_KEYS.some((key) => Object.hasOwn(body, key)),
  );
}

/**
 * A change as things are now, with no more than what was reviewed of it. What differs by now and was not reviewed is
 * left for the next plan.
 */
export function onlyReviewed(current: Change, reviewed: readonly { readonly body: unknown }[]): Change {
  const keys = new Set(reviewed.flatMap(({ body }) => Object.keys(body ?? {})));
  return withBodyKeys(current, (key) => keys.has(key));
}
