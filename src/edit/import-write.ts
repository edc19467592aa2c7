import { keyRank } from "../manifest/format.ts";
import { sorted, writeYaml } from "../manifest/yaml/write.ts";
import type { Kind } from "../model/address.ts";
import { type Part, fieldsOf } from "../model/fields.ts";
import { type Json, type JsonObject, type Path, isObject } from "../model/json.ts";
import { filled } from "../model/words.ts";
import type { Draft, FolderNames, TargetDraft } from "./import-draft.ts";
import { chooseKeys } from "./import-known.ts";

/** A new manifest. */
export interface NewFile {
  /** Path from the project's folder, with forward slashes. */
  readonly file: string;
  readonly text: string;
  readonly environments: number;
  readonly testCases: number;
}

export interface LayoutOptions {
  /**
   * Folder for manifests, relative to the project's folder; empty for the project's folder itself.
   */
  readonly dir: string;
  readonly split: "target" | "folder";
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
type Sheet = TargetDraft & { readonly file: string };

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

function sheetsOf(
  draft: TargetDraft,
  { dir, split, folderNames }: LayoutOptions,
): readonly Sheet[] {
  const start = [dir, fileName(draft.key)].filter((step) => step !== "").join("/");
  const ids = draft.testCases.flatMap(({ live }) =>
    split === "folder" ? (live.folderId ?? []) : [],
  );
  const names = folderNames.get(draft.live.id);
  const keys = chooseKeys(
    [...new Set(ids)].map((id) => ({ id, name: names?.get(id), noun: "folder" })),
  );
  const together = draft.testCases.filter(({ live: { folderId } }) => !keys.has(folderId ?? ""));
  const isEmpty = draft.target === undefined && draft.environments.length + together.length === 0;
  return [
    ...(isEmpty ? [] : [{ ...draft, testCases: together, file: `${start}.yaml` }]),
    ...[...keys]
      .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
      .map(([id, key]) => ({
        ...draft,
        file: `${start}/${fileName(key)}.yaml`,
        target: undefined,
        environments: [],
        testCases: draft.testCases.filter(({ live }) => live.folderId === id),
      })),
  ];
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

function documentOf(
  { key, target, environments, testCases }: Sheet,
  { stage, isForStageAlone }: LayoutOptions,
): JsonObject {
  const only = stage !== undefined && isForStageAlone(key) ? { onlyStages: [stage] } : {};
  const idOf = (draft: Draft | undefined): JsonObject =>
    draft?.bind === true ? { id: draft.live.id } : {};
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
    ...inDocument(draft),
  });
  const whole: JsonObject = {
    target: key,
    ...(target && valueOf(target)),
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

/** Returns the fields in the form of a document, in the order of the field table. */
function inDocument({ fields, kind }: Draft): JsonObject {
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
  const { key: targetKey, target, environments, testCases, file } = sheet;
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
  if (target !== undefined) {
    const [first = "target"] = Object.keys(target.fields);
    add([first], [...target.notes, ...hintsFor("target", [targetKey])]);
  }
  for (const { key, fields, notes } of environments) {
    add(["environments", key], notes);
    add(
      ["environments", key, ...Object.keys(fields).slice(0, 1)],
      hintsFor("environment", [targetKey, key]),
    );
  }
  if (testCases.length > 0 && target !== undefined)
    add(["testCases"], hintsFor("testCase", [targetKey]));
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

/**
 * Returns the lines of a comment that shows how to declare the fields of a resource that the API
 * does not return.
 */
function hintsFor(kind: Kind, owner: readonly string[]): readonly string[] {
  const fields =
    kind === "testCase"
      ? "this field for test cases. To manage it"
      : "these fields. To manage them";
  return [
    `The API does not return ${fields}, add for example:`,
    ...fieldsOf(kind)
      .filter(({ read, local }) => read === undefined && !local)
      .flatMap((field) => hintLines(field.name, field, [...owner, field.name], "  ")),
  ];
}

/** Writes an example in flow style if it fits on a line. */
function hintLines(
  name: string,
  part: Pick<Part, "shape" | "secret">,
  owner: readonly string[],
  indent: string,
): readonly string[] {
  const line = `${indent}${name}: ${example(part, owner)}`;
  if (line.length <= WIDEST || part.shape.type !== "object") return [line];
  const parts = Object.entries(part.shape.parts).flatMap(([key, inner]) =>
    hintLines(key, inner, [...owner, key], `${indent}  `),
  );
  return [`${indent}${name}:`, ...parts];
}

const EXAMPLES = {
  string: '"..."',
  url: "https://example.com",
  date: "2026-12-31",
  integer: "10000",
  boolean: "true",
  json: "{}",
  reference: "key",
} as const;

/**
 * Returns an example value of a shape in flow style; a secret is a variable:
 * SHOP_DEFAULT_TEST_ACCOUNT_PASSWORD.
 */
function example(
  { shape, secret }: Pick<Part, "shape" | "secret">,
  owner: readonly string[],
): string {
  if (secret === true) {
    const words = owner.map((name) =>
      name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").replaceAll(/[^A-Za-z0-9]+/g, "_"),
    );
    const name = words.join("_").toUpperCase();
    return `"\${secret:${name.replace(/^(?=\d)/, "_")}}"`;
  }
  if (shape.type === "enum") return JSON.stringify(shape.values[0] ?? "");
  if (shape.type === "list") return `[${example({ shape: shape.of }, owner)}]`;
  if (shape.type === "map") return `{ X-Name: ${example({ shape: shape.of }, owner)} }`;
  if (shape.type !== "object") return EXAMPLES[shape.type];
  const parts = Object.entries(shape.parts).map(
    ([key, part]) => `${key}: ${example(part, [...owner, key])}`,
  );
  return `{ ${parts.join(", ")} }`;
}
