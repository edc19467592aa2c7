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

/** Layers in the order of their files. Of ten thousand documents with a test case each, few say anything else. */
export interface Layers {
  readonly all: readonly Layer[];
  /** Those that have a key. */
  readonly having: (key: string) => readonly Layer[];
}

/** The maps of a target's documents, and those of their overrides for a stage: both have the same keys inside. */
export interface Origins {
  readonly base: Layers;
  readonly stage: Layers;
}

export function originsOf(documents: readonly Document[], stage: string): Origins {
  const base = baseLayers(documents);
  return { base, stage: stageLayers(base, stage) };
}

export function baseLayers(documents: readonly Document[]): Layers {
  return byKey(documents.map(({ file, value }) => ({ kind: "base", file, path: ROOT, value })));
}

const ROOT: Path = [];

export function stageLayers(base: Layers, stage: string): Layers {
  return byKey(
    base.having("stages").flatMap(({ file, value }) => {
      const override = mapAt(mapAt(value, "stages"), stage);
      return override === undefined
        ? []
        : [{ kind: "stage", file, path: ["stages", stage], value: override }];
    }),
  );
}

function byKey(all: readonly Layer[]): Layers {
  const holders = new Map<string, Layer[]>();
  all.forEach((layer) => {
    for (const key in layer.value) {
      const known = holders.get(key);
      if (known === undefined) holders.set(key, [layer]);
      else known.push(layer);
    }
  });
  return { all, having: (key) => holders.get(key) ?? [] };
}

/** The layers of the target itself. A document that only adds test cases to it is none, unless there is no other. */
export function targetLayers({ base, stage }: Origins): readonly Layer[] {
  const layers = [...speakingOfTarget(base), ...speakingOfTarget(stage)];
  return layers.some(({ kind }) => kind === "base") ? layers : [...base.all.slice(0, 1), ...layers];
}

function speakingOfTarget({ all, having }: Layers): readonly Layer[] {
  const speaking = new Set(TARGET_KEYS.flatMap(having));
  return all.filter((layer) => speaking.has(layer));
}

/** What a section's resources are made of. */
export interface SectionLayers {
  /** Lowest first, as far as the resource's own map. */
  readonly defaults: readonly Layer[];
  readonly base: ReadonlyMap<string, Layer>;
  readonly stage: ReadonlyMap<string, Layer>;
}

export function sectionLayers({ base, stage }: Origins, section: Section): SectionLayers {
  return {
    defaults: allDefaults(base, stage, section),
    base: resourceLayers(base, section),
    stage: resourceLayers(stage, section),
  };
}

/** As if the stage's overrides were merged into the document, defaults into defaults, before anything is looked up. */
function allDefaults(base: Layers, stage: Layers, section: Section): readonly Layer[] {
  return [...defaultsLayers(base, section), ...defaultsLayers(stage, section)];
}

function defaultsLayers({ having }: Layers, { name }: Section): readonly Layer[] {
  const found: Layer[] = [];
  for (const { kind, file, path, value } of having("defaults")) {
    const defaults = mapAt(mapAt(value, "defaults"), name);
    if (defaults === undefined) continue;
    const own = kind === "stage" ? "stage defaults" : "defaults";
    found.push({ kind: own, file, path: [...path, "defaults", name], value: defaults });
  }
  return found;
}

function resourceLayers({ having }: Layers, { name }: Section): ReadonlyMap<string, Layer> {
  const resources = new Map<string, Layer>();
  having(name).forEach(({ kind, file, path, value }) => {
    const declared = mapAt(value, name) ?? {};
    for (const key in declared) {
      const resource = declared[key];
      if (isObject(resource) && !resources.has(key))
        // Not spread where it need not be: a spread list keeps room for a dozen more, for each of the resources.
        resources.set(key, {
          kind,
          file,
          path: path.length === 0 ? [name, key] : [...path, name, key],
          value: resource,
        });
    }
  });
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
  const own = base === undefined ? [] : [base];
  if (stage !== undefined) own.push(stage);
  return section.defaults.length === 0 ? own : [...section.defaults, ...own];
}

/** The layers of one resource, without a look at all the others. */
export function layersOfOne({ base, stage }: Origins, section: Section, key: string): readonly Layer[] {
  const only = ({ having }: Layers): ReadonlyMap<string, Layer> => {
    const own = having(section.name)
      .flatMap((layer) => resourceLayer(layer, section, key) ?? [])
      .slice(0, 1);
    return new Map(own.map((layer) => [key, layer]));
  };
  const layers: SectionLayers = {
    defaults: allDefaults(base, stage, section),
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
