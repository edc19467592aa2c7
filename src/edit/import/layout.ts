import { keyRank } from "../../manifest/format.ts";
import type { Document } from "../../manifest/document.ts";
import { SECTIONS } from "../../manifest/tables.ts";
import { type YamlEdit, editValue } from "../../manifest/yaml/value.ts";
import { sorted, writeYaml } from "../../manifest/yaml/write.ts";
import { type Kind, addressOf, compareText } from "../../model/address.ts";
import { countValues, groupBy } from "../../model/collections.ts";
import { fieldsOf } from "../../model/fields.ts";
import { type Json, type JsonObject, isObject } from "../../model/json.ts";
import { filled } from "../../model/words.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import type { FileEdit } from "../manifests.ts";
import type { Draft, TargetDraft } from "./drafts.ts";
import type { FolderNames } from "./folders.ts";
import { chooseKeys } from "./keys.ts";

/*
 * Where an import writes. The resources of a target that a manifest declares go next to their
 * neighbours; those of a new target, and those of a new folder where each folder has a file, get
 * new files. In both cases the same edits declare them: of the existing document, or of an empty
 * one.
 */

/** A new manifest. */
export interface NewFile {
  /** Path from the project's folder, with forward slashes. */
  readonly file: string;
  readonly text: string;
  readonly environments: number;
  readonly testCases: number;
}

export const LAYOUTS = ["one-file", "file-per-folder", "file-per-test-case"] as const;
export type Layout = (typeof LAYOUTS)[number];

export interface LayoutOptions {
  /**
   * Folder for manifests, relative to the project's folder; empty for the project's folder itself.
   */
  readonly dir: string;
  /**
   * Who asks for a layout gets new files. By default, resources go next to their neighbours, and a
   * new target with many test cases in several folders gets a file per folder.
   */
  readonly layout: Layout | undefined;
  /**
   * Stage in which ids are bound; set only if the project has several stages, since each stage has
   * ids of its own.
   */
  readonly stage: string | undefined;
  /** Whether new resources of a target must be restricted to this stage (`onlyStages`). */
  readonly isForStageAlone: (key: string) => boolean;
  readonly folderNames: FolderNames;
  readonly exists: (file: string) => boolean;
  readonly holdsSecret: (value: Json) => boolean;
}

/** A target that manifests declare: its documents, and what it has on the service. */
export interface DeclaredTarget {
  readonly documents: readonly Document[];
  readonly matches: MatchedTarget["matches"] | undefined;
}

/** Where one resource of a target goes. */
interface Place {
  /** A document, or the path of a new file without its extension. */
  readonly in: Document | string;
  /** The key in the same document after which it stands; the last one if there is none. */
  readonly after?: string | undefined;
}

type PlaceOf = (draft: Draft) => Place;

/** Returns edits of existing documents, and new files, that declare the drafts. */
export function layOut(
  drafts: readonly TargetDraft[],
  declared: (key: string) => DeclaredTarget | undefined,
  options: LayoutOptions,
): { readonly edits: readonly FileEdit[]; readonly files: readonly NewFile[] } {
  const used = new Set<string>();
  const isTaken = (file: string) => used.has(file.toLowerCase()) || options.exists(file);
  const edits: FileEdit[] = [];
  const files: NewFile[] = [];
  for (const draft of drafts) {
    const { key, target, environments, testCases } = draft;
    const known = target === undefined ? declared(key) : undefined;
    const folderOf = folderKeys(draft, known, options);
    const placeOf =
      known === undefined
        ? inNewFiles(draft, folderOf, options)
        : nextToNeighbours(key, known, folderOf, options);
    const defaults = target === undefined ? draft.defaults : sharedFields(testCases);
    // In a file, test cases of one folder are next to each other.
    const inOrder = testCases.toSorted(
      (a, b) =>
        compareText(folderOf(a.live.folderId), folderOf(b.live.folderId)) ||
        compareText(a.key, b.key),
    );
    const all = [...(target === undefined ? [] : [target]), ...environments, ...inOrder];
    const groups = [...groupBy(all, (one) => placeOf(one).in)];
    for (const [place, own] of groups.toSorted(([a], [b]) => compareText(pathOf(a), pathOf(b)))) {
      const made = declarations(draft, own, defaults, placeOf, options);
      if (typeof place !== "string") {
        const { file, root } = place;
        for (const edit of made)
          edits.push({ file, edit: { ...edit, path: [...root, ...edit.path] } });
        continue;
      }
      const file = freeFile(`${place}.yaml`, isTaken);
      used.add(file.toLowerCase());
      files.push(newFile(file, draft, own, made, options));
    }
  }
  return { edits, files };
}

