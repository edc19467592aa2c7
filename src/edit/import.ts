import { isAbsolute, posix } from "node:path";
import { createInterface } from "node:readline/promises";
import type { Read, Reader } from "../look/look.ts";
import type { Document, ManifestProblem } from "../manifest/document.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type ResolveOptions, readProject, resolveProject } from "../manifest/load.ts";
import type { Address } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget, LiveTestCase } from "../model/live.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import type { PlanInput } from "../plan/input.ts";
import { makePlan } from "../plan/plan.ts";
import { applyEvents } from "../state/events.ts";
import { type FolderNames, type UnnamedFolder, folderEvents, trim } from "./import-declare.ts";
import { type Composed, type Known, type LeftOut, whatIsKnown } from "./import-known.ts";
import { type LayoutOptions, type NewFile, compose, layOut } from "./import-write.ts";
import { withTexts } from "./edit-files.ts";

export interface PrepareOptions {
  readonly dir: string;
  readonly split: LayoutOptions["split"];
  readonly elements: boolean;
  readonly folders: FolderNames;
  /** The project's folder as it is. */
  readonly folder: ProjectFolder;
  readonly resolve: ResolveOptions;
  /** Whether each stage has ids of its own. */
  readonly manyStages: boolean;
  readonly holdsSecret: (value: Json) => boolean;
}

