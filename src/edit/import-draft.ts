import { circlesIn } from "../manifest/interpolation.ts";
import { shortened } from "../manifest/problem.ts";
import { ANY_KEY, type ManifestShape, bare, convert, entryOf } from "../manifest/shape.ts";
import { ENVIRONMENTS, type SectionRow, TEST_CASES } from "../manifest/tables.ts";
import {
  type Address,
  addressOf,
  compareText,
  parseAddress,
  targetAddress,
} from "../model/address.ts";
import { DELETED, type Field, fieldsOf } from "../model/fields.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import type { LiveResource, LiveTarget } from "../model/live.ts";
import { urlOf } from "../model/shape.ts";
import { type MatchedTarget, liveInWords } from "../plan/compare.ts";
import { normalUrl } from "../plan/normalise.ts";
import { NAMED_BY, type NamedKind, matchedIds } from "../plan/match.ts";
import { type SecretFields, secretFields } from "../plan/memory.ts";
import { cached, groupBy } from "../model/collections.ts";
import {
  type ImportSources,
  type KnownResources,
  type PlannedProject,
  chooseKeys,
  countValues,
  defaultsOf,
  knownResources,
} from "./import-known.ts";
import { escaped } from "./manifests.ts";

/** A live resource in the form in which a manifest will declare it. */
export interface Draft {
  readonly kind: NamedKind;
  readonly live: LiveResource;
  readonly key: string;
  readonly address: Address;
  /** Whether it must be bound by `id:`, because its declared fields do not identify it uniquely. */
  readonly bind: boolean;
  /** By field name. */
  readonly fields: Readonly<Record<string, Json>>;
  /** Reasons why fields could not be declared, each a line of a comment. */
  readonly notes: readonly string[];
}

/** New resources of one live target, before they are laid out in files. */
export interface TargetDraft {
  readonly live: LiveTarget;
  readonly key: string;
  /** The target itself; undefined if a manifest already declares it. */
  readonly target: Draft | undefined;
  /** Sorted by key, like the test cases. */
  readonly environments: readonly Draft[];
  readonly testCases: readonly Draft[];
}

/** A live resource that is not imported, and why. */
export interface Skipped extends Pick<Draft, "kind"> {
  readonly app: string;
  readonly id: string;
  readonly name: string | undefined;
  readonly reason: string;
}

/** A folder of a target; the service returns only its id. */
export interface Folder {
  readonly target: LiveTarget;
  readonly id: string;
  readonly name: string | undefined;
  /** Names of its test cases that are not declared in any manifest. */
  readonly fresh: readonly string[];
}

/** Returns the folders with some names replaced. @param names by folder id */
export function foldersWith(names: ReadonlyMap<string, string>, folders: readonly Folder[]) {
  return folders.map((folder) => ({ ...folder, name: names.get(folder.id) ?? folder.name }));
}

/** Target id → folder id → name. */
export type FolderNames = ReadonlyMap<string, ReadonlyMap<string, string>>;

export function folderNamesIn(folders: readonly Folder[]): FolderNames {
  const found = new Map<string, Map<string, string>>();
  for (const { target, id, name } of folders)
    if (name !== undefined) cached(found, target.id, () => new Map<string, string>()).set(id, name);
  return found;
}

/** Returns the folders of the targets to import. @param inferred from other stages */
export function foldersOf(
  { chosen, base }: ImportSources,
  { known }: PlannedProject,
  inferred: FolderNames,
) {
  return chosen.flatMap((target) => {
    const { matched, state } = known.get(target.id) ?? {};
    const managed = matchedIds(matched?.matches ?? new Map());
    const learnt = [...(state?.folders ?? [])].map(([name, id]) => [id, name] as const);
    const names = new Map([...(inferred.get(target.id) ?? []), ...learnt]);
    const inFolders = (base.live.testCases.get(target.id) ?? []).filter(
      ({ folderId }) => typeof folderId === "string",
    );
    return [...groupBy(inFolders, ({ folderId }) => folderId ?? "")].map(([folder, own]) => {
      const fresh = own.filter(({ id, status }) => status !== DELETED && !managed.has(id));
      const inside = fresh.map(({ id, description }) => description ?? id);
      return { target, id: folder, name: names.get(folder), fresh: inside };
    });
  });
}

export interface DraftOptions extends Pick<DeclareOptions, "elements" | "holdsSecret"> {
  readonly folderNames: FolderNames;
  /** Keys that the user chose for new targets: live id → key. */
  readonly into: ReadonlyMap<string, string>;
  /** Returns a name without that of the stage. */
  readonly plainName: (name: string) => string;
  /** Addresses that cannot be imported, with the reason. */
  readonly refused: ReadonlyMap<Address, string>;
}

