import { type Host, type ProjectOptions, openProject, projectRoot } from "../app/project.ts";
import { projectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/load.ts";
import { chooseStage, stagesOf } from "../manifest/stages.ts";
import { type ExitCode, EXIT, TascError } from "../model/error.ts";

/** Returns the project's stages in the order of the file, and the one that is selected. */
export async function stageNames(options: ProjectOptions, host: Host) {
  const { project } = await readProject(projectFolder(projectRoot(options, host)));
  const choice = project && chooseStage(project, options.stage, host.env["TASC_STAGE"]);
  const chosen = typeof choice === "string" ? choice : undefined;
  if (project !== undefined && (chosen !== undefined || options.stage === undefined))
    return { stages: stagesOf(project), chosen };
  // Opening the project reports what is wrong with it, or with the option.
  const { settings } = (await openProject(options, host)).project;
  return { stages: settings.stages, chosen: settings.stage };
}

export type OfStage<T> = { readonly stage: string } & (
  { readonly value: T } | { readonly failure: TascError }
);

/**
 * Does the same work for each stage, one after another; a stage that fails does not stop the
 * others.
 */
export async function forEachStage<T, O extends ProjectOptions>(
  options: O,
  host: Host,
  work: (options: O) => Promise<T>,
): Promise<readonly OfStage<T>[]> {
  const all: OfStage<T>[] = [];
  for (const stage of (await stageNames(options, host)).stages)
    try {
      // Stages may share a service, which is to be asked by one at a time.
      // oxlint-disable-next-line no-await-in-loop
      all.push({ stage, value: await work({ ...options, stage }) });
    } catch (failure) {
      if (!(failure instanceof TascError)) throw failure;
      all.push({ stage, failure });
    }
  return all;
}

/** Exit codes from mildest to worst, for commands that work on several stages. */
const { done, changes, failed, stale, locked, unreachable, invalid: wrong, interrupted } = EXIT;
const WORSE = [done, changes, failed, stale, locked, unreachable, wrong, interrupted];

export function worstOf(codes: readonly ExitCode[]): ExitCode {
  return WORSE.findLast((code) => codes.includes(code)) ?? EXIT.done;
}
