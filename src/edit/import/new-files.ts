import { keyRank } from "../../manifest/format.ts";
import { sorted, writeYaml } from "../../manifest/yaml/write.ts";
import { type Kind, compareText } from "../../model/address.ts";
import { countValues, groupBy } from "../../model/collections.ts";
import { fieldsOf } from "../../model/fields.ts";
import { type Json, type JsonObject, type Path, isObject } from "../../model/json.ts";
import { filled } from "../../model/words.ts";
import type { Draft, TargetDraft } from "./drafts.ts";
import type { FolderNames } from "./folders.ts";
import { chooseKeys } from "./keys.ts";

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
  /** By default, a target with many test cases in several folders gets a file per folder. */
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

/** The content of one file. */
interface Sheet extends TargetDraft {
  readonly file: string;
  /** Field name → the value that most test cases of a new target share. */
  readonly shared: Draft["fields"];
}

/** Lays drafts out in new files. */
export function layOut(drafts: readonly TargetDraft[], options: LayoutOptions): readonly NewFile[] {
  const used = new Set<string>();
  return drafts
    .flatMap((draft) => sheetsOf(draft, options))
    .map((sheet) => {
      const file = freeFile(
        sheet.file,
        (name) => used.has(name.toLowerCase()) || options.exists(name),
      );
      used.add(file.toLowerCase());
      const comments = commentsOf({ ...sheet, file }, options);
      const commentAt = (path: Path): string | undefined =>
        comments.get(path.join("\n"))?.join("\n");
      return {
        file,
        text: writeYaml(sorted(documentOf(sheet, options), [], keyRank("target")), commentAt),
        environments: sheet.environments.length,
        testCases: sheet.testCases.length,
      };
    });
}

/** Number of test cases up to which a target is one file. */
const ONE_FILE = 60;

function sheetsOf(
  { testCases, ...draft }: TargetDraft,
  { dir, layout, folderNames }: LayoutOptions,
): readonly Sheet[] {
  const start = [dir, fileName(draft.key)].filter((step) => step !== "").join("/");
  const names = folderNames.get(draft.live.id);
  const ids = new Set(testCases.flatMap(({ live }) => live.folderId ?? []));
  const wanted =
    layout ?? (testCases.length > ONE_FILE && ids.size > 1 ? "file-per-folder" : "one-file");
  const folders = chooseKeys([...ids].map((id) => ({ id, name: names?.get(id), noun: "folder" })));
  const folderOf = ({ live }: Draft): string => folders.get(live.folderId ?? "") ?? "";
  const fileOf = (one: Draft): string => {
    const folder = wanted === "one-file" || folderOf(one) === "" ? [] : [fileName(folderOf(one))];
    const own = wanted === "file-per-test-case" ? [fileName(one.key)] : [];
    return [start, ...folder, ...own].join("/");
  };
  const shared = draft.target === undefined ? {} : sharedFields(testCases);
  // In a file, test cases of one folder are next to each other.
  const inOrder = testCases.toSorted(
    (a, b) => compareText(folderOf(a), folderOf(b)) || compareText(a.key, b.key),
  );
  const files = new Map<string, readonly Draft[]>(groupBy(inOrder, fileOf));
  const isEmpty = draft.target === undefined && draft.environments.length === 0;
  if (!isEmpty && !files.has(start)) files.set(start, []);
  return [...files]
    .toSorted(([a], [b]) => compareText(a, b))
    .map(([file, own]) => ({
      ...(file === start ? draft : { ...draft, target: undefined, environments: [] }),
      testCases: own,
      file: `${file}.yaml`,
      shared,
    }));
}

/**
 * Returns the values of `status` and `runStatus` that at least three quarters of the test cases
 * share. Later test cases inherit them, so no other field becomes a default.
 */
function sharedFields(testCases: readonly Draft[]): Draft["fields"] {
  const shared = ["status", "runStatus"].flatMap((name): readonly (readonly [string, Json])[] => {
    const values = testCases.flatMap(({ fields }) => fields[name] ?? []);
    const [most] = [...countValues(values)].toSorted(([, a], [, b]) => b - a);
    const isShared = most !== undefined && most[1] > 1 && most[1] >= 0.75 * testCases.length;
    // A test case whose value cannot be declared would inherit the default.
    return isShared && values.length === testCases.length ? [[name, most[0]]] : [];
  });
  return Object.fromEntries(shared);
}

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
  const start = wanted.replace(/\.yaml$/, "");
  for (let count = 1; ; count++) {
    const file = `${start}-imported${count === 1 ? "" : `-${count}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}

