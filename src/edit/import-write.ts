import { writeYaml } from "../manifest/yaml/write.ts";
import { compareText } from "../model/address.ts";
import { TARGET_FIELDS } from "../model/fields.ts";
import type { Json, JsonObject, Path } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import { WIDEST, declareFields, hintsFor, importEnvironments, importTestCases } from "./import-declare.ts";
import { withoutStage } from "./import-merge.ts";
import {
  type Composed,
  type ImportedTarget,
  type ImportedResource,
  type Known,
  type KnownTarget,
  type Skipped,
  NOT_BINDABLE,
  UNCLEAR,
  canBind,
  chooseKeys,
  fileName,
  freeFile,
  isEmpty,
  withValue,
} from "./import-known.ts";

/** All that the drafts follow from. */
export interface ComposeInput {
  /** All live targets. */
  readonly targets: readonly LiveTarget[];
  /** Ids of those to import. */
  readonly wanted: ReadonlySet<string>;
  /** By target id. */
  readonly testCases: ReadonlyMap<string, readonly LiveTestCase[]>;
  readonly known: Known;
  /** Folder id → name, by target id. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly elements: boolean;
  readonly holdsSecret: (value: Json) => boolean;
  /** Keys for new targets, as the user says: live id → key. */
  readonly into: ReadonlyMap<string, string>;
  /** The stage, where the project has several: it is left out of keys. */
  readonly stage: string | undefined;
}

/** What to write for live targets: what no manifest declares yet, under keys of their own. */
export function compose(input: ComposeInput): Composed {
  const { known } = input;
  const wanted = input.targets.filter(({ id }) => input.wanted.has(id));
  const leftOut: Skipped[] = [];
  const clear = wanted.filter((live) => {
    const reason = obstacle(live, input);
    if (reason !== undefined)
      leftOut.push({ app: live.app, kind: "target", id: live.id, name: live.app, reason });
    return reason === undefined;
  });
  const keys = targetKeys(clear, input);
  const drafts = clear.map((live) => {
    const found = known.targets.get(live.id);
    const { draft, leftOut: own } = importTarget(live, keys.get(live.id) ?? "", found, input);
    leftOut.push(...own);
    return draft;
  });
  return {
    targets: drafts.filter((draft) => !isEmpty(draft)).toSorted((a, b) => compareText(a.key, b.key)),
    leftOut,
  };
}

function obstacle(live: LiveTarget, input: ComposeInput): string | undefined {
  if (input.known.targets.get(live.id)?.declared === true) return undefined;
  if (input.known.isDoubtful(live)) return UNCLEAR;
  return mustBind(live, input) && !canBind(live.id) ? NOT_BINDABLE : undefined;
}

function targetKeys(
  live: readonly LiveTarget[],
  { known, holdsSecret, into, stage }: ComposeInput,
): ReadonlyMap<string, string> {
  const said = new Map(
    live.flatMap(({ id }): [string, string][] => {
      const key = into.get(id) ?? "";
      return key === "" || known.targets.has(id) || known.targetKeys.has(key.toLowerCase())
        ? []
        : [[id, key]];
    }),
  );
  const unknown = live.filter(({ id }) => !known.targets.has(id) && !said.has(id));
  const wishes = unknown.map(({ id, app }) => ({
    id,
    name: holdsSecret(app) ? undefined : (stage && withoutStage(app, stage)) || app,
    noun: "target",
  }));
  const old = live.flatMap(({ id }): [string, string][] => {
    const found = known.targets.get(id);
    return found === undefined ? [] : [[id, found.key]];
  });
  const taken = new Set([...known.targetKeys, ...[...said.values()].map((key) => key.toLowerCase())]);
  return new Map([...old, ...said, ...chooseKeys(wishes, taken)]);
}

function importTarget(
  live: LiveTarget,
  key: string,
  known: KnownTarget | undefined,
  input: ComposeInput,
): { readonly draft: ImportedTarget; readonly leftOut: readonly Skipped[] } {
  const names = input.folders.get(live.id) ?? new Map<string, string>();
  const around = {
    elements: input.elements,
    holdsSecret: input.holdsSecret,
    folderName: (id: string) => names.get(id),
  };
  const environments = importEnvironments(live, (known ?? input.known.fresh).environments, around);
  const testCases = importTestCases(
    input.testCases.get(live.id) ?? [],
    (known ?? input.known.fresh).testCases,
    known?.prerequisites ?? new Map(),
    around,
  );
  return {
    draft: {
      liveId: live.id,
      key,
      known,
      target: known?.declared === true ? undefined : targetEntry(live, key, input),
      environments: environments.entries,
      testCases: testCases.entries,
    },
    leftOut: [...environments.leftOut, ...testCases.leftOut].map((one) => ({ ...one, app: live.app })),
  };
}

