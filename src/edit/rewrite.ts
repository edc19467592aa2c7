import { type Document, keysIn } from "../manifest/document.ts";
import { escapeTemplate } from "../manifest/interpolation.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { settingsLayers } from "../manifest/settings.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { existsIn, groupByTarget, layersIn } from "../manifest/target.ts";
import { type YamlEdit, editValue } from "../manifest/yaml/value.ts";
import {
  type Address,
  KINDS,
  type Kind,
  addressOf,
  parseAddress,
  targetAddress,
  targetOf,
} from "../model/address.ts";
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
import { cached, groupBy } from "../model/collections.ts";

/**
 * How import, pull and promote change the values of documents; `edit-files.ts` edits their texts.
 */

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

/** A field whose value in the manifests changes. */
export interface Rewritten {
  readonly address: Address;
  readonly path: Path;
  readonly sensitive?: true;
  /** Unset if nothing was declared, or if the value must not be shown. */
  readonly before?: Json;
  /** Unset if nothing is declared any more, or if the value must not be shown. */
  readonly after?: Json;
  readonly slot: Slot;
  /** Other stages whose value changes with it. */
  readonly alsoStages?: readonly string[];
}

/** A difference that is left: a field or, without a path, the whole resource. */
export interface NotRewritten {
  readonly address: Address;
  readonly path?: Path;
  /** A sentence, which further lines may illustrate. */
  readonly reason: string;
  readonly origin?: Origin;
  /** The values of a field that the manifests and the service have both changed. */
  readonly conflict?: { readonly yours: Json; readonly theirs: Json };
  /** Whether the user asked for the change but it could not be made. */
  readonly failed?: true;
}

/**
 * The changes of a command to the manifests, and the differences that it leaves: plain data,
 * without secrets.
 */
export interface Rewrite {
  readonly edits: readonly FileEdit[];
  readonly changes: readonly Rewritten[];
  readonly left: readonly NotRewritten[];
}

/** Changes that must not be made, by `changeKey`, with the reason. */
export type Excluded = ReadonlyMap<string, string>;

