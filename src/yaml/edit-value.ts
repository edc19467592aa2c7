import { isArray, isObject, type Json, type Path } from "../model/json.ts";
import { setOwn } from "./own.ts";

export type YamlEdit =
  | { readonly kind: "set"; readonly path: Path; readonly value: Json }
  | { readonly kind: "delete"; readonly path: Path }
  | { readonly kind: "rename"; readonly path: Path; readonly key: string };

/** An edit that cannot be made; its message is for the person at the terminal. */
export class EditRefusal extends Error {}

/**
 * What edits mean for a value, whatever its text looks like; each refers to what those before it left.
 * The value is copied once and not for each edit: an import or a pull may make thousands in one large map.
 *
 * @param prune whether a map or a list that a deletion leaves empty goes as well, and so on upwards; never
 * the root.
 * @throws EditRefusal
 */
export function editValue(value: Json, edits: readonly YamlEdit[], prune: boolean): Json {
  // The root is made an item of a list, so that setting it is no special case.
  const holder: Draft[] = [draftOf(value)];
  for (const edit of edits) apply(holder, edit, prune);
  return holder[0] ?? null;
}

type Draft = null | boolean | number | string | Draft[] | DraftMap;
type DraftMap = { [key: string]: Draft };
type Step = string | number;

/** Aliased parts, which values share, become separate here. */
function draftOf(value: Json): Draft {
  if (isArray(value)) return value.map(draftOf);
  if (!isObject(value)) return value;
  const map: DraftMap = {};
  for (const key of Object.keys(value)) setOwn(map, key, draftOf(value[key] ?? null));
  return map;
}

function apply(holder: Draft[], edit: YamlEdit, prune: boolean): void {
  const last = edit.path.at(-1);
  if (edit.kind === "set") set(holder, [0, ...edit.path], edit.value);
  else if (last === undefined) throw new EditRefusal(`the whole document cannot be ${edit.kind}d`);
  else if (edit.kind === "delete") remove(holder, [0, ...edit.path], prune);
  else rename(at(holder, [0, ...edit.path.slice(0, -1)]), String(last), edit.key);
}

/** What is missing on the way, or null, becomes a map. */
function set(holder: Draft[], path: Path, value: Json): void {
  const last = path.at(-1) ?? 0;
  let container: Draft = holder;
  for (const step of path.slice(0, -1)) {
    const inner: Draft = stepInto(container, step) ?? {};
    put(container, step, inner);
    container = inner;
  }
  put(container, last, draftOf(value));
}

function put(container: Draft, step: Step, value: Draft): void {
  if (isList(container) && typeof step === "number" && step <= container.length) container[step] = value;
  else if (isMap(container)) setOwn(container, String(step), value);
  else throw new EditRefusal(`\`${step}\` cannot be set: what it would be part of is not a map`);
}

function remove(holder: Draft[], path: Path, prune: boolean): void {
  const last = path.at(-1) ?? 0;
  const container = at(holder, path.slice(0, -1));
  if (container === undefined || stepInto(container, last) === undefined) return;
  if (isList(container) && typeof last === "number") container.splice(last, 1);
  else if (isMap(container)) delete container[last];
  const isLeftEmpty =
    typeof container === "object" && container !== null && Object.keys(container).length === 0;
  if (prune && isLeftEmpty && path.length > 2) remove(holder, path.slice(0, -1), prune);
}

function rename(map: Draft | undefined, from: string, to: string): void {
  if (map === undefined || !isMap(map) || !Object.hasOwn(map, from))
    throw new EditRefusal(`there is no key \`${from}\` to rename`);
  if (from !== to && Object.hasOwn(map, to))
    throw new EditRefusal(`\`${from}\` cannot become \`${to}\`, which is there`);
  // Taken out and put back one by one: the order of the keys stays.
  for (const [key, value] of Object.entries(map)) {
    delete map[key];
    setOwn(map, key === from ? to : key, value);
  }
}

function at(holder: Draft[], path: Path): Draft | undefined {
  let inner: Draft | undefined = holder;
  for (const step of path) inner = inner === undefined ? undefined : stepInto(inner, step);
  return inner;
}

function stepInto(container: Draft, step: Step): Draft | undefined {
  if (isList(container)) return typeof step === "number" ? container[step] : undefined;
  return isMap(container) && Object.hasOwn(container, step) ? container[step] : undefined;
}

function isList(draft: Draft): draft is Draft[] {
  return Array.isArray(draft);
}

function isMap(draft: Draft): draft is DraftMap {
  return typeof draft === "object" && draft !== null && !Array.isArray(draft);
}