function pathOf(place: Place["in"]): string {
  return typeof place === "string" ? place : place.file;
}

/** Number of test cases up to which a target is one file. */
const ONE_FILE = 60;

type FolderOf = (id: string | null | undefined) => string;

/** Returns a name for each folder of a target: a key, or nothing for what is in no folder. */
function folderKeys(
  { live, testCases }: TargetDraft,
  declared: DeclaredTarget | undefined,
  { folderNames }: LayoutOptions,
): FolderOf {
  const known = [...(declared?.matches?.values() ?? [])].map((one) => one.live);
  const all = [...testCases.map((one) => one.live), ...known];
  const names = folderNames.get(live.id);
  const ids = new Set(all.flatMap((one) => one?.folderId ?? []));
  const keys = chooseKeys([...ids].map((id) => ({ id, name: names?.get(id), noun: "folder" })));
  return (id) => keys.get(id ?? "") ?? "";
}

/** Lays a new target out in files of its own. */
function inNewFiles(
  { key, testCases }: TargetDraft,
  folderOf: FolderOf,
  { dir, layout }: LayoutOptions,
): PlaceOf {
  const start = joined(dir, fileName(key));
  const folders = new Set(testCases.flatMap(({ live }) => live.folderId ?? []));
  const wanted =
    layout ?? (testCases.length > ONE_FILE && folders.size > 1 ? "file-per-folder" : "one-file");
  return ({ kind, live, key: own }) => {
    if (kind !== "testCase" || wanted === "one-file") return { in: start };
    const folder = joined(start, fileName(folderOf(live.folderId)));
    return { in: wanted === "file-per-folder" ? folder : joined(folder, fileName(own)) };
  };
}

/**
 * Puts environments next to environments, and test cases behind those of their folder. A new folder
 * gets a file if other folders have one, and a test case if other test cases have one each.
 */
function nextToNeighbours(
  target: string,
  { documents, matches }: DeclaredTarget,
  folderOf: FolderOf,
  { dir }: LayoutOptions,
): PlaceOf {
  const main = documents.find(({ value }) => value.app !== undefined) ?? documents[0];
  const withEnvironments = documents.find(({ value }) => keysAt(value, "environments").length > 0);
  const holders = documents.flatMap((document) => {
    const folders = keysAt(document.value, "testCases").map((key) => {
      const { live } = matches?.get(addressOf("testCase", target, key)) ?? {};
      return { key, folder: folderOf(live?.folderId) };
    });
    const path = withoutExtension(document.file);
    return folders.length === 0 ? [] : [{ document, path, folders }];
  });
  // The document that has most test cases of a folder, and the last of these.
  const byFolder = new Map<string, Place & { readonly path: string; readonly count: number }>();
  for (const { document, path, folders } of holders)
    for (const [folder, own] of groupBy(folders, (one) => one.folder)) {
      const count = own.length;
      if (count <= (byFolder.get(folder)?.count ?? 0)) continue;
      byFolder.set(folder, { in: document, after: own.at(-1)?.key, path, count });
    }
  const others = holders.filter(({ document }) => document !== main);
  const isNamedByFolder = ({ path, folders: [first] }: (typeof holders)[number]): boolean =>
    path.slice(path.lastIndexOf("/") + 1) === fileName(first?.folder ?? "");
  const isOneEach =
    holders.length > 1 &&
    holders.every(({ folders }) => folders.length === 1) &&
    !others.every(isNamedByFolder);
  const isSplit = holders.length > 1 || others.some(isNamedByFolder);
  const parents = new Set(others.map(({ path }) => parentOf(path)));
  const [first = joined(dir, fileName(target))] = parents;
  const parent = parents.size > 1 ? parentOf(first) : first;
  return ({ kind, live, key }) => {
    const rest: Place = { in: main ?? first };
    if (kind === "environment") return { in: withEnvironments ?? rest.in };
    const folder = folderOf(live.folderId);
    const best = byFolder.get(folder);
    if (isOneEach) {
      const own = parents.size > 1 ? joined(parent, fileName(folder)) : parent;
      return { in: joined(best === undefined ? own : parentOf(best.path), fileName(key)) };
    }
    if (best !== undefined) return best;
    if (!isSplit) return { in: holders[0]?.document ?? rest.in };
    return folder === "" ? rest : { in: joined(parent, fileName(folder)) };
  };
}

