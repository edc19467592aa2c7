import { fieldsOf } from "../fields/fields.ts";
import { KINDS } from "../model/address.ts";
import { sameJson } from "../model/json.ts";
import type { Draft } from "./draft.ts";
import type { Unit } from "./unit.ts";

/**
 * What is written differently in two sets of manifests, in some stages: the proof that a rewriting did no more than
 * it was to do is that nothing else is listed here.
 */
export function changedUnits(before: Draft, after: Draft, stages: readonly string[]): readonly Unit[] {
  const targets = new Set([...before.targets, ...after.targets]);
  const addresses = [...targets].flatMap((target) =>
    KINDS.flatMap((kind) =>
      [...new Set([...before.addressesOf(target, kind), ...after.addressesOf(target, kind)])].map(
        (address) => ({ kind, address }),
      ),
    ),
  );
  const units = addresses.flatMap(({ kind, address }) =>
    fieldsOf(kind).flatMap((field) => stages.map((stage): Unit => ({ stage, address, field }))),
  );
  return units.filter((unit) => {
    const [was, now] = [before.written(unit), after.written(unit)];
    return was === undefined || now === undefined ? was !== now : !sameJson(was, now);
  });
}
