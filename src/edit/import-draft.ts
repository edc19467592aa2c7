import { shortened } from "../manifest/problem.ts";
import { ANY_KEY, convert } from "../manifest/shape.ts";
import { ENVIRONMENTS, TEST_CASES } from "../manifest/tables.ts";
import { type Address, addressOf, compareText, targetAddress } from "../model/address.ts";
import { DELETED, type Field, type Shape, fieldsOf } from "../model/fields.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import type { LiveEnvironment, LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import { liveInWords } from "../plan/compare.ts";
import { normalUrl } from "../plan/input.ts";
import { matchedIds } from "../plan/match.ts";
import {
  type ImportSources,
  type KnownResources,
  type PlannedProject,
  chooseKeys,
  countValues,
  knownAsTargets,
  knownInTarget,
  knownTargets,
} from "./import-known.ts";
import { escaped } from "./rewrite.ts";

/** A live resource as a manifest is to declare it. */
export interface Draft<L extends { readonly id: string }> {
  readonly live: L;
  readonly key: string;
  /** Whether it must be bound by `id:`, since nothing that it declares finds it and no other. */
  readonly bind: boolean;
  /** By field name. */
  readonly fields: Readonly<Record<string, Json>>;
  /** What could not be declared, and why; each a line of a comment. */
  readonly notes: readonly string[];
}

/** What an import adds of one live target, before it is laid out in files. */
export interface TargetDraft {
  readonly live: LiveTarget;
  readonly key: string;
  /** The target itself; nothing where a manifest declares it already. */
  readonly target: Draft<LiveTarget> | undefined;
  /** Sorted by key, as are the test cases. */
  readonly environments: readonly Draft<LiveEnvironment>[];
  readonly testCases: readonly Draft<LiveTestCase>[];
}

/** Something live of which nothing is written, and why. */
export interface Skipped {
  /** The target's app. */
  readonly app: string;
  readonly kind: "target" | "environment" | "testCase";
  readonly id: string;
  readonly name: string | undefined;
  readonly reason: string;
}

/** A folder of a target, which the service shows by id alone. */
export interface Folder {
  readonly target: LiveTarget;
  readonly id: string;
  readonly name: string | undefined;
  /** Names of its test cases that no manifest declares. */
  readonly fresh: readonly string[];
}

/** The same with other names for some. @param names by folder id */
export function foldersWith(
  names: ReadonlyMap<string, string>,
  folders: readonly Folder[],
): readonly Folder[] {
  return folders.map((folder) => ({ ...folder, name: names.get(folder.id) ?? folder.name }));
}

/** The names of a target's folders by id. */
export function folderNamesOf(targetId: string, folders: readonly Folder[]): ReadonlyMap<string, string> {
  return new Map(
    folders.flatMap(({ target, id, name }) =>
      target.id === targetId && name !== undefined ? [[id, name]] : [],
    ),
  );
}

/** The folders of the targets that are imported. @param inferred target id → folder id → name, from other stages */
export function foldersOf(
  { chosen, base }: ImportSources,
  project: PlannedProject,
  inferred: ReadonlyMap<string, ReadonlyMap<string, string>>,
): readonly Folder[] {
  const known = knownTargets(project);
  return chosen.flatMap((target) => {
    const own = known.get(target.id);
    const managed = matchedIds(own?.matched?.matches ?? new Map());
    const learnt = [...(own?.state?.folders ?? [])].map(([name, id]) => [id, name] as const);
    const names = new Map([...(inferred.get(target.id) ?? []), ...learnt]);
    const fresh = new Map<string, string[]>();
    for (const { id, folderId, status, description } of base.live.testCases.get(target.id) ?? []) {
      if (typeof folderId !== "string") continue;
      const inside = fresh.get(folderId) ?? [];
      fresh.set(folderId, inside);
      if (status !== DELETED && !managed.has(id)) inside.push(description ?? id);
    }
    return [...fresh].map(([id, inside]) => ({ target, id, name: names.get(id), fresh: inside }));
  });
}