/** Drafts the undeclared resources of live targets, under keys of their own. */
export function draftTargets(
  { chosen, base, states, reading, desired: { stage } }: ImportSources,
  project: PlannedProject,
  options: DraftOptions,
): { readonly targets: readonly TargetDraft[]; readonly leftOut: readonly Skipped[] } {
  const leftOut: Skipped[] = [];
  const known = knownResources(project, reading.project);
  const drafting = { ...options, secrets: secretFields(states.values()), known, leftOut };
  const all = draftsOf("target", chosen, base.live.targets, { ...drafting, defaults: new Set() });
  const fresh = new Map(all.map((draft) => [draft.live.id, draft]));
  const left = new Set(leftOut.map(({ id }) => id));
  const targets = chosen.flatMap((live): readonly TargetDraft[] => {
    const { id, environments } = live;
    if (left.has(id)) return [];
    const target = fresh.get(id);
    const { key = "" } = target ?? project.known.get(id) ?? {};
    const own = [reading.project, ...project.documents.filter(({ value }) => value.target === key)];
    const names = options.folderNames.get(id);
    const inside = (section: SectionRow) => ({
      ...drafting,
      owner: { app: live.app, key },
      defaults: defaultsOf(own, stage, section),
      folderName: (folder: string) => names?.get(folder),
    });
    const cases = (base.live.testCases.get(id) ?? []).filter(({ status }) => status !== DELETED);
    return [
      {
        live,
        key,
        target,
        environments: draftsOf("environment", environments, environments, inside(ENVIRONMENTS)),
        testCases: draftsOf("testCase", cases, cases, inside(TEST_CASES)),
      },
    ];
  });
  const isKept = ({ kind, address, key, live: { id } }: Draft, app: string): boolean => {
    const reason = options.refused.get(address);
    if (reason !== undefined)
      leftOut.push({ app, kind, id, name: kind === "target" ? app : key, reason });
    return reason === undefined;
  };
  return {
    targets: targets
      .toSorted((a, b) => compareText(a.key, b.key))
      .flatMap((draft): readonly TargetDraft[] => {
        const { live, key, target } = draft;
        const { app } = live;
        if (target !== undefined && !isKept(target, app)) return [];
        const { matched } = project.known.get(live.id) ?? {};
        const kept = draft.testCases.filter((one) => isKept(one, app));
        const environments = draft.environments.filter((one) => isKept(one, app));
        const testCases = withPrerequisites(draft.testCases, kept, matched);
        const isEmpty = target === undefined && environments.length + testCases.length === 0;
        return isEmpty ? [] : [{ live, key, target, environments, testCases }];
      }),
    leftOut,
  };
}

const NOT_BINDABLE =
  "nothing that it shows tells it from all others, and its id is not a UUID, so that `id:` cannot bind it";
const UNCLEAR =
  "a manifest may mean it, which is not clear; `tasc plan` says what it takes to make it so";

/**
 * Returns the readable part of a name; for a URL host, port and path, which distinguish
 * environments of one application.
 */
function readableName(kind: NamedKind, text: string): string {
  const url = kind === "environment" ? urlOf(text) : undefined;
  if (url === undefined) return text;
  const { hostname, port, pathname } = url;
  return `${hostname.replace(/^www\./, "")} ${port} ${pathname}`;
}

interface Drafting extends DeclareOptions, Pick<DraftOptions, "into" | "plainName"> {
  readonly known: KnownResources;
  /** The target that contains the resources. */
  readonly owner?: { readonly app: string; readonly key: string };
  /** Receives the resources that are left out. */
  readonly leftOut: Skipped[];
}

/**
 * Drafts undeclared resources, each with a key.
 * @param all the resources that they could be mistaken for, and themselves
 */
