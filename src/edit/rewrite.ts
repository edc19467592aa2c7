import { randomUUID } from "node:crypto";
import { chmodSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { FILE_HEADERS_ONLY, createTwoFilesPatch } from "diff";
import { type Document, valueAt } from "../manifest/document.ts";
import { escapeTemplate, isTemplate, parseTemplate } from "../manifest/interpolation.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { SECTIONS } from "../manifest/tables.ts";
import { type Origins, layersOfOne, originsOf, targetLayers } from "../manifest/target.ts";
import type { YamlEdit } from "../manifest/yaml/edit.ts";
import { type Address, KINDS, type Kind, addressOf, parseAddress, targetAddress } from "../model/address.ts";
import { type Layer, originIn } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, type Path, isArray, isObject, sameJson } from "../model/json.ts";
import { withValue, withoutValue } from "./import-known.ts";

/** A value that is set or taken away at a place of a document. */
export interface FileEdit {
  readonly file: string;
  readonly edit: YamlEdit & { readonly kind: "set" | "delete" };
}

/** Target documents on their way to other ones. A draft never changes: `with` gives the next. */
export class Draft {
  readonly #byTarget: ReadonlyMap<string, readonly Document[]>;
  /** Handed on from draft to draft: no edit makes a resource, or takes one away. */
  readonly #addresses: Map<string, readonly Address[]>;
  /** By target and stage; asked for again for every field. */
  readonly #origins = new Map<string, Origins>();
  readonly edits: readonly FileEdit[];

  private constructor(
    byTarget: ReadonlyMap<string, readonly Document[]>,
    edits: readonly FileEdit[],
    addresses: Map<string, readonly Address[]>,
  ) {
    this.#byTarget = byTarget;
    this.#addresses = addresses;
    this.edits = edits;
  }

  static of(documents: readonly Document[]): Draft {
    const byTarget = new Map<string, Document[]>();
    for (const document of documents) {
      const { target } = document.value;
      if (typeof target !== "string") continue;
      const known = byTarget.get(target);
      if (known === undefined) byTarget.set(target, [document]);
      else known.push(document);
    }
    return new Draft(byTarget, [], new Map());
  }

  with(edits: readonly FileEdit[]): Draft {
    const byTarget = new Map(this.#byTarget);
    for (const { file, edit } of edits)
      for (const [target, documents] of byTarget)
        if (documents.some((document) => document.file === file))
          byTarget.set(
            target,
            documents.map((one) => (one.file === file ? edited(one, edit) : one)),
          );
    return new Draft(byTarget, [...this.edits, ...edits], this.#addresses);
  }

  /** The unit's layers, lowest first; none where the stage does not declare the resource. */
  layersOf({ stage, address }: Omit<Unit, "field">): readonly Layer[] {
    const parts = parseAddress(address);
    const section = SECTIONS.find(({ kind }) => kind === parts?.kind);
    if (parts === undefined) return [];
    const origins = this.#originsOf(parts.target, stage);
    const layers = section === undefined ? targetLayers(origins) : layersOfOne(origins, section, parts.key);
    return layers.some(({ kind }) => kind === "base" || kind === "stage") ? layers : [];
  }

  #originsOf(target: string, stage: string): Origins {
    const name = JSON.stringify([target, stage]);
    const origins = this.#origins.get(name) ?? originsOf(this.documentsOf(target), stage);
    this.#origins.set(name, origins);
    return origins;
  }

  /** What the manifests say for a unit, before anything is filled in. */
  written(unit: Unit): Json | undefined {
    return mergedAt(this.layersOf(unit), unit.field.path);
  }

  /** The layer that has the value which counts. */
  topLayer(unit: Unit): Layer | undefined {
    return this.layersOf(unit).findLast((layer) => originIn([layer], unit.field.path) !== undefined);
  }

  /** All resources of a kind that a target has in any stage. */
  addressesOf(target: string, kind: Kind): readonly Address[] {
    const known = this.#addresses.get(`${kind} ${target}`);
    if (known !== undefined) return known;
    const found = this.#findAddresses(target, kind);
    this.#addresses.set(`${kind} ${target}`, found);
    return found;
  }

  #findAddresses(target: string, kind: Kind): readonly Address[] {
    if (kind === "target") return [targetAddress(target)];
    const section = SECTIONS.find((one) => one.kind === kind);
    if (section === undefined) return [];
    const keys = new Set<string>();
    for (const { value } of this.documentsOf(target)) {
      const stages = isObject(value.stages) ? Object.values(value.stages) : [];
      for (const scope of [value, ...stages]) {
        const resources = valueAt(scope, [section.name]);
        if (isObject(resources)) for (const key of Object.keys(resources)) keys.add(key);
      }
    }
    return [...keys].map((key) => addressOf(section.kind, target, key));
  }

