import { addressOfId } from "../inspect/explain.ts";
import { type Address, KINDS, compareText, parseAddress, targetAddress } from "../model/address.ts";
import { type DesiredResource, type DesiredTarget, resourcesOf } from "../model/desired.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, sameJson, startsWith } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import type { StateEvent } from "../model/state.ts";
import { isUnknown, reveal } from "../model/value.ts";
import type { MatchedTarget } from "../plan/compare.ts";
import { knownText } from "../plan/input.ts";
import { matchedIds } from "../plan/match.ts";
import { groupBy } from "../render/words.ts";
import { type DraftOptions, type FolderNames, declareFields, isNothing } from "./import-draft.ts";
import {
  type ImportSources,
  type PlannedProject,
  countValues,
  desiredIn,
  planProject,
} from "./import-known.ts";
import {
  type FieldRef,
  type FileEdit,
  type Goal,
  Manifests,
  ONLY_STAGES,
  deleteAt,
  onlyStagesOf,
  placeAll,
  removals,
  sameWritten,
  setAt,
  valueAtOne,
} from "./rewrite.ts";

/*
 * An import of a further stage. A live target that a declared one means in another stage becomes that target in this
 * stage, and so do its environments and test cases. What exists in some stages only says so (`onlyStages`); what differs
 * goes under `stages.NAME`. Which live resource an address means is asked of the planner, with the declared ones taken
 * for this stage's, too; so is whether the result leaves nothing to do.
 */

/** A live target that several declared ones may mean, or the other way round. */
export interface Unclear {
  readonly live: LiveTarget;
  readonly keys: readonly string[];
}

/** Live id → key of the declared target that it is in this stage. */
export type Pairs = ReadonlyMap<string, string>;

/** What the live targets are called in other stages. @param into live id → key, as the user says */
export function pairTargets(
  sources: ImportSources,
  into: Pairs,
): { readonly pairs: Pairs; readonly unclear: readonly Unclear[] } {
  const { reading, stages, desired, states, chosen } = sources;
  if (stages.length < 2) return { pairs: new Map(), unclear: [] };
  const manifests = new Manifests(reading);
  const { known } = planProject(sources, reading.documents, new Map(), desired);
  const free = chosen.filter(({ id }) => known.get(id)?.matched === undefined);
  const pairs = new Map<string, string>();
  for (const { id } of free) {
    const key = into.get(id) ?? known.get(id)?.key;
    if (key !== undefined && manifests.addressesOf(key, "target").length > 0) pairs.set(id, key);
  }
  const taken = new Set([...pairs.values(), ...[...known.values()].map(({ key }) => key)]);
  const declared = new Set(desired.targets.map(({ key }) => key));
  const open = manifests.targets.filter((key) => {
    const isBound = declared.has(key) && states.get(key)?.bindings.has(targetAddress(key)) === true;
    return !taken.has(key) && !isBound;
  });
  const apps = appsOf(open, manifests, sources);
  const keysBy = (nameOf: (one: (typeof apps)[number]) => string): ReadonlyMap<string, readonly string[]> =>
    new Map([...groupBy(apps, nameOf)].map(([name, own]) => [name, [...new Set(own.map(({ key }) => key))]]));
  const exact = keysBy(({ app }) => app);
  const plain = keysBy(({ app, stage }) => withoutStage(app, stage));
  const candidates = free
    .filter(({ id }) => !pairs.has(id) && !into.has(id) && !known.has(id))
    .map((live): Unclear => {
      const name = withoutStage(live.app, desired.stage);
      return { live, keys: exact.get(live.app) ?? (name === "" ? undefined : plain.get(name)) ?? [] };
    });
  // Thousands of one name share one list of keys, which is looked through once.
  const claims = countValues(
    [...countValues(candidates.map(({ keys }) => keys))].flatMap(([keys, times]) =>
      keys.length > 1 || times > 1 ? [...keys, ...keys] : keys,
    ),
  );
  const isUnclear = ({ keys: [first = ""] }: Unclear): boolean => (claims.get(first) ?? 0) > 1;
  for (const one of candidates)
    if (one.keys[0] !== undefined && !isUnclear(one)) pairs.set(one.live.id, one.keys[0]);
  return { pairs, unclear: candidates.filter(isUnclear) };
}

