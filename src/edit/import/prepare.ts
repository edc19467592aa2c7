import { readProject, resolveProject } from "../../manifest/load.ts";
import { type Address, compareText, targetOf } from "../../model/address.ts";
import { groupBy } from "../../model/collections.ts";
import type { Diagnostic } from "../../model/diagnostic.ts";
import { defined } from "../../model/json.ts";
import type { LiveResource } from "../../model/live.ts";
import type { Binding, StateEvent } from "../../model/state.ts";
import { lazy } from "../../plan/match.ts";
import { keyHolds } from "../../plan/memory.ts";
import { refreshEvents } from "../../plan/record.ts";
import { type EditedText, editTexts, withTexts } from "../edit-files.ts";
import { type FileEdit, Manifests, changedFields } from "../manifests.ts";
import { type Draft, type Skipped, draftUndeclared } from "./drafts.ts";
import { foldersOf } from "./folders.ts";
import { type NewFile, layOut } from "./layout.ts";
import { type Merging, mergeFields, mergeStage } from "./merge-stage.ts";
import { type Learnt, type PlannedProject, planProject } from "./planned-project.ts";
import type { Folder, ImportRequest, ImportSources } from "./request.ts";

/*
 * An import declares the live resources that its stage does not declare yet:
 *
 * 1. pair-targets.ts finds which declared target each live one is in this stage,
 * 2. merge-stage.ts gives declared resources that are live here their values in this stage,
 * 3. drafts.ts declares the live resources that remain; layout.ts puts them next to their
 *    neighbours, or into new files,
 * 4. the planner proves that a plan would be empty; what it refutes is left out, and all repeats.
 */

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
export async function prepare(request: ImportRequest): Promise<Prepared> {
  const manifests = new Manifests(request.reading);
  const now = planProject(request, manifests, new Map(), request.desired);
  const refuted = new Map<Address, string>();
  let folders: readonly Folder[] | undefined;
  for (;;) {
    const merging = mergeStage(request, now, refuted);
    folders ??= await request.nameFolders(foldersOf(request, merging));
    const attempt = await attemptOnce(request, merging, folders, refuted);
    if ("files" in attempt) return attempt;
    // What a live resource is drafted as depends on the merge, so that is put right first.
    const wrong = [...attempt].filter(([address]) => merging.merged.has(address));
    for (const [address, reason] of wrong.length > 0 ? wrong : attempt)
      refuted.set(address, reason);
  }
}

async function attemptOnce(
  request: ImportRequest,
  merging: Merging,
  folders: readonly Folder[],
  refuted: Refuted,
): Promise<Prepared | Refuted> {
  const { merged, bound, project } = merging;
  const names = new Map(
    folders.flatMap(({ id, name }) => (name === undefined ? [] : [[id, name]])),
  );
  const { drafts, leftOut } = draftUndeclared(request, project, names, refuted);
  const learnt = joined(folderEvents(folders, drafts, project), bound);
  const before = lazy(() => planProject(request, project.manifests, learnt, project.input.desired));
  const fields = merged.size === 0 ? [] : mergeFields(before(), merged, drafts, names, request);
  const written = await write([...merging.edits, ...fields], drafts, names, request, project);
  if ("reason" in written) return refusedIn(written, merged, project);
  const { files, texts } = written;
  const added = new Set([...merged, ...drafts.map(({ address }) => address)]);
  const attempt = { files, texts, added, merged, learnt };
  const proof = await prove(attempt, request);
  const { unmatched, problems, planned = before() } = proof;
  if (proof.refuted.size > 0 && problems.length + unmatched.length === 0) return proof.refuted;
  const generated = [...planned.matched.values()].flatMap(({ target, matches }) =>
    target.testCases.flatMap(({ address, fields: declared }) => {
      const live = matches.get(address)?.live;
      const isNew = added.has(address) && declared["elements"] === undefined;
      return isNew && live !== undefined ? [{ address, live }] : [];
    }),
  );
  const all = allLearnt(request, planned);
  return { files, texts, leftOut, learnt: all, generated, unmatched, problems };
}

/**
 * Makes the edits of a merge, and declares the drafts: in new files instead of next to their
 * neighbours where the text of these cannot be edited, since a map in braces has no place for a
 * comment.
 */
async function write(
  merge: readonly FileEdit[],
  drafts: readonly Draft[],
  folderNames: ReadonlyMap<string, string>,
  request: ImportRequest,
  project: PlannedProject,
) {
  const closed = new Set<string>();
  for (;;) {
    const { edits, files } = layOut(drafts, request, project, folderNames, closed);
    const texts = await editTexts(request.reading.documents, [...merge, ...edits]);
    if (!("reason" in texts)) return { files, texts };
    const { file: refused } = texts;
    if (!edits.some(({ file }) => file === refused)) return texts;
    closed.add(refused);
  }
}

/** Returns what was to be merged into a file that cannot be edited so. */
function refusedIn(
  { file, reason }: { readonly file: string; readonly reason: string },
  merged: ReadonlySet<Address>,
  { manifests }: PlannedProject,
): Refuted {
  const isIn = (address: Address): boolean =>
    manifests.documentsOf(targetOf(address)).some((one) => one.file === file);
  return new Map([...merged].flatMap((one) => (isIn(one) ? [[one, reason] as const] : [])));
}

/** Returns the folder names that states must learn, by the key that each target has or will get. */
function folderEvents(
  folders: readonly Folder[],
  drafts: readonly Draft[],
  { known }: PlannedProject,
): Learnt {
  const fresh = drafts.filter(({ kind }) => kind === "target");
  const keys = new Map([
    ...[...known].flatMap(([id, { key, matched }]) => (matched ? [[id, key] as const] : [])),
    ...fresh.map(({ live, key }) => [live.id, key] as const),
  ]);
  const events = folders
    .toSorted((a, b) => compareText(a.id, b.id))
    .flatMap(({ target, id, name }): readonly [string, readonly StateEvent[]][] => {
      const key = keys.get(target.id);
      return key === undefined || name === undefined ? [] : [[key, [{ type: "folder", name, id }]]];
    });
  return joined(events);
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
interface Attempt extends Pick<Prepared, "files" | "texts" | "learnt"> {
  /** The addresses that the stage gets: new ones, and those that are merged. */
  readonly added: ReadonlySet<Address>;
  readonly merged: ReadonlySet<Address>;
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
  request: ImportRequest,
) {
  const refuted = new Map<Address, string>();
  const problems: Diagnostic[] = [];
  if (files.length + texts.length === 0) return { refuted, unmatched: [], problems };
  const reading = await readProject(withTexts(request.folder, [...texts, ...files]));
  const { stage } = request.desired;
  const resolution = resolveProject(reading, { ...request.resolve, stage });
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
  const { project = request.reading.project, documents } = reading;
  const after = new Manifests({ project, documents });
  const planned = planProject(request, after, learnt, desired);
  for (const { address, fields } of planned.plan.changes)
    if (ours.has(address)) {
      const names = fields.map(({ path }) => path.join(".")).join(", ");
      refuted.set(address, `a plan would change it at once (${names})`);
    }
  for (const { severity, address, summary } of planned.plan.diagnostics)
    if (address !== undefined && ours.has(address) && (severity === "error" || merged.has(address)))
      refuted.set(address, summary);
  const others = request.stages.filter((one) => one !== stage);
  const spoilt = changedFields(request.reading, after, others).map(
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