function keysAt(value: JsonObject, section: string): readonly string[] {
  const inner = value[section];
  return isObject(inner) ? Object.keys(inner) : [];
}

/**
 * Returns the values of `status` and `runStatus` that at least three quarters of the test cases
 * share. Later test cases inherit them, so no other field becomes a default.
 */
function sharedFields(testCases: readonly Draft[]): ReadonlyMap<string, Json> {
  return new Map(
    INHERITED.flatMap((name): readonly (readonly [string, Json])[] => {
      const values = testCases.flatMap(({ fields }) => fields[name] ?? []);
      const [most] = [...countValues(values)].toSorted(([, a], [, b]) => b - a);
      const isShared = most !== undefined && most[1] > 1 && most[1] >= 0.75 * testCases.length;
      // A test case whose value cannot be declared would inherit the default.
      return isShared && values.length === testCases.length ? [[name, most[0]]] : [];
    }),
  );
}

/** The fields that an import writes into `defaults`, and leaves out where they are a default. */
const INHERITED = ["status", "runStatus"];

/** Names that Windows reserves for devices, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const LONGEST_FILE_NAME = 80;

/**
 * Makes a file or folder name from a key, without extension, that every operating system accepts.
 */
export function fileName(key: string): string {
  const short = key.slice(0, LONGEST_FILE_NAME);
  return DEVICE.test(short) ? `${short}-tests` : short;
}

/** Returns a file name that is not taken, as close to the wanted name as possible. */
export function freeFile(wanted: string, isTaken: (file: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  const start = withoutExtension(wanted);
  for (let count = 1; ; count++) {
    const file = `${start}-imported${count === 1 ? "" : `-${count}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}

function withoutExtension(file: string): string {
  return file.replace(/\.ya?ml$/, "");
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf("/"), 0));
}

function joined(...steps: readonly string[]): string {
  return steps.filter((step) => step !== "").join("/");
}

/** Returns the edits of a document that declare some resources of a target. */
function declarations(
  { key: target, target: fresh }: TargetDraft,
  drafts: readonly Draft[],
  defaults: ReadonlyMap<string, Json>,
  placeOf: PlaceOf,
  { stage, isForStageAlone }: LayoutOptions,
): readonly (YamlEdit & { readonly kind: "set" })[] {
  const only = stage !== undefined && isForStageAlone(target) ? { onlyStages: [stage] } : {};
  return drafts.flatMap((draft) => {
    const { kind, key, live, bind, notes } = draft;
    const isTarget = kind === "target";
    const id = bind ? { id: live.id } : {};
    const section = SECTIONS.find((one) => one.kind === kind)?.name ?? "";
    const path = isTarget ? [] : [section, key];
    const inherited = kind === "testCase" ? defaults : new Map<string, Json>();
    const value: JsonObject = {
      ...(isTarget ? { target } : {}),
      ...(stage === undefined ? id : {}),
      // Resources of a new target exist in the stages of the target.
      ...(isTarget || fresh === undefined ? only : {}),
      ...fieldsIn(draft, inherited),
      ...(isTarget && defaults.size > 0
        ? { defaults: { testCases: Object.fromEntries(defaults) } }
        : {}),
    };
    const lines = notes.flatMap((note) => filled(note.split(" "), WIDEST));
    const comment = lines.length === 0 ? undefined : lines.join("\n");
    const set = { kind: "set" as const, path, value, after: placeOf(draft).after, comment };
    return stage === undefined || !bind
      ? [set]
      : [set, { kind: "set" as const, path: ["stages", stage, ...path], value: id }];
  });
}

