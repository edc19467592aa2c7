import type { Document } from "../manifest/document.ts";
import { escapeTemplate } from "../manifest/interpolation.ts";
import { ANY_KEY, RESERVED_KEYS, convert } from "../manifest/shape.ts";
import { ENVIRONMENTS, type SectionRow, TEST_CASES } from "../manifest/tables.ts";
import { type Address, compareText, parseAddress, targetAddress } from "../model/address.ts";
import { type Desired, type DesiredResource, type DesiredTarget, resourcesOf } from "../model/desired.ts";
import type { Shape } from "../model/fields.ts";
import { type Json, type JsonObject, type Path, isArray, isObject, valueAt } from "../model/json.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { knownText, normalise } from "../plan/input.ts";
import type { Match } from "../plan/match.ts";
import type { Planned } from "../plan/plan.ts";

/**
 * What manifests and state say already of the live targets, so that an import adds only what is new and takes no key
 * that means something else. What a manifest means is for the planner's matches alone to say.
 */
export interface Known {
  /** Target keys that are taken, in lower case. */
  readonly targetKeys: ReadonlySet<string>;
  /** By id of the live target. */
  readonly targets: ReadonlyMap<string, KnownTarget>;
  /** Live targets that a declared one may mean, which is not clear: they are left alone. */
  readonly isDoubtful: (live: LiveTarget) => boolean;
  /** Of the parts of a target that nothing knows. */
  readonly fresh: { readonly environments: KnownParts; readonly testCases: KnownParts };
}

export interface KnownTarget {
  readonly key: string;
  /** Whether a manifest declares it; else only state knows it. */
  readonly declared: boolean;
  readonly state: State | undefined;
  readonly environments: KnownParts;
  readonly testCases: KnownParts;
  /** Test case → the key of its prerequisite, as declared. */
  readonly prerequisites: ReadonlyMap<string, string>;
}

/** The environments of a target, or its test cases. */
export interface KnownParts {
  /** Live id → key, of what manifests mean. */
  readonly managed: ReadonlyMap<string, string>;
  /** Live id → key, of what state binds and no manifest declares any more. */
  readonly remembered: ReadonlyMap<string, string>;
  /** Keys that manifests declare, in whatever stage. */
  readonly declared: ReadonlySet<string>;
  /** Keys that mean something already, in lower case. */
  readonly taken: ReadonlySet<string>;
  /** Fields for which the target has defaults. */
  readonly defaults: ReadonlySet<string>;
  /** Whether one of these ids or names may be what a declared resource means, which is not clear. */
  readonly isDoubtful: (id: string, names: readonly (string | null | undefined)[]) => boolean;
}

export interface KnownSources {
  readonly desired: Desired;
  readonly documents: readonly Document[];
  /** `tasc.yaml`. */
  readonly project: Document;
  /** A plan of what the manifests declare, against all that is live. */
  readonly planned: Planned;
  readonly states: ReadonlyMap<string, State>;
  /** States of targets that no manifest declares. */
  readonly strays: readonly State[];
}

export function knownOf(sources: KnownSources): Known {
  const { desired, planned, states, strays, documents } = sources;
  const doubtful = desired.targets.filter(({ key }) => !planned.matched.has(key));
  const ids = new Set(doubtful.flatMap((target) => idsOf(target, states.get(target.key))));
  const apps = new Set(doubtful.flatMap((target) => knownText(target, "app") ?? []));
  const inFiles = documents.flatMap(({ value: { target } }) => (typeof target === "string" ? [target] : []));
  const keys = [...inFiles, ...strays.map(({ target }) => target)];
  const fresh = (section: SectionRow): KnownParts => partsOf(sources, "", section, undefined);
  return {
    targetKeys: new Set(keys.map((key) => key.toLowerCase())),
    targets: new Map([...strayTargets(sources), ...declaredTargets(sources)]),
    isDoubtful: (live) => ids.has(live.id) || apps.has(live.app),
    fresh: { environments: fresh(ENVIRONMENTS), testCases: fresh(TEST_CASES) },
  };
}

function declaredTargets(sources: KnownSources): readonly (readonly [string, KnownTarget])[] {
  return sources.desired.targets.flatMap((target) => {
    const matched = sources.planned.matched.get(target.key);
    if (matched?.live === undefined) return [];
    const { key, environments, testCases } = target;
    const { state, matches } = matched;
    const parts = (section: SectionRow, declared: DeclaredParts): KnownParts =>
      partsOf(sources, key, section, state, declared, target);
    const known: KnownTarget = {
      key,
      declared: true,
      state,
      environments: parts(ENVIRONMENTS, { resources: environments, matches }),
      testCases: parts(TEST_CASES, { resources: testCases, matches }),
      prerequisites: prerequisitesOf(target),
    };
    return [[matched.live.id, known] as const];
  });
}

