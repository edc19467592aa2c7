import { keyRank } from "../../manifest/format.ts";
import type { Document } from "../../manifest/document.ts";
import type { ProjectFolder } from "../../manifest/files.ts";
import { SECTIONS } from "../../manifest/tables.ts";
import { type YamlEdit, editValue } from "../../manifest/yaml/value.ts";
import { sorted, writeYaml } from "../../manifest/yaml/write.ts";
import { type Kind, addressOf, compareText, targetAddress } from "../../model/address.ts";
import { cached, countValues, groupBy } from "../../model/collections.ts";
import { fieldsOf } from "../../model/fields.ts";
import { type Json, type JsonObject, isObject } from "../../model/json.ts";
import { filled } from "../../model/words.ts";
import type { MatchedTarget } from "../../plan/matched-target.ts";
import type { NewText } from "../edit-files.ts";
import type { FileEdit } from "../manifests.ts";
import type { Draft } from "./drafts.ts";
import { chooseKeys } from "./keys.ts";
import type { PlannedProject } from "./planned-project.ts";
import type { ImportRequest } from "./request.ts";

/*
 * Where an import writes. The resources of a target that a manifest declares go next to their
 * neighbours; those of a new target, and those of a new folder where each folder has a file, get
 * new files. In both cases the same edits declare them: of the existing document, or of an empty
 * one.
 */

/** A new manifest. */
export interface NewFile extends NewText {
  readonly environments: number;
  readonly testCases: number;
}

/** The new resources of one target, and what decides where and how they are declared. */
interface Group {
  readonly target: string;
  /** Whether the target itself is new. */
  readonly isNew: boolean;
  readonly testCases: readonly Draft[];
  /** The existing documents; none if everything goes to new files. */
  readonly documents: readonly Document[];
  readonly matches: MatchedTarget["matches"];
  /** Returns a name for a folder: a key, or nothing for what is in no folder. */
  readonly folderOf: (id: string | null | undefined) => string;
  /** What test cases inherit if they do not declare it, by field name. */
  readonly defaults: ReadonlyMap<string, Json>;
}

/** Where one resource of a target goes. */
interface Place {
  /** A document, or the path of a new file without its extension. */
  readonly in: Document | string;
  /** The key in the same document after which it stands; the last one if there is none. */
  readonly after?: string | undefined;
}

type PlaceOf = (draft: Draft) => Place;

type SetEdit = YamlEdit & { readonly kind: "set" };

/**
 * Returns edits of existing documents, and new files, that declare the drafts.
 * @param closed files to which nothing can be added
 */
export function layOut(
  drafts: readonly Draft[],
  request: ImportRequest,
  project: PlannedProject,
  folderNames: ReadonlyMap<string, string>,
  closed: ReadonlySet<string>,
): { readonly edits: readonly FileEdit[]; readonly files: readonly NewFile[] } {
  const edits: FileEdit[] = [];
  const files: NewFile[] = [];
  const free = freeFilesIn(request.folder);
  for (const [target, own] of groupBy(drafts, (one) => one.target)) {
    const declaredIn =
      request.layout === undefined
        ? project.manifests.documentsOf(target).filter(({ file }) => !closed.has(file))
        : [];
    const group = groupOf(target, own, declaredIn, request, project, folderNames);
    const placeOf = placesOf(group, request);
    // In a file, test cases of one folder are next to each other.
    const inOrder = group.testCases.toSorted((a, b) =>
      compareText(group.folderOf(a.live.folderId), group.folderOf(b.live.folderId)),
    );
    const all = [...own.filter(({ kind }) => kind !== "testCase"), ...inOrder];
    const byPlace = [...groupBy(all, (one) => placeOf(one).in)];
    for (const [place, here] of byPlace.toSorted(([a], [b]) => compareText(pathOf(a), pathOf(b)))) {
      const made = here.flatMap((draft) =>
        declarations(draft, placeOf(draft).after, group, request, project),
      );
      if (typeof place === "string")
        files.push(newFile(free(`${place}.yaml`), target, here, made, folderNames, request));
      else
        for (const edit of made)
          edits.push({ file: place.file, edit: { ...edit, path: [...place.root, ...edit.path] } });
    }
  }
  return { edits, files };
}

function pathOf(place: Place["in"]): string {
  return typeof place === "string" ? place : place.file;
}

function groupOf(
  target: string,
  drafts: readonly Draft[],
  declaredIn: readonly Document[],
  { desired: { stage } }: ImportRequest,
  { manifests, matched }: PlannedProject,
  folderNames: ReadonlyMap<string, string>,
): Group {
  const isNew = drafts.some(({ kind }) => kind === "target");
  const testCases = drafts.filter(({ kind }) => kind === "testCase");
  const documents = isNew ? [] : declaredIn;
  const matches: Group["matches"] = matched.get(target)?.matches ?? new Map();
  const known = documents.length === 0 ? [] : [...matches.values()];
  const ids = new Set([...testCases, ...known].flatMap(({ live }) => live?.folderId ?? []));
  const keys = chooseKeys(
    [...ids].map((id) => ({ id, name: folderNames.get(id), noun: "folder" })),
  );
  return {
    target,
    isNew,
    testCases,
    documents,
    matches,
    folderOf: (id) => keys.get(id ?? "") ?? "",
    defaults: isNew ? sharedFields(testCases) : manifests.defaultsOf(stage, target, "testCase"),
  };
}

