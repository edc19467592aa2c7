import { type Document } from "../manifest/document.ts";
import { type ProjectReading, type ResolveOptions, resolveProject } from "../manifest/load.ts";
import { type Address, KINDS, compareText, parseAddress, targetAddress } from "../model/address.ts";
import { type Desired, type DesiredResource, resourcesOf } from "../model/desired.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, type JsonObject, sameJson, valueAt } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { isUnknown, reveal } from "../model/value.ts";
import type { MatchedTarget } from "../plan/compare.ts";
import { matchedIds } from "../plan/match.ts";
import { type PlanInput, knownText } from "../plan/input.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { applyEvents } from "../state/events.ts";
import { addressOfId } from "../inspect/explain.ts";
import { declareFields, isNothing } from "./import-declare.ts";
import { type Known, withValue } from "./import-known.ts";
import {
  type FieldRef,
  type FileEdit,
  Manifests,
  Rewriter,
  onlyStagesOf,
  removals,
  sameWritten,
  setAt,
} from "./rewrite.ts";

/**
 * An import of a further stage. A live target that a declared one means in another stage becomes that target in this
 * stage, and so do its environments and test cases. What exists in some stages only says so (`onlyStages`); what differs
 * goes under `stages.NAME`. Which live resource an address means is asked of the planner, with the declared ones taken
 * for this stage's, too; so is whether the result leaves nothing to do.
 */
export interface MergeSources {
  readonly reading: ProjectReading & { readonly project: Document };
  readonly resolve: ResolveOptions;
  /** All stages of the project. */
  readonly stages: readonly string[];
  /** Of the stage that is imported: what it declares, what state knows, and the live value. */
  readonly input: PlanInput;
  /** The targets to import. */
  readonly chosen: readonly LiveTarget[];
  readonly known: Known;
}

/** A live target that several declared ones may mean, or the other way round. */
export interface Unclear {
  readonly live: LiveTarget;
  readonly keys: readonly string[];
}

/** Live id → key of the declared target that it is in this stage. */
export type Pairs = ReadonlyMap<string, string>;

/** What the live targets are called in other stages. @param into live id → key, as the user says */
export function pairTargets(
  { chosen, known, input, ...sources }: MergeSources,
  into: Pairs,
): { readonly pairs: Pairs; readonly unclear: readonly Unclear[] } {
  const here = input.desired.stage;
  const manifests = new Manifests(sources.reading);
  const pairs = new Map<string, string>();
  if (sources.stages.length < 2) return { pairs, unclear: [] };
  const remembered = new Map(
    input.strays.flatMap((state) => {
      const id = state.bindings.get(targetAddress(state.target))?.id;
      return id === undefined || !manifests.targets.includes(state.target)
        ? []
        : [[id, state.target] as const];
    }),
  );
  const free = chosen.filter(({ id }) => known.targets.get(id)?.declared !== true);
  for (const { id } of free) {
    const key = into.get(id) ?? remembered.get(id);
    if (key !== undefined && manifests.targets.includes(key)) pairs.set(id, key);
  }
  const taken = new Set([...pairs.values(), ...[...known.targets.values()].map(({ key }) => key)]);
  const open = manifests.targets.filter(
    (key) => !taken.has(key) && !input.states.get(key)?.bindings.has(targetAddress(key)),
  );
  const names = [...appsOf(open, manifests, sources, here)];
  const candidates = free
    .filter(({ id }) => !pairs.has(id) && !into.has(id) && !known.targets.has(id))
    .map((live) => {
      const fitting = (fits: (app: string, stage: string) => boolean): readonly string[] =>
        names.flatMap(([key, apps]) => (apps.some(([stage, app]) => fits(app, stage)) ? [key] : []));
      const exact = fitting((app) => app === live.app);
      const plain = withoutStage(live.app, here);
      const keys =
        exact.length > 0 || plain === ""
          ? exact
          : fitting((app, stage) => withoutStage(app, stage) === plain);
      return { live, keys };
    });
  const unclear = candidates.filter(
    ({ live, keys }) =>
      keys.length > 1 ||
      candidates.some((other) => other.live !== live && other.keys.some((key) => keys.includes(key))),
  );
  for (const { live, keys } of candidates)
    if (keys[0] !== undefined && !unclear.some((one) => one.live === live)) pairs.set(live.id, keys[0]);
  return { pairs, unclear: unclear.filter(({ keys }) => keys.length > 0) };
}

