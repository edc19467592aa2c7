import type { Document } from "../manifest/document.ts";
import { escapeTemplate } from "../manifest/interpolation.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { settingsLayers } from "../manifest/settings.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { existsIn, layersOfOne, originsOf, targetLayers } from "../manifest/target.ts";
import type { YamlEdit } from "../manifest/yaml/edit.ts";
import { setOwn } from "../manifest/yaml/text.ts";
import { type Address, KINDS, type Kind, addressOf, parseAddress, targetAddress } from "../model/address.ts";
import { type Layer, originIn } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, type JsonObject, type Path, isArray, isObject, sameJson } from "../model/json.ts";

/**
 * How pull and promote change manifests: which value is written at which place, and what else that reaches. It works on
 * the values of the documents and collects edits; `edit-files.ts` makes them in the texts, once for each file.
 */

/** A field of a resource in one stage. */
export interface FieldRef {
  readonly stage: string;
  readonly address: Address;
  readonly field: Field;
}

/** `tasc.yaml` and the target documents. */
export interface ProjectDocuments {
  readonly project: Document;
  readonly documents: readonly Document[];
}

/** A value that is set or taken away at a place of a document. */
export interface FileEdit {
  readonly file: string;
  readonly edit: YamlEdit & { readonly kind: "set" | "delete" };
}

/** A place at which a field's value can be written. */
export interface Slot {
  readonly layer: Layer["kind"];
  readonly file: string;
  readonly path: Path;
}

/** A field whose value in the manifests changes. */
export interface Rewritten {
  readonly address: Address;
  readonly path: Path;
  readonly sensitive?: true;
  /** Absent where nothing was declared, and where it must not show. */
  readonly before?: Json;
  /** Absent where nothing is declared any more, and where it must not show. */
  readonly after?: Json;
  readonly layer: Layer["kind"];
  readonly origin: Origin;
  /** Other stages that resolve to another value by it. */
  readonly alsoStages?: readonly string[];
}

/** What differs and stays as it is. Without a path it is the resource as a whole. */
export interface NotRewritten {
  readonly address: Address;
  readonly path?: Path;
  /** One sentence. */
  readonly reason: string;
  readonly origin?: Origin;
  /** Whether the command was asked for it and could not do it. */
  readonly failed?: true;
}

/** What a command does to the manifests, and what it leaves: plain data, without any secret. */
export interface Rewrite {
  readonly edits: readonly FileEdit[];
  readonly changes: readonly Rewritten[];
  readonly left: readonly NotRewritten[];
}

export function setAt({ file, path }: Slot, value: Json): FileEdit {
  return { file, edit: { kind: "set", path, value } };
}

export function deleteAt({ file, path }: Slot): FileEdit {
  return { file, edit: { kind: "delete", path } };
}

/**
 * The values of target documents, which edits change in place. A resource's layers are looked up in the few documents
 * that have it: no edit adds one to them, since a value is written where the resource or a default stands already.
 */
export class Manifests {
  readonly #targets = new Map<string, TargetDocuments>();
  readonly #byFile = new Map<string, EditedDocument[]>();
  readonly #project: Document;
  /** What `tasc.yaml` says in a stage; nothing here edits it. */
  readonly #settings = new Map<string, readonly Layer[]>();
  /** Whether a target exists in a stage: asked for again for every test case of it. */
  readonly #existing = new Map<string, boolean>();

  constructor({ project, documents }: ProjectDocuments) {
    this.#project = project;
    let at = 0;
    for (const document of documents) {
      const { target } = document.value;
      if (typeof target !== "string") continue;
      // What was edited by somebody else is copied again.
      const own: EditedDocument = { ...document, at: at++, copy: undefined };
      const known = this.#targets.get(target);
      if (known === undefined) this.#targets.set(target, new TargetDocuments(target, own));
      else known.add(own);
      this.#byFile.set(own.file, [...(this.#byFile.get(own.file) ?? []), own]);
    }
  }

  /** Makes edits. @returns takes them back */
  apply(edits: readonly FileEdit[]): () => void {
    const undo = edits.flatMap(({ file, edit }) => {
      const document = this.#byFile.get(file)?.find(({ root: [number] }) => number === numberIn(edit.path));
      if (document === undefined) return [];
      return [change(writable(document), { ...edit, path: edit.path.slice(document.root.length) })];
    });
    const changesStages = edits.some(({ edit }) => edit.path.at(-1) === "onlyStages");
    if (changesStages) this.#existing.clear();
    return () => {
      for (const back of undo.toReversed()) back();
      if (changesStages) this.#existing.clear();
    };
  }

