import { type Json, type Path, isArray, isObject, setOwn } from "../../model/json.ts";

/** A change to a value: a part of it is set or deleted. */
export type YamlEdit =
  | {
      readonly kind: "set";
      readonly path: Path;
      readonly value: Json;
      /** For a new key, the key behind which it goes; by default, its rank decides. */
      readonly after?: string | undefined;
      /** For a new key, the comment above it, without `#`. */
      readonly comment?: string | undefined;
    }
  | { readonly kind: "delete"; readonly path: Path };

export class EditRefusal extends Error {}

type Draft = Json[] | Record<string, Json>;

/**
 * Applies edits to a value. Each changed map or list is copied once, as there may be thousands of
 * edits.
 * @throws EditRefusal
 */
export function editValue(value: Json, edits: readonly YamlEdit[], prune: boolean): Json {
  const drafts = new Map<unknown, Draft>();
  /** Returns a copy of a map or list that may be changed. */
  const opened = (part: Json): Json => {
    if (drafts.has(part) || typeof part !== "object" || part === null) return part;
    const draft = isArray(part) ? [...part] : { ...part };
    drafts.set(draft, draft);
    return draft;
  };
  /** Sets a value. A part of the path that is missing, or null, becomes a map. */
  const set = (holder: Json, path: Path, wanted: Json): void => {
    let container = holder;
    for (const [at, step] of path.entries()) {
      const draft = drafts.get(container);
      const inner = at === path.length - 1 ? wanted : opened(partOf(container, step) ?? {});
      if (isArray(draft) && typeof step === "number" && step <= draft.length) draft[step] = inner;
      else if (draft !== undefined && !isArray(draft)) setOwn(draft, String(step), inner);
      else
        throw new EditRefusal(`\`${step}\` cannot be set: what it would be part of is not a map`);
      container = inner;
    }
  };
  /** Deletes a value. @returns whether its map or list is empty then */
  const remove = (container: Json, [step = "", ...rest]: Path): boolean => {
    const draft = drafts.get(container);
    const inner = partOf(container, step);
    if (draft === undefined || inner === undefined) return false;
    if (rest.length > 0) {
      set(draft, [step], opened(inner));
      if (!remove(partOf(draft, step) ?? null, rest) || !prune) return false;
    }
    if (isArray(draft)) draft.splice(Number(step), 1);
    else delete draft[step];
    return Object.keys(draft).length === 0;
  };
  // The root becomes an item of a list, so that setting it is not a special case.
  const holder = opened([value]);
  for (const edit of edits) {
    if (edit.kind === "set") set(holder, [0, ...edit.path], edit.value);
    else if (edit.path.length === 0) throw new EditRefusal("the whole document cannot be deleted");
    else {
      set(holder, [0], opened(partOf(holder, 0) ?? null));
      remove(partOf(holder, 0) ?? null, edit.path);
    }
  }
  return partOf(holder, 0) ?? null;
}

function partOf(container: Json, step: string | number): Json | undefined {
  if (isArray(container)) return typeof step === "number" ? container[step] : undefined;
  return isObject(container) && Object.hasOwn(container, step) ? container[step] : undefined;
}