function draftsOf(
  kind: NamedKind,
  listed: readonly LiveResource[],
  all: readonly LiveResource[],
  { known, owner, leftOut, into, plainName, ...options }: Drafting,
): readonly Draft[] {
  const target = owner?.key ?? "";
  const addressWith = (key: string): Address =>
    kind === "target" ? targetAddress(key) : addressOf(kind, target, key);
  const isFound = finder(kind, all);
  // If an id is listed twice, the planner uses the last entry.
  const fresh = [...new Map(listed.map((one) => [one.id, one])).values()].filter(
    ({ id }) => !known.managed.has(id),
  );
  const found = fresh.flatMap((live) => {
    const { id, externalId, type, [NAMED_BY[kind]]: name } = live;
    const declared = declareFields(fieldsOf(kind), live, options);
    const bind = !isFound(live, declared.fields);
    const names = [name, externalId, kind === "environment" ? type : undefined];
    const isDoubtful = known.isDoubtful(kind, target, id, names);
    if (!isDoubtful && (!bind || convert({ type: "uuid" }, id) !== undefined))
      return [{ kind, live, ...declared, bind }];
    const reason = isDoubtful ? UNCLEAR : NOT_BINDABLE;
    leftOut.push({ app: owner?.app ?? name ?? "", kind, id, name, reason });
    return [];
  });
  // First the keys that do not depend on the resource's name.
  const reserved = kind === "environment" ? "default" : "";
  const [first] = found
    .flatMap(({ live }) => (live.type === "DEFAULT" ? live.id : []))
    .toSorted(compareText);
  const isTaken = (key: string): boolean => known.taken.has(addressWith(key).toLowerCase());
  const keys = new Map<string, string>();
  for (const { live } of found) {
    const { id } = live;
    const { key: remembered = reserved } = parseAddress(known.remembered.get(id) ?? "") ?? {};
    const wanted = (kind === "target" && into.get(id)) || reserved;
    const isDefault = reserved !== "" && id === first && !known.declared.has(addressWith(reserved));
    if (isDefault) keys.set(id, reserved);
    else if (remembered !== reserved) keys.set(id, remembered);
    else if (wanted !== reserved && !isTaken(wanted)) keys.set(id, wanted);
  }
  const requests = found.flatMap(({ live: { id, [NAMED_BY[kind]]: name } }) => {
    const isHidden = options.secrets.get(id)?.includes(NAMED_BY[kind]) === true;
    const shown = name === undefined || isHidden || options.holdsSecret(name) ? undefined : name;
    const readable = shown && plainName(readableName(kind, shown));
    return keys.has(id) ? [] : [{ id, name: readable, noun: kind === "testCase" ? "case" : kind }];
  });
  const used = new Set([...keys.values(), reserved].map((key) => key.toLowerCase()));
  for (const [id, key] of chooseKeys(requests, (key) => used.has(key) || isTaken(key)))
    keys.set(id, key);
  const drafts = found.map((draft): Draft => {
    const key = keys.get(draft.live.id) ?? "";
    return { ...draft, key, address: addressWith(key) };
  });
  return drafts.toSorted((a, b) => compareText(a.key, b.key));
}

/**
 * Returns a function: whether declared fields match their live resource and no other, as the
 * planner does it.
 */
function finder(kind: NamedKind, all: readonly LiveResource[]) {
  const nameOf = ({ type, [NAMED_BY[kind]]: name }: LiveResource): string | undefined =>
    kind !== "environment"
      ? name
      : type === "DEFAULT"
        ? type
        : `${type ?? ""} ${normalUrl(name ?? "")}`;
  const names = countValues(all.map(nameOf));
  const externalIds = countValues(all.map(({ externalId }) => externalId));
  return (live: LiveResource, declared: Draft["fields"]): boolean => {
    if (typeof declared["externalId"] === "string") return externalIds.get(live.externalId) === 1;
    const isNamed = declared[NAMED_BY[kind]] !== undefined;
    const { type } = live;
    const isKnown =
      kind === "environment" ? type === "DEFAULT" || (type === "ADDITIONAL" && isNamed) : isNamed;
    return isKnown && names.get(nameOf(live)) === 1;
  };
}

const PREREQUISITE = "discovery.prerequisite";

/**
 * Adds the keys of prerequisites to test cases, except prerequisites that have no key here or that
 * close a cycle.
 * @param kept the drafts that were not refused; the others are left out
 */
function withPrerequisites(
  all: readonly Draft[],
  kept: readonly Draft[],
  matched: MatchedTarget | undefined,
): readonly Draft[] {
  const keys = new Map<string, string>();
  for (const { address, key } of matched?.target.testCases ?? []) {
    const id = matched?.matches.get(address)?.live?.id;
    if (id !== undefined) keys.set(id, key);
  }
  const staying = new Set([...keys.values(), ...kept.map(({ key }) => key)]);
  for (const { live, key } of all) keys.set(live.id, key);
  // A prerequisite of a test case that is already declared is itself declared, so these cannot
  // close a cycle.
  const next = new Map(
    all.map(({ key, live }) => [key, keys.get(live.prerequisiteId ?? "") ?? ""]),
  );
  const closing = new Set(circlesIn(next).map((circle) => circle.toSorted(compareText).at(-1)));
  const linked = all.map((draft) => {
    const id = draft.live.prerequisiteId ?? undefined;
    if (id === undefined) return draft;
    const key = keys.get(id);
    const noted = (reason: string) => ({
      ...draft,
      notes: [...draft.notes, `${PREREQUISITE}: ${reason}`],
    });
    if (key === undefined)
      return noted(`the service has ${id}, which is not among the test cases here.`);
    if (closing.has(draft.key))
      return noted(
        `the service has ${key}, which in turn runs after this one; a manifest cannot declare that.`,
      );
    if (!staying.has(key)) return noted("the service has one that is left out here.");
    return { ...draft, fields: { ...draft.fields, [PREREQUISITE]: key } };
  });
  return linked.filter(({ key }) => staying.has(key));
}