/** Returns the `id:` of a draft that its fields do not identify. */
export function idOf(draft: Draft | undefined): JsonObject {
  return draft?.bind === true ? { id: draft.live.id } : {};
}

function documentOf(
  { key, target, environments, testCases, shared }: Sheet,
  { stage, isForStageAlone }: LayoutOptions,
): JsonObject {
  const only = stage !== undefined && isForStageAlone(key) ? { onlyStages: [stage] } : {};
  const section = (
    name: string,
    drafts: readonly Draft[],
    valueOf: (draft: Draft) => Json,
  ): JsonObject =>
    drafts.length === 0
      ? {}
      : { [name]: Object.fromEntries(drafts.map((draft) => [draft.key, valueOf(draft)])) };
  const valueOf = (draft: Draft): JsonObject => ({
    ...(stage === undefined ? idOf(draft) : {}),
    // Resources of a new target exist in the stages of the target, so only the target itself is
    // restricted.
    ...(draft === target || target === undefined ? only : {}),
    ...inDocument(draft.kind === "testCase" ? withoutShared(draft, shared) : draft),
  });
  const whole: JsonObject = {
    target: key,
    ...(target && valueOf(target)),
    ...(target && Object.keys(shared).length > 0 ? { defaults: { testCases: shared } } : {}),
    ...section("environments", environments, valueOf),
    ...section("testCases", testCases, valueOf),
  };
  const mustBind = ({ bind }: Draft): boolean => bind;
  const override: JsonObject = {
    ...idOf(target),
    ...section("environments", environments.filter(mustBind), idOf),
    ...section("testCases", testCases.filter(mustBind), idOf),
  };
  if (stage === undefined || Object.keys(override).length === 0) return whole;
  return { ...whole, stages: { [stage]: override } };
}

function withoutShared(draft: Draft, shared: Draft["fields"]): Draft {
  const own = Object.entries(draft.fields).filter(([name, value]) => shared[name] !== value);
  return { ...draft, fields: Object.fromEntries(own) };
}

/** Returns the fields in the form of a document, in the order of the field table. */
export function inDocument({ fields, kind }: Pick<Draft, "fields" | "kind">): JsonObject {
  const map: Record<string, Json> = {};
  for (const { name, path } of fieldsOf(kind)) {
    const value = fields[name];
    const [first = "", second] = path.map(String);
    if (value === undefined) continue;
    const inner = map[first];
    map[first] =
      second === undefined ? value : { ...(isObject(inner) ? inner : {}), [second]: value };
  }
  return map;
}

function commentsOf(sheet: Sheet, options: LayoutOptions): ReadonlyMap<string, readonly string[]> {
  const { target, environments, testCases, file } = sheet;
  const comments = new Map<string, string[]>();
  const add = (path: Path, lines: readonly string[]): void => {
    const at = path.join("\n");
    const isKept = (line: string) => line.length <= WIDEST || line.startsWith(" ");
    // Sentences wrap at the width of a comment; examples do not.
    const fit = lines.flatMap((line) => (isKept(line) ? [line] : filled(line.split(" "), WIDEST)));
    if (fit.length > 0) comments.set(at, [...(comments.get(at) ?? []), ...fit]);
  };
  // As `tasc init` writes it: the schemas are in `.tasc` in the project's folder.
  const up = "../".repeat(file.split("/").length - 1);
  add([], [`yaml-language-server: $schema=${up}.tasc/schemas/target.schema.json`]);
  if (target !== undefined) add([], hiddenFields(environments.length > 0, testCases.length > 0));
  for (const { key, notes } of environments) add(["environments", key], notes);
  add(["testCases"], unnamedFolders(sheet, options));
  for (const { key, notes } of testCases) add(["testCases", key], notes);
  return comments;
}

function unnamedFolders(
  { live: { id: targetId }, testCases }: Sheet,
  { folderNames, holdsSecret }: LayoutOptions,
): readonly string[] {
  const keys = new Map<string, string[]>();
  for (const { key, live } of testCases)
    if (typeof live.folderId === "string" && folderNames.get(targetId)?.has(live.folderId) !== true)
      keys.set(live.folderId, [...(keys.get(live.folderId) ?? []), key]);
  if (keys.size === 0) return [];
  return [
    "The API returns these folders by id only, so they are not declared.",
    "If you know the name, add `folder: NAME` to:",
    ...[...keys].flatMap(([id, own]) => [
      `  ${holdsSecret(id) ? "(sensitive)" : id}:`,
      ...filled(own, WIDEST, ", ", "    ", "    "),
    ]),
  ];
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
