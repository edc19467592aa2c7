import { parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { BatchRecord, State } from "../model/state.ts";
import { knownAddresses, knows } from "./knows.ts";

/**
 * What state remembers of an address, for people and programs. Fingerprints stay out: they tell nothing, and a list of
 * them would look as if it did.
 */
export type Remembered = {
  readonly address: Address;
  readonly stage: string;
  readonly id?: string;
  /** Field name → `true`, or the parts that have a record. */
  readonly fields?: Readonly<Record<string, true | readonly string[]>>;
  /** Ids of elements whose locator line is recorded. */
  readonly locators?: readonly string[];
  readonly batch?: BatchRecord["status"];
  readonly intent?: RememberedIntent;
  /** Of a target alone: folder name → id. */
  readonly folders?: Readonly<Record<string, string>>;
  /** Of a target alone: addresses in it that state knows something of. */
  readonly addresses?: number;
};

/** A creation that was about to be sent, and of which nobody has looked up yet what it made. */
export type RememberedIntent = {
  readonly at: string;
  /** Ids that were there before. */
  readonly existing: readonly string[];
};

/** `undefined` where state knows nothing of the address. */
export function describe(state: State, address: Address): Remembered | undefined {
  const isTarget = parseAddress(address)?.kind === "target";
  if (!knows(state, address) && !(isTarget && knownAddresses(state).length > 0)) return undefined;
  const batch = state.batchGenerations.get(address)?.status;
  const intent = state.intents.get(address);
  return {
    address,
    stage: state.stage,
    ...bindingOf(state, address),
    ...(batch === undefined ? {} : { batch }),
    ...(intent === undefined ? {} : { intent: { at: intent.at, existing: intent.existing } }),
    ...(isTarget
      ? { folders: Object.fromEntries(state.folders), addresses: knownAddresses(state).length }
      : {}),
  };
}

function bindingOf(state: State, address: Address): Pick<Remembered, "id" | "fields" | "locators"> {
  const binding = state.bindings.get(address);
  if (binding === undefined) return {};
  const fields = Object.entries(binding.fields).map(
    ([name, record]) => [name, typeof record === "string" ? true : Object.keys(record)] as const,
  );
  const locators = Object.keys(binding.locators ?? {});
  return {
    id: binding.id,
    fields: Object.fromEntries(fields),
    ...(locators.length === 0 ? {} : { locators }),
  };
}