/** Options that decide how a live value is declared. */
interface DeclareOptions {
  readonly elements: boolean;
  /** Whether a value repeats a secret, which no file may show. */
  readonly holdsSecret: (value: Json) => boolean;
  /** Fields whose last written value was a secret. */
  readonly secrets: SecretFields;
  /** Fields that defaults would set if they were left out. */
  readonly defaults: ReadonlySet<string>;
  readonly folderName?: (id: string) => string | undefined;
}

/** Declares all that the API returns of a resource, except references to other resources. */
export function declareFields(rows: readonly Field[], live: LiveResource, options: DeclareOptions) {
  const notes: string[] = [];
  const fields: Record<string, Json> = {};
  for (const row of rows) {
    const { value, note } = declare(row, live, options);
    if (value !== undefined) fields[row.name] = value;
    if (note !== undefined) notes.push(`${row.name}: ${note}`);
  }
  return { fields, notes };
}

/**
 * Returns a field's value in the manifest, or a note that explains why it is missing, or neither.
 */
function declare(
  row: Field,
  live: LiveResource,
  { elements, defaults, folderName = () => undefined, holdsSecret, secrets }: DeclareOptions,
): { readonly value?: Json | undefined; readonly note?: string } {
  const isElements = row.compare === "elements";
  const reading = liveInWords(row, live, folderName);
  // Folders without a name are reported once for all of their test cases.
  if (row.shape.type === "reference" || reading.kind !== "shown" || (isElements && !elements))
    return {};
  const shown = reading.value;
  const value = isDeclarable(row.shape, shown) ? escaped(shown) : undefined;
  // A fixed value that a creation does not accept gets no note, because it is not a choice that
  // somebody made.
  if (row.update === undefined) return { value };
  // A missing value is left out, unless a default would then replace it.
  if (isNothing(shown))
    return defaults.has(row.name) && (isArray(shown) || row.nullable) ? { value: shown } : {};
  if (secrets.get(live.id)?.includes(row.name) === true)
    return {
      note: "a secret was written to it last, which the live value may still hold, so it is not written here.",
    };
  if (holdsSecret(shown)) {
    const [repeats, is] = isElements ? ["they repeat", "they are"] : ["it repeats", "it is"];
    return { note: `${repeats} the value of a secret, so ${is} not written here.` };
  }
  if (value !== undefined) return { value };
  if (isElements) return { note: "a manifest cannot declare all that they hold." };
  return {
    note: `the service has ${shortened(JSON.stringify(shown))}, which a manifest cannot declare.`,
  };
}

export function isNothing(value: Json): boolean {
  return value === null || (isArray(value) && value.length === 0);
}

const IS_KEY = new RegExp(ANY_KEY, "u");
/**
 * Maximum nesting of a value: our YAML nests a hundred levels at most, and some of them are above
 * the value.
 */
const DEEPEST = 80;

/** Whether a manifest can declare a live value of this shape. */
export function isDeclarable(shape: ManifestShape, live: Json): boolean {
  const { type } = shape;
  if (type === "list") return isArray(live) && live.every((item) => isDeclarable(shape.of, item));
  if (type === "json") return isObject(live) && isDeclarableJson(live, 0);
  if (type === "object" || type === "map")
    return (
      isObject(live) &&
      (type === "map" || (shape.required ?? []).every((key) => Object.hasOwn(live, key))) &&
      Object.entries(live).every(([key, value]) => {
        const part = IS_KEY.test(key) ? entryOf(bare(shape), key) : undefined;
        return part !== undefined && isDeclarable(part.shape, value);
      })
    );
  if (type === "boolean") return typeof live === "boolean";
  if (type === "integer") return typeof live === "number" && convert(shape, live) !== undefined;
  return typeof live === "string" && (type === "reference" || convert(shape, live) !== undefined);
}

function isDeclarableJson(live: Json, depth: number): boolean {
  if (depth > DEEPEST) return false;
  if (isArray(live)) return live.every((item) => isDeclarableJson(item, depth + 1));
  if (!isObject(live)) return true;
  return Object.entries(live).every(
    ([key, value]) => IS_KEY.test(key) && isDeclarableJson(value, depth + 1),
  );
}
