import type { ProjectFolder } from "../manifest/files.ts";
import type { ResolveOptions } from "../manifest/resolve-project.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import type { PlanInput } from "../plan/inputs.ts";
import { applyEvents } from "../state/reduce.ts";
import { compose } from "./compose.ts";
import type { Composed, LeftOut } from "./draft.ts";
import { type FolderNames, folderEvents } from "./folders.ts";
import { type LayoutOptions, type NewFile, layOut } from "./layout.ts";
import { prove } from "./prove.ts";
import type { Survey } from "./survey.ts";
import { trim } from "./trim.ts";

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
