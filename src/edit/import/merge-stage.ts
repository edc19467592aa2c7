import { type Address, KINDS, targetAddress } from "../../model/address.ts";
import { countValues } from "../../model/collections.ts";
import { byAddress, resourcesOf, knownText } from "../../model/desired.ts";
import { fieldsOf, isFixed } from "../../model/fields.ts";
import { type Json, sameJson, startsWith } from "../../model/json.ts";
import type { StateEvent } from "../../model/state.ts";
import { isUnknown, reveal } from "../../model/value.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import { NAMED_BY, lazy, matchedIds } from "../../plan/match.ts";
import { declareFields, isNothing } from "../declare.ts";
import {
  type FieldRef,
  type FileEdit,
  type Manifests,
  ONLY_STAGES,
  deleteAt,
  inStageWords,
  onlyStagesOf,
  setAt,
} from "../manifests.ts";
import {
  type Candidate,
  type WantedValue,
  placeValues,
  removals,
  valueAtOne,
} from "../place-values.ts";
import { lifting, targetsByStage, withoutStage } from "./pair-targets.ts";
import { type Draft, circlesOf } from "./drafts.ts";
import { type PlannedProject, caseKeysIn, planProject } from "./planned-project.ts";
import type { ImportRequest } from "./request.ts";

/*
 * Import of a further stage. A live target gets the address that it has in another stage, and so do
 * its environments and test cases. A resource that exists in only some stages gets `onlyStages`;
 * different values go under `stages.NAME`. The planner decides which live resource an address
 * means, and whether the result leaves nothing to do.
 */

/** A stage's targets after the merge, except for values that differ. */
export type Merging = ReturnType<typeof mergeStage>;

type Bound = StateEvent & { readonly type: "bound" };

function boundTo(address: Address, id: string): Bound {
  return { type: "bound", address, id, fields: {} };
}

/**
 * Finds which declared resources exist in this stage.
 * @param refuted addresses that must not be merged
 */
export function mergeStage(
  request: ImportRequest,
  now: PlannedProject,
  refuted: ReadonlyMap<Address, string>,
) {
  const { stages, desired, chosen, pairs } = request;
  const here = desired.stage;
  const before = now.manifests;
  const paired = new Map(
    [...pairs].flatMap(([id, key]) => (refuted.has(targetAddress(key)) ? [] : [[key, id]])),
  );
  // If this stage has a target already, resources that are declared only for other stages may now
  // exist here, too.
  const ids = new Set(chosen.map(({ id }) => id));
  const managed = [...now.known].flatMap(([id, { key, matched }]) =>
    matched !== undefined && ids.has(id) && stages.length > 1 ? [key] : [],
  );
  const keys = [...paired.keys(), ...managed];
  const bound = new Map(
    [...paired].map(([key, id]): [string, readonly Bound[]] => [
      key,
      [boundTo(targetAddress(key), id)],
    ]),
  );
  const lifts = keys.flatMap((key) => lifting(before, key, request));
  const lifted = keys.length === 0 ? now : planProject(request, before.with(lifts), bound);
  const inOthers = lazy(() =>
    targetsByStage(request, before).filter(({ stage }) => stage !== here),
  );
  const merged = new Set<Address>();
  const edits: FileEdit[] = [];
  for (const key of keys) {
    const target = targetAddress(key);
    const own = lifted.matched.get(key);
    const parts = own === undefined ? [] : foundIn(own, here, inOthers);
    const found = [...(bound.get(key) ?? []), ...parts].filter(
      ({ address }) => !refuted.has(address),
    );
    bound.set(key, found);
    const isFound = new Set([target, ...found.map(({ address }) => address)]);
    const ofTarget = stages.filter((stage) => stage === here || before.exists(stage, target));
    for (const address of before.addressesOf(key, ...KINDS)) {
      const elsewhere = stages.filter((stage) => stage !== here && before.exists(stage, address));
      const wasHere = before.exists(here, address);
      const only = onlyStagesOf(before, address, stages);
      const isMerged = !refuted.has(address) && isFound.has(address);
      const isHere = isMerged || (wasHere && !paired.has(key));
      const isNew = !wasHere || (paired.has(key) && elsewhere.length > 0);
      if (isMerged && isNew) merged.add(address);
      // Somebody wrote that it shall exist here, and the next apply may create it.
      if (elsewhere.length === 0 || only?.stages.includes(here) === true) continue;
      if (isHere && only !== undefined) {
        const list = [...only.stages, here];
        const isAll = (address === target ? stages : ofTarget).every((one) => list.includes(one));
        edits.push(isAll ? deleteAt(only.slot) : setAt(only.slot, list));
      }
      const [stage = here] = elsewhere;
      const base = before.baseSlot({ stage, address, field: ONLY_STAGES });
      if (!isHere && only === undefined && base !== undefined) edits.push(setAt(base, elsewhere));
    }
  }
  const project =
    edits.length + bound.size === 0 ? now : planProject(request, before.with(edits), bound);
  return {
    /** Edits of `onlyStages`. */
    edits,
    project,
    /** Target key → the bindings that state must learn. */
    bound,
    /**
     * Addresses that exist in this stage because of the merge, and so must get their live values.
     */
    merged,
  };
}

/**
 * Returns the parts of a lifted target that are live. A binding in state does not exempt a part: an
 * import that was undone with git leaves bindings of parts that the manifests do not declare.
 */
