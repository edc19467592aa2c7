import { writeYaml } from "../manifest/yaml/write.ts";
import type { Kind } from "../model/address.ts";
import { type Part, fieldsOf } from "../model/fields.ts";
import { type Json, type JsonObject, type Path, isObject } from "../model/json.ts";
import { type Draft, type Folder, type TargetDraft, folderNamesOf } from "./import-draft.ts";
import { chooseKeys } from "./import-known.ts";

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
  /** Whether what is new in a target must be said to exist in this stage alone. */
  readonly isForStageAlone: (key: string) => boolean;
  readonly folders: readonly Folder[];
  readonly exists: (file: string) => boolean;
  readonly holdsSecret: (value: Json) => boolean;
}

/** What goes into one file. */
interface Sheet extends Omit<TargetDraft, "live"> {
  readonly file: string;
  readonly names: ReadonlyMap<string, string>;
}

/** Lays drafts out in files that are not there yet. */
export function layOut(drafts: readonly TargetDraft[], options: LayoutOptions): readonly NewFile[] {
  const used = new Set<string>();
  const free = (wanted: string): string => {
    const file = freeFile(wanted, (name) => used.has(name.toLowerCase()) || options.exists(name));
    used.add(file.toLowerCase());
    return file;
  };
  return drafts
    .flatMap((draft) => sheetsOf(draft, options, free))
    .map((sheet) => {
      const comments = commentsOf(sheet, options);
      const commentAt = (path: Path): string | undefined => comments.get(path.join("\n"))?.join("\n");
      return {
        file: sheet.file,
        text: writeYaml(documentOf(sheet, options), { commentAt }),
        environments: sheet.environments.length,
        testCases: sheet.testCases.length,
      };
    });
}

function sheetsOf(
  draft: TargetDraft,
  { dir, split, folders }: LayoutOptions,
  free: (wanted: string) => string,
): readonly Sheet[] {
  const start = [dir, fileName(draft.key)].filter((step) => step !== "").join("/");
  const names = folderNamesOf(draft.live.id, folders);
  const ids = draft.testCases.flatMap(({ live }) => (split === "folder" ? (live.folderId ?? []) : []));
  const keys = chooseKeys(
    [...new Set(ids)].map((id) => ({ id, name: names.get(id), noun: "folder" })),
    new Set(),
  );
  const together = draft.testCases.filter(
    ({ live: { folderId } }) => typeof folderId !== "string" || !keys.has(folderId),
  );
  const isEmpty = draft.target === undefined && draft.environments.length + together.length === 0;
  const main = { ...draft, names, testCases: together };
  return [
    ...(isEmpty ? [] : [{ ...main, file: free(`${start}.yaml`) }]),
    ...[...keys]
      .toSorted(([, a], [, b]) => (a < b ? -1 : 1))
      .map(([id, key]) => ({
        ...main,
        file: free(`${start}/${fileName(key)}.yaml`),
        target: undefined,
        environments: [],
        testCases: draft.testCases.filter(({ live }) => live.folderId === id),
      })),
  ];
}

/** Names that Windows keeps for devices, whatever the extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const LONGEST_FILE_NAME = 80;

/** A key as the name of a file or folder, without extension, that every system takes. */
export function fileName(key: string): string {
  const short = key.slice(0, LONGEST_FILE_NAME);
  return DEVICE.test(short) ? `${short}-tests` : short;
}

/** A file that is not there yet, named as near to the wanted name as can be. */
export function freeFile(wanted: string, isTaken: (file: string) => boolean): string {
  if (!isTaken(wanted)) return wanted;
  const start = wanted.replace(/\.yaml$/, "");
  for (let count = 1; ; count++) {
    const file = `${start}-imported${count === 1 ? "" : `-${count}`}.yaml`;
    if (!isTaken(file)) return file;
  }
}

type AnyDraft = Draft<{ readonly id: string }>;

function documentOf(
  { key, target, environments, testCases }: Sheet,
  { stage, isForStageAlone }: LayoutOptions,
): JsonObject {
  const inline = stage === undefined;
  const only = !inline && isForStageAlone(key) ? { onlyStages: [stage] } : {};
  // Where the target itself is new, what is in it exists where it does.
  const [ofTarget, ofParts] = target === undefined ? [{}, only] : [only, {}];
  const valueOf = (draft: AnyDraft, kind: Kind): JsonObject => ({
    ...(inline ? idOf(draft) : {}),
    ...ofParts,
    ...inDocument(draft, kind),
  });
  const whole: JsonObject = {
    target: key,
    ...(inline ? idOf(target) : {}),
    ...ofTarget,
    ...(target && inDocument(target, "target")),
    ...section("environments", environments, (one) => valueOf(one, "environment")),
    ...section("testCases", testCases, (one) => valueOf(one, "testCase")),
  };
  if (inline) return whole;
  const mustBind = ({ bind }: AnyDraft): boolean => bind;
  const override: JsonObject = {
    ...idOf(target),
    ...section("environments", environments.filter(mustBind), idOf),
    ...section("testCases", testCases.filter(mustBind), idOf),
  };
  return Object.keys(override).length === 0 ? whole : { ...whole, stages: { [stage]: override } };
}

function idOf(draft: AnyDraft | undefined): JsonObject {
  return draft?.bind === true ? { id: draft.live.id } : {};
}

function section(name: string, drafts: readonly AnyDraft[], valueOf: (draft: AnyDraft) => Json): JsonObject {
  if (drafts.length === 0) return {};
  return { [name]: Object.fromEntries(drafts.map((draft) => [draft.key, valueOf(draft)])) };
}

