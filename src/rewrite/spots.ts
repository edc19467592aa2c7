import { parseAddress } from "../model/address.ts";
import type { Layer } from "../model/desired.ts";
import type { Json, Path } from "../model/json.ts";
import { SECTIONS } from "../manifest/tables/kinds.ts";
import type { Draft, FileEdit } from "./draft.ts";
import type { Unit } from "./unit.ts";

/** A place at which a unit's value can be written. */
export interface Spot {
  readonly layer: Layer["kind"];
  readonly file: string;
  readonly path: Path;
}

/** Where the value stands that counts. */
export function topSpot(draft: Draft, unit: Unit): Spot | undefined {
  const layer = draft.topLayer(unit);
  return layer && inLayer(layer, unit);
}

/** In the resource's own map, for all stages. */
export function baseSpot(draft: Draft, unit: Unit): Spot | undefined {
  const layer = draft.layersOf(unit).find(({ kind }) => kind === "base");
  return layer && inLayer(layer, unit);
}

/** In the resource's override for its stage, which need not be there yet. */
export function stageSpot(draft: Draft, unit: Unit): Spot | undefined {
  const layers = draft.layersOf(unit);
  const own = layers.find(({ kind }) => kind === "stage");
  if (own !== undefined) return inLayer(own, unit);
  const base = layers.find(({ kind }) => kind === "base");
  const parts = parseAddress(unit.address);
  if (base === undefined || parts === undefined) return undefined;
  const section = SECTIONS.find(({ kind }) => kind === parts.kind);
  const inside = section === undefined ? [] : [section.name, parts.key];
  return {
    layer: "stage",
    file: base.file,
    path: ["stages", unit.stage, ...inside, ...unit.field.path],
  };
}

function inLayer({ kind, file, path }: Layer, { field }: Unit): Spot {
  return { layer: kind, file, path: [...path, ...field.path] };
}

export function setAt({ file, path }: Spot, value: Json): FileEdit {
  return { file, edit: { kind: "set", path, value } };
}

export function deleteAt({ file, path }: Spot): FileEdit {
  return { file, edit: { kind: "delete", path } };
}