function foundIn(
  { target, live, matches }: MatchedTarget,
  here: string,
  inOthers: () => ReturnType<typeof targetsByStage>,
) {
  const found = [...matches].flatMap(([address, { live: own }]) =>
    own === undefined || own === live ? [] : [boundTo(address, own.id)],
  );
  // Environments whose URLs differ between stages only by the stage's name.
  const taken = matchedIds(matches);
  const open = (live?.environments ?? []).filter(
    ({ id, type }) => type === "ADDITIONAL" && !taken.has(id),
  );
  const lost = target.environments.filter(
    ({ address, key }) => key !== "default" && matches.get(address)?.live === undefined,
  );
  if (open.length === 0 || lost.length === 0) return found;
  const pairs = lost.flatMap(({ address }) => {
    const names = inOthers().flatMap(({ stage, targets }) => {
      const same = targets.get(target.key)?.environments.find((one) => one.address === address);
      const url = same && knownText(same, "discoveryUrl");
      return url === undefined ? [] : [withoutStage(url, stage)];
    });
    return open
      .filter(({ discoveryUrl = "" }) => names.includes(withoutStage(discoveryUrl, here)))
      .map(({ id }) => [address, id] as const);
  });
  return [...oneToOne(pairs).map(([address, id]) => boundTo(address, id)), ...found];
}

/** Returns the pairs in which neither side occurs in another pair. */
export function oneToOne<T extends string>(pairs: readonly (readonly [T, string])[]) {
  const left = countValues(pairs.map(([one]) => one));
  const right = countValues(pairs.map(([, one]) => one));
  return pairs.filter(([one, other]) => left.get(one) === 1 && right.get(other) === 1);
}

/**
 * Returns edits that give each merged resource its live values in this stage, and change no other
 * stage.
 * @param drafts new resources, one of which may be the prerequisite of a merged test case
 */
export function mergeFields(
  { plan, matched, manifests }: PlannedProject,
  merged: ReadonlySet<Address>,
  drafts: readonly Draft[],
  folderNames: ReadonlyMap<string, string>,
  { base, stages, desired: { stage }, elements, holdsSecret }: ImportRequest,
): readonly FileEdit[] {
  const changes = byAddress(plan.changes);
  const drafted = drafts.flatMap(({ kind, live, key }) =>
    kind === "testCase" ? [[live.id, key] as const] : [],
  );
  const wanted = [...matched.values()].flatMap((own) => {
    const caseKeys = new Map([...drafted, ...caseKeysIn(own)]);
    // A circle with a new test case in it is opened at that one (see `draftUndeclared`).
    const fresh = new Set(
      drafts.flatMap(({ target, key }) => (target === own.target.key ? key : [])),
    );
    const circles = circlesOf(base.live.testCases.get(own.live?.id ?? "") ?? [], caseKeys);
    const circular = new Set(circles.filter((one) => !one.some((key) => fresh.has(key))).flat());
    return resourcesOf(own.target).flatMap((resource): readonly WantedValue[] => {
      const { address, kind, key, fields } = resource;
      const live = own.matches.get(address)?.live;
      if (live === undefined || !merged.has(address)) return [];
      const rows = fieldsOf(kind);
      // Includes null and empty lists.
      const { fields: shown } = declareFields(rows, live, {
        elements: true,
        holdsSecret,
        secrets: own.secrets,
        defaults: new Set(rows.map(({ name }) => name)),
        folderName: (id) => folderNames.get(id),
      });
      return rows.flatMap((field) => {
        const { name, path, compare, shape } = field;
        const ref: FieldRef = { stage, address, field };
        const isUnwritten = manifests.written(ref) === undefined;
        // What is not declared yet may close the circle.
        const after = isUnwritten && circular.has(key) ? undefined : live.prerequisiteId;
        const want = shape.type === "reference" ? caseKeys.get(after ?? "") : shown[name];
        const value = fields[name];
        const isSame = isUnwritten
          ? want === undefined || isNothing(want) || (compare === "elements" && !elements)
          : isFixed(field)
            ? value !== undefined && !isUnknown(value) && sameJson(reveal(value), want ?? null)
            : changes.get(address)?.fields.some((one) => startsWith(one.path, path)) !== true;
        return isSame ? [] : [wantedValue(ref, want, stages)];
      });
    });
  });
  return placeValues(manifests, wanted, stages).manifests.edits;
}

/** A value for one stage, in the stage's override; or, if there shall be none, its removal. */
function wantedValue(
  ref: FieldRef,
  want: Json | undefined,
  stages: readonly string[],
): WantedValue {
  return {
    ref,
    isMet: (written) => sameJson(inStageWords(written, ref.stage), want),
    candidates: (now) => {
      if (want === undefined) return removals(now, ref, stages);
      return [...sharedName(want, now, ref, stages), ...valueAtOne(want, [now.stageSlot(ref)])];
    },
  };
}

const NAMES: ReadonlySet<string> = new Set(Object.values(NAMED_BY));

/** Returns a way to write a name once for all stages, if it differs only by the name of the stage. */
function sharedName(
  want: Json,
  now: Manifests,
  ref: FieldRef,
  stages: readonly string[],
): readonly Candidate[] {
  const base = now.baseSlot(ref);
  const written = now.written(ref);
  if (base === undefined || !NAMES.has(ref.field.name)) return [];
  if (typeof want !== "string" || typeof written !== "string") return [];
  const name = withStageVariable(want, ref.stage);
  const isShared = stages.some(
    (stage) => stage !== ref.stage && withStageVariable(written, stage) === name,
  );
  return isShared && name !== want ? valueAtOne(name, [base]) : [];
}

/** Returns a text with `${stage}` in place of the name of its stage, where that is a word. */
function withStageVariable(text: string, stage: string): string {
  const word = new RegExp(`(?<![\\p{L}\\p{N}])${stage}(?![\\p{L}\\p{N}])`, "gu");
  return text.replaceAll(word, "$${stage}");
}