function targetEntry(live: LiveTarget, key: string, input: ComposeInput): ImportedResource {
  const { fields, notes } = declareTarget(live, input);
  return { id: live.id, key, bind: mustBind(live, input), fields, notes, folderId: null };
}

function declareTarget(live: LiveTarget, { elements, holdsSecret }: ComposeInput) {
  return declareFields(TARGET_FIELDS, live, {
    elements,
    holdsSecret,
    defaults: new Set(),
    folderName: () => undefined,
  });
}

/** A target is found by its app, if that is declared and no other live one has it. */
function mustBind(live: LiveTarget, input: ComposeInput): boolean {
  if (declareTarget(live, input).fields["app"] === undefined) return true;
  return input.targets.filter(({ app }) => app === live.app).length > 1;
}

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
  /** Folder id → name, by target id. */
  readonly folders: ReadonlyMap<string, ReadonlyMap<string, string>>;
  readonly exists: (file: string) => boolean;
  /** A text of the service without secrets. */
  readonly shown: (text: string) => string;
}

/** What goes into one file. */
interface Sheet {
  readonly file: string;
  readonly draft: ImportedTarget;
  readonly target: ImportedResource | undefined;
  readonly environments: readonly ImportedResource[];
  readonly testCases: readonly ImportedResource[];
}

/** Lays drafts out in files that are not there yet. */
export function layOut(drafts: readonly ImportedTarget[], options: LayoutOptions): readonly NewFile[] {
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
  draft: ImportedTarget,
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
  return writeYaml(documentOf(sheet, options), {
    commentAt: (path) => comments.get(pathKey(path))?.join("\n"),
  });
}

function documentOf(
  { draft, target, environments, testCases }: Sheet,
  { stage, isForStageAlone }: LayoutOptions,
): JsonObject {
  const inline = stage === undefined;
  const only = !inline && isForStageAlone(draft.key) ? { onlyStages: [stage] } : {};
  // Where the target itself is new, what is in it exists where it does.
  const [ofTarget, ofParts] = target === undefined ? [{}, only] : [only, {}];
  const valueOf = (entry: ImportedResource): JsonObject => ({
    ...(inline ? idOf(entry) : {}),
    ...ofParts,
    ...entry.fields,
  });
  const whole: JsonObject = {
    target: draft.key,
    ...(inline ? idOf(target) : {}),
    ...ofTarget,
    ...target?.fields,
    ...section("environments", environments, valueOf),
    ...section("testCases", testCases, valueOf),
  };
  if (inline) return whole;
  const override: JsonObject = {
    ...idOf(target),
    ...section("environments", bound(environments), idOf),
    ...section("testCases", bound(testCases), idOf),
  };
  return Object.keys(override).length === 0 ? whole : withValue(whole, ["stages", stage], override);
}

function idOf(entry: ImportedResource | undefined): JsonObject {
  return entry?.bind === true ? { id: entry.id } : {};
}

/** Those of which something else could be meant. */
function bound(entries: readonly ImportedResource[]): readonly ImportedResource[] {
  return entries.filter(({ bind }) => bind);
}

function section(
  name: string,
  entries: readonly ImportedResource[],
  valueOf: (entry: ImportedResource) => Json,
): JsonObject {
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
    if (lines.length > 0) comments.set(pathKey(path), [...own, ...lines.flatMap(wrapped)]);
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

/** As `tasc init` writes it: the schemas stand in `.tasc` of the project's folder. */
function modeline(file: string): string {
  const up = "../".repeat(file.split("/").length - 1);
  return `yaml-language-server: $schema=${up}.tasc/schemas/target.schema.json`;
}

function unnamedFolders({ draft, testCases }: Sheet, { folders, shown }: LayoutOptions): readonly string[] {
  const names = folders.get(draft.liveId);
  const keys = new Map<string, string[]>();
  for (const { key, folderId } of testCases)
    if (folderId !== null && names?.get(folderId) === undefined)
      keys.set(folderId, [...(keys.get(folderId) ?? []), key]);
  if (keys.size === 0) return [];
  return [
    "The API returns these folders by id only, so they are not declared.",
    "If you know the name, add `folder: NAME` to:",
    ...[...keys].flatMap(([id, own]) => [`  ${shown(id)}:`, ...filled(own, "    ")]),
  ];
}

/** Words in lines that a comment has room for. */
function filled(words: readonly string[], indent: string): readonly string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length + 2 > WIDEST) lines.push(`${indent}${word}`);
    else lines[lines.length - 1] = `${last}, ${word}`;
  }
  return lines;
}
