import {
  type Address,
  type Kind,
  addressOf,
  compareText,
  isAddress,
  targetAddress,
} from "../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  type Layer,
  type Move,
  originOf,
} from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import type { Policy } from "../model/settings.ts";
import type { Value } from "../model/value.ts";
import { type Document, PROJECT_FILE } from "./document.ts";
import { valueAt, type JsonObject, type Path, isArray, isObject } from "../model/json.ts";
import { type ManifestProblem, manifestProblem } from "./problem.ts";
import type { Interpolator } from "./interpolation.ts";
import { type ResolveContext, mergedAt, resolveValue } from "./resolve.ts";
import { bare } from "./shape.ts";
import {
  BATCH_GENERATIONS,
  ENVIRONMENTS,
  type FieldRow,
  type InnerKind,
  ON_REMOVE_PART,
  SECTIONS,
  type SectionRow,
  TARGET_KEYS,
  TARGET_ROWS,
  TEST_CASES,
} from "./tables.ts";

export interface TargetRequest {
  readonly stage: string;
  readonly interpolator: Interpolator;
  /** What holds for a target that does not say it itself. */
  readonly onRemove: Policy["onRemove"];
  /** What `tasc.yaml` says for the stage; its defaults are below those of the target. */
  readonly settings: readonly Layer[];
}

/**
 * What the documents of a target want of one stage; `undefined` where the target exists in other stages alone. Problems
 * are added to the list that is handed in.
 */
export function resolveTarget(
  target: TargetDocuments,
  request: TargetRequest,
  problems: ManifestProblem[],
): DesiredTarget | undefined {
  const { stage, interpolator, settings, onRemove = "ignore" } = request;
  const { key, base } = target;
  const origins = { project: byKey(settings), base, stage: stageLayers(base, stage) };
  const layers = targetLayers(origins);
  if (!existsIn(stage, layers)) return undefined;
  const address = targetAddress(key);
  const parts: ResourceParts<"target"> = { kind: "target", address, key, layers, rows: TARGET_ROWS };
  const context = contextOf(parts, interpolator, problems);
  const declared = mergedAt(layers, ["onRemove"]);
  const removal =
    declared === undefined ? onRemove : resolveValue(ON_REMOVE_PART, declared, ["onRemove"], context);
  const inner = <K extends InnerKind>(section: SectionRow<K>): readonly DesiredResource<K>[] =>
    resolveSection(key, section, origins, request, problems);
  return {
    ...resolveResource(parts, interpolator, problems),
    onRemove: removal === "disable" ? "disable" : "ignore",
    environments: inner(ENVIRONMENTS),
    testCases: inner(TEST_CASES),
    batchGenerations: inner(BATCH_GENERATIONS),
    moved: movesOf(origins.base),
  };
}

/** Whether `onlyStages` lets a resource with these layers exist in a stage. */
export function existsIn(stage: string, layers: readonly Layer[]): boolean {
  const only = mergedAt(layers, ["onlyStages"]);
  return !isArray(only) || only.includes(stage);
}

function resolveSection<K extends InnerKind>(
  target: string,
  section: SectionRow<K>,
  origins: Origins,
  { stage, interpolator }: TargetRequest,
  problems: ManifestProblem[],
): readonly DesiredResource<K>[] {
  const layers = sectionLayers(origins, section);
  const keys = [...layers.base.keys(), ...[...layers.stage.keys()].filter((key) => !layers.base.has(key))];
  // Made once: what is put together of five parts takes the room of five.
  const above = addressOf(section.kind, target, "");
  const resources: DesiredResource<K>[] = [];
  for (const key of keys.toSorted(compareText)) {
    const own = layersOf(layers, key);
    if (!existsIn(stage, own)) continue;
    const address: Address = `${above}${key}`;
    const parts = { kind: section.kind, address, key, layers: own, rows: section.fields };
    resources.push(resolveResource(parts, interpolator, problems));
  }
  return resources;
}

/**
 * What two documents of a target both say: a resource, a field of the target, a field of its defaults. Which of the
 * two counted would depend on the names of the files. Stages are looked at one by one, whichever is chosen.
 */
