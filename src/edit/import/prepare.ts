import type { ProjectFolder } from "../../manifest/files.ts";
import { readProject, resolveProject } from "../../manifest/load.ts";
import { type Address, compareText, targetAddress } from "../../model/address.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { defined } from "../../model/json.ts";
import type { LiveResource } from "../../model/live.ts";
import type { Binding, StateEvent } from "../../model/state.ts";
import { keyHolds } from "../../plan/memory.ts";
import { refreshEvents } from "../../plan/record.ts";
import { cached, groupBy } from "../../model/collections.ts";
import { type EditedText, editTexts, withTexts } from "../edit-files.ts";
import { Manifests, changedFields } from "../manifests.ts";
import { type DraftOptions, type Skipped, draftTargets } from "./drafts.ts";
import { type Folder, type FolderNames, folderNamesIn, foldersOf } from "./folders.ts";
import { type Merging, mergeFields, mergeStage } from "./merge-stage.ts";
import { type LayoutOptions, type NewFile, layOut } from "./layout.ts";
import { type Pairs, plainName } from "./pair-targets.ts";
import {
  type ImportSources,
  type Learnt,
  type PlannedProject,
  planProject,
} from "./planned-project.ts";

/*
 * An import declares the live resources that its stage does not declare yet:
 *
 * 1. pair-targets.ts finds which declared target each live one is in this stage,
 * 2. merge-stage.ts gives declared resources that are live here their values in this stage,
 * 3. drafts.ts declares the live resources that remain; layout.ts puts them next to their
 *    neighbours, or into new files,
 * 4. the planner proves that a plan would be empty; what it refutes is left out, and all repeats.
 */

export interface PrepareOptions
  extends Pick<LayoutOptions, "dir" | "layout">, Pick<DraftOptions, "elements" | "holdsSecret"> {
  /** Names folders; called once, when the new test cases are known. */
  readonly nameFolders: (folders: readonly Folder[]) => Promise<readonly Folder[]>;
  readonly folder: ProjectFolder;
  /** The targets of other stages that the live ones correspond to: live id → key. */
  readonly pairs: Pairs;
  /** Keys that the user chose for new targets: live id → key. */
  readonly into?: Pairs;
}

/** The result of an import that has not been written yet. */
export interface Prepared {
  readonly files: readonly NewFile[];
  /** Existing manifests, with the changes that are merged into them. */
  readonly texts: readonly EditedText[];
  readonly leftOut: readonly Skipped[];
  readonly learnt: Learnt;
  /** The new test cases whose steps no manifest declares, as they are on the service. */
  readonly generated: readonly { readonly address: Address; readonly live: LiveResource }[];
  /** Files that match no pattern under `manifests`; if there are any, nothing may be written. */
  readonly unmatched: readonly string[];
  /**
   * Errors that the project would have after the import; if there are any, nothing may be written.
   */
  readonly problems: readonly Diagnostic[];
}

/** Addresses that cannot be imported in this way, with the reason. */
type Refuted = ReadonlyMap<Address, string>;

/**
 * Merges, drafts, lays out and proves, repeatedly: each round leaves out at least one address that
 * the proof refuted.
 */
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
  const manifests = new Manifests({ project: reading.project, documents: project.documents });
  const { targets, leftOut } = draftTargets(sources, project, manifests, {
    ...drafting,
    refused,
    into: options.into ?? new Map(),
    plainName: (name) => (stages.length > 1 ? plainName(name, stage) : name),
  });
  // The folder names of imported targets and of targets that are already declared.
  const keys = new Map(targets.map(({ live, key }) => [live.id, key]));
  const folders = chosen.flatMap(({ id: live }): readonly [string, readonly StateEvent[]][] => {
    const own = project.known.get(live);
    const key = keys.get(live) ?? (own?.matched === undefined ? undefined : own.key);
    const names = [...(folderNames.get(live) ?? [])].toSorted(([a], [b]) => compareText(a, b));
    return key === undefined
      ? []
      : [[key, names.map(([id, name]) => ({ type: "folder", name, id }))]];
  });
  const learnt = joined(folders, bound);
  const before = planProject(sources, project.documents, learnt, project.input.desired);
  const fields = mergeFields(before, merged, sources, drafting);
  const laying = { ...drafting, ...placing(sources, options) };
  const merge = [...edits, ...fields];
  const declared = (key: string) => {
    const documents = manifests.documentsOf(key);
    const { matches } = project.matched.get(key) ?? {};
    return documents.length === 0 ? undefined : { documents, matches };
  };
  let laid = layOut(targets, options.layout === undefined ? declared : () => undefined, laying);
  let texts = await editTexts(reading.documents, [...merge, ...laid.edits]);
  if ("reason" in texts && laid.edits.length > 0) {
    // A document with an anchor, for example, may not be editable where the neighbours are.
    laid = layOut(targets, () => undefined, laying);
    texts = await editTexts(reading.documents, merge);
  }
  if ("reason" in texts) {
    const { reason } = texts;
    return new Map([...merged].map((address) => [address, reason]));
  }
  const { files } = laid;
  const drafts = targets.flatMap((one) => [
    ...(one.target === undefined ? [] : [one.target]),
    ...one.environments,
    ...one.testCases,
  ]);
  const added = new Set([...merged, ...drafts.map(({ address }) => address)]);
  const proof = await prove({ files, texts, added, merged, learnt }, sources, options.folder);
  const { refuted, unmatched, problems, planned = before } = proof;
  if (refuted.size > 0 && problems.length + unmatched.length === 0) return refuted;
  const generated = [...planned.matched.values()].flatMap(({ target, matches }) =>
    target.testCases.flatMap(({ address, fields }) => {
      const live = matches.get(address)?.live;
      const isNew = added.has(address) && fields["elements"] === undefined;
      return isNew && live !== undefined ? [{ address, live }] : [];
    }),
  );
  const all = allLearnt(sources, planned);
  return { files, texts, leftOut, learnt: all, generated, unmatched, problems };
}

