import { withoutValue, withValue } from "../import/paths.ts";
import type { Address, Kind } from "../model/address.ts";
import { addressOf, parseAddress, targetAddress } from "../model/address.ts";
import { originIn } from "../model/desired.ts";
import type { Layer } from "../model/desired.ts";
import type { Json, Path } from "../model/json.ts";
import type { Document } from "../manifest/document.ts";
import { mergedAt } from "../manifest/merge.ts";
import { SECTIONS } from "../manifest/tables/kinds.ts";
import { layersOfOne, originsOf, targetLayers } from "../manifest/target/layers.ts";
import type { Origins } from "../manifest/target/layers.ts";
import { valueAt } from "../manifest/pointer.ts";
import { isObject } from "../model/json.ts";
import type { YamlEdit } from "../yaml/edit-value.ts";
import type { Unit } from "./unit.ts";

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
