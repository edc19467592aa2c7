import type { Address, Kind } from "../../model/address.ts";
import type { DesiredFields, DesiredResource, Layer } from "../../model/desired.ts";
import { originOf } from "../../model/desired.ts";
import type { Origin } from "../../model/diagnostic.ts";
import type { Path } from "../../model/json.ts";
import type { Value } from "../../model/value.ts";
import { PROJECT_FILE } from "../document.ts";
import { mergedAt } from "../merge.ts";
import type { FieldRow } from "../tables/kinds.ts";
import type { ManifestProblem } from "../problem.ts";
import { resolveValue } from "../resolve-value.ts";
import type { Scene } from "../resolve-value.ts";
import { bare } from "../shape/shape.ts";
import type { Filler } from "../template/fill.ts";

/** What a resource is made of. */
export interface ResourceParts<K extends Kind> {
  readonly kind: K;
  readonly address: Address;
  readonly key: string;
  readonly layers: readonly Layer[];
  readonly rows: readonly FieldRow[];
}

/** A resource from its layers, merged and filled in, its fields in the order of the table. */
export function resolveResource<K extends Kind>(
  parts: ResourceParts<K>,
  filler: Filler,
  problems: ManifestProblem[],
): DesiredResource<K> {
  const { kind, address, key, layers, rows } = parts;
  const scene = new ResourceScene(parts, filler, problems);
  const fields = resolveFields(rows, layers, scene);
  const id = resolveId(layers, scene);
  return id === undefined
    ? { kind, address, key, fields, layers }
    : { kind, address, key, id, fields, layers };
}

/** The scene of a resource's values: their problems go to the list that is handed in. */
export class ResourceScene implements Scene {
  readonly filler: Filler;
  readonly #parts: ResourceParts<Kind>;
  readonly #problems: ManifestProblem[];

  constructor(parts: ResourceParts<Kind>, filler: Filler, problems: ManifestProblem[]) {
    this.filler = filler;
    this.#parts = parts;
    this.#problems = problems;
  }

  originOf(path: Path): Origin {
    return originOf({ ...this.#parts, fields: {} }, path) ?? { file: PROJECT_FILE, path: [] };
  }

  report(problem: ManifestProblem): void {
    const { address } = this.#parts;
    this.#problems.push(isShared(problem.origin) ? problem : { ...problem, address });
  }
}

/** What is wrong with a variable or a default is told of that alone, not of each resource that uses it. */
function isShared({ file, path: [first, , third] }: Origin): boolean {
  return file === PROJECT_FILE || first === "defaults" || (first === "stages" && third === "defaults");
}

function resolveFields(rows: readonly FieldRow[], layers: readonly Layer[], scene: Scene): DesiredFields {
  const fields: Record<string, Value> = {};
  for (const row of rows) {
    const value = mergedAt(layers, row.path);
    if (value !== undefined) fields[row.name] = resolveValue(row, value, row.path, scene);
  }
  return fields;
}

function resolveId(layers: readonly Layer[], scene: Scene): string | undefined {
  const json = mergedAt(layers, ["id"]);
  const id = json === undefined ? undefined : resolveValue(ID_PART, json, ["id"], scene);
  return typeof id === "string" ? id : undefined;
}

const ID_PART = bare({ type: "uuid" });