  documentsOf(target: string | undefined): readonly Document[] {
    return target === undefined ? [] : (this.#byTarget.get(target) ?? []);
  }

  get targets(): readonly string[] {
    return [...this.#byTarget.keys()];
  }
}

function edited(document: Document, edit: FileEdit["edit"]): Document {
  const { value } = document;
  return {
    ...document,
    value:
      edit.kind === "set"
        ? withValue(value, edit.path, edit.value)
        : withoutValue(value, edit.path satisfies Path),
  };
}

/** The change of a file as `git diff` shows it, without line ends of their own kind. */
export function patchOf({ file, before, after }: NewText): string {
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(`a/${file}`, `b/${file}`, before, after, undefined, undefined, options);
  return patch.replaceAll("\r", "");
}

/** A way to meet a wish. */
export interface Candidate {
  readonly spot: Spot;
  readonly edits: readonly FileEdit[];
}

export interface Placed {
  readonly draft: Draft;
  readonly spot: Spot;
}

export interface PlaceRules {
  readonly wishes: Wishes;
  /** The stages in which nothing may change that nobody wishes. */
  readonly stages: readonly string[];
  /** The manifests before the first wish was met. */
  readonly start: Draft;
}

/**
 * Takes the first candidate that meets the wish and makes nothing worse: whatever else it touches, a sibling that
 * shares a default, another stage that shares the base, either stays as it is written or comes to be as wished.
 */
export function place(
  draft: Draft,
  wish: Wish,
  candidates: readonly Candidate[],
  rules: PlaceRules,
): Placed | undefined {
  for (const { spot, edits } of candidates) {
    const next = draft.with(edits);
    if (!wish.isMet(next.written(wish.unit))) continue;
    if (harmsNobody(draft, next, wish.unit, { spot, edits }, rules)) return { draft: next, spot };
  }
  return undefined;
}

function harmsNobody(
  before: Draft,
  after: Draft,
  own: Unit,
  { spot, edits }: Candidate,
  rules: PlaceRules,
): boolean {
  // Thousands may share a default, and the first that minds settles it.
  for (const unit of touched(before, own, spot, rules))
    if (!isFine(unit, before, after, rules) || !agrees(unit, spot, edits, rules)) return false;
  return true;
}

function isFine(unit: Unit, before: Draft, after: Draft, { wishes }: PlaceRules): boolean {
  const now = after.written(unit);
  const was = before.written(unit);
  const isKept = now === undefined || was === undefined ? now === was : sameJson(now, was);
  return isKept || wishes.get(unitKey(unit))?.isMet(now) === true;
}

/**
 * Whether a unit that took its value from a shared place is content with what is written there. One that wants another
 * value may have got it elsewhere by now; that does not make the shared place the right one.
 */
function agrees(
  unit: Unit,
  { file, path }: Spot,
  edits: readonly FileEdit[],
  { wishes, start }: PlaceRules,
): boolean {
  const wish = wishes.get(unitKey(unit));
  const top = wish && topSpot(start, unit);
  if (wish === undefined || top?.file !== file || !sameJson(top.path, path)) return true;
  const written = edits.find((one) => one.file === file && sameJson(one.edit.path, path))?.edit;
  return written?.kind !== "set" || wish.isMet(written.value);
}

/** The units that get their value through a place, or could. */
function* touched(draft: Draft, unit: Unit, { layer }: Spot, { stages }: PlaceRules): Generator<Unit> {
  const shared = layer === "defaults" || layer === "stage defaults";
  const ofStage = layer === "stage" || layer === "stage defaults";
  const places = ofStage ? stages.filter((stage) => stage === unit.stage) : stages;
  for (const address of shared ? siblings(draft, unit.address) : [unit.address])
    for (const stage of places) yield { ...unit, stage, address };
}

function siblings(draft: Draft, address: Address): readonly Address[] {
  const parts = parseAddress(address);
  return parts === undefined ? [] : draft.addressesOf(parts.target, parts.kind);
}

/** What a command does to the manifests, and what it must leave: plain data, without any secret. */
export interface Rewriting {
  readonly changes: readonly Rewritten[];
  readonly left: readonly Left[];
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
export interface Left {
  readonly address: Address;
  readonly path?: Path;
  /** One sentence. */
  readonly reason: string;
  readonly origin?: Origin;
}

/** A rewriting, and the manifests as it leaves them. */
export interface Rewrite extends Rewriting {
  readonly draft: Draft;
}

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

/** A manifest with what it was and what it is to be; texts without byte order mark. */
export interface NewText {
  readonly file: string;
  readonly bom: boolean;
  readonly before: string;
  readonly after: string;
}

export type NewTexts =
  | { readonly ok: true; readonly texts: readonly NewText[] }
  | { readonly ok: false; readonly file: string; readonly reason: string };

/** Makes the edits in the texts of their documents; all else in these stays as it is. */
export async function editTexts(
  documents: readonly Document[],
  edits: readonly FileEdit[],
): Promise<NewTexts> {
  const { editYaml } = await import("../manifest/yaml/edit.ts");
  const texts: NewText[] = [];
  for (const { file, bom, text } of documents) {
    const own = edits.filter((one) => one.file === file).map(({ edit }) => edit);
    if (own.length === 0) continue;
    const edited = editYaml(text, own, { prune: true });
    if (!edited.ok) return { ok: false, file, reason: edited.reason };
    if (edited.text !== text) texts.push({ file, bom, before: text, after: edited.text });
  }
  return { ok: true, texts };
}

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

/** A field of a resource in one stage: what a rewriting of manifests changes, or must leave as it is. */
export interface Unit {
  readonly stage: string;
  readonly address: Address;
  readonly field: Field<never>;
}

function unitKey({ stage, address, field }: Unit): string {
  return JSON.stringify([stage, address, field.name]);
}

/** What is to be written for a unit, as a test of it. */
export interface Wish {
  readonly unit: Unit;
  /** @param written the unit's value as it would stand in the manifests; nothing where none would */
  readonly isMet: (written: Json | undefined) => boolean;
}

/** Wishes by the key of their unit. */
type Wishes = ReadonlyMap<string, Wish>;

export function wishesOf(wishes: readonly Wish[]): Wishes {
  return new Map(wishes.map((wish) => [unitKey(wish.unit), wish]));
}

/** A plain value as a manifest says it, so that nothing in it is taken for a placeholder. */
export function escaped(value: Json): Json {
  if (typeof value === "string") return escapeTemplate(value);
  if (isArray(value)) return value.map(escaped);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, escaped(part)]));
}

