import type { Field } from "../fields/field.ts";
import type { Address } from "../model/address.ts";
import type { Json } from "../model/json.ts";

/** A field of a resource in one stage: what a rewriting of manifests changes, or must leave as it is. */
export interface Unit {
  readonly stage: string;
  readonly address: Address;
  readonly field: Field<never>;
}

export function unitKey({ stage, address, field }: Unit): string {
  return JSON.stringify([stage, address, field.name]);
}

/** What is to be written for a unit, as a test of it. */
export interface Wish {
  readonly unit: Unit;
  /** @param written the unit's value as it would stand in the manifests; nothing where none would */
  readonly isMet: (written: Json | undefined) => boolean;
}

/** Wishes by the key of their unit. */
export type Wishes = ReadonlyMap<string, Wish>;

export function wishesOf(wishes: readonly Wish[]): Wishes {
  return new Map(wishes.map((wish) => [unitKey(wish.unit), wish]));
}