/** A target that was declared once gets its key again, and so do its parts. */
function strayTargets(sources: KnownSources): readonly (readonly [string, KnownTarget])[] {
  return sources.strays.flatMap((state) => {
    const { target: key } = state;
    const id = state.bindings.get(targetAddress(key))?.id;
    if (id === undefined) return [];
    const parts = (section: SectionRow): KnownParts => partsOf(sources, key, section, state);
    const known: KnownTarget = {
      key,
      declared: false,
      state,
      environments: parts(ENVIRONMENTS),
      testCases: parts(TEST_CASES),
      prerequisites: new Map(),
    };
    return [[id, known] as const];
  });
}

/** What this stage declares of a section, and the live value of it. */
interface DeclaredParts {
  readonly resources: readonly DesiredResource[];
  readonly matches: ReadonlyMap<Address, Match>;
}

function partsOf(
  { documents, project, desired }: KnownSources,
  targetKey: string,
  section: SectionRow,
  state: State | undefined,
  { resources, matches }: DeclaredParts = { resources: [], matches: new Map() },
  target?: DesiredTarget,
): KnownParts {
  const { kind } = section;
  const own = documents.filter(({ value }) => value["target"] === targetKey);
  const managed = new Map<string, string>();
  for (const { address, key } of resources) {
    const id = matches.get(address)?.live?.id;
    if (id !== undefined) managed.set(id, key);
  }
  const declared = new Set(
    resources.map(({ key }) => key).concat(target === undefined ? [] : keysIn(own, section)),
  );
  const bound = [...(state?.bindings ?? [])].flatMap(([address, { id }]) => {
    const parts = parseAddress(address);
    return parts?.kind === kind ? [{ id, key: parts.key }] : [];
  });
  const moved = (target?.moved ?? []).flatMap(({ from, to }) => [from, to]);
  const others = [...moved, ...(state?.intents.keys() ?? [])].flatMap((address) => {
    const parts = parseAddress(address);
    return parts?.kind === kind ? [parts.key] : [];
  });
  const free = bound.filter(({ id, key }) => !declared.has(key) && !others.includes(key) && !managed.has(id));
  return {
    managed,
    declared,
    remembered: new Map(free.map(({ id, key }) => [id, key])),
    taken: new Set([...declared, ...bound.map(({ key }) => key), ...others].map((key) => key.toLowerCase())),
    defaults: defaultsOf([project, ...own], desired.stage, section),
    isDoubtful: doubts(
      resources.filter(({ address }) => !matches.has(address)),
      state,
    ),
  };
}

/**
 * What unclear resources may mean: live ones of their ids, or with one of their names. The DEFAULT environment has its
 * type for a name.
 */
function doubts(resources: readonly DesiredResource[], state: State | undefined): KnownParts["isDoubtful"] {
  const ids = new Set(resources.flatMap((resource) => idsOf(resource, state)));
  const names = new Set(
    resources.flatMap((resource) => [
      ...["description", "externalId", "discoveryUrl"].flatMap((field) =>
        plainName(knownText(resource, field)),
      ),
      ...(resource.kind === "environment" && resource.key === "default" ? ["DEFAULT"] : []),
    ]),
  );
  return (id, ownNames) =>
    ids.has(id) || ownNames.some((name) => plainName(name).some((one) => names.has(one)));
}

/** URLs are names of environments, and may be written in several ways. */
function plainName(name: string | null | undefined): readonly string[] {
  if (name === null || name === undefined) return [];
  const normal = normalise("url", name);
  return typeof normal === "string" ? [normal] : [];
}

function idsOf({ address, id }: DesiredResource, state: State | undefined): readonly string[] {
  return [id, state?.bindings.get(address)?.id].filter((one) => one !== undefined);
}

/** The keys of a section in any stage. */
function keysIn(documents: readonly Document[], { name }: SectionRow): readonly string[] {
  return documents.flatMap(({ value }) => {
    const overrides = isObject(value["stages"]) ? Object.values(value["stages"]) : [];
    return [value, ...overrides].flatMap((scope) => {
      const resources = isObject(scope) ? scope[name] : undefined;
      return isObject(resources) ? Object.keys(resources) : [];
    });
  });
}

/** The fields that a target's documents set by default, for all stages or for this one. */
function defaultsOf(
  documents: readonly Document[],
  stage: string,
  { name, fields }: SectionRow,
): ReadonlySet<string> {
  const set = fields.filter(({ path }) =>
    documents.some(({ value }) =>
      [[], ["stages", stage]].some(
        (start) => valueAt(value, [...start, "defaults", name, ...path]) !== undefined,
      ),
    ),
  );
  return new Set(set.map((field) => field.name));
}