/** The placeholders in a written value, as they are written. */
export function placeholdersIn(written: Json): readonly string[] {
  if (typeof written === "string")
    return isTemplate(written)
      ? parseTemplate(written).parts.flatMap((part) => (part.kind === "text" ? [] : [part.source]))
      : [];
  if (isArray(written)) return written.flatMap(placeholdersIn);
  return isObject(written) ? Object.values(written).flatMap(placeholdersIn) : [];
}

export type Replaced =
  | { readonly ok: true }
  /** None of the files is changed. `meanwhile`: it is no longer what it was when it was read. */
  | { readonly ok: false; readonly file: string; readonly meanwhile: boolean; readonly reason: string };

/**
 * Replaces files whole: all of them, or none. Each new text is written beside its file and takes its place at once, so
 * nobody reads half a manifest; where one cannot be put in place, those before it get their old text back. A symbolic
 * link stays one, and a file keeps its permissions. What somebody else has changed meanwhile is not overwritten.
 */
export function replaceFiles(root: string, texts: readonly NewText[]): Replaced {
  const drafts: FileDraft[] = [];
  const done: FileDraft[] = [];
  let current = "";
  try {
    for (const text of texts) {
      current = text.file;
      drafts.push(writeDraft(root, text));
    }
    for (const draft of drafts) {
      current = draft.file;
      if (!readFileSync(draft.path).equals(draft.before)) return undone(done, current, true, "");
      renameSync(draft.draft, draft.path);
      done.push(draft);
    }
    return { ok: true };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return undone(done, current, false, error.code);
  } finally {
    for (const { draft } of drafts) rmSync(draft, { force: true });
  }
}

interface FileDraft {
  readonly file: string;
  readonly path: string;
  readonly draft: string;
  readonly before: Buffer;
  readonly mode: number;
}

function writeDraft(root: string, { file, bom, before, after }: NewText): FileDraft {
  const path = realpathSync(join(root, file));
  const mode = statSync(path).mode & 0o7777;
  const draft = besides(path, bytesOf(after, bom), mode);
  return { file, path, draft, before: bytesOf(before, bom), mode };
}

/** Under a name that no manifest pattern matches. */
function besides(path: string, bytes: Buffer, mode: number): string {
  const draft = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    writeFileSync(draft, bytes, { flag: "wx", flush: true });
    chmodSync(draft, mode);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
  return draft;
}

function undone(done: readonly FileDraft[], file: string, meanwhile: boolean, reason: string): Replaced {
  for (const { path, before, mode } of done) renameSync(besides(path, before, mode), path);
  return { ok: false, file, meanwhile, reason };
}

function bytesOf(text: string, bom: boolean): Buffer {
  return Buffer.from(bom ? `\ufeff${text}` : text);
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