/** The fields as a document has them, in the order of the table. */
function inDocument({ fields }: AnyDraft, kind: Kind): JsonObject {
  const map: Record<string, Json> = {};
  for (const { name, path } of fieldsOf(kind)) {
    const value = fields[name];
    const [first = "", second] = path.map(String);
    if (value === undefined) continue;
    const inner = map[first];
    map[first] = second === undefined ? value : { ...(isObject(inner) ? inner : {}), [second]: value };
  }
  return map;
}

function commentsOf(sheet: Sheet, { holdsSecret }: LayoutOptions): ReadonlyMap<string, readonly string[]> {
  const { key: targetKey, target, environments, testCases } = sheet;
  const comments = new Map<string, string[]>();
  const add = (path: Path, lines: readonly string[]): void => {
    const at = path.join("\n");
    if (lines.length > 0) comments.set(at, [...(comments.get(at) ?? []), ...lines.flatMap(wrapped)]);
  };
  // As `tasc init` writes it: the schemas stand in `.tasc` of the project's folder.
  const up = "../".repeat(sheet.file.split("/").length - 1);
  add([], [`yaml-language-server: $schema=${up}.tasc/schemas/target.schema.json`]);
  if (target !== undefined) {
    const [first = "target"] = Object.keys(target.fields);
    add([first], [...target.notes, ...hintsFor("target", [targetKey])]);
  }
  for (const { key, fields, notes } of environments) {
    add(["environments", key], notes);
    add(["environments", key, ...Object.keys(fields).slice(0, 1)], hintsFor("environment", [targetKey, key]));
  }
  if (testCases.length > 0) {
    const hints = target === undefined ? [] : hintsFor("testCase", [targetKey]);
    add(["testCases"], [...hints, ...unnamedFolders(sheet, holdsSecret)]);
  }
  for (const { key, notes } of testCases) add(["testCases", key], notes);
  return comments;
}

function unnamedFolders(
  { names, testCases }: Sheet,
  holdsSecret: LayoutOptions["holdsSecret"],
): readonly string[] {
  const keys = new Map<string, string[]>();
  for (const { key, live } of testCases)
    if (typeof live.folderId === "string" && !names.has(live.folderId))
      keys.set(live.folderId, [...(keys.get(live.folderId) ?? []), key]);
  if (keys.size === 0) return [];
  return [
    "The API returns these folders by id only, so they are not declared.",
    "If you know the name, add `folder: NAME` to:",
    ...[...keys].flatMap(([id, own]) => [`  ${holdsSecret(id) ? "(sensitive)" : id}:`, ...filled(own)]),
  ];
}

/** Columns of a comment, its sign left out. */
const WIDEST = 92;

/** A sentence in lines that a comment has room for; an example stays as it is. */
function wrapped(line: string): readonly string[] {
  if (line.length <= WIDEST || line.startsWith(" ")) return [line];
  const lines = [""];
  for (const word of line.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last !== "" && last.length + word.length >= WIDEST) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}

/** Keys in lines that a comment has room for. */
function filled(keys: readonly string[]): readonly string[] {
  const lines: string[] = [];
  for (const key of keys) {
    const last = lines.at(-1);
    if (last === undefined || last.length + key.length + 2 > WIDEST) lines.push(`    ${key}`);
    else lines[lines.length - 1] = `${last}, ${key}`;
  }
  return lines;
}

/** The lines of a comment that shows how to declare what the interface does not show of a resource. */
function hintsFor(kind: Kind, owner: readonly string[]): readonly string[] {
  return [
    kind === "testCase"
      ? "The API does not return this field for test cases. To manage it, add for example:"
      : "The API does not return these fields. To manage them, add for example:",
    ...fieldsOf(kind)
      .filter(({ read }) => read === undefined)
      .flatMap((field) => hintLines(field.name, field, [...owner, field.name], "  ")),
  ];
}

/** In flow style where that fits into a line. */
function hintLines(
  name: string,
  part: Pick<Part, "shape" | "secret">,
  owner: readonly string[],
  indent: string,
): readonly string[] {
  const line = `${indent}${name}: ${example(part, owner)}`;
  if (line.length <= WIDEST || part.shape.type !== "object") return [line];
  const parts = Object.entries(part.shape.parts);
  return [
    `${indent}${name}:`,
    ...parts.flatMap(([key, inner]) => hintLines(key, inner, [...owner, key], `${indent}  `)),
  ];
}

const EXAMPLES = {
  string: '"..."',
  url: "https://example.com",
  integer: "10000",
  boolean: "true",
  json: "{}",
  reference: "key",
} as const;

/** A value of a shape in flow style, a secret one by a variable: SHOP_DEFAULT_TEST_ACCOUNT_PASSWORD. */
function example({ shape, secret }: Pick<Part, "shape" | "secret">, owner: readonly string[]): string {
  if (secret === true) {
    const words = owner.map((name) =>
      name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, "_").replaceAll(/[^A-Za-z0-9]+/g, "_"),
    );
    return `"\${secret:${words
      .join("_")
      .toUpperCase()
      .replace(/^(?=\d)/, "_")}}"`;
  }
  if (shape.type === "enum") return JSON.stringify(shape.values[0] ?? "");
  if (shape.type === "list") return `[${example({ shape: shape.of }, owner)}]`;
  if (shape.type === "map") return `{ X-Name: ${example({ shape: shape.of }, owner)} }`;
  if (shape.type !== "object") return EXAMPLES[shape.type];
  const parts = Object.entries(shape.parts).map(([key, part]) => `${key}: ${example(part, [...owner, key])}`);
  return `{ ${parts.join(", ")} }`;
}
