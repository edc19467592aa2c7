import { type Address, type Kind, addressOf, compareText, targetAddress } from "../model/address.ts";
import {
  DELETED,
  ENVIRONMENT_FIELDS,
  type Field,
  type Part,
  type Shape,
  TEST_CASE_FIELDS,
  fieldsOf,
} from "../model/fields.ts";
import { type Json, type JsonObject, isArray, valueAt } from "../model/json.ts";
import { shortened } from "../manifest/problem.ts";
import { readField } from "../plan/compare.ts";
import { elementInWords } from "../plan/elements.ts";
import type { LiveEnvironment, LiveResource, LiveTarget, LiveTestCase } from "../model/live.ts";
import type { StateEvent } from "../model/state.ts";
import { normalise } from "../plan/input.ts";
import {
  type Composed,
  type ImportedTarget,
  type ImportedResource,
  type Known,
  type KnownParts,
  type Skipped,
  NOT_BINDABLE,
  UNCLEAR,
  canBind,
  chooseKeys,
  countValues,
  declarable,
  isEmpty,
  withValue,
  withoutValue,
} from "./import-known.ts";

/** What decides on the way a live value is declared, in addition to the value. */
interface Around {
  /** Whether elements are wanted. */
  readonly elements: boolean;
  /** Fields that the target's defaults would set where they are left out. */
  readonly defaults: ReadonlySet<string>;
  readonly folderName: (id: string) => string | undefined;
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
}

/** What a resource declares of its live values, in the form of a document, and what had to be left out. */
interface DeclaredElements {
  readonly fields: JsonObject;
  /** For comments; each a line. */
  readonly notes: readonly string[];
}

/** Declares what the interface shows of a resource. References to others are for `prerequisites.ts` to add. */
export function declareFields(rows: readonly Field[], live: LiveResource, around: Around): DeclaredElements {
  const notes: string[] = [];
  let fields: JsonObject = {};
  for (const row of rows) {
    const { value, note } = declare(row, live, around);
    if (value !== undefined) fields = withValue(fields, row.path, value);
    if (note !== undefined) notes.push(`${row.name}: ${note}`);
  }
  return { fields, notes };
}