/** The apps of targets, in each stage that has them, and as they would be in the one that is imported. */
function appsOf(
  keys: readonly string[],
  manifests: Manifests,
  { reading, resolve, stages }: Pick<MergeSources, "reading" | "resolve" | "stages">,
  here: string,
): ReadonlyMap<string, readonly (readonly [string, string])[]> {
  const undo = manifests.apply(keys.flatMap((key) => lifting(manifests, key, here, stages)));
  const apps = new Map<string, (readonly [string, string])[]>(keys.map((key) => [key, []]));
  for (const stage of stages)
    for (const target of resolvedIn(stage, { ...reading, documents: manifests.documents }, resolve)
      ?.targets ?? []) {
      const app = knownText(target, "app");
      if (app !== undefined) apps.get(target.key)?.push([stage, app]);
    }
  undo();
  return apps;
}

function resolvedIn(stage: string, reading: ProjectReading, resolve: ResolveOptions): Desired | undefined {
  const options = { ...resolve, stage, allowMissingSecrets: true, needsApiKey: false };
  return resolveProject(reading, options).resolved?.desired;
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

/** Makes all of a target exist in a stage. */
function lifting(
  manifests: Manifests,
  key: string,
  here: string,
  stages: readonly string[],
): readonly FileEdit[] {
  return addressesOf(manifests, key).flatMap((address) => {
    const only = onlyStagesOf(manifests, address, stages);
    return only === undefined || only.stages.includes(here) ? [] : [setAt(only.slot, [...only.stages, here])];
  });
}

function addressesOf(manifests: Manifests, key: string): readonly Address[] {
  return KINDS.flatMap((kind) => manifests.addressesOf(key, kind));
}

/** A stage's targets as they are once it is merged, but for the values that differ. */
export interface Merging {
  /** Edits of `onlyStages`. */
  readonly edits: readonly FileEdit[];
  readonly documents: readonly Document[];
  /** With what these declare, and with the ids of what was found. */
  readonly input: PlanInput;
  readonly planned: Planned;
  /** Target key → what state is to learn. */
  readonly bound: ReadonlyMap<string, readonly StateEvent[]>;
  /** Addresses that exist in this stage by the merge, and so are to be as they are live. */
  readonly merged: ReadonlySet<Address>;
  /** Names of folders, as the test cases in them have them in other stages: target id → folder id → name. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/**
 * Finds out what of the declared targets exists in this stage.
 * @param excluded addresses that are not to be merged
 */
export function mergeStage(sources: MergeSources, pairs: Pairs, excluded: ReadonlySet<Address>): Merging {
  const { reading, stages, input } = sources;
  const here = input.desired.stage;
  const before = new Manifests(reading);
  const manifests = new Manifests(reading);
  const chosen = new Set(sources.chosen.map(({ id }) => id));
  const wanted = [...pairs].filter(([, key]) => !excluded.has(targetAddress(key)));
  // Of targets that this stage has already, what is declared for other stages alone may have come up here.
  const managed = [...sources.known.targets].flatMap(([id, { key, declared }]) =>
    declared && chosen.has(id) && stages.length > 1 ? [key] : [],
  );
  const keys = [...wanted.map(([, key]) => key), ...managed];
  manifests.apply(keys.flatMap((key) => lifting(manifests, key, here, stages)));
  const bound = new Map<string, StateEvent[]>(
    wanted.map(([id, key]) => [key, [boundTo(targetAddress(key), id)]]),
  );
  const lifted = planOf(manifests, sources, bound);
  for (const key of keys) {
    const matched = lifted.planned.matched.get(key);
    const own = bound.get(key) ?? [];
    if (matched !== undefined) own.push(...environmentsByUrl(matched, before, sources, here));
    for (const [address, { live }] of matched?.matches ?? [])
      if (live !== undefined && matched?.state?.bindings.get(address) === undefined)
        own.push(boundTo(address, live.id));
    bound.set(key, own);
  }
  const final = new Manifests(reading);
  const merged = new Set<Address>();
  const edits: FileEdit[] = [];
  for (const key of keys) {
    const isPair = wanted.some(([, one]) => one === key);
    const found = new Set(
      (bound.get(key) ?? []).flatMap((event) => ("address" in event ? [event.address] : [])),
    );
    const ofTarget = stages.filter((stage) => stage === here || exists(before, stage, targetAddress(key)));
    for (const address of addressesOf(before, key)) {
      const elsewhere = stages.filter((stage) => stage !== here && exists(before, stage, address));
      const wasHere = exists(before, here, address);
      const isTarget = address === targetAddress(key);
      const isHere = !excluded.has(address) && (isTarget || found.has(address) || (wasHere && !isPair));
      if (elsewhere.length === 0) continue;
      if (isHere && (isPair || !wasHere)) merged.add(address);
      const list = stages.filter((stage) => (stage === here ? isHere : elsewhere.includes(stage)));
      edits.push(...restricting(before, address, list, isTarget ? stages : ofTarget, stages));
    }
    const bare = (bound.get(key) ?? []).filter(
      (event) => !("address" in event) || !excluded.has(event.address),
    );
    bound.set(key, bare);
  }
  final.apply(edits);
  const result = planOf(final, sources, bound);
  return {
    edits,
    documents: final.documents,
    ...result,
    bound,
    merged,
    folders: foldersIn(result.planned, merged, before, stages, here),
  };
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
  if (list.length === possible.length && possible.every((stage) => list.includes(stage)))
    return only === undefined || sameJson(only.stages, list)
      ? []
      : [{ file: only.slot.file, edit: { kind: "delete", path: only.slot.path } }];
  if (only !== undefined) return sameJson(only.stages, list) ? [] : [setAt(only.slot, list)];
  const base = stages
    .flatMap((stage) => manifests.layersOf({ stage, address }))
    .find(({ kind }) => kind === "base");
  return base === undefined
    ? []
    : [setAt({ layer: "base", file: base.file, path: [...base.path, "onlyStages"] }, list)];
}

function boundTo(address: Address, id: string): StateEvent {
  return { type: "bound", address, id, fields: {} };
}

function planOf(
  manifests: Manifests,
  { reading, resolve, input }: MergeSources,
  bound: ReadonlyMap<string, readonly StateEvent[]>,
): { readonly input: PlanInput; readonly planned: Planned } {
  const { stage } = input.desired;
  const { resolved } = resolveProject({ ...reading, documents: manifests.documents }, { ...resolve, stage });
  const desired = resolved?.desired ?? input.desired;
  const declared = new Set(desired.targets.map(({ key }) => key));
  const known = new Map([...input.states, ...input.strays.map((state) => [state.target, state] as const)]);
  const states = new Map<string, State>();
  for (const key of declared) {
    const events = (bound.get(key) ?? []).filter((event) => isNew(event, known.get(key)));
    const state = known.get(key) ?? (events.length === 0 ? undefined : emptyState(stage, key, input.baseUrl));
    if (state !== undefined) states.set(key, applyEvents(state, events));
  }
  const strays = input.strays.filter(({ target }) => !declared.has(target));
  const whole = { ...input, desired, states, strays };
  return { input: whole, planned: makePlan(whole) };
}

/** A binding that state has already keeps what is recorded with it. */
function isNew(event: StateEvent, state: State | undefined): boolean {
  return event.type !== "bound" || state?.bindings.get(event.address)?.id !== event.id;
}

/** Environments whose addresses differ between stages by the stage's name. */
function environmentsByUrl(
  { target, live, matches }: MatchedTarget,
  before: Manifests,
  { reading, resolve, stages }: MergeSources,
  here: string,
): readonly StateEvent[] {
  const taken = matchedIds(matches);
  const open = (live?.environments ?? []).filter(({ id, type }) => type === "ADDITIONAL" && !taken.has(id));
  const lost = target.environments.filter(
    ({ address, key }) => key !== "default" && matches.get(address)?.live === undefined,
  );
  if (open.length === 0 || lost.length === 0) return [];
  const others = stages.flatMap((stage) => {
    const desired =
      stage === here ? undefined : resolvedIn(stage, { ...reading, documents: before.documents }, resolve);
    return (desired?.targets.find(({ key }) => key === target.key)?.environments ?? []).map((one) => ({
      stage,
      one,
    }));
  });
  const pairs = lost.flatMap(({ address }) => {
    const names = new Set(
      others.flatMap(({ stage, one }) => {
        const url = one.address === address ? knownText(one, "discoveryUrl") : undefined;
        return url === undefined ? [] : [withoutStage(url, stage)];
      }),
    );
    return open
      .filter(({ discoveryUrl = "" }) => names.has(withoutStage(discoveryUrl, here)))
      .map(({ id }) => ({ address, id }));
  });
  const isOnly = (pair: (typeof pairs)[number]): boolean =>
    pairs.filter(({ address, id }) => address === pair.address || id === pair.id).length === 1;
  return pairs.filter(isOnly).map(({ address, id }) => boundTo(address, id));
}

/** A folder in which all test cases have one folder's name in other stages is that folder. */
function foldersIn(
  { matched }: Planned,
  merged: ReadonlySet<Address>,
  before: Manifests,
  stages: readonly string[],
  here: string,
): Merging["folders"] {
  const field = fieldsOf("testCase").find(({ name }) => name === "folder");
  const found = new Map<string, ReadonlyMap<string, string>>();
  for (const one of matched.values()) {
    const names = new Map<string, Set<string>>();
    for (const [address, { live }] of one.matches) {
      const folder = live?.folderId;
      if (typeof folder !== "string" || field === undefined || !merged.has(address)) continue;
      const own = names.get(folder) ?? new Set<string>();
      names.set(folder, own);
      for (const stage of stages) {
        const written = stage === here ? undefined : before.written({ stage, address, field });
        if (exists(before, stage, address) && stage !== here)
          own.add(typeof written === "string" ? written : "");
      }
    }
    const clear = [...names].flatMap(([id, own]) => {
      const [name = ""] = own;
      const isOnly = [...names].every(([other, theirs]) => other === id || !theirs.has(name));
      return own.size === 1 && name !== "" && !name.includes("$") && isOnly ? [[id, name] as const] : [];
    });
    if (one.live !== undefined && clear.length > 0) found.set(one.live.id, new Map(clear));
  }
  return found;
}

export interface FieldOptions {
  /** Whether elements are declared that no stage declares. */
  readonly elements: boolean;
  readonly folderName: (targetId: string, id: string) => string | undefined;
  readonly holdsSecret: (value: Json) => boolean;
}

/** Edits that give each merged resource its live values in this stage, and change no other stage. */
export function mergeFields(
  { documents, planned, merged, input }: Merging,
  { reading, stages }: MergeSources,
  options: FieldOptions,
): readonly FileEdit[] {
  const stage = input.desired.stage;
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change.fields]));
  const resources = input.desired.targets
    .toSorted((a, b) => compareText(a.key, b.key))
    .flatMap(resourcesOf)
    .filter(({ address }) => merged.has(address));
  const manifests = new Manifests({ project: reading.project, documents });
  const goals = resources.flatMap((resource) => {
    const matched = planned.matched.get(parseAddress(resource.address)?.target ?? "");
    const found = matched && liveFields(resource, matched, options);
    if (found === undefined) return [];
    const differing = (field: Field): boolean =>
      (changes.get(resource.address) ?? []).some(({ path }) =>
        field.path.every((step, at) => path[at] === step),
      );
    return fieldsOf(resource.kind).flatMap((field) => {
      const ref: FieldRef = { stage, address: resource.address, field };
      const now = manifests.written(ref);
      const want = valueAt(found.fields, field.path);
      const value = resource.fields[field.name];
      const differs =
        now === undefined
          ? want !== undefined && !isNothing(want) && (field.compare !== "elements" || options.elements)
          : isFixed(field)
            ? value === undefined || isUnknown(value) || !sameJson(reveal(value), want ?? null)
            : differing(field);
      return differs ? [{ ref, want }] : [];
    });
  });
  const wanted = goals.map(({ ref, want }) => ({
    ref,
    want,
    isMet: (written: Json | undefined) => sameWritten(written, want),
  }));
  const rewriter = new Rewriter({ project: reading.project, documents }, wanted, { stages });
  for (const goal of wanted) {
    const { ref, want } = goal;
    if (goal.isMet(rewriter.manifests.written(ref))) continue;
    const top = rewriter.manifests.topSlot(ref);
    if (want === undefined) {
      if (top !== undefined) rewriter.place(goal, removals(rewriter, ref, top, stages));
      continue;
    }
    const slots = [top?.layer === "stage" ? top : undefined, rewriter.manifests.stageSlot(ref)];
    rewriter.place(
      goal,
      slots.flatMap((slot) => (slot === undefined ? [] : [{ slot, edits: [setAt(slot, want)] }])),
    );
  }
  return rewriter.edits;
}

/** What a resource would declare of its live values, null and empty lists included. */
function liveFields(
  resource: DesiredResource,
  matched: MatchedTarget,
  { folderName, holdsSecret }: FieldOptions,
): { readonly fields: JsonObject } | undefined {
  const targetId = matched.live?.id ?? "";
  const around = {
    elements: true,
    holdsSecret,
    defaults: new Set(fieldsOf(resource.kind).map(({ name }) => name)),
    folderName: (id: string) => folderName(targetId, id),
  };
  const live = matched.matches.get(resource.address)?.live;
  if (live === undefined) return undefined;
  const { fields } = declareFields(fieldsOf(resource.kind), live, around);
  const prerequisite = addressOfId(live.prerequisiteId ?? "", matched);
  if (prerequisite === undefined) return { fields };
  return {
    fields: withValue(fields, ["discovery", "prerequisite"], parseAddress(prerequisite)?.key ?? ""),
  };
}
