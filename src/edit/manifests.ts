import { type Document, keysIn } from "../manifest/document.ts";
import { escapeTemplate } from "../manifest/template.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { settingsLayers } from "../manifest/stages.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { existsIn, groupByTarget, layersIn, targetDocuments } from "../manifest/target.ts";
import { type YamlEdit, editValue } from "../manifest/yaml/value.ts";
import {
  type Address,
  KINDS,
  type Kind,
  addressOf,
  parseAddress,
  targetAddress,
} from "../model/address.ts";
import { cached, groupBy } from "../model/collections.ts";
import type { Layer } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import {
  type Json,
  type JsonObject,
  type Path,
  isArray,
  isObject,
  mapTexts,
  sameJson,
  valueAt,
} from "../model/json.ts";

/**
 * How import, pull and promote change the values of documents; `edit-files.ts` edits their texts.
 */

/** A field of a resource in a stage. */
export interface FieldRef {
  readonly stage: string;
  readonly address: Address;
  readonly field: Pick<Field, "name" | "path">;
}

/** `tasc.yaml` and the target documents. */
export interface ProjectDocuments {
  readonly project: Document;
  readonly documents: readonly Document[];
}

/** An edit that sets or deletes a value at a place of a document. */
export interface FileEdit {
  readonly file: string;
  readonly edit: YamlEdit & { readonly kind: "set" | "delete" };
}

/** A place at which a field's value can be written. */
export type Slot = Origin & { readonly layer: Layer["kind"] };

export function setAt({ file, path }: Slot, value: Json): FileEdit {
  return { file, edit: { kind: "set", path, value } };
}

export function deleteAt({ file, path }: Slot): FileEdit {
  return { file, edit: { kind: "delete", path } };
}

/**
 * The values of target documents, with edits. An edit replaces only its layer, so no document is
 * copied.
 */
export class Manifests implements ProjectDocuments {
  readonly project: Document;
  readonly edits: FileEdit[] = [];
  readonly #index: ReturnType<typeof indexOf>;
  /** The manifests on which this trial is based. */
  readonly #base: Manifests | undefined;
  /** Edited layers by `placeKey`; a layer that has become empty has no value. */
  readonly #edited = new Map<string, { readonly value: JsonObject | undefined }>();
  /** Cache of layers, by stage and address. */
  readonly #layers = new Map<string, Map<Address, readonly Layer[]>>();
  /** Edited resources; undefined for an edit that may change all of them, e.g. of defaults. */
  readonly #touched = new Set<Address | undefined>();

  constructor(sources: ProjectDocuments, base?: Manifests) {
    this.project = sources.project;
    this.#index = base === undefined ? indexOf(sources) : base.#index;
    this.#base = base;
  }

