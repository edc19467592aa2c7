import { isAbsolute, posix } from "node:path";
import { createInterface } from "node:readline/promises";
import type { ManifestProblem } from "../manifest/problem.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type ProjectReading, readProject, resolveProject } from "../manifest/load.ts";
import { type Address, targetAddress } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { TascError, stop } from "../model/error.ts";
import type { Json } from "../model/json.ts";
import type { LiveTarget, LiveTestCase, Read, Reader } from "../model/live.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import type { PlanInput } from "../plan/input.ts";
import { keyHolds } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { refreshEvents } from "../plan/record.ts";
import { applyEvents } from "../state/events.ts";
import { type EditedText, type NewText, editTexts, withTexts } from "./edit-files.ts";
import {
  type FolderNames,
  type FolderSources,
  type UnnamedFolder,
  folderEvents,
  trim,
} from "./import-declare.ts";
import { type Composed, type Skipped, knownOf } from "./import-known.ts";
import {
  type MergeSources,
  type Merging,
  type Pairs,
  type Unclear,
  mergeFields,
  mergeStage,
} from "./import-merge.ts";
import { type LayoutOptions, type NewFile, compose, layOut } from "./import-write.ts";
import { Manifests, changedFields } from "./rewrite.ts";

export interface PrepareOptions {
  readonly dir: string;
  readonly split: LayoutOptions["split"];
  readonly elements: boolean;
  /** Names folders; asked once, when it is known what is new. */
  readonly nameFolders: (sources: FolderSources) => Promise<FolderNames>;
  /** The project's folder as it is. */
  readonly folder: ProjectFolder;
  /** Which targets of other stages the live ones are: live id → key. */
  readonly pairs: Pairs;
  /** Keys for new targets, as the user says: live id → key. */
  readonly into?: Pairs;
  readonly holdsSecret: (value: Json) => boolean;
}

/** What an import would do; nothing of it is done yet. */
export interface Prepared {
  readonly files: readonly NewFile[];
  /** Manifests that are there already, with what is merged into them. */
  readonly texts: readonly EditedText[];
  readonly leftOut: readonly Skipped[];
  /** Target key → what its state is to learn. */
  readonly learnt: ReadonlyMap<string, readonly StateEvent[]>;
  /** What stands in the way; if anything does, no file may be written. */
  readonly unmatched: readonly string[];
  readonly problems: readonly Diagnostic[];
}

/**
 * Merges, drafts, files, proof; and again without what the proof refuted, until nothing is. Each round leaves out one
 * address at least, so that it ends.
 */
export async function prepare(sources: MergeSources, options: PrepareOptions): Promise<Prepared> {
  const excluded = new Set<Address>();
  const reasons = new Map<Address, string>();
  let folders: FolderNames | undefined;
  for (;;) {
    const merging = mergeStage(sources, options.pairs, excluded);
    const found = withMerging(sources, merging);
    folders ??= await options.nameFolders({
      targets: sources.chosen,
      testCases: found.input.live.testCases,
      known: found.known,
      inferred: merging.folders,
    });
    const attempt = await attemptOnce(sources, found, merging, folders, reasons, options);
    if (attempt.done !== undefined) return attempt.done;
    const wrong = [...attempt.refuted.keys()].filter((address) => merging.merged.has(address));
    for (const address of wrong) excluded.add(address);
    if (wrong.length === 0) for (const [address, reason] of attempt.refuted) reasons.set(address, reason);
  }
}

type Attempt =
  | { readonly done: Prepared }
  /** Addresses that cannot be imported like that. */
  | { readonly done?: undefined; readonly refuted: ReadonlyMap<Address, string> };

async function attemptOnce(
  sources: MergeSources,
  found: MergeSources,
  merging: Merging,
  folders: FolderNames,
  reasons: ReadonlyMap<Address, string>,
  options: PrepareOptions,
): Promise<Attempt> {
  const { elements, holdsSecret } = options;
  const { chosen, known, input } = found;
  const { targets, testCases } = input.live;
  const wanted = new Set(chosen.map(({ id }) => id));
  const whole = compose({
    targets,
    wanted,
    testCases,
    known,
    folders,
    elements,
    holdsSecret,
    into: options.into ?? new Map(),
    stage: sources.stages.length > 1 ? input.desired.stage : undefined,
  });
  const composed = trim(whole, reasons, targets);
  const folderEventsOf = learntBy(composed, found, folders);
  const before = { ...input, ...withLearnt(input, folderEventsOf) };
  const planned = makePlan(before);
  const fields = mergeFields({ ...merging, input: before, planned }, found, {
    elements,
    holdsSecret,
    folderName: (target, id) => folders.get(target)?.get(id),
  });
  const texts = await editTexts(sources.reading.documents, [...merging.edits, ...fields]);
  if ("reason" in texts)
    return { refuted: new Map([...merging.merged].map((address) => [address, texts.reason])) };
  const files = layOut(composed.targets, layoutOptions(sources, folders, options));
  const proof = await prove(files, texts, { ...options, sources, merged: merging.merged, before });
  if (proof.refuted.size > 0 && proof.problems.length === 0 && proof.unmatched.length === 0) return proof;
  const learnt = allLearnt(folderEventsOf, merging, proof.planned ?? planned, sources);
  const { unmatched, problems } = proof;
  return { done: { files, texts, leftOut: composed.leftOut, learnt, unmatched, problems } };
}