/** The apps of targets, in each stage that has them, and as they would be in the one that is imported. */
function appsOf(keys: readonly string[], manifests: Manifests, sources: ImportSources) {
  const order = new Map(keys.map((key, at) => [key, at]));
  const lifted = manifests.with(keys.flatMap((key) => lifting(manifests, key, sources)));
  return targetsByStage(sources, lifted)
    .flatMap(({ stage, target }) => {
      const app = knownText(target, "app");
      const at = order.get(target.key);
      return app === undefined || at === undefined ? [] : [{ key: target.key, stage, app, at }];
    })
    .toSorted((a, b) => a.at - b.at);
}

function targetsByStage(
  sources: ImportSources,
  { documents }: Manifests,
): readonly { readonly stage: string; readonly target: DesiredTarget }[] {
  return sources.stages.flatMap((stage) =>
    (desiredIn(stage, sources, documents)?.targets ?? []).map((target) => ({ stage, target })),
  );
}

/** A name in the letters and digits that it has beside those of its stage. */
export function withoutStage(name: string, stage: string): string {
  const words = (text: string): string =>
    ` ${text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .trim()} `;
  return words(name).replaceAll(words(stage), " ").trim();
}

/** Makes all of a target exist in the stage that is imported. */
function lifting(
  manifests: Manifests,
  key: string,
  { desired: { stage }, stages }: ImportSources,
): readonly FileEdit[] {
  return manifests.addressesOf(key, ...KINDS).flatMap((address) => {
    const only = onlyStagesOf(manifests, address, stages);
    return only === undefined || only.stages.includes(stage)
      ? []
      : [setAt(only.slot, [...only.stages, stage])];
  });
}

/** A stage's targets as they are once it is merged, but for the values that differ. */
export type Merging = ReturnType<typeof mergeStage>;

type Bound = StateEvent & { readonly type: "bound" };

function boundTo(address: Address, id: string): Bound {
  return { type: "bound", address, id, fields: {} };
}

/**
 * Finds out what of the declared targets exists in this stage.
 * @param excluded addresses that are not to be merged
 */
export function mergeStage(sources: ImportSources, pairs: Pairs, excluded: ReadonlySet<Address>) {
  const { reading, stages, desired, chosen } = sources;
  const here = desired.stage;
  const before = new Manifests(reading);
  const paired = new Map(
    [...pairs].flatMap(([id, key]) => (excluded.has(targetAddress(key)) ? [] : [[key, id]])),
  );
  const now = planProject(sources, reading.documents, new Map(), desired);
  // Of targets that this stage has already, what is declared for other stages alone may have come up here.
  const ids = new Set(chosen.map(({ id }) => id));
  const managed = [...now.known].flatMap(([id, { key, matched }]) =>
    matched !== undefined && ids.has(id) && stages.length > 1 ? [key] : [],
  );
  const keys = [...paired.keys(), ...managed];
  const { documents } = before.with(keys.flatMap((key) => lifting(before, key, sources)));
  const bound = new Map(
    [...paired].map(([key, id]): [string, readonly Bound[]] => [key, [boundTo(targetAddress(key), id)]]),
  );
  const lifted = planProject(sources, documents, bound);
  const merged = new Set<Address>();
  const edits: FileEdit[] = [];
  for (const key of keys) {
    const target = targetAddress(key);
    const found = [...(bound.get(key) ?? []), ...foundIn(lifted.matched.get(key), sources, before)].filter(
      ({ address }) => !excluded.has(address),
    );
    bound.set(key, found);
    const isFound = new Set([target, ...found.map(({ address }) => address)]);
    const ofTarget = stages.filter((stage) => stage === here || exists(before, stage, target));
    for (const address of before.addressesOf(key, ...KINDS)) {
      const elsewhere = stages.filter((stage) => stage !== here && exists(before, stage, address));
      const wasHere = exists(before, here, address);
      const isHere = !excluded.has(address) && (isFound.has(address) || (wasHere && !paired.has(key)));
      if (elsewhere.length === 0) continue;
      if (isHere && (paired.has(key) || !wasHere)) merged.add(address);
      const list = stages.filter((stage) => (stage === here ? isHere : elsewhere.includes(stage)));
      edits.push(...restricting(before, address, list, address === target ? stages : ofTarget, stages));
    }
  }
  const project =
    edits.length + bound.size === 0 ? now : planProject(sources, before.with(edits).documents, bound);
  return {
    /** Of `onlyStages`. */
    edits,
    project,
    /** Target key → the bindings that state is to learn. */
    bound,
    /** Addresses that exist in this stage by the merge, and so are to be as they are live. */
    merged,
    folders: foldersIn(project, merged, before, sources),
  };
}

