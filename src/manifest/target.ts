import { type Kind, addressOf, compareText, isAddress, targetAddress } from "../model/address.ts";
import {
  type DesiredResource,
  type DesiredTarget,
  type Layer,
  type Move,
  originOf,
} from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Field, TARGET_FIELDS } from "../model/fields.ts";
import { type Path, isArray, isObject, valueAt } from "../model/json.ts";
import type { Policy } from "../model/settings.ts";
import type { Value } from "../model/value.ts";
import { cached, groupBy } from "../model/collections.ts";
import { type Document, PROJECT_FILE } from "./document.ts";
import type { Interpolator } from "./interpolation.ts";
import { type ManifestProblem, manifestProblem } from "./problem.ts";
import { type ResolveContext, mergedAt, resolveValue } from "./resolve.ts";
import { bare } from "./shape.ts";
import {
  BATCH_GENERATIONS,
  ENVIRONMENTS,
  type InnerKind,
  ON_REMOVE_PART,
  OWN_FIELDS,
  SECTIONS,
  type SectionRow,
  TARGET_KEYS,
  TEST_CASES,
} from "./tables.ts";

interface TargetRequest {
  readonly stage: string;
  readonly interpolator: Interpolator;
  /** The value for a target that does not declare it. */
  readonly onRemove: Policy["onRemove"];
  /** The layers of `tasc.yaml` for the stage; its defaults are below those of the target. */
  readonly settings: readonly Layer[];
}

/**
 * Resolves the documents of a target for one stage; `undefined` if the target exists only in other
 * stages.
 */
export function resolveTarget(
  target: TargetDocuments,
  { stage, interpolator, settings, onRemove = "ignore" }: TargetRequest,
  problems: ManifestProblem[],
): DesiredTarget | undefined {
  const { key, base } = target;
  const layersOf = layersIn(target, stage, settings);
  const { defaults: layers } = layersOf("target");
  if (!existsIn(stage, layers)) return undefined;
  const contextOf = (resource: Unresolved): ResolveContext => ({
    interpolator,
    originOf: (path) =>
      originOf({ ...resource, fields: {} }, path) ?? { file: PROJECT_FILE, path: [] },
    report: (problem) =>
      problems.push(isShared(problem.origin) ? problem : { ...problem, address: resource.address }),
  });
  const section = <K extends InnerKind>({ kind, fields }: SectionRow<K>): DesiredResource<K>[] => {
    const resources: DesiredResource<K>[] = [];
    const { byKey } = layersOf(kind);
    [...byKey.keys()].toSorted(compareText).forEach((inner) => {
      const own = byKey.get(inner) ?? [];
      if (!existsIn(stage, own)) return;
      const address = addressOf(kind, key, inner);
      const resource = { kind, address, key: inner, layers: own };
      resources.push(resolveResource(resource, fields, contextOf(resource)));
    });
    return resources;
  };
  const own = { kind: "target" as const, address: targetAddress(key), key, layers };
  const context = contextOf(own);
  const declared = mergedAt(layers, ["onRemove"]);
  const removal =
    declared === undefined
      ? onRemove
      : resolveValue(ON_REMOVE_PART, declared, ["onRemove"], context);
  return {
    ...resolveResource(own, TARGET_FIELDS, context),
    onRemove: removal === "disable" ? "disable" : "ignore",
    environments: section(ENVIRONMENTS),
    testCases: section(TEST_CASES),
    batchGenerations: section(BATCH_GENERATIONS),
    moved: movesOf(base),
  };
}

type Unresolved<K extends Kind = Kind> = Pick<
  DesiredResource<K>,
  "kind" | "address" | "key" | "layers"
>;

/**
 * Resolves a resource from its layers, merged and filled in, with its fields in the order of the
 * table.
 */
function resolveResource<K extends Kind>(
  { kind, address, key, layers }: Unresolved<K>,
  rows: readonly Field[],
  context: ResolveContext,
): DesiredResource<K> {
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
const ONLY_STAGES_PATH: Path = ["onlyStages"];

/**
 * Whether a place is a variable or a default. Its problems are reported once, not for each resource
 * that uses it.
 */
function isShared({ file, path }: Origin): boolean {
  const [first, , third] = typeof path[0] === "number" ? path.slice(1) : path;
  return (
    file === PROJECT_FILE || first === "defaults" || (first === "stages" && third === "defaults")
  );
}

/** Whether `onlyStages` lets a resource with these layers exist in a stage. */
export function existsIn(stage: string, layers: readonly Layer[]): boolean {
  const only = mergedAt(layers, ONLY_STAGES_PATH);
  return !isArray(only) || only.includes(stage);
}

/**
 * Finds what two documents of a target both declare: which one wins would depend on the names of
 * the files.
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
  /** @param place path of a map of fields; @param owner of the fields, in words */
  const checkFields = (
    layers: Layers,
    place: Path,
    fields: typeof OWN_FIELDS,
    owner: string,
  ): void => {
    const detail = "Documents of one target share its fields and defaults. Remove one of the two.";
    for (const { name, path: inner } of fields) {
      const path = [...place, ...inner];
      const holders = layers
        .having(String(path[0]))
        .filter(({ value }) => valueAt(value, path) !== undefined);
      const [first, ...others] = holders;
      for (const layer of others)
        if (first !== undefined)
          twice(layer, first, path, `\`${name}\` of ${owner} is set twice`, detail);
    }
  };
  for (const layers of [base, ...stages.map((stage) => stageLayers(base, stage))]) {
    checkFields(layers, [], OWN_FIELDS, `target ${target}`);
    for (const { kind, name, fields } of SECTIONS) {
      const owners = new Map<string, Layer>();
      layers.having(name).forEach((layer) => {
        const section = layer.value[name];
        for (const key in isObject(section) ? section : {}) {
          const owner = owners.get(key);
          if (owner === undefined) owners.set(key, layer);
          else {
            const summary = `${addressOf(kind, target, key)} is declared twice`;
            twice(layer, owner, [name, key], summary, "Rename one of them, or merge the two.");
          }
        }
      });
      checkFields(layers, ["defaults", name], fields, `the defaults of target ${target}`);
    }
  }
  return problems;
}