export interface DraftOptions {
  readonly elements: boolean;
  readonly folders: readonly Folder[];
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
  /** Keys for new targets, as the user says: live id → key. */
  readonly into: ReadonlyMap<string, string>;
  /** A target's app without what names the stage. */
  readonly plainApp: (app: string) => string;
  /** Addresses that cannot be imported, and why. */
  readonly refused: ReadonlyMap<Address, string>;
}

/** What to write for live targets: what no manifest declares yet, under keys of their own. */
export function draftTargets(
  sources: ImportSources,
  project: PlannedProject,
  options: DraftOptions,
): { readonly targets: readonly TargetDraft[]; readonly leftOut: readonly Skipped[] } {
  const { chosen, reading, base } = sources;
  const { refused, folders } = options;
  const known = knownTargets(project);
  const targets = draftsOf(chosen, knownAsTargets(project), options, targetRules(base.live.targets, options));
  const leftOut: Skipped[] = targets.leftOut.map((one) => ({ ...one, app: one.name ?? "" }));
  const fresh = new Map(targets.drafts.map((draft) => [draft.live.id, draft]));
  const left = new Set(targets.leftOut.map(({ id }) => id));
  const drafts = chosen.flatMap((live) => {
    if (left.has(live.id)) return [];
    const own = known.get(live.id);
    const target = fresh.get(live.id);
    const key = target?.key ?? own?.key ?? "";
    const names = folderNamesOf(live.id, folders);
    const around = { ...options, folderName: (id: string) => names.get(id) };
    const inTarget = (section: typeof ENVIRONMENTS | typeof TEST_CASES): KnownResources =>
      knownInTarget(project, reading.project, own, section);
    const environments = draftsOf(live.environments, inTarget(ENVIRONMENTS), around, environmentRules(live));
    const existing = (base.live.testCases.get(live.id) ?? []).filter(({ status }) => status !== DELETED);
    const knownCases = inTarget(TEST_CASES);
    const testCases = draftsOf(existing, knownCases, around, testCaseRules(existing));
    for (const one of [...environments.leftOut, ...testCases.leftOut])
      leftOut.push({ ...one, app: live.app });
    const declared = (own?.matched?.target.testCases ?? []).flatMap(({ key: from, fields }) => {
      const to = fields[PREREQUISITE];
      return typeof to === "string" ? [[from, to] as const] : [];
    });
    const gone: Skipped[] = [];
    const isKept = (kind: "environment" | "testCase") => (draft: Draft<{ readonly id: string }>) => {
      const reason = refused.get(addressOf(kind, key, draft.key));
      if (reason !== undefined)
        gone.push({ app: live.app, kind, id: draft.live.id, name: draft.key, reason });
      return reason === undefined;
    };
    const reason = target && refused.get(targetAddress(key));
    if (reason !== undefined) {
      gone.push({ app: live.app, kind: "target", id: live.id, name: live.app, reason });
      return [{ live, key, target: undefined, environments: [], testCases: [], gone }];
    }
    const keptCases = testCases.drafts.filter(isKept("testCase"));
    return [
      {
        live,
        key,
        target,
        environments: environments.drafts.filter(isKept("environment")),
        testCases: withPrerequisites(testCases.drafts, keptCases, knownCases.managed, new Map(declared)),
        gone,
      },
    ];
  });
  const sorted = drafts.toSorted((a, b) => compareText(a.key, b.key));
  return {
    targets: sorted.filter(
      ({ target, environments, testCases }) =>
        target !== undefined || environments.length + testCases.length > 0,
    ),
    leftOut: [...leftOut, ...sorted.flatMap(({ gone }) => gone)],
  };
}