/** What is known once the stage is merged. */
function withMerging(sources: MergeSources, { documents, input, planned }: Merging): MergeSources {
  const { desired, states, strays } = input;
  const { project } = sources.reading;
  const known = knownOf({ desired, documents, project, planned, states, strays });
  return { ...sources, input, known };
}

/**
 * Folders, and which id each address has: an import binds, so that what is renamed on the service right after it is
 * known again. The records of its fields tell a later plan what has changed since.
 */
function allLearnt(
  folders: ReadonlyMap<string, readonly StateEvent[]>,
  { bound }: Merging,
  { matched }: Planned,
  { chosen, input }: MergeSources,
): ReadonlyMap<string, readonly StateEvent[]> {
  const ids = new Set(chosen.map(({ id }) => id));
  const stateOf = (key: string): State | undefined =>
    input.states.get(key) ?? input.strays.find(({ target }) => target === key);
  const keys = new Set([...folders.keys(), ...bound.keys()]);
  const settled = new Map<string, readonly StateEvent[]>();
  for (const [key, one] of matched) {
    const { fingerprints, live } = one;
    if (live === undefined || !ids.has(live.id) || fingerprints === undefined) continue;
    // Under another key than before all records would go, and with them what tells that a password was sent.
    if (!keyHolds(stateOf(key), fingerprints)) continue;
    keys.add(key);
    settled.set(
      key,
      refreshEvents(one, fingerprints, () => true).filter(({ type }) => type !== "unbound"),
    );
  }
  const pairs = [...keys].map((key): [string, readonly StateEvent[]] => {
    const own = (bound.get(key) ?? []).filter(
      (event) => event.type === "bound" && stateOf(key)?.bindings.get(event.address)?.id !== event.id,
    );
    return [key, [...(folders.get(key) ?? []), ...own, ...(settled.get(key) ?? [])]];
  });
  return new Map(pairs.filter(([, events]) => events.length > 0));
}

function layoutOptions(
  { stages, input, reading }: MergeSources,
  folders: FolderNames,
  { dir, split, folder, holdsSecret }: PrepareOptions,
): LayoutOptions {
  const { stage } = input.desired;
  const manifests = new Manifests(reading);
  const others = stages.filter((one) => one !== stage);
  return {
    dir,
    split,
    folders,
    shown: (text) => (holdsSecret(text) ? "(sensitive)" : text),
    stage: others.length > 0 ? stage : undefined,
    isForStageAlone: (key) =>
      !manifests.targets.includes(key) ||
      others.some((other) => manifests.layersOf({ stage: other, address: targetAddress(key) }).length > 0),
    exists: (file) => {
      const at = file.lastIndexOf("/");
      const name = file.slice(at + 1).toLowerCase();
      return folder.list(file.slice(0, Math.max(at, 0))).some((entry) => entry.name.toLowerCase() === name);
    },
  };
}

/** Targets that are imported learn the names of their folders, and so do those that are declared already. */
function learntBy(
  { targets: drafts }: Composed,
  { chosen, known }: MergeSources,
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

/** What a plan needs in addition to the live service. */
export type DeclaredInput = Omit<PlanInput, "live">;

/** The project as it was read. */
export type ProjectSources = Pick<MergeSources, "reading" | "resolve" | "stages">;

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
  declared: DeclaredInput,
  project: ProjectSources,
): Promise<Read<MergeSources, F>> {
  const lists = await Promise.all(
    chosen.map(async ({ id }) => [id, await reader.listTestCases(id, (testCase) => testCase)] as const),
  );
  const testCases = new Map<string, readonly LiveTestCase[]>();
  for (const [id, list] of lists) {
    if (!list.ok) return list;
    testCases.set(id, list.value);
  }
  const input: PlanInput = { ...declared, live: { targets, testCases } };
  const { desired, states, strays } = declared;
  const known = knownOf({ ...project.reading, desired, planned: makePlan(input), states, strays });
  return { ok: true, value: { ...project, chosen, known, input } };
}

