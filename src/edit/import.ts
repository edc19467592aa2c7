import type { ProjectFolder } from "../manifest/files.ts";
import { readProject, resolveProject } from "../manifest/load.ts";
import { type Address, compareText, targetAddress } from "../model/address.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { defined } from "../model/json.ts";
import type { Binding, StateEvent } from "../model/state.ts";
import { keyHolds } from "../plan/memory.ts";
import { refreshEvents } from "../plan/record.ts";
import { cached, groupBy } from "../render/words.ts";
import { type EditedText, editTexts, withTexts } from "./edit-files.ts";
import {
  type DraftOptions,
  type Folder,
  type FolderNames,
  type Skipped,
  draftTargets,
  folderNamesIn,
  foldersOf,
} from "./import-draft.ts";
import { type ImportSources, type Learnt, type PlannedProject, planProject } from "./import-known.ts";
import { type Merging, type Pairs, mergeFields, mergeStage, withoutStage } from "./import-merge.ts";
import { type LayoutOptions, type NewFile, layOut } from "./import-write.ts";
import { Manifests, changedFields } from "./rewrite.ts";

export interface PrepareOptions
  extends Pick<LayoutOptions, "dir" | "split">, Pick<DraftOptions, "elements" | "holdsSecret"> {
  /** Names folders; asked once, when it is known what is new. */
  readonly nameFolders: (folders: readonly Folder[]) => Promise<readonly Folder[]>;
  readonly folder: ProjectFolder;
  /** Which targets of other stages the live ones are: live id → key. */
  readonly pairs: Pairs;
  /** Keys for new targets, as the user says: live id → key. */
  readonly into?: Pairs;
}

/** What an import would do; nothing of it is done yet. */
export interface Prepared {
  readonly files: readonly NewFile[];
  /** Manifests that are there already, with what is merged into them. */
  readonly texts: readonly EditedText[];
  readonly leftOut: readonly Skipped[];
  readonly learnt: Learnt;
  /** Files that no pattern under `manifests` matches; if there are any, nothing may be written. */
  readonly unmatched: readonly string[];
  /** Errors that the project would have then; likewise. */
  readonly problems: readonly Diagnostic[];
}

/** Addresses that cannot be imported like that, and why. */
type Refuted = ReadonlyMap<Address, string>;

/** Merges, drafts, files, proof; and again without what the proof refuted: each round leaves out one address at least. */
export async function prepare(sources: ImportSources, options: PrepareOptions): Promise<Prepared> {
  const excluded = new Set<Address>();
  const refused = new Map<Address, string>();
  let folders: readonly Folder[] | undefined;
  for (;;) {
    const merging = mergeStage(sources, options.pairs, excluded);
    folders ??= await options.nameFolders(foldersOf(sources, merging.project, merging.folders));
    const attempt = await attemptOnce(sources, merging, folderNamesIn(folders), refused, options);
    if ("files" in attempt) return attempt;
    const wrong = [...attempt.keys()].filter((address) => merging.merged.has(address));
    for (const address of wrong) excluded.add(address);
    if (wrong.length === 0) for (const [address, reason] of attempt) refused.set(address, reason);
  }
}

async function attemptOnce(
  sources: ImportSources,
  { merged, bound, edits, project }: Merging,
  folderNames: FolderNames,
  refused: Refuted,
  options: PrepareOptions,
): Promise<Prepared | Refuted> {
  const { reading, stages, desired, chosen } = sources;
  const { stage } = desired;
  const drafting = { ...options, folderNames };
  const { targets, leftOut } = draftTargets(sources, project, {
    ...drafting,
    refused,
    into: options.into ?? new Map(),
    plainApp: (app) => (stages.length > 1 ? withoutStage(app, stage) : app),
  });
  // The names of folders, for targets that are imported and for those that are declared already.
  const keys = new Map(targets.map(({ live, key }) => [live.id, key]));
  const folders = chosen.flatMap(({ id: live }): readonly [string, readonly StateEvent[]][] => {
    const own = project.known.get(live);
    const key = keys.get(live) ?? (own?.matched === undefined ? undefined : own.key);
    const names = [...(folderNames.get(live) ?? [])].toSorted(([a], [b]) => compareText(a, b));
    return key === undefined ? [] : [[key, names.map(([id, name]) => ({ type: "folder", name, id }))]];
  });
  const learnt = joined(folders, bound);
  const before = planProject(sources, project.documents, learnt, project.input.desired);
  const fields = mergeFields(before, merged, sources, drafting);
  const texts = await editTexts(reading.documents, [...edits, ...fields]);
  if ("reason" in texts) return new Map([...merged].map((address) => [address, texts.reason]));
  const files = layOut(targets, { ...drafting, ...placing(sources, options) });
  const proof = await prove(files, texts, options.folder, sources, merged, learnt);
  const { refuted, unmatched, problems, planned = before } = proof;
  if (refuted.size > 0 && problems.length + unmatched.length === 0) return refuted;
  return { files, texts, leftOut, learnt: allLearnt(sources, planned), unmatched, problems };
}

function joined(...all: readonly Iterable<readonly [string, readonly StateEvent[]]>[]): Learnt {
  const groups = groupBy(
    all.flatMap((one) => [...one]),
    ([key]) => key,
  );
  return new Map([...groups].map(([key, own]) => [key, own.flatMap(([, events]) => events)]));
}

