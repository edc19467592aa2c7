import { type Json, sameJson } from "../model/json.ts";
import {
  type FieldRef,
  type FileEdit,
  type Manifests,
  type Slot,
  deleteAt,
  isSameIn,
  reachOf,
  setAt,
  siblingsOf,
} from "./manifests.ts";

/** A value that a field shall have in the manifests. */
export interface WantedValue {
  readonly ref: FieldRef;
  /**
   * @param written the field's value as it would be in the manifests; undefined if there would be
   * none
   */
  readonly isMet: (written: Json | undefined) => boolean;
  /** Returns candidates, the best first. @param now the manifests with the values placed so far */
  readonly candidates: (now: Manifests) => Iterable<Candidate>;
}

/** A way to write a wanted value. */
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

/**
 * Places values until no more can be placed: a shared default can be deleted only after the
 * resources that want another value have it elsewhere, and a value that all of them want is written
 * once for all. A candidate is taken only if all other users of the default or the base keep their
 * value or get one that is wanted.
 * @param stages in which nothing else may change
 * @param follow whether the same field may change in other stages
 * @returns as `placed` the values that the manifests have now, with their places; undefined if the
 * value was removed
 */
export function placeValues<W extends WantedValue>(
  start: Manifests,
  wanted: readonly W[],
  stages: readonly string[],
  follow = false,
) {
  const trial = new Placing(start, wanted, stages, follow);
  const { manifests } = trial;
  const isMet = (one: W): boolean => one.isMet(manifests.written(one.ref));
  const slots = new Map<W, Slot>();
  for (let open = wanted, before = -1; before < slots.size;) {
    before = slots.size;
    trial.retryRefused();
    open = open.filter((one) => {
      const slot = isMet(one) ? undefined : trial.place(one);
      if (slot !== undefined) slots.set(one, slot);
      return slot === undefined;
    });
  }
  const met = wanted.filter(isMet);
  const placed = new Map(met.map((one) => [one, slots.get(one) ?? manifests.topSlot(one.ref)]));
  return { manifests, placed };
}

/** Manifests in which values are placed one by one. */
class Placing {
  readonly manifests: Manifests;
  readonly #start: Manifests;
  readonly #stages: readonly string[];
  readonly #follow: boolean;
  readonly #wanted: ReadonlyMap<string, WantedValue>;
  /** Edits of shared places that would cause unwanted changes. */
  readonly #refused = new Set<string>();

  constructor(
    start: Manifests,
    wanted: readonly WantedValue[],
    stages: readonly string[],
    follow: boolean,
  ) {
    this.manifests = start.with([]);
    this.#start = start;
    this.#stages = stages;
    this.#follow = follow;
    this.#wanted = new Map(wanted.map((one) => [fieldKey(one.ref), one]));
  }

  /** Forgets what was refused: a field that shared the place may have its own value by now. */
  retryRefused(): void {
    this.#refused.clear();
  }

  /** Writes a value to the first place where it harms nothing. @returns the place, if there is one */
  place({ ref, isMet, candidates }: WantedValue): Slot | undefined {
    for (const candidate of candidates(this.manifests)) {
      const { slot, edits } = candidate;
      // `tasc.yaml` is not edited, because its values apply to all targets.
      if (edits.some(({ file }) => file === this.manifests.project.file)) continue;
      const name = isShared(candidate) ? JSON.stringify([slot, edits.length, edits[0]]) : "";
      if (this.#refused.has(name)) continue;
      const after = this.manifests.with(edits);
      if (!isMet(after.written(ref))) continue;
      if (this.#harmsNothing(after, ref, candidate)) {
        this.manifests.adopt(after);
        return slot;
      }
      if (name !== "") this.#refused.add(name);
    }
    return undefined;
  }

  /** Whether every other field that a candidate reaches keeps its value, or gets a wanted one. */
  #harmsNothing(after: Manifests, own: FieldRef, candidate: Candidate): boolean {
    const ofStage = candidate.edits.every(({ edit }) => reachOf(edit.path).stage === own.stage);
    const stages = ofStage ? [own.stage] : this.#stages;
    const sharing = isShared(candidate) ? siblingsOf(this.manifests, own.address) : [own.address];
    // Thousands may share a default; `every` stops at the first one that must not change.
    return sharing.every((address) =>
      stages.every((stage) => {
        const ref = { ...own, stage, address };
        const wanted = this.#wanted.get(fieldKey(ref));
        const now = after.written(ref);
        const isFine =
          isSameIn(stage, this.manifests.written(ref), now) ||
          wanted?.isMet(now) === true ||
          (this.#follow && stage !== own.stage && address === own.address);
        return isFine && (wanted === undefined || this.#agrees(wanted, candidate));
      }),
    );
  }

  /**
   * Whether a field that had its value from a shared place wants what is now written there. If it
   * wants another value, it may have that elsewhere by now, but the shared place is still wrong.
   */
  #agrees({ ref, isMet }: WantedValue, { slot: { file, path }, edits }: Candidate): boolean {
    const before = this.#start.topSlot(ref);
    if (before?.file !== file || !sameJson(before.path, path)) return true;
    const set = edits.find((one) => one.file === file && sameJson(one.edit.path, path))?.edit;
    return set?.kind !== "set" || isMet(set.value);
  }
}

function isShared({ edits }: Candidate): boolean {
  return edits.some(({ edit }) => reachOf(edit.path).shared);
}

function fieldKey({ stage, address, field }: FieldRef): string {
  return `${stage} ${address} ${field.name}`;
}