/**
 * Whether a plan right after an import would be empty is asked of the planner itself, before anything is written: the
 * project is read as it will be and planned against what was read of the service. This catches what no rule about a
 * single field can see: defaults of existing documents that reach into new test cases, keys that state remembers, and
 * whatever planner and manifests will learn later.
 */
interface Proof {
  /** New or merged addresses of which a plan would not be empty, with what it would say. */
  readonly refuted: ReadonlyMap<Address, string>;
  /** Files that no pattern under `manifests` matches. */
  readonly unmatched: readonly string[];
  /** Errors that the project would have then, of which no new address is at fault. */
  readonly problems: readonly Diagnostic[];
  /** The plan right after. */
  readonly planned?: Planned;
}

interface ProofInput {
  readonly folder: ProjectFolder;
  readonly sources: MergeSources;
  readonly merged: ReadonlySet<Address>;
  /** What was planned from, before the new files; with the folder names that are learnt. */
  readonly before: PlanInput;
}

async function prove(
  files: readonly NewFile[],
  texts: readonly NewText[],
  { folder, sources, merged, before }: ProofInput,
): Promise<Proof> {
  if (files.length + texts.length === 0) return { refuted: new Map(), unmatched: [], problems: [] };
  const added = files.map(({ file, text }) => ({ file, after: text }));
  const reading = await readProject(withTexts(folder, [...texts, ...added]));
  const { stage } = before.desired;
  const resolution = resolveProject(reading, { ...sources.resolve, stage });
  const read = new Set(reading.documents.map(({ file }) => file));
  const unmatched = files
    .map(({ file }) => file)
    .filter((file) => !read.has(file) && reading.sources.get(file) === undefined);
  const desired = resolution.resolved?.desired;
  const declared = sources.input.desired.targets.flatMap(resourcesOf).map(({ address }) => address);
  const old = new Set(declared.filter((address) => !merged.has(address)));
  const refuted = new Map<Address, string>();
  const problems: Diagnostic[] = [];
  const own = new Set([...files, ...texts].map(({ file }) => file));
  const found = [...reading.problems, ...resolution.problems].filter(isError);
  for (const problem of found) refute(problem, own, old, refuted, problems);
  if (desired === undefined || found.length > 0) return { refuted, unmatched, problems };
  const targets = new Set(desired.targets.map(({ key }) => key));
  const strays = before.strays.filter(({ target }) => !targets.has(target));
  const revived = before.strays.filter(({ target }) => targets.has(target));
  const states = new Map([...before.states, ...revived.map((state) => [state.target, state] as const)]);
  const planned = makePlan({ ...before, desired, strays, states });
  for (const { address, fields } of planned.plan.changes)
    if (!old.has(address))
      refuted.set(
        address,
        `a plan would change it at once (${fields.map(({ path }) => path.join(".")).join(", ")})`,
      );
  for (const { severity, address, summary } of planned.plan.diagnostics)
    if (address !== undefined && !old.has(address) && (severity === "error" || merged.has(address)))
      refuted.set(address, summary);
  return { refuted, unmatched, problems: spoiltStages(reading, sources), planned };
}