export function findDuplicates(
  { key: target, base }: TargetDocuments,
  stages: readonly string[],
): readonly ManifestProblem[] {
  if (base.all.length < 2) return [];
  const problems: ManifestProblem[] = [];
  const twice = (layer: Layer, first: Layer, path: Path, summary: string, detail: string): void => {
    const origin = { file: layer.file, path: [...layer.path, ...path] };
    const related = { file: first.file, path: [...first.path, ...path] };
    problems.push(manifestProblem("duplicate", origin, summary, detail, { at: "key", related }));
  };
  /** @param place a map of fields; @param owner of the fields, in words */
  const checkFields = (layers: Layers, place: Path, fields: readonly Named[], owner: string): void => {
    const detail = "Documents of one target share its fields and defaults. Remove one of the two.";
    for (const { name, path: inner } of fields) {
      const path = [...place, ...inner];
      const holders = layers
        .having(String(path[0]))
        .filter(({ value }) => valueAt(value, path) !== undefined);
      const [first, ...others] = holders;
      for (const layer of others)
        if (first !== undefined) twice(layer, first, path, `\`${name}\` of ${owner} is set twice`, detail);
    }
  };
  for (const layers of [base, ...stages.map((stage) => stageLayers(base, stage))]) {
    checkFields(layers, [], TARGET_FIELDS, `target ${target}`);
    for (const { kind, name, fields } of SECTIONS) {
      const owners = new Map<string, Layer>();
      for (const layer of layers.having(name))
        for (const key of Object.keys(mapAt(layer.value, name) ?? {})) {
          const owner = owners.get(key);
          if (owner === undefined) owners.set(key, layer);
          else {
            const summary = `${addressOf(kind, target, key)} is declared twice`;
            twice(layer, owner, [name, key], summary, "Rename one of them, or merge the two.");
          }
        }
      checkFields(layers, ["defaults", name], fields, `the defaults of target ${target}`);
    }
  }
  return problems;
}

type Named = Pick<FieldRow, "name" | "path">;

const TARGET_FIELDS: readonly Named[] = [
  { name: "id", path: ["id"] },
  { name: "onlyStages", path: ["onlyStages"] },
  { name: "onRemove", path: ["onRemove"] },
  ...TARGET_ROWS,
];

/** What adds to one target: the layers of its documents, in the order of their files. */
interface TargetDocuments {
  readonly key: string;
  readonly base: Layers;
}

/** Documents by the target they name, sorted by key; told once of the same documents. */
export function groupByTarget(documents: readonly Document[]): readonly TargetDocuments[] {
  const known = GROUPED.get(documents);
  if (known !== undefined) return known;
  const groups = new Map<string, Document[]>();
  for (const document of documents) {
    const { target } = document.value;
    if (typeof target !== "string") continue;
    const group = groups.get(target);
    if (group === undefined) groups.set(target, [document]);
    else group.push(document);
  }
  const grouped = [...groups]
    .map(([key, members]) => ({ key, base: baseLayers(members) }))
    .toSorted((a, b) => compareText(a.key, b.key));
  GROUPED.set(documents, grouped);
  return grouped;
}

const GROUPED = new WeakMap<readonly Document[], readonly TargetDocuments[]>();

/**
 * The layers of a target in one stage. A layer is made once and shared by all resources that it gives values to:
 * a hundred thousand test cases with the same defaults hold the same object.
 */

/** Layers in the order of their files. Of ten thousand documents with a test case each, few say anything else. */
interface Layers {
  readonly all: readonly Layer[];
  /** Those that have a key. */
  readonly having: (key: string) => readonly Layer[];
}

/** The maps of a target's documents, and those of their overrides for a stage: both have the same keys inside. */
interface Origins {
  /** Of `tasc.yaml`: all that it says of targets is in its defaults. */
  readonly project: Layers;
  readonly base: Layers;
  readonly stage: Layers;
}

/** @param settings what `tasc.yaml` says for the stage */
function originsOf(documents: readonly Document[], stage: string, settings: readonly Layer[]): Origins {
  const base = baseLayers(documents);
  return { project: byKey(settings), base, stage: stageLayers(base, stage) };
}

function baseLayers(documents: readonly Document[]): Layers {
  return byKey(documents.map(({ file, root, value }) => ({ kind: "base", file, path: root, value })));
}