/** What an import would do; nothing of it is done yet. */
export interface Prepared {
  readonly files: readonly NewFile[];
  readonly leftOut: readonly LeftOut[];
  /** Target key → what its state is to learn first. */
  readonly learnt: ReadonlyMap<string, readonly StateEvent[]>;
  /** What stands in the way; if anything does, no file may be written. */
  readonly unmatched: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/**
 * Drafts, files, proof; and again without what the proof refuted, until nothing is. Each round leaves out one address
 * at least, so that it ends.
 */
export async function prepare(found: Survey, options: PrepareOptions): Promise<Prepared> {
  const { targets, chosen, known, input } = found;
  const { elements, holdsSecret, folders } = options;
  const wanted = new Set(chosen.map(({ id }) => id));
  const { testCases } = input.live;
  let composed = compose({ targets, wanted, testCases, known, folders, elements, holdsSecret });
  for (;;) {
    const learnt = learntBy(composed, found, folders);
    const files = layOut(composed.drafts, layoutOptions(input.desired.stage, options));
    const before = { ...input, ...withLearnt(input, learnt) };
    const proof = await prove(files, { folder: options.folder, resolve: options.resolve, before });
    const { leftOut } = composed;
    if (proof.refuted.size === 0 || proof.problems.length > 0 || proof.unmatched.length > 0)
      return { files, leftOut, learnt, unmatched: proof.unmatched, problems: proof.problems };
    composed = trim(composed, proof.refuted, targets);
  }
}

function layoutOptions(stage: string, options: PrepareOptions): LayoutOptions {
  const { dir, split, folders, folder, manyStages } = options;
  return {
    dir,
    split,
    folders,
    stage: manyStages ? stage : undefined,
    exists: (file) => {
      const at = file.lastIndexOf("/");
      const name = file.slice(at + 1).toLowerCase();
      return folder.list(file.slice(0, Math.max(at, 0))).some((entry) => entry.name.toLowerCase() === name);
    },
  };
}

/** Targets that are imported learn the names of their folders, and so do those that are declared already. */
function learntBy(
  { drafts }: Composed,
  { chosen, known }: Survey,
  folders: FolderNames,
): ReadonlyMap<string, readonly StateEvent[]> {
  const keys = new Map(drafts.map(({ liveId, key }) => [liveId, key]));
  const pairs = chosen.flatMap(({ id }): [string, readonly StateEvent[]][] => {
    const target = known.targets.get(id);
    const key = keys.get(id) ?? (target?.declared === true ? target.key : undefined);
    const events = folderEvents(id, folders, known);
    return key === undefined || events.length === 0 ? [] : [[key, events]];
  });
  return new Map(pairs);
}

function withLearnt(
  { states, strays, desired, baseUrl }: PlanInput,
  learnt: ReadonlyMap<string, readonly StateEvent[]>,
): Pick<PlanInput, "states" | "strays"> {
  const learn = (key: string, state: State | undefined): State =>
    applyEvents(state ?? emptyState(desired.stage, key, baseUrl), learnt.get(key) ?? []);
  const isStray = new Set(strays.map(({ target }) => target));
  const keys = [...new Set([...states.keys(), ...learnt.keys()])].filter((key) => !isStray.has(key));
  return {
    states: new Map(keys.map((key) => [key, learn(key, states.get(key))])),
    strays: strays.map((state) => learn(state.target, state)),
  };
}

/** What an import reads, and what is known of it already. */
export interface Survey {
  readonly targets: readonly LiveTarget[];
  /** Those to import. */
  readonly chosen: readonly LiveTarget[];
  readonly known: Known;
  /** For the proof: all but what the import adds. */
  readonly input: PlanInput;
}

/** What a plan needs besides the live service. */
export type Declared = Omit<PlanInput, "live"> & { readonly documents: readonly Document[] };

/** The targets that are meant, or the words of `--target` that mean none. */
export function chooseTargets(
  targets: readonly LiveTarget[],
  wishes: readonly string[],
): { readonly chosen: readonly LiveTarget[]; readonly unknown: readonly string[] } {
  if (wishes.length === 0) return { chosen: targets, unknown: [] };
  return {
    chosen: targets.filter((target) => wishes.some((wish) => means(wish, target))),
    unknown: wishes.filter((wish) => !targets.some((target) => means(wish, target))),
  };
}

function means(wish: string, { id, app }: LiveTarget): boolean {
  return wish === id || wish === app;
}

/** Reads the test cases of the chosen targets, side by side, and finds out which of it manifests mean already. */
export async function survey<F>(
  reader: Reader<F>,
  targets: readonly LiveTarget[],
  chosen: readonly LiveTarget[],
  elements: boolean,
  { documents, ...declared }: Declared,
): Promise<Read<Survey, F>> {
  const keep = (testCase: LiveTestCase): LiveTestCase =>
    elements ? testCase : { ...testCase, elements: undefined };
  const lists = await Promise.all(
    chosen.map(async ({ id }) => [id, await reader.listTestCases(id, keep)] as const),
  );
  const testCases = new Map<string, readonly LiveTestCase[]>();
  for (const [id, list] of lists) {
    if (!list.ok) return list;
    testCases.set(id, list.value);
  }
  const input: PlanInput = { ...declared, live: { targets, testCases } };
  const { desired, states, strays } = declared;
  const known = whatIsKnown({ desired, documents, planned: makePlan(input), states, strays });
  return { ok: true, value: { targets, chosen, known, input } };
}

/**
 * Whether a plan right after an import would be empty is asked of the planner itself, before anything is written: the
 * project is read as it will be and planned against what was read of the service. This catches what no rule about a
 * single field can see: defaults of existing documents that reach into new test cases, keys that state remembers, and
 * whatever planner and manifests will learn later.
 */
export interface Proof {
  /** New addresses of which a plan would not be empty, with what it would say. */
  readonly refuted: ReadonlyMap<Address, string>;
  /** Files that no pattern under `manifests` matches. */
  readonly unmatched: readonly string[];
  /** Errors that the project would have then, of which no new address is at fault. */
  readonly problems: readonly Diagnostic[];
}

export interface ProofInput {
  readonly folder: ProjectFolder;
  readonly resolve: ResolveOptions;
  /** What was planned from, before the import; with the folder names that are learnt by it. */
  readonly before: PlanInput;
}

async function prove(files: readonly NewFile[], { folder, resolve, before }: ProofInput): Promise<Proof> {
  if (files.length === 0) return { refuted: new Map(), unmatched: [], problems: [] };
  const reading = await readProject(
    withTexts(
      folder,
      files.map(({ file, text }) => ({ file, after: text })),
    ),
  );
  const resolution = resolveProject(reading, resolve);
  const read = new Set(reading.documents.map(({ file }) => file));
  const unmatched = files.filter(({ file }) => !read.has(file) && reading.sources.get(file) === undefined);
  const found = [...reading.problems, ...resolution.problems].filter(isError);
  const desired = resolution.resolved?.desired;
  const old = new Set(before.desired.targets.flatMap(resourcesOf).map(({ address }) => address));
  const refuted = new Map<Address, string>();
  const problems: Diagnostic[] = [];
  const own = new Set(files.map(({ file }) => file));
  for (const problem of found) refute(problem, own, old, refuted, problems);
  if (desired === undefined || found.length > 0)
    return { refuted, unmatched: unmatched.map(({ file }) => file), problems };
  const declared = new Set(desired.targets.map(({ key }) => key));
  const strays = before.strays.filter(({ target }) => !declared.has(target));
  const revived = before.strays.filter(({ target }) => declared.has(target));
  const states = new Map([...before.states, ...revived.map((state) => [state.target, state] as const)]);
  const { plan } = makePlan({ ...before, desired, strays, states });
  for (const { address, fields } of plan.changes)
    if (!old.has(address))
      refuted.set(
        address,
        `a plan would change it at once (${fields.map(({ path }) => path.join(".")).join(", ")})`,
      );
  for (const { severity, address, summary } of plan.diagnostics)
    if (severity === "error" && address !== undefined && !old.has(address)) refuted.set(address, summary);
  return { refuted, unmatched: unmatched.map(({ file }) => file), problems };
}

/** That there is no manifest at all is said of the files that no pattern matches. */
function isError({ severity, code }: ManifestProblem): boolean {
  return severity === "error" && code !== "no-manifests";
}

/** An error about a new address counts against it; any other means that the project would no longer load. */
function refute(
  problem: ManifestProblem,
  own: ReadonlySet<string>,
  old: ReadonlySet<Address>,
  refuted: Map<Address, string>,
  problems: Diagnostic[],
): void {
  const { address, origin, summary } = problem;
  if (address !== undefined && !old.has(address) && own.has(origin.file)) refuted.set(address, summary);
  else problems.push(problem);
}

/** The line about a file that was written. */
export function fileLine({ file, environments, testCases }: NewFile): string {
  const parts = [counted(environments, "environment"), counted(testCases, "test case")];
  const held = parts.filter((part) => part !== undefined).join(", ");
  return held === "" ? `wrote  ${file}` : `wrote  ${file}  (${held})`;
}

/** What would be written, as a stream of documents that YAML readers can take apart again. */
export function previewOf(files: readonly NewFile[]): string {
  return files.map(({ file, text }) => `--- # ${file}\n${text}`).join("");
}

/** What is live and was not imported, with the reason; a line each. */
export function leftOutLines(leftOut: readonly LeftOut[]): readonly string[] {
  return leftOut.map(({ app, kind, id, name, reason }) => {
    const noun = kind === "testCase" ? "test case" : kind === "target" ? "test target" : kind;
    const title = name === undefined ? "" : ` ${JSON.stringify(name)}`;
    return `left out  ${noun}${title} (${id}) of ${JSON.stringify(app)}: ${reason}`;
  });
}

/** What a person who knows the folder's name needs to recognise it by. */
function folderQuestion({ id, apps, testCases }: UnnamedFolder): string {
  const examples = testCases.slice(0, 3).map((name) => JSON.stringify(name));
  const more = testCases.length > 3 ? `, and ${testCases.length - 3} more` : "";
  return `Folder ${id} of ${apps.join(", ")} holds ${examples.join(", ")}${more}.`;
}

export function unnamedLine(folders: readonly UnnamedFolder[]): string {
  const list = folders.map(
    ({ id, testCases }) => `  ${id}  (${counted(testCases.length, "test case") ?? ""})`,
  );
  return `The service shows these folders by id alone, so they are not declared:\n${list.join("\n")}\nTo name one while importing: --folder ID=NAME`;
}

function counted(count: number, noun: string): string | undefined {
  return count === 0 ? undefined : `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What the command line says of an import. */
export interface ImportArguments {
  /** From the project's folder on, with forward slashes; empty for that itself. */
  readonly dir: string;
  readonly split: "target" | "folder";
  /** Folder id → name. */
  readonly folders: ReadonlyMap<string, string>;
}

export interface GivenArguments {
  readonly dir: string | undefined;
  readonly split: string | undefined;
  readonly folders: readonly string[];
}

/** Reads the options of an import; a text says what is wrong with them. */
export function readArguments({ dir, split, folders }: GivenArguments): ImportArguments | string {
  const inside = insideOf(dir ?? "targets");
  if (inside === undefined) return `--dir ${dir ?? ""} is not a folder inside of the project`;
  const names = new Map<string, string>();
  for (const text of folders) {
    const at = text.indexOf("=");
    const id = text.slice(0, Math.max(at, 0)).trim();
    const name = text.slice(at + 1).trim();
    if (id === "" || name === "") return `--folder takes ID=NAME, and not ${JSON.stringify(text)}`;
    if ((names.get(id) ?? name) !== name) return `--folder gives two names to ${id}`;
    names.set(id, name);
  }
  return { dir: inside, split: split === "folder" ? "folder" : "target", folders: names };
}

function insideOf(dir: string): string | undefined {
  if (isAbsolute(dir) || /^[A-Za-z]:/.test(dir)) return undefined;
  const normal = posix.normalize(dir.replaceAll("\\", "/")).replace(/\/$/, "");
  if (normal === ".." || normal.startsWith("../") || normal.startsWith("/")) return undefined;
  return normal === "." ? "" : normal;
}

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
  /** Shows a text that quotes live names. */
  readonly say: (text: string) => void;
}

/** Asks for the name of each folder once; without a terminal, for none. An empty answer leaves it without a name. */
export async function askForNames(
  folders: readonly UnnamedFolder[],
  { stdin, stderr, say }: Terminal,
): Promise<ReadonlyMap<string, string> | "interrupted"> {
  const names = new Map<string, string>();
  if (folders.length === 0 || !stdin.isTTY || !stderr.isTTY) return names;
  const terminal = createInterface({ input: stdin, output: stderr });
  const ended = new Promise<"interrupted" | "closed">((resolve) => {
    terminal.once("SIGINT", () => resolve("interrupted"));
    terminal.once("close", () => resolve("closed"));
  });
  try {
    for (const folder of folders) {
      say(folderQuestion(folder));
      const answer = await Promise.race([
        ended.then((how) => ({ how })),
        terminal.question("Its name (empty: leave it undeclared): ").then((text) => ({ text })),
      ]);
      if ("how" in answer) return answer.how === "interrupted" ? "interrupted" : names;
      if (answer.text.trim() !== "") names.set(folder.id, answer.text.trim());
    }
    return names;
  } finally {
    terminal.close();
  }
}
