import { type Address, type Kind, targetAddress, targetOf } from "./address.ts";
import type { Origin } from "./diagnostic.ts";
import { type JsonObject, type Path, valueAt } from "./json.ts";
import { type Value, isUnknown, reveal } from "./value.ts";

/** The desired configuration of one stage: resolved, complete and validated. */
export interface Desired {
  readonly stage: string;
  /** Sorted by key. */
  readonly targets: readonly DesiredTarget[];
  /** What state is to forget; absent if nothing is. */
  readonly removed?: readonly Removal[];
}

/** An entry of `removed:`. A target includes everything in it. */
export interface Removal {
  readonly address: Address;
  readonly origin: Origin;
}

/** Returns the removal of an address, with the entry that names it or its target. */
export function removalOf({ removed = [] }: Desired, address: Address): Removal | undefined {
  const whole = targetAddress(targetOf(address));
  const entry = removed.find((one) => one.address === address || one.address === whole);
  return entry && { ...entry, address };
}

export interface DesiredTarget extends DesiredResource<"target"> {
  readonly onRemove: "ignore" | "disable";
  /**
   * No manifest declares the target any more. It is kept to decide on its test cases; it is not a
   * resource itself.
   */
  readonly left?: true;
  /** Each list sorted by key. */
  readonly environments: readonly DesiredResource<"environment">[];
  readonly testCases: readonly DesiredResource<"testCase">[];
  readonly batchGenerations: readonly DesiredResource<"batchGeneration">[];
  readonly moved: readonly Move[];
}

export interface DesiredResource<K extends Kind = Kind> {
  readonly kind: K;
  readonly address: Address;
  readonly key: string;
  /** `id:` of the manifest, which binds the address to a live resource. */
  readonly id?: string;
  /** Declared fields only, by their name in the field table, e.g. `discovery.prompt`. */
  readonly fields: DesiredFields;
  /** Lowest precedence first: a field's value comes from the last layer that has it. */
  readonly layers: readonly Layer[];
}

export type DesiredFields = Readonly<Record<string, Value>>;

/** A map in a manifest that gives values to a resource, before interpolation. */
export interface Layer {
  readonly kind: "defaults" | "stage defaults" | "base" | "stage";
  readonly file: string;
  readonly path: Path;
  readonly value: JsonObject;
}

/** An entry of `moved:` in a target document. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly origin: Origin;
}

/**
 * Returns where a manifest declares a resource or, with `field`, where the effective value of that
 * field is.
 */
export function originOf({ layers }: DesiredResource, field: Path = []): Origin | undefined {
  const own = field.length === 0 ? undefined : originIn(layers, field);
  // Defaults do not declare a resource: its own map does, or a stage's map if only the stage has
  // it.
  return (
    own ?? layers.find(({ kind }) => kind === "base") ?? layers.find(({ kind }) => kind === "stage")
  );
}

/**
 * Returns the place of the effective value in layers (lowest first), or `undefined` if no layer has
 * the path.
 */
export function originIn(layers: readonly Layer[], path: Path): Origin | undefined {
  const layer = layers.findLast(({ value }) => valueAt(value, path) !== undefined);
  return layer && { file: layer.file, path: [...layer.path, ...path] };
}

/** Returns every declared resource of a target, the target first. */
export function resourcesOf(target: DesiredTarget): readonly DesiredResource[] {
  // `concat`, because a spread would iterate over a hundred thousand test cases one by one.
  const own: readonly DesiredResource[] = target.left ? [] : [target];
  return own.concat(target.environments, target.testCases, target.batchGenerations);
}

export function declaredAddresses({ targets }: Desired): readonly Address[] {
  return targets.flatMap((target) => resourcesOf(target).map(({ address }) => address));
}

export function byAddress<T extends { readonly address: Address }>(items: readonly T[]) {
  const found = new Map<Address, T>();
  for (const item of items) found.set(item.address, item);
  return found;
}

/** Returns a declared value for a body, if it is known and not null; a secret stays wrapped. */
export function sendable(resource: DesiredResource, field: string): Value | undefined {
  const value = resource.fields[field];
  return value === undefined || value === null || isUnknown(value) ? undefined : value;
}

/** Returns a declared name, prompt, URL or other text, if it is known. */
export function knownText(resource: DesiredResource, field: string): string | undefined {
  const value = sendable(resource, field);
  const plain = value === undefined ? undefined : reveal(value);
  return typeof plain === "string" ? plain : undefined;
}