interface TargetDocuments {
  readonly key: string;
  readonly base: Layers;
  /** The results of `layersIn`, by stage. */
  readonly inStages: Map<string, (kind: Kind) => ResourceLayers>;
}

/**
 * Groups the documents of a project by the target they name, sorted by key. Cached for the same
 * array of documents.
 */
export function groupByTarget(documents: readonly Document[]): readonly TargetDocuments[] {
  return cached(GROUPED, documents, () => {
    const groups = groupBy(documents, ({ value: { target } }) =>
      typeof target === "string" ? target : "",
    );
    const named = [...groups]
      .filter(([key]) => key !== "")
      .toSorted(([a], [b]) => compareText(a, b));
    return named.map(([key, members]) => targetDocuments(key, members));
  });
}

export function targetDocuments(key: string, members: readonly Document[]): TargetDocuments {
  return { key, base: baseLayers(members), inStages: new Map() };
}

const GROUPED = new WeakMap<readonly Document[], readonly TargetDocuments[]>();

/**
 * Layers in the order of their files, indexed by key: most of ten thousand documents contain
 * nothing but a test case.
 */
interface Layers {
  readonly all: readonly Layer[];
  readonly having: (key: string) => readonly Layer[];
}

function baseLayers(documents: readonly Document[]): Layers {
  return byKey(
    documents.map(({ file, root, value }) => ({ kind: "base", file, path: root, value })),
  );
}

function stageLayers(base: Layers, stage: string): Layers {
  return byKey(
    base.having("stages").flatMap((layer) => layerAt(layer, ["stages", stage], "stage")),
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

function layerAt({ file, path, value }: Layer, inner: Path, kind: Layer["kind"]): Layer[] {
  const map = valueAt(value, inner);
  return isObject(map) ? [{ kind, file, path: [...path, ...inner], value: map }] : [];
}

/**
 * The layers of resources of one kind, lowest first: of each that is declared, and the defaults for
 * any other.
 */
interface ResourceLayers {
  readonly byKey: ReadonlyMap<string, readonly Layer[]>;
  readonly defaults: readonly Layer[];
}

/**
 * Returns the layers of a target in one stage: those of the target itself, as defaults, and those
 * of the resources of a kind. A layer is created once and shared: a hundred thousand test cases
 * have the same defaults.
 *
 * @param settings the layers of `tasc.yaml` for the stage; only their defaults concern targets
 */
export function layersIn(
  { base, inStages }: TargetDocuments,
  stage: string,
  settings: readonly Layer[],
): (kind: Kind) => ResourceLayers {
  const before = inStages.get(stage);
  if (before !== undefined) return before;
  const overrides = stageLayers(base, stage);
  const own = [base, overrides].flatMap(({ all, having }) => {
    const speaking = new Set(TARGET_KEYS.flatMap(having));
    return all.filter((layer) => speaking.has(layer));
  });
  // A document that only adds resources to the target is not a layer of the target, unless there is
  // no other document.
  const target = own.some(({ kind }) => kind === "base") ? own : [...base.all.slice(0, 1), ...own];
  const known = new Map<Kind, ResourceLayers>();
  const section = (kind: Kind): ResourceLayers => {
    const name = SECTIONS.find((one) => one.kind === kind)?.name;
    if (name === undefined) return { defaults: target, byKey: new Map() };
    // The same as merging the stage's overrides into the document first, its defaults into the
    // defaults.
    const defaults = [
      ...settings,
      ...base.having("defaults"),
      ...overrides.having("defaults"),
    ].flatMap((layer) =>
      layerAt(layer, ["defaults", name], layer.kind === "stage" ? "stage defaults" : "defaults"),
    );
    const layers = new Map<string, readonly Layer[]>();
    [...base.having(name), ...overrides.having(name)].forEach(
      ({ kind: own, file, path, value }) => {
        const declared = value[name];
        if (!isObject(declared)) return;
        for (const key in declared) {
          const resource = declared[key];
          const below = layers.get(key) ?? defaults;
          if (!isObject(resource) || below.at(-1)?.kind === own) continue;
          // `concat` where possible, because a spread list keeps room for a dozen more entries, for
          // each of the resources.
          const inner = path.length === 0 ? [name, key] : [...path, name, key];
          const layer = { kind: own, file, path: inner, value: resource };
          layers.set(key, below.length === 0 ? [layer] : below.concat(layer));
        }
      },
    );
    return { defaults, byKey: layers };
  };
  const found = (kind: Kind): ResourceLayers => cached(known, kind, () => section(kind));
  inStages.set(stage, found);
  return found;
}

/**
 * Returns the `moved:` entries of a target's documents. Whether they make sense together is checked
 * by the rules.
 */
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