  /** A field's layers, lowest first; none where the stage does not declare the resource. */
  layersOf({ stage, address }: Omit<FieldRef, "field">): readonly Layer[] {
    const parts = parseAddress(address);
    const documents = parts && this.#targets.get(parts.target)?.having(address);
    if (parts === undefined || documents === undefined) return [];
    const section = SECTIONS.find(({ kind }) => kind === parts.kind);
    const origins = originsOf(documents, stage, this.#settingsIn(stage));
    const layers = section === undefined ? targetLayers(origins) : layersOfOne(origins, section, parts.key);
    const isDeclared = layers.some(({ kind }) => kind === "base" || kind === "stage");
    if (!isDeclared || !existsIn(stage, layers)) return [];
    return section === undefined || this.#hasTarget(parts.target, stage) ? layers : [];
  }

  #hasTarget(target: string, stage: string): boolean {
    const name = `${stage} ${target}`;
    const has =
      this.#existing.get(name) ?? this.layersOf({ stage, address: targetAddress(target) }).length > 0;
    this.#existing.set(name, has);
    return has;
  }

  #settingsIn(stage: string): readonly Layer[] {
    const known = this.#settings.get(stage) ?? settingsLayers(this.#project, stage);
    this.#settings.set(stage, known);
    return known;
  }

  /** What the manifests say for a field, before interpolation. */
  written(ref: FieldRef): Json | undefined {
    return mergedAt(this.layersOf(ref), ref.field.path);
  }

  /** Where the value stands that counts. */
  topSlot(ref: FieldRef): Slot | undefined {
    const layer = this.layersOf(ref).findLast((one) => originIn([one], ref.field.path) !== undefined);
    return layer && slotIn(layer, ref);
  }

  /** In the resource's own map, for all stages. */
  baseSlot(ref: FieldRef): Slot | undefined {
    const layer = this.layersOf(ref).find(({ kind }) => kind === "base");
    return layer && slotIn(layer, ref);
  }

  /** In the resource's override for its stage, which need not be there yet. */
  stageSlot(ref: FieldRef): Slot | undefined {
    const layers = this.layersOf(ref);
    const own = layers.find(({ kind }) => kind === "stage");
    if (own !== undefined) return slotIn(own, ref);
    const base = layers.find(({ kind }) => kind === "base");
    const parts = parseAddress(ref.address);
    if (base === undefined || parts === undefined) return undefined;
    const section = SECTIONS.find(({ kind }) => kind === parts.kind);
    const inside = section === undefined ? [] : [section.name, parts.key];
    const root = base.path.slice(0, base.path.length - inside.length);
    const path = [...root, "stages", ref.stage, ...inside, ...ref.field.path];
    return { layer: "stage", file: base.file, path };
  }

  /** The documents with their values as they are now, in the order of the project. */
  get documents(): readonly Document[] {
    return [...this.#byFile.values()].flat();
  }

  get project(): Document {
    return this.#project;
  }

  /** All resources of a kind that a target has in any stage. */
  addressesOf(target: string, kind: Kind): readonly Address[] {
    return this.#targets.get(target)?.addresses.get(kind) ?? [];
  }

  get targets(): readonly string[] {
    return [...this.#targets.keys()];
  }
}

/** The `onlyStages` of a resource, and where it stands; nothing where there is none. */
export function onlyStagesOf(
  manifests: Manifests,
  address: Address,
  stages: readonly string[],
): { readonly stages: readonly string[]; readonly slot: Slot } | undefined {
  for (const stage of stages) {
    const layers = manifests.layersOf({ stage, address });
    const only = mergedAt(layers, ["onlyStages"]);
    const layer = layers.findLast(({ value }) => value["onlyStages"] !== undefined);
    if (isArray(only) && layer !== undefined)
      return {
        stages: only.filter((one) => typeof one === "string"),
        slot: { layer: layer.kind, file: layer.file, path: [...layer.path, "onlyStages"] },
      };
  }
  return undefined;
}

/** Which of several documents in a file a path is of; nothing for the first. */
function numberIn([first]: Path): number | undefined {
  return typeof first === "number" ? first : undefined;
}

function slotIn({ kind, file, path }: Layer, { field }: FieldRef): Slot {
  return { layer: kind, file, path: [...path, ...field.path] };
}

/** A document whose value is copied before the first edit, and changed in place from then on. */
interface EditedDocument extends Omit<Document, "value"> {
  /** Its position in the project. */
  readonly at: number;
  value: JsonObject;
  /** The same value, once it is a copy. */
  copy: WritableMap | undefined;
}

class TargetDocuments {
  readonly addresses = new Map<Kind, Address[]>();
  readonly #all: EditedDocument[] = [];
  /** Those with defaults, or with a resource. */
  readonly #having = new Map<Address, EditedDocument[]>();
  readonly #defaults: EditedDocument[] = [];
  readonly #target: string;

  constructor(target: string, first: EditedDocument) {
    this.#target = target;
    this.addresses.set("target", [targetAddress(target)]);
    this.add(first);
  }

  add(document: EditedDocument): void {
    this.#all.push(document);
    const { value } = document;
    const overrides = isObject(value["stages"]) ? Object.values(value["stages"]).filter(isObject) : [];
    const scopes = [value, ...overrides];
    if (scopes.some((scope) => scope["defaults"] !== undefined)) this.#defaults.push(document);
    for (const { kind, name } of SECTIONS)
      for (const scope of scopes)
        for (const key of Object.keys(isObject(scope[name]) ? scope[name] : {}))
          this.#note(kind, addressOf(kind, this.#target, key), document);
  }

  #note(kind: Kind, address: Address, document: EditedDocument): void {
    const known = this.#having.get(address);
    if (known === undefined) {
      this.#having.set(address, [document]);
      const own = this.addresses.get(kind);
      if (own === undefined) this.addresses.set(kind, [address]);
      else own.push(address);
    } else if (!known.includes(document)) known.push(document);
  }

  /** In the order of the project: of two that say the same, the first counts. */
  having(address: Address): readonly EditedDocument[] | undefined {
    if (address === targetAddress(this.#target)) return this.#all;
    const own = this.#having.get(address);
    if (own === undefined || this.#defaults.every((one) => own.includes(one))) return own;
    return [...new Set([...own, ...this.#defaults])].toSorted((a, b) => a.at - b.at);
  }
}

function writable(document: EditedDocument): WritableMap {
  document.copy ??= copyOfMap(document.value);
  document.value = document.copy;
  return document.copy;
}

type Writable = null | boolean | number | string | readonly Json[] | WritableMap;
interface WritableMap {
  [key: string]: Writable;
}

/** Lists are replaced as a whole, and so need no copy. */
function copyOf(value: Json): Writable {
  return isObject(value) ? copyOfMap(value) : value;
}

function copyOfMap(map: JsonObject): WritableMap {
  const copy: WritableMap = {};
  for (const key of Object.keys(map)) setOwn(copy, key, copyOf(map[key] ?? null));
  return copy;
}

/** Makes an edit in place; a deletion takes the maps that it leaves empty with it. @returns takes the edit back */
function change(root: WritableMap, { path, ...edit }: FileEdit["edit"]): () => void {
  const maps = [root];
  for (const step of path.slice(0, -1)) {
    const inner = ownOf(maps.at(-1), String(step));
    if (!isMap(inner)) break;
    maps.push(inner);
  }
  let depth = maps.length - 1;
  if (edit.kind === "set") {
    const inner = path.slice(depth + 1).reduceRight<Json>((value, step) => ({ [step]: value }), edit.value);
    return put(maps[depth], String(path[depth]), copyOf(inner));
  }
  if (maps.length < path.length) return () => undefined;
  while (depth > 0 && sizeOf(maps[depth] ?? root) === 1) depth--;
  return put(maps[depth], String(path[depth]), undefined);
}

/** @param value nothing: the key goes */
function put(map: WritableMap | undefined, key: string, value: Writable | undefined): () => void {
  if (map === undefined) return () => undefined;
  const before = ownOf(map, key);
  replace(map, key, value);
  return () => replace(map, key, before);
}

function replace(map: WritableMap, key: string, value: Writable | undefined): void {
  const growth = Number(value !== undefined) - Number(Object.hasOwn(map, key));
  if (growth !== 0) sizes.set(map, sizeOf(map) + growth);
  if (value === undefined) delete map[key];
  else setOwn(map, key, value);
}

/** Counted once: of a map with thousands of test cases one after the other may go. */
const sizes = new WeakMap<WritableMap, number>();

function sizeOf(map: WritableMap): number {
  const size = sizes.get(map) ?? Object.keys(map).length;
  sizes.set(map, size);
  return size;
}

function isMap(value: Writable | undefined): value is WritableMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ownOf(map: WritableMap | undefined, key: string): Writable | undefined {
  return map !== undefined && Object.hasOwn(map, key) ? map[key] : undefined;
}

/**
 * Ways to take a value away: it goes, and where defaults have one below it, that as well. Other test cases and stages
 * that take theirs from there get it in their own overrides.
 */
export function* removals(
  rewriter: Rewriter,
  ref: FieldRef,
  stages: readonly string[],
): Generator<Candidate> {
  const top = rewriter.manifests.topSlot(ref);
  if (top === undefined) return;
  const once = [deleteAt(top)];
  yield { slot: top, edits: once };
  const below = rewriter.assuming(once, (after) => after.topSlot(ref));
  const slot = below ?? top;
  const all = below === undefined ? once : [...once, deleteAt(below)];
  if (below !== undefined) yield { slot, edits: all };
  const pins = rewriter.assuming(all, (after) => pinsOf(rewriter.manifests, after, ref, stages));
  yield { slot, edits: [...all, ...pins] };
}

function pinsOf(
  before: Manifests,
  after: Manifests,
  own: FieldRef,
  stages: readonly string[],
): readonly FileEdit[] {
  return siblingsOf(before, own.address).flatMap((address) =>
    stages.flatMap((stage) => {
      if (address === own.address && stage === own.stage) return [];
      const ref = { ...own, stage, address };
      const was = before.written(ref);
      if (was === undefined || sameWritten(was, after.written(ref))) return [];
      const slot = before.stageSlot(ref);
      return slot === undefined ? [] : [setAt(slot, was)];
    }),
  );
}

/** What a command wants of a field. */
export interface Goal {
  readonly ref: FieldRef;
  /** @param written the field's value as it would stand in the manifests; nothing where none would */
  readonly isMet: (written: Json | undefined) => boolean;
  /** The best first. */
  readonly candidates: (rewriter: Rewriter) => Iterable<Candidate>;
}

/** A way to give a field what is wanted. */
export interface Candidate {
  readonly slot: Slot;
  readonly edits: readonly FileEdit[];
}

/** Writes a value into the first of several places that will do. */
export function valueAtOne(value: Json, slots: readonly (Slot | undefined)[]): readonly Candidate[] {
  return slots.flatMap((slot) => (slot === undefined ? [] : [{ slot, edits: [setAt(slot, value)] }]));
}

export interface RewriteRules {
  /** The stages in which nothing may change that nobody wants. */
  readonly stages: readonly string[];
  /** What may change beside what is wanted. @param own the field that an edit is made for */
  readonly mayChange?: (ref: FieldRef, own: FieldRef) => boolean;
}

/**
 * Places values until no more can be placed: a shared default can go only once those test cases that want another value
 * have it elsewhere, and one that all its sharers want is written once for all.
 */
export function placeAll<G extends Goal>(
  sources: ProjectDocuments,
  goals: readonly G[],
  rules: RewriteRules,
): {
  readonly edits: readonly FileEdit[];
  readonly manifests: Manifests;
  /** The goals that are met, with the place of the value; nothing where it went. */
  readonly placed: ReadonlyMap<G, Slot | undefined>;
} {
  const rewriter = new Rewriter(sources, goals, rules);
  const { manifests, edits } = rewriter;
  const isMet = ({ ref, isMet: fits }: G): boolean => fits(manifests.written(ref));
  const slots = new Map<G, Slot>();
  for (let before = -1; before < slots.size;) {
    before = slots.size;
    rewriter.nextRound();
    for (const goal of goals) {
      const slot = isMet(goal) ? undefined : rewriter.place(goal);
      if (slot !== undefined) slots.set(goal, slot);
    }
  }
  const met = goals.filter(isMet);
  const placed = new Map(met.map((goal) => [goal, slots.get(goal) ?? manifests.topSlot(goal.ref)]));
  return { edits, manifests, placed };
}

/**
 * Chooses the places of new values. A candidate is taken if it gives the field what is wanted and changes nothing else
 * that may not change: a test case that shares a default, or another stage that shares the base, keeps its value or
 * gets one that is wanted.
 */
class Rewriter {
  readonly edits: FileEdit[] = [];
  readonly manifests: Manifests;
  /** The same, for trying edits out. */
  readonly #trial: Manifests;
  readonly #goals: ReadonlyMap<string, Goal>;
  /** Where wanted fields had their values at the start. */
  readonly #startSlots: ReadonlyMap<string, Slot | undefined>;
  readonly #rules: RewriteRules;
  /** Edits of shared places that would do harm. */
  readonly #refused = new Set<string>();

  constructor(sources: ProjectDocuments, goals: readonly Goal[], rules: RewriteRules) {
    this.manifests = new Manifests(sources);
    this.#trial = new Manifests(sources);
    this.#goals = new Map(goals.map((one) => [keyOf(one.ref), one]));
    this.#startSlots = new Map(goals.map(({ ref }) => [keyOf(ref), this.manifests.topSlot(ref)]));
    this.#rules = rules;
  }

  /** Takes the first candidate that does no harm. */
  place({ ref, isMet, candidates }: Goal): Slot | undefined {
    for (const candidate of candidates(this)) {
      const { slot, edits } = candidate;
      const name = isShared(slot) ? JSON.stringify([slot, edits.length, edits[0]]) : "";
      if (this.#refused.has(name)) continue;
      const verdict = this.assuming(edits, (after) => {
        if (!isMet(after.written(ref))) return "unmet";
        return this.#harmsNobody(after, ref, candidate) ? "good" : "harmful";
      });
      if (verdict === "harmful" && name !== "") this.#refused.add(name);
      if (verdict !== "good") continue;
      this.manifests.apply(edits);
      this.#trial.apply(edits);
      this.edits.push(...edits);
      return slot;
    }
    return undefined;
  }

  /** Looks at harmful edits again: what shared a place may have its own value by now. */
  nextRound(): void {
    this.#refused.clear();
  }

  /** What holds once edits are made; they are taken back afterwards. */
  assuming<T>(edits: readonly FileEdit[], ask: (after: Manifests) => T): T {
    const undo = this.#trial.apply(edits);
    try {
      return ask(this.#trial);
    } finally {
      undo();
    }
  }

  #harmsNobody(after: Manifests, own: FieldRef, { slot, edits }: Candidate): boolean {
    // Thousands may share a default, and the first that minds settles it.
    for (const ref of this.#touched(own, slot)) {
      const wanted = this.#goals.get(keyOf(ref));
      const now = after.written(ref);
      const isFine =
        sameWritten(this.manifests.written(ref), now) ||
        wanted?.isMet(now) === true ||
        this.#rules.mayChange?.(ref, own) === true;
      if (!isFine || (wanted !== undefined && !this.#agrees(wanted, slot, edits))) return false;
    }
    return true;
  }

  /**
   * Whether a field that took its value from a shared place is content with what is written there. One that wants
   * another value may have got it elsewhere by now; that does not make the shared place the right one.
   */
  #agrees({ ref, isMet }: Goal, { file, path }: Slot, edits: readonly FileEdit[]): boolean {
    const start = this.#startSlots.get(keyOf(ref));
    if (start?.file !== file || !sameJson(start.path, path)) return true;
    const written = edits.find((one) => one.file === file && sameJson(one.edit.path, path))?.edit;
    return written?.kind !== "set" || isMet(written.value);
  }

  /** The fields that get their value through a place, or could. */
  *#touched({ address, field, stage: own }: FieldRef, slot: Slot): Generator<FieldRef> {
    const ofStage = slot.layer === "stage" || slot.layer === "stage defaults";
    const stages = ofStage ? this.#rules.stages.filter((stage) => stage === own) : this.#rules.stages;
    for (const one of isShared(slot) ? siblingsOf(this.manifests, address) : [address])
      for (const stage of stages) yield { stage, address: one, field };
  }
}

function isShared({ layer }: Slot): boolean {
  return layer === "defaults" || layer === "stage defaults";
}

/** All resources that share defaults with one, that itself among them. */
function siblingsOf(manifests: Manifests, address: Address): readonly Address[] {
  const parts = parseAddress(address);
  return parts === undefined ? [] : manifests.addressesOf(parts.target, parts.kind);
}

function keyOf({ stage, address, field }: FieldRef): string {
  return `${stage} ${address} ${field.name}`;
}

export function sameWritten(was: Json | undefined, now: Json | undefined): boolean {
  return was === undefined || now === undefined ? was === now : sameJson(was, now);
}

/**
 * What is written differently in two sets of manifests, in some stages: a rewriting did no more than it was to do if
 * nothing else is listed here.
 */
export function changedFields(
  before: Manifests,
  after: Manifests,
  stages: readonly string[],
): readonly FieldRef[] {
  const changed: FieldRef[] = [];
  for (const target of new Set([...before.targets, ...after.targets]))
    for (const kind of KINDS)
      for (const address of new Set([
        ...before.addressesOf(target, kind),
        ...after.addressesOf(target, kind),
      ]))
        for (const stage of stages) {
          const [was, now] = [before, after].map((one) => one.layersOf({ stage, address }));
          for (const field of fieldsOf(kind))
            if (!sameWritten(mergedAt(was ?? [], field.path), mergedAt(now ?? [], field.path)))
              changed.push({ stage, address, field });
        }
  return changed;
}

/** A plain value as a manifest says it, so that nothing in it is taken for a placeholder. */
export function escaped(value: Json): Json {
  if (typeof value === "string") return escapeTemplate(value);
  if (isArray(value)) return value.map(escaped);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, escaped(part)]));
}