/** What would be declared differently in another stage: nothing may. */
function spoiltStages(
  reading: ProjectReading,
  { reading: before, stages, input }: MergeSources,
): Diagnostic[] {
  if (reading.project === undefined) return [];
  const others = stages.filter((stage) => stage !== input.desired.stage);
  const after = new Manifests({ project: reading.project, documents: reading.documents });
  return changedFields(new Manifests(before), after, others).map(({ stage, address, field }) => ({
    severity: "error",
    code: "import-other-stage",
    address,
    summary: `${address} would change ${field.name} in stage ${stage}`,
    detail: "An import must change only the stage that it imports. Please report this.",
  }));
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

/** Live resources that were not imported, with the reason; a line each. */
export function skippedLines(leftOut: readonly Skipped[]): readonly string[] {
  return leftOut.map(({ app, kind, id, name, reason }) => {
    const noun = kind === "testCase" ? "test case" : kind === "target" ? "test target" : kind;
    const title = name === undefined ? "" : ` ${JSON.stringify(name)}`;
    return `left out  ${noun}${title} (${id}) of ${JSON.stringify(app)}: ${reason}`;
  });
}

export function unnamedLine(folders: readonly UnnamedFolder[]): string {
  const list = folders.map(
    ({ id, testCases }) => `  ${id}  (${counted(testCases.length, "test case") ?? ""})`,
  );
  return `The API returns these folders by id only, so they are not declared:\n${list.join("\n")}\nTo name one while importing, add --folder ID=NAME`;
}

function counted(count: number, noun: string): string | undefined {
  return count === 0 ? undefined : `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What the command line says of an import. */
export interface ImportArguments {
  /** From the project's folder on, with forward slashes; empty for that itself. */
  readonly dir: string;
  /** Folder id → name. */
  readonly folders: ReadonlyMap<string, string>;
  /** App or id of a live target → key of the target that it is. */
  readonly into: ReadonlyMap<string, string>;
}

export interface ImportArgumentsText {
  readonly dir: string | undefined;
  readonly folder: readonly string[];
  readonly into: readonly string[];
}

/** Reads the options of an import. @throws TascError */
export function readArguments({ dir, folder, into }: ImportArgumentsText): ImportArguments {
  const inside = insideOf(dir ?? "targets");
  if (inside === undefined) throw badArgument(`--dir ${dir ?? ""} is not a folder inside the project`);
  const folders = new Map(
    pairsIn("--folder", "ID=NAME", folder, (id, known) => `--folder gives two names to ${id}: ${known}`),
  );
  const targets = new Map(
    pairsIn("--into", "KEY=APP-or-ID", into, (key) => `--into names the target ${key} twice`).map(
      ([key, live]) => [live, key] as const,
    ),
  );
  for (const key of targets.values())
    if (!IS_KEY.test(key)) throw badArgument(`${JSON.stringify(key)}, which --into gives, is not a key`);
  return { dir: inside, folders, into: targets };
}

const IS_KEY = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

function pairsIn(
  option: string,
  form: string,
  texts: readonly string[],
  twice: (left: string, both: string) => string,
): readonly (readonly [string, string])[] {
  const pairs = new Map<string, string>();
  for (const text of texts) {
    const at = text.indexOf("=");
    const left = text.slice(0, Math.max(at, 0)).trim();
    const right = text.slice(at + 1).trim();
    if (left === "" || right === "")
      throw badArgument(`${option} takes ${form}, not ${JSON.stringify(text)}`);
    const known = pairs.get(left) ?? right;
    if (known !== right) throw badArgument(twice(left, `${known} and ${right}`));
    pairs.set(left, right);
  }
  return [...pairs];
}

function badArgument(summary: string): Error {
  return stop("invalid", "bad-option", summary);
}

function insideOf(dir: string): string | undefined {
  if (isAbsolute(dir) || /^[A-Za-z]:/.test(dir)) return undefined;
  const normal = posix.normalize(dir.replaceAll("\\", "/")).replace(/\/$/, "");
  if (normal === ".." || normal.startsWith("../") || normal.startsWith("/")) return undefined;
  return normal === "." ? "" : normal;
}

/** What only a person can say. */
export interface Question {
  readonly id: string;
  /** Quotes live names. */
  readonly text: string;
  /** Stands before the answer. */
  readonly prompt: string;
}

/** What a person who knows the folder's name needs to recognise it by. */
export function folderQuestion({ id, apps, testCases }: UnnamedFolder): Question {
  const examples = testCases.slice(0, 3).map((name) => JSON.stringify(name));
  const more = testCases.length > 3 ? `, and ${testCases.length - 3} more` : "";
  const text = `Folder ${id} of ${apps.join(", ")} contains ${examples.join(", ")}${more}.`;
  return { id, text, prompt: "Its name (leave empty to skip): " };
}

export function targetQuestion({ live: { id, app }, keys }: Unclear): Question {
  const text = `The live target ${JSON.stringify(app)} (${id}) may be ${keys.map((key) => `target.${key}`).join(" or ")}.`;
  return { id, text, prompt: "Key of the target that it is (a new key for a target of its own): " };
}

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
  readonly say: (text: string) => void;
}

/** Asks one question after the other; without a terminal, none. What is not answered has no entry. */
export async function ask(
  questions: readonly Question[],
  { stdin, stderr, say }: Terminal,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (questions.length === 0 || !stdin.isTTY || !stderr.isTTY) return answers;
  const terminal = createInterface({ input: stdin, output: stderr });
  const ended = new Promise<"interrupted" | "closed">((resolve) => {
    terminal.once("SIGINT", () => resolve("interrupted"));
    terminal.once("close", () => resolve("closed"));
  });
  try {
    for (const { id, text, prompt } of questions) {
      say(text);
      const answer = await Promise.race([
        ended.then((how) => ({ how })),
        terminal.question(prompt).then((words) => ({ words: words.trim() })),
      ]);
      if ("words" in answer) {
        if (answer.words !== "") answers.set(id, answer.words);
      } else if (answer.how === "interrupted") throw new TascError("interrupted", []);
      else break;
    }
    return answers;
  } finally {
    terminal.close();
  }
}