/** How resources of one kind are imported. */
interface DraftRules<L> {
  readonly kind: Skipped["kind"];
  /** Whether nothing that it declares finds it and no other. */
  readonly mustBind: (live: L, declared: Draft<never>["fields"]) => boolean;
  /** What it is called on the service, and what else a declared resource may find it by. */
  readonly names: (live: L) => readonly (string | null | undefined)[];
  /** The name as one to make a key of. */
  readonly keyName: (name: string) => string;
  /** Begins the key of what has no name. */
  readonly noun: string;
  /** Live id → key of those that have theirs whatever they are called. */
  readonly keys: (live: readonly L[], known: KnownResources) => ReadonlyMap<string, string>;
  /** A key that no other gets. */
  readonly reserved?: string;
}

function targetRules(all: readonly LiveTarget[], { into, plainApp }: DraftOptions): DraftRules<LiveTarget> {
  const apps = countValues(all.map(({ app }) => app));
  return {
    kind: "target",
    mustBind: ({ app }, declared) => declared["app"] === undefined || apps.get(app) !== 1,
    names: ({ app }) => [app],
    keyName: (app) => plainApp(app) || app,
    noun: "target",
    keys: (live, { taken, remembered }) =>
      new Map(
        live.flatMap(({ id }) => {
          const key = into.get(id) ?? "";
          return key === "" || remembered.has(id) || taken.has(key.toLowerCase()) ? [] : [[id, key]];
        }),
      ),
  };
}

/**
 * The DEFAULT environment is found by its type, another by its URL; of both kinds there may be several alike, and of
 * types that the interface does not name nothing is found.
 */
function environmentRules({ environments }: LiveTarget): DraftRules<LiveEnvironment> {
  const alike = countValues(environments.map(sameAs));
  return {
    kind: "environment",
    mustBind: (live, { discoveryUrl }) =>
      (live.type !== "DEFAULT" && (live.type !== "ADDITIONAL" || discoveryUrl === undefined)) ||
      alike.get(sameAs(live)) !== 1,
    names: ({ discoveryUrl, type }) => [discoveryUrl, type],
    keyName: nameOfUrl,
    noun: "environment",
    keys: (live, { declared }) => {
      const [id] = live.flatMap((one) => (one.type === "DEFAULT" ? [one.id] : [])).toSorted(compareText);
      return new Map(id === undefined || declared.has("default") ? [] : [[id, "default"]]);
    },
    reserved: "default",
  };
}

function sameAs({ type = "", discoveryUrl = "" }: LiveEnvironment): string {
  return type === "DEFAULT" ? type : `${type} ${normalUrl(discoveryUrl)}`;
}

/** Host and path: what is readable of a URL, and tells environments of one application apart. */
function nameOfUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { hostname, port, pathname } = new URL(text);
  return `${hostname.replace(/^www\./, "")} ${port} ${pathname}`;
}

/** A test case is found by its external id, or else by its name; by either only if it is the only one. */
function testCaseRules(all: readonly LiveTestCase[]): DraftRules<LiveTestCase> {
  const names = countValues(all.map(({ description }) => description));
  const externalIds = countValues(all.map(({ externalId }) => externalId));
  return {
    kind: "testCase",
    mustBind: (live, { externalId, description }) =>
      typeof externalId === "string"
        ? externalIds.get(live.externalId) !== 1
        : description === undefined || names.get(live.description) !== 1,
    names: ({ description, externalId }) => [description, externalId],
    keyName: (name) => name,
    noun: "case",
    keys: () => new Map(),
  };
}

const NOT_BINDABLE =
  "nothing that it shows tells it from all others, and its id is not a UUID, so that `id:` cannot bind it";
const UNCLEAR = "a manifest may mean it, which is not clear; `tasc plan` says what it takes to make it so";

