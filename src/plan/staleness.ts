import { type Address, parseAddress, targetOf } from "../model/address.ts";
import { cached } from "../model/collections.ts";
import { type Field, GENERATING_KEYS, fieldsOf } from "../model/fields.ts";
import { type Json, startsWith, isArray } from "../model/json.ts";
import type { LiveResource } from "../model/live.ts";
import type { BodyValue, Change, Plan } from "../model/plan.ts";
import { type Value, isUnknown, isValueObject, reveal } from "../model/value.ts";
import { readField } from "./compare.ts";
import type { MatchedTarget } from "./matched-target.ts";
import type { Fingerprinter } from "./input.ts";
import { normalise } from "./normalise.ts";

/**
 * What must be unchanged when a saved plan is applied, as keyed digests, so that guesses cannot be
 * tested against it.
 */
export interface Guard {
  /**
   * Id of the live resource, or status in state of a batch generation that was sent; null if there
   * was neither.
   */
  readonly id: string | null;
  /** Digest of everything that is declared for the address. */
  readonly declared: string;
  /** Field name → digest of its live value, for the changed fields that the service shows. */
  readonly live: Readonly<Record<string, string>>;
}

/** The parts of a planned plan that guards are made of. */
interface Planned {
  readonly plan: Pick<Plan, "changes">;
  readonly matched: ReadonlyMap<string, MatchedTarget>;
}

export function guardsOf(
  planned: Planned,
  fingerprints: Fingerprinter,
): Readonly<Record<string, Guard>> {
  return Object.fromEntries(
    planned.plan.changes.map((change) => [
      change.address,
      guardOf(change.address, changedFields(change), planned, fingerprints),
    ]),
  );
}

/** Returns the names, as in the field table, of the fields that a change shows. */
export function changedFields({
  address,
  fields,
}: Pick<Change, "address" | "fields">): readonly string[] {
  return fieldsAt(address)
    .filter((field) => isShown({ fields }, field))
    .map(({ name }) => name);
}

/** Whether a change shows a field, or a part of it. */
export function isShown(change: Pick<Change, "fields"> | undefined, field: Field): boolean {
  return change?.fields.some(({ path }) => startsWith(path, field.path)) ?? false;
}

function fieldsAt(address: Address): readonly Field[] {
  const kind = parseAddress(address)?.kind;
  return kind === undefined ? [] : fieldsOf(kind);
}

/** Returns the guard of an address from current data. */
export function guardOf(
  address: Address,
  fields: readonly string[],
  planned: Planned,
  fingerprints: Fingerprinter,
): Guard {
  const { matches, resources, state, testCases } = planned.matched.get(targetOf(address)) ?? {};
  const resource = resources?.get(address);
  const bound = state?.bindings.get(address)?.id;
  // Without a match, a bound address is an orphan. A batch generation has neither match nor
  // binding.
  const live = matches?.get(address)?.live ?? testCases?.find(({ id }) => id === bound);
  const status = state?.batchGenerations.get(address)?.status;
  const sent = status === "done" || status === "uncertain" ? status : null;
  const digests: Record<string, string> = {};
  for (const field of fieldsAt(address)) {
    const { name, update } = field;
    const isChanged = update !== undefined && fields.includes(name);
    const value = live && isChanged ? readLive(field, live, resource?.fields[name]) : undefined;
    if (value !== undefined) digests[name] = fingerprints.of(`guard/${address}/${name}`, value);
  }
  const { id: byHand = null, fields: all = {} } = resource ?? {};
  const known = Object.entries(all).map(
    ([name, value]) => [name, isUnknown(value) ? null : reveal(value)] as const,
  );
  const wanted = resource === undefined ? null : { id: byHand, fields: Object.fromEntries(known) };
  const declared = fingerprints.of(`guard/${address}`, wanted);
  const forgotten = resource === undefined ? forgottenBy(planned).get(address) : undefined;
  return { id: live?.id ?? forgotten ?? sent, declared, live: digests };
}

/** Returns the ids that a plan forgets, by address. */
function forgottenBy({ plan }: Planned): ReadonlyMap<Address, string | undefined> {
  return cached(FORGOTTEN, plan, () => {
    const all = plan.changes.filter(({ action }) => action === "forget");
    return new Map(all.map(({ address, id }) => [address, id ?? "recorded"]));
  });
}

const FORGOTTEN = new WeakMap<Planned["plan"], ReadonlyMap<Address, string | undefined>>();

/**
 * Returns a live value: a folder as its id; of elements the declared parts, with selectors if there
 * is a locator line.
 */
function readLive(field: Field, live: LiveResource, declared: Value | undefined): Json | undefined {
  const parts = isArray(declared)
    ? declared.map((item) =>
        isValueObject(item) && item["locatorLine"] !== undefined
          ? { ...item, selectors: [] }
          : item,
      )
    : undefined;
  const reading = readField(field, live, () => undefined, parts);
  if (reading.kind === "unnamed") return reading.id;
  return reading.kind === "hidden" ? undefined : normalise(field.compare, reading.value);
}

/** The reason why a saved plan is stale at an address. */
export type Staleness =
  | { readonly kind: "existence"; readonly reviewed: Guard["id"]; readonly now: Guard["id"] }
  | { readonly kind: "manifest" }
  | { readonly kind: "value"; readonly field: string };

/** Compares the guard of an address in a saved plan with its current guard. */
export function compareGuards(reviewed: Guard, now: Guard): readonly Staleness[] {
  if (reviewed.id !== now.id) return [{ kind: "existence", reviewed: reviewed.id, now: now.id }];
  const fields = Object.keys(reviewed.live).filter(
    (field) => reviewed.live[field] !== now.live[field],
  );
  const values = fields.map((field) => ({ kind: "value" as const, field }));
  return reviewed.declared === now.declared ? values : [{ kind: "manifest" }, ...values];
}

/**
 * Limits the bodies of a change's calls to the keys to keep; calls with an empty body are dropped.
 */
export function withBodyKeys(change: Change, keep: (key: string) => boolean): Change {
  const calls = change.calls.flatMap((call) => {
    const body: Record<string, BodyValue> = {};
    for (const [key, value] of Object.entries(call.body)) if (keep(key)) body[key] = value;
    return Object.keys(body).length === 0 ? [] : [{ ...call, body }];
  });
  return { ...change, calls };
}

/**
 * Whether a change makes the service generate a test case again, regardless of the change's action.
 */
export function isRediscovering({ calls }: Change): boolean {
  return calls.some(
    ({ method, body }) =>
      method === "PATCH" && GENERATING_KEYS.some((key) => Object.hasOwn(body, key)),
  );
}

/** Limits a current change to the body keys that were reviewed. */
export function onlyReviewed(
  current: Change,
  reviewed: readonly { readonly body: unknown }[],
): Change {
  const keys = new Set(reviewed.flatMap(({ body }) => Object.keys(body ?? {})));
  return withBodyKeys(current, (key) => keys.has(key));
}