/** A field's value in the manifest, or why it has none; neither where there is nothing to say. */
function declare(
  row: Field,
  live: LiveResource,
  { elements, defaults, folderName, holdsSecret }: Around,
): { readonly value?: Json; readonly note?: string } {
  const { compare, shape, nullable, update } = row;
  const isElements = compare === "elements";
  const reading = readField(row, live, folderName);
  // Folders without a name are told of once for all test cases in them.
  if (shape.type === "reference" || reading.kind !== "shown" || (isElements && !elements)) return {};
  const shown = isElements ? (live.elements ?? []).map(elementInWords) : reading.value;
  const value = declarable(shape, shown);
  // A fixed value that creations do not know is not a choice that somebody made.
  if (update === undefined) return value === undefined ? {} : { value };
  // What is not there is left out, unless a default would then be taken for it.
  if (isNothing(shown)) return defaults.has(row.name) && (isArray(shown) || nullable) ? { value: shown } : {};
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

/** What becomes of the parts of a target. */
interface ImportedParts {
  /** Sorted by key. */
  readonly entries: readonly ImportedResource[];
  readonly leftOut: readonly Omit<Skipped, "app">[];
}

const DEFAULT_KEY = "default";

/** How parts of one kind are imported. */
interface PartRules<L> {
  readonly kind: "environment" | "testCase";
  readonly fields: readonly Field[];
  /** Whether nothing that it declares finds it and no other. */
  readonly mustBind: (live: L, declared: JsonObject) => boolean;
  /** What it is called on the service. */
  readonly title: (live: L) => string | undefined;
  /** What else a declared resource may find it by. */
  readonly mark: (live: L) => string | null | undefined;
  /** The title as a name to make a key of. */
  readonly nameOf: (title: string) => string;
  readonly noun: string;
  readonly folderId: (live: L) => string | null;
  /** The id of the one that has the key `default` whatever it is called; no other gets that key. */
  readonly defaultId?: (live: readonly L[]) => string | undefined;
}

/** The parts that no manifest declares. */
function importParts<L extends { readonly id: string }>(
  all: readonly L[],
  known: KnownParts,
  around: Omit<Around, "defaults">,
  rules: PartRules<L>,
): ImportedParts {
  const leftOut: Omit<Skipped, "app">[] = [];
  // The planner takes the last of those that are listed under one id.
  const fresh = [...new Map(all.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !known.managed.has(id),
  );
  const judged = fresh.flatMap((live) => {
    const { id } = live;
    const declared = declareFields(rules.fields, live, { ...around, defaults: known.defaults });
    const bind = rules.mustBind(live, declared.fields);
    const name = rules.title(live);
    const isDoubtful = known.isDoubtful(id, [name, rules.mark(live)]);
    if (!isDoubtful && (!bind || canBind(id))) return [{ id, live, declared, bind, name }];
    leftOut.push({ kind: rules.kind, id, name, reason: isDoubtful ? UNCLEAR : NOT_BINDABLE });
    return [];
  });
  const reserved = rules.defaultId === undefined ? [] : [DEFAULT_KEY];
  const defaultId = known.declared.has(DEFAULT_KEY)
    ? undefined
    : rules.defaultId?.(judged.map(({ live }) => live));
  const keys = new Map(defaultId === undefined ? [] : [[defaultId, DEFAULT_KEY]]);
  for (const { id } of judged) {
    const key = known.remembered.get(id);
    if (key !== undefined && !reserved.includes(key) && !keys.has(id)) keys.set(id, key);
  }
  const wishes = judged.flatMap(({ id, name }) => {
    const shown = name === undefined || around.holdsSecret(name) ? undefined : rules.nameOf(name);
    return keys.has(id) ? [] : [{ id, name: shown, noun: rules.noun }];
  });
  for (const [id, key] of chooseKeys(wishes, new Set([...known.taken, ...reserved]))) keys.set(id, key);
  const entries = judged.map(({ id, live, declared, bind }): ImportedResource => {
    return { id, key: keys.get(id) ?? "", bind, ...declared, folderId: rules.folderId(live) };
  });
  return { entries: entries.toSorted((a, b) => compareText(a.key, b.key)), leftOut };
}

/** The environments that no manifest declares. */
export function importEnvironments(
  { environments }: LiveTarget,
  known: KnownParts,
  around: Omit<Around, "defaults">,
): ImportedParts {
  return importParts(environments, known, around, {
    kind: "environment",
    fields: ENVIRONMENT_FIELDS,
    mustBind: (live, { discoveryUrl }) => mustBind(live, discoveryUrl, environments),
    title: ({ discoveryUrl }) => discoveryUrl,
    mark: ({ type }) => type,
    nameOf: nameOfUrl,
    noun: "environment",
    folderId: () => null,
    defaultId: (live) =>
      live
        .flatMap(({ id, type }) => (type === "DEFAULT" ? [id] : []))
        .toSorted(compareText)
        .at(0),
  });
}

/**
 * The DEFAULT environment is found by its type, another by its URL; of both kinds there may be several alike, and of
 * types that the interface does not name nothing is found.
 */
function mustBind(live: LiveEnvironment, url: Json | undefined, all: readonly LiveEnvironment[]): boolean {
  const alike = all.filter(({ type }) => type === live.type);
  if (live.type === "DEFAULT") return alike.length > 1;
  if (live.type !== "ADDITIONAL" || url === undefined) return true;
  const counts = countValues(alike.map(({ discoveryUrl }) => normalise("url", discoveryUrl ?? null)));
  return counts.get(normalise("url", live.discoveryUrl ?? null)) !== 1;
}

/** Host and path: what is readable of a URL, and tells environments of one application apart. */
function nameOfUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const { hostname, port, pathname } = new URL(text);
  return `${hostname.replace(/^www\./, "")} ${port} ${pathname}`;
}

/** A folder that the service shows by id alone, of which no name is known. */
export interface UnnamedFolder {
  readonly id: string;
  /** Apps of the targets that have it. */
  readonly apps: readonly string[];
  /** Names of new test cases in it. */
  readonly testCases: readonly string[];
}

/** Folder id → name, by target id. */
export type FolderNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export interface FolderSources {
  /** The targets that are imported. */
  readonly targets: readonly LiveTarget[];
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
  readonly known: Known;
  /** Names that follow from other stages: target id → folder id → name. */
  readonly inferred?: FolderNames;
}

/**
 * Names of folders, from state and from what was given. Two folders of one target cannot have one name, in state as on
 * the service: then neither is known.
 */
export function folderNames(sources: FolderSources, given: ReadonlyMap<string, string>): FolderNames {
  return new Map(sources.targets.map(({ id }) => [id, namesIn(id, sources, given)]));
}

function namesIn(
  targetId: string,
  { testCases, known, inferred }: FolderSources,
  given: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const state = known.targets.get(targetId)?.state;
  const live = liveFolders(testCases.get(targetId));
  const learnt = [...(state?.folders ?? [])].map(([name, id]) => [id, name] as const);
  const all = new Map([...(inferred?.get(targetId) ?? []), ...learnt, ...given]);
  return new Map([...all].filter(([id]) => live.has(id)));
}

/** Pairs of folders of one target that would have the same name. */
export function nameClashes(
  names: FolderNames,
): readonly { readonly name: string; readonly ids: readonly string[] }[] {
  return [...names.values()].flatMap((own) => {
    const ids = new Map<string, string[]>();
    for (const [id, name] of own) ids.set(name, [...(ids.get(name) ?? []), id]);
    return [...ids].flatMap(([name, all]) =>
      all.length > 1 ? [{ name, ids: all.toSorted(compareText) }] : [],
    );
  });
}

export function unnamedFolders(sources: FolderSources, names: FolderNames): readonly UnnamedFolder[] {
  const found = new Map<string, { apps: Set<string>; testCases: string[] }>();
  for (const { id: targetId, app } of sources.targets) {
    const managed = sources.known.targets.get(targetId)?.testCases.managed;
    for (const { id, status, folderId, description } of sources.testCases.get(targetId) ?? []) {
      if (typeof folderId !== "string" || status === DELETED || managed?.has(id) === true) continue;
      if (names.get(targetId)?.has(folderId) === true) continue;
      const folder = found.get(folderId) ?? { apps: new Set(), testCases: [] };
      found.set(folderId, folder);
      folder.apps.add(app);
      folder.testCases.push(description ?? id);
    }
  }
  return [...found]
    .map(([id, { apps, testCases }]) => ({ id, apps: [...apps], testCases }))
    .toSorted((a, b) => compareText(a.id, b.id));
}

/** Ids of `--folder` in which there is nothing to be declared: their names stay unused. */
export function idleFolders(sources: FolderSources, given: ReadonlyMap<string, string>): readonly string[] {
  const used = new Set(unnamedFolders(sources, new Map()).map(({ id }) => id));
  return [...given.keys()].filter((id) => !used.has(id));
}

/** Ids of `--folder` that no target has. */
export function unknownFolders(
  { targets, testCases }: FolderSources,
  given: ReadonlyMap<string, string>,
): readonly string[] {
  const live = new Set(targets.flatMap(({ id }) => [...liveFolders(testCases.get(id))]));
  return [...given.keys()].filter((id) => !live.has(id));
}

/** What state is to learn of a target's folders: a plan knows them by nothing else. */
export function folderEvents(targetId: string, names: FolderNames, known: Known): readonly StateEvent[] {
  const before = known.targets.get(targetId)?.state?.folders;
  return [...(names.get(targetId) ?? [])]
    .filter(([id, name]) => before?.get(name) !== id)
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([id, name]) => ({ type: "folder", name, id }));
}

