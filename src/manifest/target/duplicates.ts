import { type Address, addressOf } from "../../model/address.ts";
import type { Layer } from "../../model/desired.ts";
import { type Path, isObject } from "../../model/json.ts";
import { valueAt } from "../pointer.ts";
import { type ManifestProblem, manifestError } from "../problem.ts";
import { type FieldRow, SECTIONS, TARGET_ROWS } from "../tables/kinds.ts";
import type { TargetDocuments } from "./group.ts";
import { type Layers, baseLayers, stageLayers } from "./layers.ts";

/**
 * What two documents of a target both say: a resource, a field of the target, a field of its defaults. Which of the
 * two counted would depend on the names of the files. Stages are looked at one by one, whichever is chosen.
 */
export function findDuplicates(
  { key, documents }: TargetDocuments,
  stages: readonly string[],
): readonly ManifestProblem[] {
  if (documents.length < 2) return [];
  const base = baseLayers(documents);
  const scopes = [base, ...stages.map((stage) => stageLayers(base, stage))];
  return scopes.flatMap((layers) => duplicatesAmong(layers, key));
}

function duplicatesAmong(layers: Layers, target: string): ManifestProblem[] {
  return [
    ...duplicateFields(layers, [], TARGET_FIELDS, `target ${target}`),
    ...SECTIONS.flatMap(({ kind, name, fields }) => [
      ...duplicateResources(layers, name, (key) => addressOf(kind, target, key)),
      ...duplicateFields(layers, ["defaults", name], fields, `the defaults of target ${target}`),
    ]),
  ];
}

type Named = Pick<FieldRow, "name" | "path">;

const TARGET_FIELDS: readonly Named[] = [
  { name: "id", path: ["id"] },
  { name: "onRemove", path: ["onRemove"] },
  ...TARGET_ROWS,
];

function duplicateResources(
  { having }: Layers,
  section: string,
  addressIn: (key: string) => Address,
): ManifestProblem[] {
  const owners = new Map<string, Layer>();
  const problems: ManifestProblem[] = [];
  having(section).forEach((layer) => {
    const resources = layer.value[section];
    if (!isObject(resources)) return;
    for (const key in resources) {
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, layer);
      else problems.push(declaredTwice(layer, owner, [section, key], addressIn(key)));
    }
  });
  return problems;
}

/** Every second layer that sets a field in the map at a path, with the first. */
function duplicateFields(
  { having }: Layers,
  place: Path,
  rows: readonly Named[],
  owner: string,
): ManifestProblem[] {
  return rows.flatMap(({ name, path }) => {
    const whole = [...place, ...path];
    const holders = having(String(whole[0])).filter(({ value }) => valueAt(value, whole) !== undefined);
    const [first, ...others] = holders;
    return first === undefined
      ? []
      : others.map((layer) => setTwice(layer, first, whole, `\`${name}\` of ${owner}`));
  });
}

function declaredTwice(layer: Layer, first: Layer, path: Path, address: Address): ManifestProblem {
  const remedy = "Give one of the two another key, or put both into one.";
  return twice(layer, first, path, `${address} is declared twice`, remedy);
}

function setTwice(layer: Layer, first: Layer, path: Path, what: string): ManifestProblem {
  const remedy = "Documents that add to one target share its fields and defaults: keep one of the two.";
  return twice(layer, first, path, `${what} is set twice`, remedy);
}

function twice(layer: Layer, first: Layer, path: Path, summary: string, remedy: string): ManifestProblem {
  return manifestError("duplicate", { file: layer.file, path: [...layer.path, ...path] }, summary, remedy, {
    at: "key",
    related: { file: first.file, path: [...first.path, ...path] },
  });
}
