import type { Change } from "../model/plan.ts";
import { targetOf } from "../plan/scope.ts";
import { mayGoOn, replan, sessionOf } from "./context.ts";
import type { Run } from "./context.ts";
import { runPhase } from "./phase.ts";
import type { Step } from "./phase.ts";
import { recordSight, reread } from "./read.ts";
import { folderName } from "./records.ts";
import { changesOf, patchStep } from "./patch-step.ts";

/**
 * As long as a folder's id is unknown, every test case that belongs in it seems to differ; one answer tells the id.
 * So what is certain goes first, with one that is not for each folder that nothing certain tells of; and the others
 * are looked at again when the id is known, at most of them nothing is left to do.
 */
export async function patchByFolders(run: Run, steps: readonly Step[]): Promise<void> {
  const { first, later } = split(steps);
  await runPhase(run, first);
  if (later.length === 0) return;
  const current = mayGoOn(run) ? await lookAtFolders(run, later) : undefined;
  await runPhase(
    run,
    later.map(({ change }) =>
      current === undefined ? { change, after: [] } : patchStep(run, change, current.get(change.address)),
    ),
  );
}

function split(steps: readonly Step[]): { readonly first: readonly Step[]; readonly later: readonly Step[] } {
  const told = new Set(steps.filter(({ change }) => !isDoubtful(change)).flatMap(folders));
  const later: Step[] = [];
  const first = steps.filter((step) => {
    const [folder] = isDoubtful(step.change) ? folders(step) : [];
    const goes = folder === undefined || !told.has(folder);
    if (folder !== undefined) told.add(folder);
    if (!goes) later.push(step);
    return goes;
  });
  return { first, later };
}

/** A change of nothing but the folder, of which it is not known where the test case is now. */
function isDoubtful({ calls, fields }: Change): boolean {
  const [call, ...others] = calls;
  const [field] = fields;
  return (
    call !== undefined &&
    others.length === 0 &&
    Object.keys(call.body).length === 1 &&
    folderName(call.body) !== undefined &&
    field?.before === undefined
  );
}

/** The folders that a step tells of, with their target. */
function folders({ change }: Step): readonly string[] {
  return change.calls.flatMap((call) => {
    const name = folderName(call.body);
    return name === undefined ? [] : [`${targetOf(change.address)}\n${name}`];
  });
}

/** The changes as they are by now; read again only where no answer told a folder's id. */
async function lookAtFolders(
  run: Run,
  steps: readonly Step[],
): Promise<ReturnType<typeof changesOf> | undefined> {
  const untold = steps.filter(({ change }) => {
    const known = sessionOf(run, targetOf(change.address)).state.folders;
    return change.calls.some((call) => !known.has(folderName(call.body) ?? ""));
  });
  if (untold.length === 0) return changesOf(replan(run));
  const targets = new Set(untold.map(({ change }) => targetOf(change.address)));
  const failure = await reread(run, targets);
  if (failure === undefined) return changesOf(await recordSight(run, targets));
  if (failure.fatal) run.progress.fatal = failure;
  return undefined;
}