function joined(...all: readonly Iterable<readonly [string, readonly StateEvent[]]>[]): Learnt {
  const groups = groupBy(
    all.flatMap((one) => [...one]),
    ([key]) => key,
  );
  return new Map([...groups].map(([key, own]) => [key, own.flatMap(([, events]) => events)]));
}

/**
 * Returns folders, ids and field records for state, so that later renames and changes on the
 * service are recognised.
 */
function allLearnt({ chosen, states }: ImportSources, { learnt, matched }: PlannedProject): Learnt {
  const ids = new Set(chosen.map(({ id }) => id));
  const settled = [...matched].flatMap(([key, one]): readonly [string, readonly StateEvent[]][] => {
    const { fingerprints, live } = one;
    // With a new fingerprint key, all records would be lost, including those that show that a
    // password was sent.
    const before = states.get(key);
    const isUsable = fingerprints !== undefined && keyHolds(before, fingerprints);
    if (!isUsable || live === undefined || !ids.has(live.id)) return [];
    // Bindings of the import itself do not mean that tasc has applied the target, so its batch
    // generations are held.
    const isApplied = before !== undefined && before.bindings.size > 0;
    // Bindings without the mark `imported`, as after an apply: the mark alone is not a change.
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

/** What one round of an import would write and learn. */
interface Attempt {
  readonly files: readonly NewFile[];
  readonly texts: readonly EditedText[];
  /** The addresses that the stage gets: new ones, and those that are merged. */
  readonly added: ReadonlySet<Address>;
  readonly merged: ReadonlySet<Address>;
  readonly learnt: Learnt;
}

/** Returns the stages of new resources, and a test for existing files. */
function placing(
  { stages, desired: { stage }, reading }: ImportSources,
  { folder }: PrepareOptions,
) {
  const manifests = new Manifests(reading);
  const others = stages.filter((one) => one !== stage);
  const listed = new Map<string, ReadonlySet<string>>();
  return {
    stage: others.length > 0 ? stage : undefined,
    isForStageAlone: (key: string) =>
      !manifests.targets.includes(key) ||
      others.some((other) => manifests.exists(other, targetAddress(key))),
    exists: (file: string) => {
      const parent = file.slice(0, Math.max(file.lastIndexOf("/"), 0));
      const list = () => new Set(folder.list(parent).map(({ name }) => name.toLowerCase()));
      return cached(listed, parent, list).has(file.slice(file.lastIndexOf("/") + 1).toLowerCase());
    },
  };
}

/**
 * Checks with the planner, before anything is written, that a plan right after the import would be
 * empty. This finds problems that no rule about a single field can see: defaults that affect new
 * test cases, keys that state remembers.
 * @returns as `refuted` the new or merged addresses that a plan would change or report, with the
 * reason
 */
async function prove(
  { files, texts, added: ours, merged, learnt }: Attempt,
  sources: ImportSources,
  folder: ProjectFolder,
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
  const own = new Set([...files, ...texts].map(({ file }) => file));
  // That there are no manifests is already reported as files that match no pattern.
  const found = [...reading.problems, ...resolution.problems].filter(
    ({ severity, code }) => severity === "error" && code !== "no-manifests",
  );
  // An error about a new address counts against it; any other means that the project would no
  // longer load.
  for (const problem of found) {
    const { address, origin, summary } = problem;
    if (address !== undefined && ours.has(address) && own.has(origin.file))
      refuted.set(address, summary);
    else problems.push(problem);
  }
  const desired = resolution.resolved?.desired;
  if (desired === undefined || found.length > 0) return { refuted, unmatched, problems };
  const planned = planProject(sources, reading.documents, learnt, desired);
  for (const { address, fields } of planned.plan.changes)
    if (ours.has(address)) {
      const names = fields.map(({ path }) => path.join(".")).join(", ");
      refuted.set(address, `a plan would change it at once (${names})`);
    }
  for (const { severity, address, summary } of planned.plan.diagnostics)
    if (address !== undefined && ours.has(address) && (severity === "error" || merged.has(address)))
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