/** Number of test cases up to which a target is one file. */
const ONE_FILE = 60;

/**
 * Puts environments next to environments, and test cases behind those of their folder. A new folder
 * gets a file if other folders have one, and a test case if other test cases have one each.
 */
function placesOf(
  { target, testCases, documents, matches, folderOf }: Group,
  { dir, layout }: ImportRequest,
): PlaceOf {
  const start = joined(dir, fileName(target));
  const main = documents.find(({ value }) => value.app !== undefined) ?? documents[0];
  const withEnvironments = documents.find(({ value }) => keysAt(value, "environments").length > 0);
  const holders = documents.flatMap((document) => {
    const folders = keysAt(document.value, "testCases").map((key) => {
      const { live } = matches.get(addressOf("testCase", target, key)) ?? {};
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
  const isSplit =
    documents.length === 0
      ? testCases.length > ONE_FILE &&
        new Set(testCases.flatMap(({ live }) => live.folderId ?? [])).size > 1
      : holders.length > 1 || others.some(isNamedByFolder);
  const wanted =
    layout ?? (isOneEach ? "file-per-test-case" : isSplit ? "file-per-folder" : "one-file");
  const parents = new Set(others.map(({ path }) => parentOf(path)));
  const [first = start] = parents;
  const parent = parents.size > 1 ? parentOf(first) : first;
  return ({ kind, live, key }) => {
    if (kind !== "testCase") return { in: withEnvironments ?? main ?? start };
    const folder = folderOf(live.folderId);
    const best = byFolder.get(folder);
    if (wanted === "file-per-test-case") {
      const own = parents.size === 1 ? parent : joined(parent, fileName(folder));
      return { in: joined(best === undefined ? own : parentOf(best.path), fileName(key)) };
    }
    if (best !== undefined) return best;
    if (wanted === "one-file") return { in: holders[0]?.document ?? main ?? start };
    return { in: folder === "" ? (main ?? start) : joined(parent, fileName(folder)) };
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

/** Returns a function that gives a new file a name of its own. */
function freeFilesIn(folder: ProjectFolder): (wanted: string) => string {
  const used = new Set<string>();
  const listed = new Map<string, ReadonlySet<string>>();
  // Some file systems ignore case.
  const isTaken = (file: string): boolean => {
    const parent = parentOf(file);
    const list = () => new Set(folder.list(parent).map(({ name }) => name.toLowerCase()));
    const name = file.slice(file.lastIndexOf("/") + 1).toLowerCase();
    return used.has(file.toLowerCase()) || cached(listed, parent, list).has(name);
  };
  return (wanted) => {
    const file = freeFile(wanted, isTaken);
    used.add(file.toLowerCase());
    return file;
  };
}

/** Returns the edits of a document that declare a resource. @param after see `Place` */
function declarations(
  draft: Draft,
  after: string | undefined,
  { target, isNew, defaults }: Group,
  { stages, desired: { stage } }: ImportRequest,
  { manifests }: PlannedProject,
): readonly SetEdit[] {
  const { kind, key, live, bind, notes } = draft;
  const isTarget = kind === "target";
  const others = stages.filter((one) => one !== stage);
  // A resource exists in the stages of its target. If the target is new, these are this one alone.
  const isForStageAlone = isNew
    ? isTarget && others.length > 0
    : others.some((other) => manifests.exists(other, targetAddress(target)));
  const id = bind ? { id: live.id } : {};
  const section = SECTIONS.find((one) => one.kind === kind)?.name ?? "";
  const path = isTarget ? [] : [section, key];
  const value: JsonObject = {
    ...(isTarget ? { target } : {}),
    ...(others.length === 0 ? id : {}),
    ...(isForStageAlone ? { onlyStages: [stage] } : {}),
    ...fieldsIn(draft, kind === "testCase" ? defaults : new Map()),
    ...(isTarget && defaults.size > 0
      ? { defaults: { testCases: Object.fromEntries(defaults) } }
      : {}),
  };
  const lines = notes.flatMap((note) => filled(note.split(" "), WIDEST));
  const comment = lines.length === 0 ? undefined : lines.join("\n");
  const set = { kind: "set" as const, path, value, after, comment };
  // Each stage has ids of its own.
  return bind && others.length > 0
    ? [set, { kind: "set", path: ["stages", stage, ...path], value: id }]
    : [set];
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
  target: string,
  drafts: readonly Draft[],
  edits: readonly SetEdit[],
  folderNames: ReadonlyMap<string, string>,
  { holdsSecret }: ImportRequest,
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
    ["testCases", unnamedFolders(drafts, folderNames, holdsSecret)],
  ]);
  const value = sorted(editValue({ target }, edits, false), [], keyRank("target"));
  const after = writeYaml(value, (path) => comments.get(path.join("\n")));
  return { file, bom: false, before: undefined, after, environments, testCases };
}

function unnamedFolders(
  drafts: readonly Draft[],
  folderNames: ReadonlyMap<string, string>,
  holdsSecret: ImportRequest["holdsSecret"],
): string | undefined {
  const inFolders = drafts.filter(
    ({ live: { folderId } }) => typeof folderId === "string" && !folderNames.has(folderId),
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