/** Returns the fields in the form of a document, in the order of the field table. */
function fieldsIn({ fields, kind }: Draft, inherited: ReadonlyMap<string, Json>): JsonObject {
  const edits = fieldsOf(kind).flatMap(({ name, path }): readonly YamlEdit[] => {
    const value = fields[name];
    const isInherited = INHERITED.includes(name) && inherited.get(name) === value;
    return value === undefined || isInherited ? [] : [{ kind: "set", path, value }];
  });
  const value = editValue({}, edits, false);
  return isObject(value) ? value : {};
}

function newFile(
  file: string,
  { key, live }: TargetDraft,
  drafts: readonly Draft[],
  edits: readonly (YamlEdit & { readonly kind: "set" })[],
  options: LayoutOptions,
): NewFile {
  const count = (kind: Kind) => drafts.filter((one) => one.kind === kind).length;
  const [environments, testCases] = [count("environment"), count("testCase")];
  // As `tasc init` writes it: the schemas are in `.tasc` in the project's folder.
  const up = "../".repeat(file.split("/").length - 1);
  const head = [
    `yaml-language-server: $schema=${up}.tasc/schemas/target.schema.json`,
    ...(count("target") === 0 ? [] : hiddenFields(environments > 0, testCases > 0)),
  ];
  const comments = new Map([
    ...edits.map(({ path, comment }) => [path.join("\n"), comment] as const),
    ["", head.join("\n")],
    ["testCases", unnamedFolders(live.id, drafts, options)],
  ]);
  const value = sorted(editValue({ target: key }, edits, false), [], keyRank("target"));
  const text = writeYaml(value, (path) => comments.get(path.join("\n")));
  return { file, text, environments, testCases };
}

function unnamedFolders(
  targetId: string,
  drafts: readonly Draft[],
  { folderNames, holdsSecret }: LayoutOptions,
): string | undefined {
  const inFolders = drafts.filter(
    ({ live: { folderId } }) =>
      typeof folderId === "string" && folderNames.get(targetId)?.has(folderId) !== true,
  );
  if (inFolders.length === 0) return undefined;
  const lines = [
    "The API returns these folders by id only, so they are not declared.",
    "If you know the name, add `folder: NAME` to:",
    ...[...groupBy(inFolders, ({ live }) => live.folderId ?? "")].flatMap(([id, own]) => [
      `  ${holdsSecret(id) ? "(sensitive)" : id}:`,
      ...filled(
        own.map(({ key }) => key),
        WIDEST,
        ", ",
        "    ",
        "    ",
      ),
    ]),
  ];
  return lines.join("\n");
}

/** Maximum width of a comment, without its `#`. */
const WIDEST = 92;

/** Returns the lines of a comment that names the fields that the API does not return. */
function hiddenFields(hasEnvironments: boolean, hasTestCases: boolean): readonly string[] {
  const kinds: readonly (readonly [Kind, string, boolean])[] = [
    ["target", "the target", true],
    ["environment", "environments", hasEnvironments],
    ["testCase", "test cases", hasTestCases],
  ];
  return [
    "The API does not return these fields. To manage one, add it; see `tasc schema target`.",
    ...kinds.flatMap(([kind, noun, isThere]) => {
      const names = fieldsOf(kind).flatMap(({ name, read, update }) =>
        read === undefined && update !== undefined ? name : [],
      );
      return isThere && names.length > 0 ? [`  ${noun}: ${names.join(", ")}`] : [];
    }),
  ];
}