function stageLayers(base: Layers, stage: string): Layers {
  return byKey(
    base.having("stages").flatMap(({ file, path, value }) => {
      const override = mapAt(mapAt(value, "stages"), stage);
      return override === undefined
        ? []
        : [{ kind: "stage", file, path: [...path, "stages", stage], value: override }];
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
function targetLayers({ base, stage }: Origins): readonly Layer[] {
  const layers = [...speakingOfTarget(base), ...speakingOfTarget(stage)];
  return layers.some(({ kind }) => kind === "base") ? layers : [...base.all.slice(0, 1), ...layers];
}

function speakingOfTarget({ all, having }: Layers): readonly Layer[] {
  const speaking = new Set(TARGET_KEYS.flatMap(having));
  return all.filter((layer) => speaking.has(layer));
}

/** What a section's resources are made of. */
interface SectionLayers {
  /** Lowest first, as far as the resource's own map. */
  readonly defaults: readonly Layer[];
  readonly base: ReadonlyMap<string, Layer>;
  readonly stage: ReadonlyMap<string, Layer>;
}

function sectionLayers(origins: Origins, section: SectionRow): SectionLayers {
  return {
    defaults: allDefaults(origins, section),
    base: resourceLayers(origins.base, section),
    stage: resourceLayers(origins.stage, section),
  };
}

/** As if the stage's overrides were merged into the document, defaults into defaults, before anything is looked up. */
function allDefaults({ project, base, stage }: Origins, section: SectionRow): readonly Layer[] {
  return [project, base, stage].flatMap((layers) => defaultsLayers(layers, section));
}

function defaultsLayers({ having }: Layers, { name }: SectionRow): readonly Layer[] {
  const found: Layer[] = [];
  for (const { kind, file, path, value } of having("defaults")) {
    const defaults = mapAt(mapAt(value, "defaults"), name);
    if (defaults === undefined) continue;
    const own = kind === "stage" ? "stage defaults" : "defaults";
    found.push({ kind: own, file, path: [...path, "defaults", name], value: defaults });
  }
  return found;
}

function resourceLayers({ having }: Layers, { name }: SectionRow): ReadonlyMap<string, Layer> {
  const resources = new Map<string, Layer>();
  for (const { kind, file, path, value } of having(name)) {
    const declared = mapAt(value, name) ?? {};
    for (const key of Object.keys(declared)) {
      const resource = mapAt(declared, key);
      if (resource === undefined || resources.has(key)) continue;
      // Not spread where it need not be: a spread list keeps room for a dozen more, for each of the resources.
      const own = path.length === 0 ? [name, key] : [...path, name, key];
      resources.set(key, { kind, file, path: own, value: resource });
    }
  }
  return resources;
}

function mapAt(value: JsonObject | undefined, key: string): JsonObject | undefined {
  const part = value !== undefined && Object.hasOwn(value, key) ? value[key] : undefined;
  return isObject(part) ? part : undefined;
}

/** The layers of one resource, lowest first. */
function layersOf(section: SectionLayers, key: string): readonly Layer[] {
  const base = section.base.get(key);
  const stage = section.stage.get(key);
  const own = base === undefined ? [] : [base];
  if (stage !== undefined) own.push(stage);
  // Joined, not spread: a spread list keeps room for a dozen more, for each of the resources.
  return section.defaults.length === 0 ? own : section.defaults.concat(own);
}

/** The layers of one resource after the other, the target included; what they have in common is put together once. */
export function layersIn(
  documents: readonly Document[],
  stage: string,
  settings: readonly Layer[],
): (kind: Kind, key: string) => readonly Layer[] {
  const origins = originsOf(documents, stage, settings);
  const target = targetLayers(origins);
  const sections = new Map<Kind, SectionLayers>();
  return (kind, key) => {
    const section = SECTIONS.find((one) => one.kind === kind);
    if (section === undefined) return target;
    const layers = sections.get(kind) ?? sectionLayers(origins, section);
    sections.set(kind, layers);
    return layersOf(layers, key);
  };
}

/** The `moved:` entries of a target's documents; whether they make sense together is for the rules to say. */
function movesOf({ having }: Layers): readonly Move[] {
  const moves: Move[] = [];
  for (const { file, path, value } of having("moved"))
    for (const [at, entry] of isArray(value.moved) ? value.moved.entries() : [])
      if (isObject(entry)) {
        const { from, to } = entry;
        if (typeof from === "string" && typeof to === "string" && isAddress(from) && isAddress(to))
          moves.push({ from, to, origin: { file, path: [...path, "moved", at] } });
      }
  return moves;
}

/** What a resource is made of. */
type ResourceParts<K extends Kind> = Pick<DesiredResource<K>, "kind" | "address" | "key" | "layers"> & {
  readonly rows: readonly FieldRow[];
};

/** A resource from its layers, merged and filled in, its fields in the order of the table. */
function resolveResource<K extends Kind>(
  parts: ResourceParts<K>,
  interpolator: Interpolator,
  problems: ManifestProblem[],
): DesiredResource<K> {
  const { kind, address, key, layers, rows } = parts;
  const context = contextOf(parts, interpolator, problems);
  const fields: Record<string, Value> = {};
  for (const row of rows) {
    const value = mergedAt(layers, row.path);
    if (value !== undefined) fields[row.name] = resolveValue(row, value, row.path, context);
  }
  const declared = mergedAt(layers, ID_PATH);
  const id = declared === undefined ? undefined : resolveValue(ID_PART, declared, ID_PATH, context);
  return typeof id === "string"
    ? { kind, address, key, id, fields, layers }
    : { kind, address, key, fields, layers };
}

const ID_PART = bare({ type: "uuid" });
const ID_PATH: Path = ["id"];

/** The context of a resource's values: their problems go to the list that is handed in. */
function contextOf(
  parts: ResourceParts<Kind>,
  interpolator: Interpolator,
  problems: ManifestProblem[],
): ResolveContext {
  const { address } = parts;
  return {
    interpolator,
    originOf: (path) => originOf({ ...parts, fields: {} }, path) ?? { file: PROJECT_FILE, path: [] },
    report: (problem) => problems.push(isShared(problem.origin) ? problem : { ...problem, address }),
  };
}

/** What is wrong with a variable or a default is reported once, not for each resource that uses it. */
function isShared({ file, path }: Origin): boolean {
  const [first, , third] = typeof path[0] === "number" ? path.slice(1) : path;
  return file === PROJECT_FILE || first === "defaults" || (first === "stages" && third === "defaults");
}
