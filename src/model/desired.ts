import type { Address, Kind } from "./address.ts";
import type { Origin } from "./diagnostic.ts";
import { type JsonObject, type Path, valueAt } from "./json.ts";
import type { Value } from "./value.ts";

/** What the manifests want of one stage: resolved, complete, checked. */
export interface Desired {
  readonly stage: string;
  /** Sorted by key. */
  readonly targets: readonly DesiredTarget[];
}

export interface DesiredTarget extends DesiredResource<"target"> {
  readonly onRemove: "ignore" | "disable";
  /** No manifest declares it any more: it is there for what becomes of its test cases, and is not a resource itself. */
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
  /** `id:` of the manifest: binds the address by hand. */
  readonly id?: string;
  /** By field name as the field table has it, `discovery.prompt` for example; only what is declared. */
  readonly fields: DesiredFields;
  /** Lowest first; a field's value comes from the last layer that has it. */
  readonly layers: readonly Layer[];
}

export type DesiredFields = Readonly<Record<string, Value>>;

/** A map of a document that gives values to a resource, before interpolation. */
export interface Layer {
  readonly kind: "defaults" | "stage defaults" | "base" | "stage";
  readonly file: string;
  readonly path: Path;
  readonly value: JsonObject;
}

/** `moved:` of a target document. */
export interface Move {
  readonly from: Address;
  readonly to: Address;
  readonly origin: Origin;
}

/** Where the manifest declares a resource, or, with `field`, the value of one field that counts. */
export function originOf({ layers }: DesiredResource, field: Path = []): Origin | undefined {
  const own = field.length === 0 ? undefined : originIn(layers, field);
  // Defaults declare nothing; a resource is declared by its own map, or by a stage's if only that one has it.
  return own ?? layers.find(({ kind }) => kind === "base") ?? layers.find(({ kind }) => kind === "stage");
}

/** The place of the value that counts among layers, lowest first; `undefined` if none has one. */
export function originIn(layers: readonly Layer[], path: Path): Origin | undefined {
  const layer = layers.findLast(({ value }) => valueAt(value, path) !== undefined);
  return layer && { file: layer.file, path: [...layer.path, ...path] };
}

/** Every declared resource of a target, the target first. */
export function resourcesOf(target: DesiredTarget): readonly DesiredResource[] {
  // Joined, not spread, which goes through a hundred thousand test cases one by one.
  const own: readonly DesiredResource[] = target.left ? [] : [target];
  return own.concat(target.environments, target.testCases, target.batchGenerations);
}

export function byAddress<T extends { readonly address: Address }>(items: readonly T[]) {
  const found = new Map<Address, T>();
  for (const item of items) found.set(item.address, item);
  return found;
}