export function changeKey({ address, path = [] }: Pick<NotRewritten, "address" | "path">): string {
  return `${address} ${path.join(".")}`;
}

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

  /** Returns the place in the resource's override for the stage, which need not exist yet. */
  stageSlot(ref: FieldRef): Slot | undefined {
    const layers = this.layersOf(ref);
    const place = layers.find(({ kind }) => kind === "stage") ?? overridePlace(ref.stage, layers);
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
    const documents = this.#index.targets.get(target) ?? [];
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

function slotIn({ kind, file, path }: Omit<Layer, "value">, { field }: FieldRef): Slot {
  return { layer: kind, file, path: [...path, ...field.path] };
}

/**
 * Yields ways to remove a value: delete it; delete also the default below; write that default also
 * to its other users.
 */
export function* removals(
  now: Manifests,
  ref: FieldRef,
  stages: readonly string[],
): Generator<Candidate> {
  const top = now.topSlot(ref);
  if (top === undefined) return;
  const once = [deleteAt(top)];
  yield { slot: top, edits: once };
  const below = now.with(once).topSlot(ref);
  const slot = below ?? top;
  const all = below === undefined ? once : [...once, deleteAt(below)];
  if (below !== undefined) yield { slot, edits: all };
  const after = now.with(all);
  const pins = siblingsOf(now, ref.address).flatMap((address) =>
    stages.flatMap((stage) => {
      const other = { ...ref, stage, address };
      const was = address === ref.address && stage === ref.stage ? undefined : now.written(other);
      const own =
        was === undefined || sameJson(was, after.written(other)) ? undefined : now.stageSlot(other);
      return was === undefined || own === undefined ? [] : [setAt(own, was)];
    }),
  );
  yield { slot, edits: [...all, ...pins] };
}

/** The wanted value of a field. */
export interface Goal {
  readonly ref: FieldRef;
  /**
   * @param written the field's value as it would be in the manifests; undefined if there would be
   * none
   */
  readonly isMet: (written: Json | undefined) => boolean;
  /** Returns candidates, the best first. @param now the manifests with the values placed so far */
  readonly candidates: (now: Manifests) => Iterable<Candidate>;
}

/** A way to reach a goal. */
export interface Candidate {
  readonly slot: Slot;
  readonly edits: readonly FileEdit[];
}

/** Returns a candidate for each place in which a value can be written. */
export function valueAtOne(
  value: Json,
  slots: readonly (Slot | undefined)[],
): readonly Candidate[] {
  return slots.flatMap((slot) =>
    slot === undefined ? [] : [{ slot, edits: [setAt(slot, value)] }],
  );
}

/** A goal, with what is reported if it is met, and if it is not. */
export interface Wish extends Goal {
  readonly about: Pick<NotRewritten, "address" | "origin"> & { readonly path: Path };
  readonly shown: Pick<Rewritten, "sensitive" | "before" | "after">;
  readonly unmet: Pick<NotRewritten, "reason" | "failed">;
}

export const NO_PLACE = "Writing it anywhere would also change something else.";

/** What a rewrite may do to other stages. */
export interface GrantOptions {
  /** Whether the same field may change in other stages. */
  readonly follow?: boolean;
  /** Whether overrides that become equal to what is below them are removed. */
  readonly tidy?: boolean;
}

/**
 * Returns a rewrite for wishes. @param wishes also contain, in their order, differences that are
 * left for other reasons
 * @param stages in which nothing else may change
 */
export function grant(
  start: Manifests,
  wishes: readonly (Wish | NotRewritten)[],
  excluded: Excluded,
  stages: readonly string[],
  { follow = false, tidy = false }: GrantOptions = {},
): Rewrite {
  const left: NotRewritten[] = [];
  const goals: Wish[] = [];
  for (const wish of wishes) {
    const reason = "about" in wish ? excluded.get(changeKey(wish.about)) : undefined;
    if (!("about" in wish)) left.push(wish);
    else if (reason === undefined) goals.push(wish);
    else left.push({ ...wish.about, reason, failed: true });
  }
  const { manifests, placed } = placeAll(start, goals, stages, follow);
  if (tidy) for (const { ref } of placed.keys()) removeRedundant(start, manifests, ref, stages);
  const changes = goals.flatMap((goal): readonly Rewritten[] => {
    const { ref, about, shown, unmet } = goal;
    const { address, path, origin = { file: "", path } } = about;
    if (!placed.has(goal)) {
      left.push({ ...about, ...unmet });
      return [];
    }
    const written = tidy ? manifests.topSlot(ref) : undefined;
    const slot = written ?? placed.get(goal) ?? { layer: "stage", ...origin };
    const others = slot.layer.startsWith("stage")
      ? []
      : stages.filter((stage) => stage !== ref.stage);
    const alsoStages = others.filter((stage) => {
      const other = { ...ref, stage };
      return !sameJson(start.written(other), manifests.written(other));
    });
    return [{ address, path, ...shown, slot, ...(alsoStages.length === 0 ? {} : { alsoStages }) }];
  });
  return { edits: manifests.edits, changes, left };
}

/** Removes overrides of a field that say what is written below them, if they did not before. */
function removeRedundant(
  start: Manifests,
  manifests: Manifests,
  field: FieldRef,
  stages: readonly string[],
): void {
  for (const stage of stages) {
    const ref = { ...field, stage };
    const without = (now: Manifests): Manifests | undefined => {
      const top = now.topSlot(ref);
      if (top?.layer !== "stage") return undefined;
      const trial = now.with([deleteAt(top)]);
      return sameJson(trial.written(ref), now.written(ref)) ? trial : undefined;
    };
    const trial = without(manifests);
    if (trial !== undefined && without(start) === undefined) manifests.adopt(trial);
  }
}

/**
 * Places values until no more can be placed: a shared default can be deleted only after the
 * resources that want another value have it elsewhere, and a value that all of them want is written
 * once for all. A candidate is taken only if all other users of the default or the base keep their
 * value or get one that is wanted.
 * @returns as `placed` the goals that are met, with the place of the value; undefined if the value
 * was removed
 */
export function placeAll<G extends Goal>(
  start: Manifests,
  goals: readonly G[],
  stages: readonly string[],
  follow = false,
) {
  const manifests = start.with([]);
  const byField = new Map(goals.map((goal) => [fieldKey(goal.ref), goal]));
  /** Edits of shared places that would cause unwanted changes. */
  const refused = new Set<string>();

  /**
   * Whether a field that had its value from a shared place wants what is now written there. If it
   * wants another value, it may have that elsewhere by now, but the shared place is still wrong.
   */
  const agrees = (
    { ref, isMet }: Goal,
    { slot: { file, path }, edits: own }: Candidate,
  ): boolean => {
    const before = start.topSlot(ref);
    if (before?.file !== file || !sameJson(before.path, path)) return true;
    const set = own.find((one) => one.file === file && sameJson(one.edit.path, path))?.edit;
    return set?.kind !== "set" || isMet(set.value);
  };
  const harmsNobody = (after: Manifests, own: FieldRef, candidate: Candidate): boolean => {
    const ofStage = candidate.edits.every(({ edit }) => reachOf(edit.path).stage === own.stage);
    const sharing = isShared(candidate) ? siblingsOf(manifests, own.address) : [own.address];
    // Thousands may share a default; `every` stops at the first one that must not change.
    return sharing.every((address) =>
      (ofStage ? [own.stage] : stages).every((stage) => {
        const ref = { ...own, stage, address };
        const wanted = byField.get(fieldKey(ref));
        const now = after.written(ref);
        const isFine =
          isSameIn(stage, manifests.written(ref), now) ||
          wanted?.isMet(now) === true ||
          (follow && stage !== own.stage && address === own.address);
        return isFine && (wanted === undefined || agrees(wanted, candidate));
      }),
    );
  };
  const place = ({ ref, isMet, candidates }: Goal): Slot | undefined => {
    for (const candidate of candidates(manifests)) {
      const { slot, edits: own } = candidate;
      // `tasc.yaml` is not edited, because its values apply to all targets.
      if (own.some(({ file }) => file === manifests.project.file)) continue;
      const name = isShared(candidate) ? JSON.stringify([slot, own.length, own[0]]) : "";
      if (refused.has(name)) continue;
      const after = manifests.with(own);
      if (!isMet(after.written(ref))) continue;
      if (harmsNobody(after, ref, candidate)) {
        manifests.adopt(after);
        return slot;
      }
      if (name !== "") refused.add(name);
    }
    return undefined;
  };

  const isMet = ({ ref, isMet: fits }: G): boolean => fits(manifests.written(ref));
  const slots = new Map<G, Slot>();
  for (let open = goals, before = -1; before < slots.size;) {
    before = slots.size;
    // Retries refused edits, because a field that shared the place may have its own value by now.
    refused.clear();
    open = open.filter((goal) => {
      const slot = isMet(goal) ? undefined : place(goal);
      if (slot !== undefined) slots.set(goal, slot);
      return slot === undefined;
    });
  }
  const met = goals.filter(isMet);
  const placed = new Map(met.map((goal) => [goal, slots.get(goal) ?? manifests.topSlot(goal.ref)]));
  return { manifests, placed };
}

/**
 * Returns what an edit can change: one stage or (undefined) all of them; one resource or all that
 * share defaults.
 */
function reachOf(path: Path): { readonly stage: string | undefined; readonly shared: boolean } {
  const [first, stage, third] = path.slice(rootDepth(path));
  return first === "stages"
    ? { stage: String(stage), shared: third === "defaults" }
    : { stage: undefined, shared: first === "defaults" };
}

function isShared({ edits }: Candidate): boolean {
  return edits.some(({ edit }) => reachOf(edit.path).shared);
}

/** Returns all resources that share defaults with one, including that one. */
function siblingsOf(manifests: Manifests, address: Address): readonly Address[] {
  const parts = parseAddress(address);
  return parts === undefined ? [] : manifests.addressesOf(parts.target, parts.kind);
}

function fieldKey({ stage, address, field }: FieldRef): string {
  return `${stage} ${address} ${field.name}`;
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

/**
 * Returns the first changed field that `changes` do not cover; `onlyStages` covers all of its
 * resource or target.
 */
export function unreportedChange(
  before: ProjectDocuments,
  after: ProjectDocuments,
  changes: readonly Rewritten[],
  own: string,
  stages: readonly string[],
): FieldRef | undefined {
  const named = new Set(
    changes.flatMap((change) =>
      [own, ...(change.alsoStages ?? [])].map((stage) => `${stage} ${changeKey(change)}`),
    ),
  );
  return changedFields(before, after, stages).find(({ stage, address, field: { path } }) => {
    const isNamed = (place: Parameters<typeof changeKey>[0]) =>
      named.has(`${stage} ${changeKey(place)}`);
    const both = [address, targetAddress(targetOf(address))];
    return (
      !isNamed({ address, path }) && !both.some((one) => isNamed({ ...ONLY_STAGES, address: one }))
    );
  });
}

/** Returns a written value with the name of its stage in place of `${stage}`. */
export function inStageWords(written: Json | undefined, stage: string): Json | undefined {
  return written === undefined
    ? undefined
    : mapTexts(written, (text) => text.replaceAll(/(?<!\$)\$\{stage\}/g, () => stage));
}

/** Whether two written values mean the same in a stage. */
function isSameIn(stage: string, a: Json | undefined, b: Json | undefined): boolean {
  return sameJson(a, b) || sameJson(inStageWords(a, stage), inStageWords(b, stage));
}

/** Escapes a plain value for a manifest, so that no part of it is read as a placeholder. */
export function escaped(value: Json): Json {
  return mapTexts(value, escapeTemplate);
}
