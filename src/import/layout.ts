import type { Json, JsonObject, Path } from "../model/json.ts";
import { writeYaml } from "../yaml/write.ts";
import type { Draft, Entry } from "./draft.ts";
import { fileName, freeFile } from "./file-names.ts";
import { hintsFor } from "./hints.ts";
import { chooseKeys } from "./keys.ts";
import { withValue } from "./paths.ts";

/** A new manifest. */
export interface NewFile {
  /** From the project's folder on, with forward slashes. */
  readonly file: string;
  readonly text: string;
  readonly environments: number;
  readonly testCases: number;
}

export interface LayoutOptions {
  /** The folder for manifests, from the project's on; empty for that itself. */
  readonly dir: string;
  readonly split: "target" | "folder";
  /** Where ids are bound: for one stage alone if the project has several, since each has ids of its own. */
  readonly stage: string | undefined;
  /** Folder id → name, by target id. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly exists: (file: string) => boolean;
}

/** What goes into one file. */
interface Sheet {
  readonly file: string;
  readonly draft: Draft;
  readonly target: Entry | undefined;
  readonly environments: readonly Entry[];
  readonly testCases: readonly Entry[];
}

/** Lays drafts out in files that are not there yet. */
export function layOut(drafts: readonly Draft[], options: LayoutOptions): readonly NewFile[] {
  const used = new Set<string>();
  const free = (wish: string): string => {
    const file = freeFile(wish, (name) => used.has(name.toLowerCase()) || options.exists(name));
    used.add(file.toLowerCase());
    return file;
  };
  return drafts
    .flatMap((draft) => sheetsOf(draft, options, free))
    .map((sheet) => ({
      file: sheet.file,
      text: textOf(sheet, options),
      environments: sheet.environments.length,
      testCases: sheet.testCases.length,
    }));
}

function sheetsOf(
  draft: Draft,
  { dir, split, folders }: LayoutOptions,
  free: (wish: string) => string,
): readonly Sheet[] {
  const { target, environments, testCases } = draft;
  const start = [dir, fileName(draft.key)].filter((step) => step !== "").join("/");
  const apart = split === "folder" ? testCases.filter(({ folderId }) => folderId !== null) : [];
  const names = folders.get(draft.liveId);
  const ids = [...new Set(apart.map(({ folderId }) => folderId ?? ""))];
  const keys = chooseKeys(
    ids.map((id) => ({ id, name: names?.get(id), noun: "folder" })),
    new Set(),
  );
  const together = testCases.filter((testCase) => !apart.includes(testCase));
  const hasMain = target !== undefined || environments.length > 0 || together.length > 0;
  const main = hasMain
    ? [{ file: free(`${start}.yaml`), draft, target, environments, testCases: together }]
    : [];
  const others = [...keys]
    .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
    .map(([id, key]) => ({
      file: free(`${start}/${fileName(key)}.yaml`),
      draft,
      target: undefined,
      environments: [],
      testCases: apart.filter(({ folderId }) => folderId === id),
    }));
  return [...main, ...others];
}

function textOf(sheet: Sheet, options: LayoutOptions): string {
  const comments = commentsOf(sheet, options);
  return writeYaml(documentOf(sheet, options.stage), {
    commentAt: (path) => comments.get(pathKey(path))?.join("\n"),
  });
}

function documentOf(
  { draft, target, environments, testCases }: Sheet,
  stage: string | undefined,
): JsonObject {
  const inline = stage === undefined;
  const whole: JsonObject = {
    target: draft.key,
    ...(inline ? idOf(target) : {}),
    ...target?.fields,
    ...section("environments", environments, (entry) => ({
      ...(inline ? idOf(entry) : {}),
      ...entry.fields,
    })),
    ...section("testCases", testCases, (entry) => ({ ...(inline ? idOf(entry) : {}), ...entry.fields })),
  };
  if (inline) return whole;
  const override: JsonObject = {
    ...idOf(target),
    ...section("environments", bound(environments), idOf),
    ...section("testCases", bound(testCases), idOf),
  };
  return Object.keys(override).length === 0 ? whole : withValue(whole, ["stages", stage], override);
}

function idOf(entry: Entry | undefined): JsonObject {
  return entry?.bind === true ? { id: entry.id } : {};
}

/** Those of which something else could be meant. */
function bound(entries: readonly Entry[]): readonly Entry[] {
  return entries.filter(({ bind }) => bind);
}

function section(name: string, entries: readonly Entry[], valueOf: (entry: Entry) => Json): JsonObject {
  if (entries.length === 0) return {};
  return { [name]: Object.fromEntries(entries.map((entry) => [entry.key, valueOf(entry)])) };
}

type Comments = ReadonlyMap<string, readonly string[]>;

function pathKey(path: Path): string {
  return path.join("\n");
}

function commentsOf(sheet: Sheet, options: LayoutOptions): Comments {
  const { draft, target, environments, testCases } = sheet;
  const comments = new Map<string, string[]>();
  const add = (path: Path, lines: readonly string[]): void => {
    const own = comments.get(pathKey(path)) ?? [];
    if (lines.length > 0) comments.set(pathKey(path), [...own, ...lines]);
  };
  add([], [modeline(sheet.file)]);
  if (target !== undefined) {
    const [first = "target"] = Object.keys(target.fields);
    add([first], [...target.notes, ...hintsFor("target", [draft.key])]);
  }
  for (const { key, fields, notes } of environments) {
    const place = ["environments", key];
    add(place, notes);
    add([...place, ...Object.keys(fields).slice(0, 1)], hintsFor("environment", [draft.key, key]));
  }
  if (testCases.length > 0) {
    const hints = target === undefined ? [] : hintsFor("testCase", [draft.key]);
    add(["testCases"], [...hints, ...unnamedFolders(sheet, options)]);
  }
  for (const { key, notes } of testCases) add(["testCases", key], notes);
  return comments;
}

/** As `tasc init` writes it: the schemas stand in `.tasc` of the project's folder. */
function modeline(file: string): string {
  const up = "../".repeat(file.split("/").length - 1);
  return `yaml-language-server: $schema=${up}.tasc/schemas/target.schema.json`;
}

function unnamedFolders({ draft, testCases }: Sheet, { folders }: LayoutOptions): readonly string[] {
  const names = folders.get(draft.liveId);
  const keys = new Map<string, string[]>();
  for (const { key, folderId } of testCases)
    if (folderId !== null && names?.get(folderId) === undefined)
      keys.set(folderId, [...(keys.get(folderId) ?? []), key]);
  if (keys.size === 0) return [];
  return [
    "The service shows these folders by id alone, so they are not declared. Where you know the name, add `folder: NAME`:",
    ...[...keys].map(([id, own]) => `  ${id}: ${own.join(", ")}`),
  ];
}
