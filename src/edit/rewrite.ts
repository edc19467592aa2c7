import { type Address, targetAddress, targetOf } from "../model/address.ts";
import type { Origin } from "../model/diagnostic.ts";
import { type Json, type Path, sameJson } from "../model/json.ts";
import {
  type FieldRef,
  type FileEdit,
  type Manifests,
  ONLY_STAGES,
  type ProjectDocuments,
  type Slot,
  changedFields,
  deleteAt,
} from "./manifests.ts";
import { type WantedValue, placeValues } from "./place-values.ts";

/*
 * How pull, promote and quarantine change the values of manifests; `edit-files.ts` edits the texts.
 */

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
  readonly conflict?: { readonly yours: Json; readonly theirs: Json; readonly applied?: Json };
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

/** A value to write, with what is reported if that is possible, and if it is not. */
export interface FieldRewrite extends WantedValue {
  readonly about: Pick<NotRewritten, "address" | "origin"> & { readonly path: Path };
  readonly shown: Pick<Rewritten, "sensitive" | "before" | "after">;
  readonly unmet: Pick<NotRewritten, "reason" | "failed">;
}

export const NO_PLACE = "Writing it anywhere would also change something else.";

/** What a rewrite may do to other stages. */
export interface RewriteOptions {
  /** Whether the same field may change in other stages. */
  readonly follow?: boolean;
  /** Whether overrides that become equal to what is below them are removed. */
  readonly tidy?: boolean;
}

/**
 * Rewrites fields, as far as nothing else changes by it.
 * @param fields also contain, in their order, differences that are left for other reasons
 * @param stages in which nothing else may change
 */
export function rewriteFields(
  start: Manifests,
  fields: readonly (FieldRewrite | NotRewritten)[],
  excluded: Excluded,
  stages: readonly string[],
  { follow = false, tidy = false }: RewriteOptions = {},
): Rewrite {
  const left: NotRewritten[] = [];
  const wanted: FieldRewrite[] = [];
  for (const one of fields) {
    const reason = "about" in one ? excluded.get(changeKey(one.about)) : undefined;
    if (!("about" in one)) left.push(one);
    else if (reason === undefined) wanted.push(one);
    else left.push({ ...one.about, reason, failed: true });
  }
  const { manifests, placed } = placeValues(start, wanted, stages, follow);
  if (tidy) for (const { ref } of placed.keys()) removeRedundant(start, manifests, ref, stages);
  const changes = wanted.flatMap((one): readonly Rewritten[] => {
    const { ref, about, shown, unmet } = one;
    const { address, path, origin = { file: "", path } } = about;
    if (!placed.has(one)) {
      left.push({ ...about, ...unmet });
      return [];
    }
    const written = tidy ? manifests.topSlot(ref) : undefined;
    const slot = written ?? placed.get(one) ?? { layer: "stage", ...origin };
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
