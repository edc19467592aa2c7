import type { Layer } from "../../model/desired.ts";
import { isObject } from "../../model/json.ts";
import type { JsonObject, Path } from "../../model/json.ts";
import type { Document } from "../document.ts";
import { TARGET_KEYS } from "../tables/kinds.ts";
import type { Section } from "../tables/kinds.ts";

/**
 * The layers of a target in one stage. A layer is made once and shared by all resources that it gives values to:
 * a hundred thousand test cases with the same defaults hold the same object.
 */

/** A document's own maps, or those of its overrides for the stage: both have the same keys inside. */
export interface Origins {
  readonly base: readonly Layer[];
  readonly stage: readonly Layer[];
}

export function originsOf(documents: readonly Document[], stage: string): Origins {
  return { base: baseLayers(documents), stage: stageLayers(documents, stage) };
}

export function baseLayers(documents: readonly Document[]): readonly Layer[] {
  return documents.map(({ file, value }) => ({ kind: "base", file, path: ROOT, value }));
}

const ROOT: Path = [];

export function stageLayers(documents: readonly Document[], stage: string): readonly Layer[] {
  const layers: Layer[] = [];
  for (const { file, value } of documents) {
    const override = mapAt(mapAt(value, "stages"), stage);
    if (override !== undefined)
      layers.push({ kind: "stage", file, path: ["stages", stage], value: override });
  }
  return layers;
}

/** The layers of the target itself. A document that only adds test cases to it is none, unless there is no other. */
export function targetLayers({ base, stage }: Origins): readonly Layer[] {
  const layers = [...base, ...stage].filter(speaksOfTarget);
  return layers.some(({ kind }) => kind === "base") ? layers : [...base.slice(0, 1), ...layers];
}

function speaksOfTarget({ value }: Layer): boolean {
  return TARGET_KEYS.some((key) => value[key] !== undefined);
}

/** What a section's resources are made of. */
export interface SectionLayers {
  /** Lowest first, as far as the resource's own map. */
  readonly defaults: readonly Layer[];
  readonly stageDefaults: readonly Layer[];
  readonly base: ReadonlyMap<string, Layer>;
  readonly stage: ReadonlyMap<string, Layer>;
}

export function sectionLayers({ base, stage }: Origins, section: Section): SectionLayers {
  return {
    defaults: defaultsLayers(base, section),
    stageDefaults: defaultsLayers(stage, section),
    base: resourceLayers(base, section),
    stage: resourceLayers(stage, section),
  };
}

function defaultsLayers(layers: readonly Layer[], { name }: Section): readonly Layer[] {
  const found: Layer[] = [];
  for (const { kind, file, path, value } of layers) {
    const defaults = mapAt(mapAt(value, "defaults"), name);
    if (defaults === undefined) continue;
    const own = kind === "stage" ? "stage defaults" : "defaults";
    found.push({ kind: own, file, path: [...path, "defaults", name], value: defaults });
  }
  return found;
}

function resourceLayers(layers: readonly Layer[], { name }: Section): ReadonlyMap<string, Layer> {
  const resources = new Map<string, Layer>();
  for (const { kind, file, path, value } of layers) {
    const declared = mapAt(value, name);
    if (declared === undefined) continue;
    for (const key of Object.keys(declared)) {
      const resource = declared[key];
      if (isObject(resource) && !resources.has(key))
        // Joined, not spread: a spread list keeps room for a dozen more, for each of the resources.
        resources.set(key, { kind, file, path: path.concat(name, key), value: resource });
    }
  }
  return resources;
}

function mapAt(value: JsonObject | undefined, key: string): JsonObject | undefined {
  const part = value !== undefined && Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(part) ? part : undefined;
}

/** The layers of one resource, lowest first. */
export function layersOf(section: SectionLayers, key: string): readonly Layer[] {
  const base = section.base.get(key);
  const stage = section.stage.get(key);
  // As if the stage's overrides were merged into the document, defaults into defaults, before anything is looked up.
  const own = stage === undefined ? [] : [stage];
  const declared = base === undefined ? own : [base].concat(own);
  return section.defaults.concat(section.stageDefaults, declared);
}

/** The layers of one resource, without a look at all the others. */
export function layersOfOne({ base, stage }: Origins, section: Section, key: string): readonly Layer[] {
  const only = (layers: readonly Layer[]): ReadonlyMap<string, Layer> => {
    const own = layers.flatMap((layer) => resourceLayer(layer, section, key) ?? []).slice(0, 1);
    return new Map(own.map((layer) => [key, layer]));
  };
  const layers: SectionLayers = {
    defaults: defaultsLayers(base, section),
    stageDefaults: defaultsLayers(stage, section),
    base: only(base),
    stage: only(stage),
  };
  return layersOf(layers, key);
}

function resourceLayer(
  { kind, file, path, value }: Layer,
  { name }: Section,
  key: string,
): Layer | undefined {
  const resource = mapAt(mapAt(value, name), key);
  return resource && { kind, file, path: [...path, name, key], value: resource };
}