function liveFolders(testCases: readonly LiveTestCase[] | undefined): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { folderId } of testCases ?? []) if (typeof folderId === "string") ids.add(folderId);
  return ids;
}

/** The lines of a comment that shows how to declare what the interface does not show of a resource. */
export function hintsFor(kind: Kind, owner: readonly string[]): readonly string[] {
  const rows = fieldsOf(kind).filter(({ read }) => read === undefined);
  if (rows.length === 0) return [];
  return [
    kind === "testCase"
      ? "The API does not return this field for test cases. To manage it, add for example:"
      : "The API does not return these fields. To manage them, add for example:",
    ...rows.flatMap(({ name, shape }) => hintLines(name, { shape, description: "" }, [...owner, name], "  ")),
  ];
}

/** Columns of a comment, its sign left out. */
export const WIDEST = 92;

/** In flow style where that fits into a line. */
function hintLines(name: string, part: Part, names: readonly string[], indent: string): readonly string[] {
  const line = `${indent}${name}: ${example(part, names)}`;
  if (line.length <= WIDEST || part.shape.type !== "object") return [line];
  const parts = Object.entries(part.shape.parts);
  return [
    `${indent}${name}:`,
    ...parts.flatMap(([key, inner]) => hintLines(key, inner, [...names, key], `${indent}  `)),
  ];
}

