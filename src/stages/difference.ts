import { fieldsOf } from "../fields/fields.ts";
import type { Field } from "../fields/field.ts";
import { compareAddresses } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { Desired, DesiredResource } from "../model/desired.ts";
import { originIn, originOf, resourcesOf } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import type { Json, Path } from "../model/json.ts";
import { isSensitive } from "../model/value.ts";
import { mergedAt } from "../manifest/merge.ts";
import { display } from "../plan/field-changes.ts";
import { ordered } from "../plan/ordered.ts";
import { sameMeaning } from "./meaning.ts";
import type { StageView } from "./stage-view.ts";

/** What sets two stages of a project apart: plain data, without any secret. */
export interface StageDiff {
  readonly from: string;
  readonly to: string;
  /** Sorted by address, fields in the order of the table. */
  readonly differences: readonly Difference[];
  readonly onlyFrom: readonly Lone[];
  readonly onlyTo: readonly Lone[];
}

/** A field that the stages resolve to different values. A side without value does not declare it. */
export interface Difference {
  readonly address: Address;
  readonly path: Path;
  readonly sensitive?: true;
  readonly from: DiffSide | undefined;
  readonly to: DiffSide | undefined;
}

export interface DiffSide {
  /** Absent where it must not show. */
  readonly value?: Json;
  readonly origin: Origin | undefined;
}

/** A resource that only one of the stages declares. */
export interface Lone {
  readonly address: Address;
  readonly origin: Origin | undefined;
}

/** The fields that promotion carries, or all. */
export type FieldChoice = "promoted" | "all";

/** Compares two stages field by field. Resources of which no chosen field is known are left out. */
export function diffStages(
  from: StageView,
  to: StageView,
  choice: FieldChoice,
  inScope: (address: Address) => boolean,
): StageDiff {
  const left = resourcesIn(from.desired, choice, inScope);
  const right = resourcesIn(to.desired, choice, inScope);
  const differences = [...left].flatMap(([address, resource]) => {
    const other = right.get(address);
    if (other === undefined) return [];
    return chosenFields(resource, choice).flatMap((field) => compare(field, resource, other, from, to) ?? []);
  });
  return {
    from: from.stage,
    to: to.stage,
    differences,
    onlyFrom: lone(left, right),
    onlyTo: lone(right, left),
  };
}

export function chosenFields({ kind }: DesiredResource, choice: FieldChoice): readonly Field<never>[] {
  return fieldsOf(kind).filter(({ promoted }) => choice === "all" || promoted === true);
}

function resourcesIn(
  { targets }: Desired,
  choice: FieldChoice,
  inScope: (address: Address) => boolean,
): ReadonlyMap<Address, DesiredResource> {
  const found = targets
    .flatMap(resourcesOf)
    .filter((resource) => inScope(resource.address) && chosenFields(resource, choice).length > 0);
  return new Map(
    found
      .toSorted((a, b) => compareAddresses(a.address, b.address))
      .map((resource) => [resource.address, resource]),
  );
}

function lone(
  own: ReadonlyMap<Address, DesiredResource>,
  others: ReadonlyMap<Address, DesiredResource>,
): readonly Lone[] {
  return [...own.values()]
    .filter(({ address }) => !others.has(address))
    .map((resource) => ({ address: resource.address, origin: originOf(resource) }));
}

function compare(
  field: Field<never>,
  left: DesiredResource,
  right: DesiredResource,
  from: StageView,
  to: StageView,
): Difference | undefined {
  const before = from.meaningOf(field, mergedAt(left.layers, field.path));
  const after = to.meaningOf(field, mergedAt(right.layers, field.path));
  if (sameMeaning(field, before, after)) return undefined;
  const sensitive = [before, after].some((side) => side !== undefined && isSensitive(side.value));
  const sideOf = (resource: DesiredResource, side: typeof before): DiffSide | undefined =>
    side && {
      ...(sensitive ? {} : { value: ordered(display(side.value)) }),
      origin: originIn(resource.layers, field.path),
    };
  return {
    address: left.address,
    path: field.path,
    ...(sensitive ? { sensitive } : {}),
    from: sideOf(left, before),
    to: sideOf(right, after),
  };
}