/** Folders, ids and records of fields, so that what is renamed on the service, or changed since, is known again. */
function allLearnt({ chosen, states }: ImportSources, { learnt, matched }: PlannedProject): Learnt {
  const ids = new Set(chosen.map(({ id }) => id));
  const settled = [...matched].flatMap(([key, one]): readonly [string, readonly StateEvent[]][] => {
    const { fingerprints, live } = one;
    // Under another key than before all records would go, and with them what tells that a password was sent.
    const before = states.get(key);
    const isUsable = fingerprints !== undefined && keyHolds(before, fingerprints);
    if (!isUsable || live === undefined || !ids.has(live.id)) return [];
    // What the import itself binds does not say that tasc applied the target, so its batch generations are held.
    const isApplied = before !== undefined && before.bindings.size > 0;
    // As if an apply had taken them up: that they are imported is nothing new.
    const bindings = new Map<Address, Binding>();
    for (const [address, binding] of isApplied ? (one.state?.bindings ?? []) : [])
      bindings.set(address, defined({ ...binding, imported: undefined }));
    const state = one.state && { ...one.state, bindings };
    const events = refreshEvents({ ...one, state }, fingerprints, () => true);
    return [[key, events.filter(({ type }) => type !== "unbound")]];
  });
  const marked = (event: StateEvent): StateEvent =>
    event.type === "bound" ? { ...event, imported: true } : event;
  const all = [...joined(learnt, settled)].filter(([, events]) => events.length > 0);
  return new Map(all.map(([key, events]) => [key, events.map(marked)]));
}

/** In which stages new resources exist, and which files are there. */
function placing({ stages, desired: { stage }, reading }: ImportSources, { folder }: PrepareOptions) {
  const manifests = new Manifests(reading);
  const others = stages.filter((one) => one !== stage);
  const listed = new Map<string, ReadonlySet<string>>();
  return {
    stage: others.length > 0 ? stage : undefined,
    isForStageAlone: (key: string) =>
      !manifests.targets.includes(key) || others.some((other) => manifests.exists(other, targetAddress(key))),
    exists: (file: string) => {
      const parent = file.slice(0, Math.max(file.lastIndexOf("/"), 0));
      const list = () => new Set(folder.list(parent).map(({ name }) => name.toLowerCase()));
      return cached(listed, parent, list).has(file.slice(file.lastIndexOf("/") + 1).toLowerCase());
    },
  };
}

/**
 * Asks the planner itself, before anything is written, whether a plan right after an import would be empty. This catches
 * what no rule about a single field can see: defaults that reach into new test cases, keys that state remembers.
 * @returns as `refuted` the new or merged addresses of which a plan would not be empty, with what it would say
 */
async function prove(
  files: readonly NewFile[],
  texts: readonly EditedText[],
  folder: ProjectFolder,
  sources: ImportSources,
  merged: ReadonlySet<Address>,
  learnt: Learnt,
) {
  const refuted = new Map<Address, string>();
  const problems: Diagnostic[] = [];
  if (files.length + texts.length === 0) return { refuted, unmatched: [], problems };
  const added = files.map(({ file, text }) => ({ file, after: text }));
  const reading = await readProject(withTexts(folder, [...texts, ...added]));
  const { stage } = sources.desired;
  const resolution = resolveProject(reading, { ...sources.resolve, stage });
  const read = new Set(reading.documents.map(({ file }) => file));
  const unmatched = files.flatMap(({ file }) =>
    read.has(file) || reading.sources.get(file) !== undefined ? [] : [file],
  );
  const declared = sources.desired.targets.flatMap(resourcesOf).map(({ address }) => address);
  const old = new Set(declared.filter((address) => !merged.has(address)));
  const own = new Set([...files, ...texts].map(({ file }) => file));
  // That there is no manifest at all is said of the files that no pattern matches.
  const found = [...reading.problems, ...resolution.problems].filter(
    ({ severity, code }) => severity === "error" && code !== "no-manifests",
  );
  // An error about a new address counts against it; any other means that the project would no longer load.
  for (const problem of found) {
    const { address, origin, summary } = problem;
    if (address !== undefined && !old.has(address) && own.has(origin.file)) refuted.set(address, summary);
    else problems.push(problem);
  }
  const desired = resolution.resolved?.desired;
  if (desired === undefined || found.length > 0) return { refuted, unmatched, problems };
  const planned = planProject(sources, reading.documents, learnt, desired);
  for (const { address, fields } of planned.plan.changes)
    if (!old.has(address)) {
      const names = fields.map(({ path }) => path.join(".")).join(", ");
      refuted.set(address, `a plan would change it at once (${names})`);
    }
  for (const { severity, address, summary } of planned.plan.diagnostics)
    if (address !== undefined && !old.has(address) && (severity === "error" || merged.has(address)))
      refuted.set(address, summary);
  const others = sources.stages.filter((one) => one !== stage);
  const { project = sources.reading.project, documents } = reading;
  const spoilt = changedFields(sources.reading, { project, documents }, others).map(
    ({ stage: other, address, field }): Diagnostic => ({
      severity: "error",
      code: "import-other-stage",
      address,
      summary: `${address} would change ${field.name} in stage ${other}`,
      detail: "An import must change only the stage that it imports. Please report this.",
    }),
  );
  return { refuted, unmatched, problems: spoilt, planned };
}