/** A value of a shape in flow style, a secret one by name. */
function example(part: Part, names: readonly string[]): string {
  if (part.secret === true) return `"\${secret:${variableName(names)}}"`;
  return exampleOf(part.shape, names);
}

function exampleOf(shape: Shape, names: readonly string[]): string {
  switch (shape.type) {
    case "string":
      return '"..."';
    case "url":
      return "https://example.com";
    case "integer":
      return "10000";
    case "boolean":
      return "true";
    case "enum":
      return JSON.stringify(shape.values[0] ?? "");
    case "list":
      return `[${exampleOf(shape.of, names)}]`;
    case "object":
      return inBraces(
        Object.entries(shape.parts).map(([key, part]) => `${key}: ${example(part, [...names, key])}`),
      );
    case "map":
      return inBraces([`X-Name: ${exampleOf(shape.of, names)}`]);
    case "json":
      return "{}";
    case "reference":
      return "key";
  }
}

function inBraces(parts: readonly string[]): string {
  return `{ ${parts.join(", ")} }`;
}

/** `shop`, `default`, `testAccount`, `password`: SHOP_DEFAULT_TEST_ACCOUNT_PASSWORD. */
function variableName(names: readonly string[]): string {
  const text = names
    .map((name) => name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").replaceAll(/[^A-Za-z0-9]+/g, "_"))
    .join("_")
    .toUpperCase();
  return /^\d/.test(text) ? `_${text}` : text;
}

const FIELD = TEST_CASE_FIELDS.find(({ shape }) => shape.type === "reference" && shape.to === "testCase");

/**
 * Adds to test cases the keys of their prerequisites. One that has no key here is left out, and so is one that closes
 * a circle: the service may have such, but a manifest cannot, since they could not be created in any order.
 *
 * @param wanted test case id → id of its prerequisite.
 * @param managed id → key of test cases that manifests declare already.
 * @param declared key → key of its prerequisite, as they declare it.
 */
function linkPrerequisites(
  entries: readonly ImportedResource[],
  wanted: ReadonlyMap<string, string | null>,
  managed: ReadonlyMap<string, string>,
  declared: ReadonlyMap<string, string>,
): readonly ImportedResource[] {
  const keys = new Map([...managed, ...entries.map(({ id, key }) => [id, key] as const)]);
  const next = new Map(declared);
  return entries.map((entry) => {
    const id = wanted.get(entry.id);
    if (FIELD === undefined || id === undefined || id === null) return entry;
    const key = keys.get(id);
    if (key === undefined)
      return noted(entry, `the service has ${id}, which is not among the test cases here.`);
    if (leadsTo(entry.key, key, next))
      return noted(
        entry,
        `the service has ${key}, which in turn runs after this one; a manifest cannot declare that.`,
      );
    next.set(entry.key, key);
    return { ...entry, fields: inOrder(withValue(entry.fields, FIELD.path, key)) };
  });
}

/** The fields in the order of the table, as the others are. */
function inOrder(fields: JsonObject): JsonObject {
  const order = [...new Set(TEST_CASE_FIELDS.map(({ path }) => String(path[0])))];
  return Object.fromEntries(
    Object.entries(fields).toSorted(([a], [b]) => order.indexOf(a) - order.indexOf(b)),
  );
}

/** Test cases without those prerequisites that are not declared after all. */
function withoutPrerequisites(
  entries: readonly ImportedResource[],
  lost: ReadonlySet<string>,
): readonly ImportedResource[] {
  if (lost.size === 0 || FIELD === undefined) return entries;
  const { path } = FIELD;
  return entries.map((entry) => {
    const key = valueAt(entry.fields, path);
    if (typeof key !== "string" || !lost.has(key)) return entry;
    return noted(
      { ...entry, fields: withoutValue(entry.fields, path) },
      "the service has one that is left out here.",
    );
  });
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

function noted(entry: ImportedResource, reason: string): ImportedResource {
  return { ...entry, notes: [...entry.notes, `${FIELD?.name ?? ""}: ${reason}`] };
}

/** The test cases that no manifest declares. */
export function importTestCases(
  all: readonly LiveTestCase[],
  known: KnownParts,
  prerequisites: ReadonlyMap<string, string>,
  around: Omit<Around, "defaults">,
): ImportedParts {
  const live = all.filter(({ status }) => status !== DELETED);
  const names = countValues(live.map(({ description }) => description));
  const externalIds = countValues(live.map(({ externalId }) => externalId ?? undefined));
  const { entries, leftOut } = importParts(live, known, around, {
    kind: "testCase",
    fields: TEST_CASE_FIELDS,
    // It is found by its external id, or else by its name; by either only if it is the only one.
    mustBind: (testCase, { externalId, description }) =>
      typeof externalId === "string"
        ? externalIds.get(testCase.externalId ?? undefined) !== 1
        : description === undefined || names.get(testCase.description) !== 1,
    title: ({ description }) => description,
    mark: ({ externalId }) => externalId,
    nameOf: (title) => title,
    noun: "case",
    folderId: ({ folderId }) => folderId ?? null,
  });
  const wanted = new Map(live.map(({ id, prerequisiteId }) => [id, prerequisiteId ?? null]));
  return { entries: linkPrerequisites(entries, wanted, known.managed, prerequisites), leftOut };
}

/** The drafts without some addresses, which are left out for the reasons given. */
export function trim(
  { targets: drafts, leftOut }: Composed,
  reasons: ReadonlyMap<Address, string>,
  targets: readonly LiveTarget[],
): Composed {
  const gone: Skipped[] = [];
  const kept = drafts.flatMap((draft): ImportedTarget[] => {
    const app = targets.find(({ id }) => id === draft.liveId)?.app ?? "";
    const reason = reasons.get(targetAddress(draft.key));
    if (reason !== undefined && draft.target !== undefined) {
      gone.push({ app, kind: "target", id: draft.liveId, name: app, reason });
      return [];
    }
    const split = (
      kind: "environment" | "testCase",
      entries: readonly ImportedResource[],
    ): readonly ImportedResource[] =>
      entries.filter(({ id, key }) => {
        const own = reasons.get(addressOf(kind, draft.key, key));
        if (own !== undefined) gone.push({ app, kind, id, name: key, reason: own });
        return own === undefined;
      });
    const testCases = split("testCase", draft.testCases);
    const lost = new Set(draft.testCases.filter((one) => !testCases.includes(one)).map(({ key }) => key));
    return [
      {
        ...draft,
        environments: split("environment", draft.environments),
        testCases: withoutPrerequisites(testCases, lost),
      },
    ];
  });
  return { targets: kept.filter((draft) => !isEmpty(draft)), leftOut: [...leftOut, ...gone] };
}