/** The parts of a lifted target that are there, and that state does not know yet. */
function foundIn(
  matched: MatchedTarget | undefined,
  sources: ImportSources,
  before: Manifests,
): readonly Bound[] {
  if (matched === undefined) return [];
  return [
    ...environmentsByUrl(matched, before, sources),
    ...[...matched.matches].flatMap(([address, { live }]) => {
      const isNew = live !== undefined && live !== matched.live && !matched.state?.bindings.has(address);
      return isNew ? [boundTo(address, live.id)] : [];
    }),
  ];
}

function exists(manifests: Manifests, stage: string, address: Address): boolean {
  return manifests.layersOf({ stage, address }).length > 0;
}

/** Says in which stages a resource exists, where it is not in all that it could be in. */
function restricting(
  manifests: Manifests,
  address: Address,
  list: readonly string[],
  possible: readonly string[],
  stages: readonly string[],
): readonly FileEdit[] {
  const only = onlyStagesOf(manifests, address, stages);
  if (only !== undefined && sameJson(only.stages, list)) return [];
  if (sameJson(list, possible)) return only === undefined ? [] : [deleteAt(only.slot)];
  if (only !== undefined) return [setAt(only.slot, list)];
  const [base] = stages.flatMap((stage) => manifests.baseSlot({ stage, address, field: ONLY_STAGES }) ?? []);
  return base === undefined ? [] : [setAt(base, list)];
}

/** Environments whose addresses differ between stages by the stage's name. */
function environmentsByUrl(
  { target, live, matches }: MatchedTarget,
  before: Manifests,
  sources: ImportSources,
): readonly Bound[] {
  const here = sources.desired.stage;
  const taken = matchedIds(matches);
  const open = (live?.environments ?? []).filter(({ id, type }) => type === "ADDITIONAL" && !taken.has(id));
  const lost = target.environments.filter(
    ({ address, key }) => key !== "default" && matches.get(address)?.live === undefined,
  );
  if (open.length === 0 || lost.length === 0) return [];
  const others = targetsByStage(sources, before).filter(
    (one) => one.stage !== here && one.target.key === target.key,
  );
  const pairs = lost.flatMap(({ address }) => {
    const names = others.flatMap(({ stage, target: { environments } }) => {
      const same = environments.find((one) => one.address === address);
      const url = same && knownText(same, "discoveryUrl");
      return url === undefined ? [] : [withoutStage(url, stage)];
    });
    return open
      .filter(({ discoveryUrl = "" }) => names.includes(withoutStage(discoveryUrl, here)))
      .map(({ id }) => boundTo(address, id));
  });
  const times = countValues(pairs.flatMap(({ address, id }) => [address, id]));
  return pairs.filter(({ address, id }) => times.get(address) === 1 && times.get(id) === 1);
}