  /**
   * Returns a trial: these manifests with edits, to see their effect. These manifests themselves do
   * not change.
   */
  with(edits: readonly FileEdit[]): Manifests {
    const after = new Manifests(this, this);
    for (const { file, edit } of edits) {
      const { path } = edit;
      const cut = layerDepth(path);
      const place = { file, path: path.slice(0, cut) };
      const { value = {} } = after.#layerAt(place) ?? { value: this.#writtenAt(place) };
      const changed = editValue(value, [{ ...edit, path: path.slice(cut) }], true);
      const isFilled = isObject(changed) && Object.keys(changed).length > 0;
      after.#edited.set(placeKey(place), { value: isFilled ? changed : undefined });
      const section = SECTIONS.find(({ name }) => name === path[cut - 2]);
      const { target } = this.#documentOf(place)?.value ?? {};
      const isOfOne = section !== undefined && typeof target === "string";
      after.#touched.add(
        isOfOne ? addressOf(section.kind, target, String(path[cut - 1])) : undefined,
      );
    }
    after.edits.push(...edits);
    return after;
  }

  /** Takes over the edits of a trial of these manifests. */
  adopt(trial: Manifests): void {
    this.edits.push(...trial.edits);
    for (const [place, layer] of trial.#edited) this.#edited.set(place, layer);
    for (const address of trial.#touched) {
      this.#touched.add(address);
      if (address === undefined) this.#layers.clear();
      else for (const known of this.#layers.values()) known.delete(address);
    }
  }

  /**
   * Returns the layers of a resource, lowest first; empty if the stage does not declare the
   * resource.
   */
  layersOf(resource: Omit<FieldRef, "field">): readonly Layer[] {
    const { stage, address } = resource;
    const isTouched = this.#touched.has(address) || this.#touched.has(undefined);
    if (this.#base !== undefined && !isTouched) return this.#base.layersOf(resource);
    const inStage = cached(this.#layers, stage, () => new Map<Address, readonly Layer[]>());
    return cached(inStage, address, () => this.#layersOf(stage, address));
  }

  exists(stage: string, address: Address): boolean {
    return this.layersOf({ stage, address }).length > 0;
  }

  #layersOf(stage: string, address: Address): readonly Layer[] {
    const parts = parseAddress(address);
    const documents = parts && this.#index.byTarget.get(parts.target);
    if (parts === undefined || documents === undefined) return [];
    const { kind, target, key } = parts;
    const inStage =
      documents.inStages.get(stage) ??
      layersIn(documents, stage, settingsLayers(this.project, stage));
    const { byKey, defaults } = inStage(kind);
    const written = byKey.get(key) ?? defaults;
    const layers =
      this.#base === undefined && this.edits.length === 0 ? written : this.#edit(stage, written);
    const isDeclared = layers.some((one) => one.kind === "base" || one.kind === "stage");
    if (!isDeclared || !existsIn(stage, layers)) return [];
    return kind === "target" || this.exists(stage, targetAddress(target)) ? layers : [];
  }

  #edit(stage: string, written: readonly Layer[]): readonly Layer[] {
    const layers: Layer[] = [];
    for (const layer of written) {
      const change = this.#layerAt(layer);
      if (change === undefined) layers.push(layer);
      else if (change.value !== undefined) layers.push({ ...layer, value: change.value });
    }
    // An override that an edit has created.
    const place = layers.some((one) => one.kind === "stage")
      ? undefined
      : overridePlace(stage, layers);
    const value = place && this.#layerAt(place)?.value;
    if (place !== undefined && value !== undefined) layers.push({ kind: "stage", ...place, value });
    return layers;
  }

  /** Returns the default of each field of a kind of resource that has one, before interpolation. */
  defaultsOf(stage: string, target: string, kind: Kind): ReadonlyMap<string, Json> {
    const documents = this.#index.byTarget.get(target) ?? targetDocuments(target, []);
    const { defaults } = layersIn(documents, stage, settingsLayers(this.project, stage))(kind);
    return new Map(
      fieldsOf(kind).flatMap(({ name, path }) => {
        const value = mergedAt(defaults, path);
        return value === undefined ? [] : [[name, value] as const];
      }),
    );
  }

  /** Returns the documents of a target, as they were before any edit. */
  documentsOf(target: string): readonly Document[] {
    return this.#index.targets.get(target) ?? [];
  }

  /** Returns a field's value in the manifests, before interpolation. */
  written(ref: FieldRef): Json | undefined {
    return mergedAt(this.layersOf(ref), ref.field.path);
  }

  /** Returns the place of the value that is in effect. */
  topSlot(ref: FieldRef): Slot | undefined {
    const layer = this.layersOf(ref).findLast(
      ({ value }) => valueAt(value, ref.field.path) !== undefined,
    );
    return layer && slotIn(layer, ref);
  }

  /** Returns the place in the resource's own map, which is for all stages. */
  baseSlot(ref: FieldRef): Slot | undefined {
    const layer = this.layersOf(ref).find(({ kind }) => kind === "base");
    return layer && slotIn(layer, ref);
  }

  /**
   * Returns the place in the resource's override for the stage, which need not exist yet. Of a
   * target's overrides in several documents, it is the one that has the field.
   */
  stageSlot(ref: FieldRef): Slot | undefined {
    const layers = this.layersOf(ref);
    const own = layers.filter(({ kind }) => kind === "stage");
    const place =
      own.find(({ value }) => valueAt(value, ref.field.path) !== undefined) ??
      own[0] ??
      overridePlace(ref.stage, layers);
    return place && slotIn({ kind: "stage", ...place }, ref);
  }

  /** Returns the documents with their current values, in the order of the project. */
  get documents(): readonly Document[] {
    const byDocument = groupBy(
      [...(this.#base?.edits ?? []), ...this.edits],
      ({ file, edit: { path } }) => placeKey({ file, path: path.slice(0, rootDepth(path)) }),
    );
    return [...this.#index.documents].map(([place, document]) => {
      const edits = byDocument.get(place)?.map(({ edit }) => {
        const path = edit.path.slice(document.root.length);
        return { ...edit, path };
      });
      const value = edits && editValue(document.value, edits, true);
      return isObject(value) ? { ...document, value } : document;
    });
  }

  /** Returns all resources of some kinds that a target has in any stage. */
  addressesOf(target: string, ...kinds: readonly Kind[]): readonly Address[] {
    const documents = this.documentsOf(target);
    if (documents.length === 0) return [];
    return kinds.flatMap((kind): readonly Address[] => {
      const section = SECTIONS.find((one) => one.kind === kind);
      if (section === undefined) return [targetAddress(target)];
      return cached(this.#index.addresses, `${kind} ${target}`, () => {
        const keys = new Set(keysIn(documents, section.name));
        return [...keys].map((key) => addressOf(section.kind, target, key));
      });
    });
  }

  get targets(): readonly string[] {
    return [...this.#index.targets.keys()];
  }

  #layerAt(
    place: Origin,
    name = placeKey(place),
  ): { readonly value: JsonObject | undefined } | undefined {
    return this.#edited.get(name) ?? (this.#base && this.#base.#layerAt(place, name));
  }

  #writtenAt(place: Origin): JsonObject | undefined {
    const document = this.#documentOf(place);
    const value = document && valueAt(document.value, place.path.slice(document.root.length));
    return isObject(value) ? value : undefined;
  }

  #documentOf({ file, path }: Origin): Document | undefined {
    return this.#index.documents.get(placeKey({ file, path: path.slice(0, rootDepth(path)) }));
  }
}