/** Those that no manifest declares, each with a key. */
function draftsOf<L extends { readonly id: string }>(
  listed: readonly L[],
  known: KnownResources,
  options: Omit<DeclareOptions, "defaults">,
  { kind, mustBind, names, keyName, noun, reserved, ...rules }: DraftRules<L>,
): { readonly drafts: readonly Draft<L>[]; readonly leftOut: readonly Omit<Skipped, "app">[] } {
  const leftOut: Omit<Skipped, "app">[] = [];
  // The planner takes the last of those that are listed under one id.
  const fresh = [...new Map(listed.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !known.managed.has(id),
  );
  const found = fresh.flatMap((live) => {
    const { id } = live;
    const name = names(live)[0] ?? undefined;
    const declared = declareFields(fieldsOf(kind), live, { ...options, defaults: known.defaults });
    const bind = mustBind(live, declared.fields);
    const isDoubtful = known.isDoubtful(id, names(live));
    if (!isDoubtful && (!bind || convert({ type: "uuid" }, id) !== undefined))
      return [{ live, ...declared, bind }];
    leftOut.push({ kind, id, name, reason: isDoubtful ? UNCLEAR : NOT_BINDABLE });
    return [];
  });
  const all = found.map(({ live }) => live);
  const keys = new Map(rules.keys(all, known));
  const taken = [...keys.values()].map((key) => key.toLowerCase());
  if (reserved !== undefined) taken.push(reserved);
  for (const { id } of all) {
    const key = known.remembered.get(id);
    if (key !== undefined && key !== reserved && !keys.has(id)) keys.set(id, key);
  }
  const requests = all.flatMap((live) => {
    const name = names(live)[0] ?? undefined;
    const shown = name === undefined || options.holdsSecret(name) ? undefined : keyName(name);
    return keys.has(live.id) ? [] : [{ id: live.id, name: shown, noun }];
  });
  for (const [id, key] of chooseKeys(requests, new Set([...known.taken, ...taken]))) keys.set(id, key);
  const drafts = found.map((draft) => ({ ...draft, key: keys.get(draft.live.id) ?? "" }));
  return { drafts: drafts.toSorted((a, b) => compareText(a.key, b.key)), leftOut };
}

const PREREQUISITE = "discovery.prerequisite";

/**
 * Test cases with the keys of their prerequisites. One that has no key here is left out, and so is one that closes a
 * circle: the service may have such, but a manifest cannot, since they could not be created in any order.
 *
 * @param kept those that are declared after all
 * @param managed id → key of test cases that manifests declare already
 * @param declared key → key of its prerequisite, as they declare it
 */
function withPrerequisites(
  all: readonly Draft<LiveTestCase>[],
  kept: readonly Draft<LiveTestCase>[],
  managed: ReadonlyMap<string, string>,
  declared: ReadonlyMap<string, string>,
): readonly Draft<LiveTestCase>[] {
  const keys = new Map([...managed, ...all.map(({ live, key }) => [live.id, key] as const)]);
  const lost = new Set(all.filter((draft) => !kept.includes(draft)).map(({ key }) => key));
  const next = new Map(declared);
  const linked = all.map((draft) => {
    const id = draft.live.prerequisiteId ?? undefined;
    if (id === undefined) return draft;
    const key = keys.get(id);
    const noted = (reason: string) => ({ ...draft, notes: [...draft.notes, `${PREREQUISITE}: ${reason}`] });
    if (key === undefined) return noted(`the service has ${id}, which is not among the test cases here.`);
    if (leadsTo(draft.key, key, next))
      return noted(
        `the service has ${key}, which in turn runs after this one; a manifest cannot declare that.`,
      );
    next.set(draft.key, key);
    if (lost.has(key)) return noted("the service has one that is left out here.");
    return { ...draft, fields: { ...draft.fields, [PREREQUISITE]: key } };
  });
  return linked.filter(({ key }) => !lost.has(key));
}

/** Whether going from one test case to the prerequisite of it, and on, comes by another. */
function leadsTo(wanted: string, start: string, next: ReadonlyMap<string, string>): boolean {
  const seen = new Set<string>();
  for (let key: string | undefined = start; key !== undefined && !seen.has(key); key = next.get(key)) {
    if (key === wanted) return true;
    seen.add(key);
  }
  return false;
}

/** What decides on the way a live value is declared, in addition to the value. */
export interface DeclareOptions extends Pick<DraftOptions, "elements" | "holdsSecret"> {
  /** Fields that defaults would set where they are left out. */
  readonly defaults: ReadonlySet<string>;
  readonly folderName?: (id: string) => string | undefined;
}

/** Declares what the interface shows of a resource, but for references to others. */
export function declareFields(
  rows: readonly Field[],
  live: LiveResource,
  options: DeclareOptions,
): Pick<Draft<never>, "fields" | "notes"> {
  const notes: string[] = [];
  const fields: Record<string, Json> = {};
  for (const row of rows) {
    const { value, note } = declare(row, live, options);
    if (value !== undefined) fields[row.name] = value;
    if (note !== undefined) notes.push(`${row.name}: ${note}`);
  }
  return { fields, notes };
}

/** A field's value in the manifest, or why it has none; neither where there is nothing to say. */
function declare(
  row: Field,
  live: LiveResource,
  { elements, defaults, folderName = () => undefined, holdsSecret }: DeclareOptions,
): { readonly value?: Json; readonly note?: string } {
  const isElements = row.compare === "elements";
  const reading = liveInWords(row, live, folderName);
  // Folders without a name are told of once for all test cases in them.
  if (row.shape.type === "reference" || reading.kind !== "shown" || (isElements && !elements)) return {};
  const shown = reading.value;
  const value = isDeclarable(row.shape, shown) ? escaped(shown) : undefined;
  // A fixed value that creations do not know is not a choice that somebody made.
  if (row.update === undefined) return value === undefined ? {} : { value };
  // What is not there is left out, unless a default would then be taken for it.
  if (isNothing(shown))
    return defaults.has(row.name) && (isArray(shown) || row.nullable) ? { value: shown } : {};
  if (holdsSecret(shown))
    return {
      note: isElements
        ? "they repeat the value of a secret, so they are not written here."
        : "it repeats the value of a secret, so it is not written here.",
    };
  if (value !== undefined) return { value };
  if (isElements) return { note: "a manifest cannot declare all that they hold." };
  return { note: `the service has ${shortened(JSON.stringify(shown))}, which a manifest cannot declare.` };
}

export function isNothing(value: Json): boolean {
  return value === null || (isArray(value) && value.length === 0);
}

const IS_KEY = new RegExp(ANY_KEY, "u");
/** YAML of ours nests a hundred deep at most; some of that is above the value. */
const DEEPEST = 80;

/** Whether a manifest can declare a live value of this shape. */
export function isDeclarable(shape: Shape, live: Json): boolean {
  switch (shape.type) {
    case "string":
    case "url":
    case "enum":
      return typeof live === "string" && convert(shape, live) !== undefined;
    case "integer":
      return typeof live === "number" && convert(shape, live) !== undefined;
    case "boolean":
      return typeof live === "boolean";
    case "reference":
      return typeof live === "string";
    case "list":
      return isArray(live) && live.every((item) => isDeclarable(shape.of, item));
    case "object":
      return (
        isObject(live) &&
        (shape.required ?? []).every((key) => Object.hasOwn(live, key)) &&
        Object.entries(live).every(([key, value]) => {
          const part = Object.hasOwn(shape.parts, key) ? shape.parts[key] : undefined;
          return part !== undefined && isDeclarable(part.shape, value);
        })
      );
    case "map":
      return (
        isObject(live) &&
        Object.entries(live).every(([key, value]) => IS_KEY.test(key) && isDeclarable(shape.of, value))
      );
    case "json":
      return isObject(live) && isDeclarableJson(live, 0);
  }
}

function isDeclarableJson(live: Json, depth: number): boolean {
  if (depth > DEEPEST) return false;
  if (isArray(live)) return live.every((item) => isDeclarableJson(item, depth + 1));
  if (!isObject(live)) return true;
  return Object.entries(live).every(([key, value]) => IS_KEY.test(key) && isDeclarableJson(value, depth + 1));
}