/** A folder in which all test cases have one folder's name in other stages is that folder. */
function foldersIn(
  { matched }: PlannedProject,
  merged: ReadonlySet<Address>,
  before: Manifests,
  { stages, desired: { stage: here } }: ImportSources,
): FolderNames {
  const field = fieldsOf("testCase").find(({ name }) => name === "folder");
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const { live: target, matches } of matched.values()) {
    const names = new Map<string, Set<string>>();
    for (const [address, { live }] of matches) {
      const folder = live?.folderId;
      if (typeof folder !== "string" || field === undefined || !merged.has(address)) continue;
      const own = names.get(folder) ?? new Set<string>();
      names.set(folder, own);
      for (const stage of stages) {
        if (stage === here || !exists(before, stage, address)) continue;
        const written = before.written({ stage, address, field });
        own.add(typeof written === "string" ? written : "");
      }
    }
    const times = countValues([...names.values()].flatMap((own) => [...own]));
    const clear = [...names].flatMap(([id, own]) => {
      const [name = ""] = own;
      const isClear = own.size === 1 && name !== "" && !name.includes("$") && times.get(name) === 1;
      return isClear ? [[id, name] as const] : [];
    });
    if (target !== undefined && clear.length > 0) found.set(target.id, new Map(clear));
  }
  return found;
}

/** Edits that give each merged resource its live values in this stage, and change no other stage. */
export function mergeFields(
  { plan, matched, input, documents }: PlannedProject,
  merged: ReadonlySet<Address>,
  { reading, stages }: ImportSources,
  options: Pick<DraftOptions, "elements" | "folderNames" | "holdsSecret">,
): readonly FileEdit[] {
  const { stage, targets } = input.desired;
  const changes = new Map(plan.changes.map((change) => [change.address, change.fields]));
  const sources = { project: reading.project, documents };
  const manifests = new Manifests(sources);
  const goalsFor = (resource: DesiredResource, own: MatchedTarget): readonly Goal[] => {
    const { address, kind, fields } = resource;
    const live = liveFields(resource, own, options);
    const differs = (field: Field, now: Json | undefined, want: Json | undefined): boolean => {
      const value = fields[field.name];
      if (now === undefined)
        return want !== undefined && !isNothing(want) && (options.elements || field.compare !== "elements");
      if (isFixed(field))
        return value === undefined || isUnknown(value) || !sameJson(reveal(value), want ?? null);
      return (changes.get(address) ?? []).some(({ path }) => startsWith(path, field.path));
    };
    return fieldsOf(kind).flatMap((field) => {
      const ref: FieldRef = { stage, address, field };
      const want = live?.[field.name];
      if (live === undefined || !differs(field, manifests.written(ref), want)) return [];
      const goal: Goal = {
        ref,
        isMet: (written) => sameWritten(written, want),
        candidates: (now) => {
          if (want === undefined) return removals(now, ref, stages);
          const top = now.topSlot(ref);
          return valueAtOne(want, [top?.layer === "stage" ? top : undefined, now.stageSlot(ref)]);
        },
      };
      return [goal];
    });
  };
  const goals = targets
    .toSorted((a, b) => compareText(a.key, b.key))
    .flatMap((target) => {
      const own = matched.get(target.key);
      const resources = resourcesOf(target).filter(({ address }) => merged.has(address));
      return own === undefined ? [] : resources.flatMap((resource) => goalsFor(resource, own));
    });
  return placeAll(sources, goals, stages).manifests.edits;
}

/** What a resource would declare of its live values, null and empty lists included. */
function liveFields(
  { address, kind }: DesiredResource,
  matched: MatchedTarget,
  { folderNames, holdsSecret }: Pick<DraftOptions, "folderNames" | "holdsSecret">,
): Readonly<Record<string, Json>> | undefined {
  const live = matched.matches.get(address)?.live;
  if (live === undefined) return undefined;
  const rows = fieldsOf(kind);
  const names = folderNames.get(matched.live?.id ?? "");
  const { fields } = declareFields(rows, live, {
    elements: true,
    holdsSecret,
    secrets: matched.secrets,
    defaults: new Set(rows.map(({ name }) => name)),
    folderName: (id) => names?.get(id),
  });
  const prerequisite = addressOfId(live.prerequisiteId ?? "", matched);
  if (prerequisite === undefined) return fields;
  return { ...fields, "discovery.prerequisite": parseAddress(prerequisite)?.key ?? "" };
}