/** Returns an index of documents, which trials share; addresses are added on demand. */
function indexOf({ documents }: ProjectDocuments) {
  const own = documents.filter(({ value }) => typeof value.target === "string");
  return {
    documents: new Map(own.map((one) => [placeKey({ file: one.file, path: one.root }), one])),
    targets: groupBy(own, ({ value: { target } }) => (typeof target === "string" ? target : "")),
    byTarget: new Map(groupByTarget(documents).map((one) => [one.key, one])),
    addresses: new Map<string, readonly Address[]>(),
  };
}

function placeKey({ file, path }: Origin): string {
  return `${file}\n${path.join("\n")}`;
}

/**
 * Returns how many steps of a path lead to its document: one from the second document of a file on,
 * otherwise zero.
 */
function rootDepth([first]: Path): number {
  return typeof first === "number" ? 1 : 0;
}

/**
 * Returns how many steps of a path lead to its layer: a resource, its override, defaults, or the
 * document itself.
 */
function layerDepth(path: Path): number {
  const root = rootDepth(path);
  const start = path[root] === "stages" ? root + 2 : root;
  const step = path[start];
  return step === "defaults" || SECTIONS.some(({ name }) => name === step) ? start + 2 : start;
}

/**
 * Returns the place of a stage's override of a resource, which may not exist yet, in the document
 * of the resource.
 */
function overridePlace(stage: string, layers: readonly Layer[]): Origin | undefined {
  const base = layers.find(({ kind }) => kind === "base");
  if (base === undefined) return undefined;
  const root = base.path.slice(0, rootDepth(base.path));
  return { file: base.file, path: [...root, "stages", stage, ...base.path.slice(root.length)] };
}

function slotIn({ kind, file, path }: Omit<Layer, "value">, { field }: FieldRef): Slot {
  return { layer: kind, file, path: [...path, ...field.path] };
}

/** Returns all resources that share defaults with one, including that one. */
export function siblingsOf(manifests: Manifests, address: Address): readonly Address[] {
  const parts = parseAddress(address);
  return parts === undefined ? [] : manifests.addressesOf(parts.target, parts.kind);
}

/**
 * Returns what an edit can change: one stage or (undefined) all of them; one resource or all that
 * share defaults.
 */
export function reachOf(path: Path): {
  readonly stage: string | undefined;
  readonly shared: boolean;
} {
  const [first, stage, third] = path.slice(rootDepth(path));
  return first === "stages"
    ? { stage: String(stage), shared: third === "defaults" }
    : { stage: undefined, shared: first === "defaults" };
}

/** The list `onlyStages`, which is written like a field but is not one. */
export const ONLY_STAGES: FieldRef["field"] = { name: "onlyStages", path: ["onlyStages"] };

/** Returns the `onlyStages` of a resource, and its place; undefined if it has none. */
export function onlyStagesOf(manifests: Manifests, address: Address, stages: readonly string[]) {
  for (const stage of stages) {
    const ref = { stage, address, field: ONLY_STAGES };
    const only = manifests.written(ref);
    const slot = manifests.topSlot(ref);
    if (isArray(only) && slot !== undefined)
      return { stages: only.filter((one) => typeof one === "string"), slot };
  }
  return undefined;
}

/** Returns the fields that are written differently before and after, in some stages. */
export function changedFields(
  before: ProjectDocuments,
  after: ProjectDocuments,
  stages: readonly string[],
) {
  const [old, fresh] = [new Manifests(before), new Manifests(after)];
  const both = [old, fresh];
  const changed: FieldRef[] = [];
  for (const target of new Set(both.flatMap(({ targets }) => targets)))
    for (const kind of KINDS)
      for (const address of new Set(both.flatMap((one) => one.addressesOf(target, kind))))
        for (const stage of stages) {
          const was = old.layersOf({ stage, address });
          const now = fresh.layersOf({ stage, address });
          const isSame = ({ value }: Layer, at: number): boolean => sameJson(value, now[at]?.value);
          if (was.length === now.length && was.every(isSame)) continue;
          for (const field of fieldsOf(kind))
            if (!isSameIn(stage, mergedAt(was, field.path), mergedAt(now, field.path)))
              changed.push({ stage, address, field });
        }
  return changed;
}

/** Whether two written values mean the same in a stage. */
export function isSameIn(stage: string, a: Json | undefined, b: Json | undefined): boolean {
  return sameJson(a, b) || sameJson(inStageWords(a, stage), inStageWords(b, stage));
}

/** Returns a written value with the name of its stage in place of `${stage}`. */
export function inStageWords(written: Json | undefined, stage: string): Json | undefined {
  return written === undefined
    ? undefined
    : mapTexts(written, (text) => text.replaceAll(/(?<!\$)\$\{stage\}/g, () => stage));
}

/** Escapes a plain value for a manifest, so that no part of it is read as a placeholder. */
export function escaped(value: Json): Json {
  return mapTexts(value, escapeTemplate);
}