function prerequisitesOf(target: DesiredTarget): ReadonlyMap<string, string> {
  const pairs = resourcesOf(target).flatMap(({ kind, key, fields }): [string, string][] => {
    const wanted = fields["discovery.prerequisite"];
    return kind === "testCase" && typeof wanted === "string" ? [[key, wanted]] : [];
  });
  return new Map(pairs);
}

/** What an import adds of one live target, before it is laid out in files. */
export interface ImportedTarget {
  readonly liveId: string;
  readonly key: string;
  /** Nothing for a target that neither manifests nor state know. */
  readonly known: KnownTarget | undefined;
  /** The target itself; nothing where a manifest declares it already. */
  readonly target: ImportedResource | undefined;
  /** Sorted by key, as are the test cases. */
  readonly environments: readonly ImportedResource[];
  readonly testCases: readonly ImportedResource[];
}

/** A resource to declare. */
export interface ImportedResource {
  readonly id: string;
  readonly key: string;
  /** Whether it must be bound by `id:`, since nothing that it declares finds it and no other. */
  readonly bind: boolean;
  /** In the form of a document. */
  readonly fields: JsonObject;
  /** What could not be declared, and why; each a line of a comment. */
  readonly notes: readonly string[];
  /** A test case's folder on the service. */
  readonly folderId: string | null;
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

export interface Composed {
  /** Sorted by key; those with nothing to add are not among them. */
  readonly targets: readonly ImportedTarget[];
  readonly leftOut: readonly Skipped[];
}

export function isEmpty({ target, environments, testCases }: ImportedTarget): boolean {
  return target === undefined && environments.length === 0 && testCases.length === 0;
}

/** The map with a value at a path of keys. */
export function withValue(map: JsonObject, [step, ...rest]: Path, value: Json): JsonObject {
  if (step === undefined) return map;
  const below = map[step];
  const inner = rest.length === 0 ? value : withValue(isObject(below) ? below : {}, rest, value);
  return { ...map, [step]: inner };
}

/** The map without what stands at a path, and without the maps that it leaves empty. */
export function withoutValue(map: JsonObject, [step, ...rest]: Path): JsonObject {
  const entries = Object.entries(map).flatMap(([key, value]): [string, Json][] => {
    if (key !== step) return [[key, value]];
    const left = rest.length > 0 && isObject(value) ? withoutValue(value, rest) : {};
    return Object.keys(left).length === 0 ? [] : [[key, left]];
  });
  return Object.fromEntries(entries);
}

/** Whether `id:` of a manifest can hold a live id. */
export function canBind(id: string): boolean {
  return convert({ type: "uuid" }, id) !== undefined;
}

export const NOT_BINDABLE =
  "nothing that it shows tells it from all others, and its id is not a UUID, so that `id:` cannot bind it";

export const UNCLEAR =
  "a manifest may mean it, which is not clear; `tasc plan` says what it takes to make it so";

/** How often each value occurs. */
export function countValues<T>(values: Iterable<T>): ReadonlyMap<T, number> {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Something live that needs a key. */
export interface KeyRequest {
  readonly id: string;
  /** What it is called on the service, if anything. */
  readonly name: string | undefined;
  /** Begins the key of what has no name that a key could be made of: `case`. */
  readonly noun: string;
}

/** Room for a readable name; an address is to fit on a line. */
const LONGEST = 60;

/** Letters that Unicode does not take apart into a plain one and an accent. */
const LETTERS: ReadonlyMap<string, string> = new Map([
  ["ß", "ss"],
  ["æ", "ae"],
  ["œ", "oe"],
  ["ø", "o"],
  ["đ", "d"],
  ["ł", "l"],
  ["ı", "i"],
  ["þ", "th"],
]);

/**
 * A name as a key: lower case, so that two keys never differ in case alone and files named after them can stand side
 * by side anywhere. Empty where the name has no letter or digit that a key may hold.
 */
export function slug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .toLowerCase()
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæœøđłıþ]/g, (letter) => LETTERS.get(letter) ?? letter)
    .replaceAll(/['’]/g, "");
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
  // What begins with `x-` is not a resource in a manifest.
  return shortened(words.join("-").replace(/^x-/, "x_"));
}

function shortened(text: string): string {
  if (text.length <= LONGEST) return text;
  const cut = text.slice(0, LONGEST);
  const lastWord = cut.lastIndexOf("-");
  return lastWord > LONGEST / 2 ? cut.slice(0, lastWord) : cut;
}

/**
 * A key for each wish, by id. Names that nothing else bears become keys as they are; where several want one key, or it
 * is taken, each gets a piece of its id, and none the plain name: so keys follow from the live value, in whatever order
 * it is listed.
 *
 * @param taken keys in lower case.
 */
export function chooseKeys(
  wishes: readonly KeyRequest[],
  taken: ReadonlySet<string>,
): ReadonlyMap<string, string> {
  const used = new Set<string>([...taken, ...RESERVED_KEYS]);
  const bases = wishes.map((wish) => ({ wish, base: slug(wish.name ?? "") }));
  const counts = new Map<string, number>();
  for (const { base } of bases) counts.set(base, (counts.get(base) ?? 0) + 1);
  const isPlain = (base: string): boolean => base !== "" && counts.get(base) === 1 && !used.has(base);
  const plain = bases.filter(({ base }) => isPlain(base));
  const others = bases.filter(({ base }) => !isPlain(base));
  const keys = new Map(plain.map(({ wish, base }) => [wish.id, base]));
  for (const base of keys.values()) used.add(base);
  for (const { wish, base } of others.toSorted((a, b) => compareText(a.wish.id, b.wish.id))) {
    const key = withId(base === "" ? wish.noun : base, wish.id, used);
    keys.set(wish.id, key);
    used.add(key);
  }
  return keys;
}

/** The shortest beginning of the id that tells it apart; ids that are alike to the end are counted. */
function withId(base: string, id: string, used: ReadonlySet<string>): string {
  const start = base === "x" ? "x_" : base;
  const tail = id.toLowerCase().replaceAll(/[^a-z0-9]/g, "");
  for (const length of [4, 8, 12, tail.length]) {
    const key = [start, tail.slice(0, length)].filter((part) => part !== "").join("-");
    if (!used.has(key)) return key;
  }
  for (let count = 2; ; count++) if (!used.has(`${start}-${count}`)) return `${start}-${count}`;
}

/** Names that Windows keeps for devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const LONGEST_FILE_NAME = 80;

/** A key as the name of a file or folder, without extension, that every system takes. */
export function fileName(key: string): string {
  const short = key.slice(0, LONGEST_FILE_NAME);
  return DEVICE.test(short) ? `${short}-tests` : short;
}

/** A file that is not there yet, named as near to the wish as can be. */
export function freeFile(wish: string, isTaken: (file: string) => boolean): string {
  if (!isTaken(wish)) return wish;
  const start = wish.replace(/\.yaml$/, "");
  for (let count = 1; ; count++) {
    const file = `${start}-imported${count === 1 ? "" : `-${count}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}

const IS_KEY = new RegExp(ANY_KEY, "u");
/** YAML of ours nests a hundred deep at most; some of that is above the value. */
const DEEPEST = 80;

/** A live value as a manifest declares it, with `${` escaped; `undefined` where its shape does not allow it. */
export function declarable(shape: Shape, live: Json): Json | undefined {
  switch (shape.type) {
    case "string":
    case "url":
    case "enum":
      return typeof live === "string" && convert(shape, live) !== undefined
        ? escapeTemplate(live)
        : undefined;
    case "integer":
      return typeof live === "number" ? convert(shape, live) : undefined;
    case "boolean":
      return typeof live === "boolean" ? live : undefined;
    case "list":
      return isArray(live) ? every(live.map((item) => declarable(shape.of, item))) : undefined;
    case "object":
      return isObject(live) ? declarableObject(shape, live) : undefined;
    case "map":
      return isObject(live)
        ? everyEntry(live, (key, value) => (IS_KEY.test(key) ? declarable(shape.of, value) : undefined))
        : undefined;
    case "json":
      return isObject(live) ? declarableJson(live, 0) : undefined;
    case "reference":
      return typeof live === "string" ? live : undefined;
  }
}

function declarableObject(
  { parts, required = [] }: Shape & { readonly type: "object" },
  live: JsonObject,
): Json | undefined {
  if (required.some((key) => !Object.hasOwn(live, key))) return undefined;
  return everyEntry(live, (key, value) => {
    const part = Object.hasOwn(parts, key) ? parts[key] : undefined;
    return part === undefined ? undefined : declarable(part.shape, value);
  });
}

function declarableJson(live: Json, depth: number): Json | undefined {
  if (depth > DEEPEST) return undefined;
  if (typeof live === "string") return escapeTemplate(live);
  if (isArray(live)) return every(live.map((item) => declarableJson(item, depth + 1)));
  if (!isObject(live)) return live;
  return everyEntry(live, (key, value) => (IS_KEY.test(key) ? declarableJson(value, depth + 1) : undefined));
}

/** All items, or nothing if one of them is missing. */
function every(items: readonly (Json | undefined)[]): readonly Json[] | undefined {
  const present = items.filter((item) => item !== undefined);
  return present.length === items.length ? present : undefined;
}

function everyEntry(
  live: JsonObject,
  read: (key: string, value: Json) => Json | undefined,
): JsonObject | undefined {
  const entries: [string, Json][] = [];
  for (const [key, value] of Object.entries(live)) {
    const own = read(key, value);
    if (own === undefined) return undefined;
    entries.push([key, own]);
  }
  return Object.fromEntries(entries);
}
