import {
  type Host,
  type Opened,
  type ProjectOptions,
  openProject,
  projectRoot,
} from "../app/project.ts";
import { projectFolder } from "../manifest/files.ts";
import { readProject } from "../manifest/load.ts";
import { chooseStage, stagesOf } from "../manifest/settings.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type ExitCode, EXIT, TascError, invalid } from "../model/error.ts";
import { codedDiagnosticJson, failureJson } from "../render/json.ts";
import type { View } from "../render/view.ts";
import { count } from "../render/words.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

export async function run(options: OptionsOf<"validate">, context: Context): Promise<ExitCode> {
  const { console, host } = context;
  const { format = "text" } = options;
  if (options.allStages) return validateAll(options, context);
  try {
    const needs = { needsApiKey: false, texts: false };
    return await printValid(await openProject(options, host, needs), format, context);
  } catch (error) {
    if (format === "text" || !(error instanceof TascError)) throw error;
    // Errors are the result of this command, so formats for programs print them as the result.
    if (format === "json") console.json({ valid: false, ...failureJson(error) });
    else await console.report(error.diagnostics, format);
    return EXIT[error.reason];
  }
}

/** `--all-stages`: validates each stage; a problem in several stages is reported once. */
async function validateAll(options: OptionsOf<"validate">, context: Context): Promise<ExitCode> {
  if (options.format !== undefined || options.stage !== undefined)
    throw invalid(
      "bad-arguments",
      "--all-stages goes without --format and --stage",
      "Validate each stage separately instead:\ntasc validate --stage STAGE",
    );
  const seen = new Set<string>();
  const all = await forEachStage(options, context.host, async (one) =>
    printValid(await openProject(one, context.host, { needsApiKey: false }), "text", context, seen),
  );
  for (const of of all)
    if ("failure" in of) {
      context.console.diagnostics(fresh(of.failure.diagnostics, seen), of.failure.source);
      context.console.say("error", `Not valid: stage ${of.stage}`);
    }
  return worstOf(all.map((of) => ("value" in of ? of.value : EXIT[of.failure.reason])));
}

function fresh(diagnostics: readonly Diagnostic[], seen: Set<string>): readonly Diagnostic[] {
  return diagnostics.filter((one) => seen.size < seen.add(JSON.stringify(one)).size);
}

async function printValid(
  { project }: Opened,
  format: string,
  context: Context,
  seen = new Set<string>(),
) {
  const { console } = context;
  const { diagnostics, desired, sources } = project;
  if (format === "text") {
    console.diagnostics(fresh(diagnostics, seen), (file) => sources.get(file)?.text);
    const resources = count(desired.targets.flatMap(resourcesOf).length, "resource");
    console.data(
      `Valid: ${resources} in ${count(project.count, "document")}, stage ${desired.stage}\n`,
    );
  } else if (format === "json")
    console.json({ valid: true, diagnostics: diagnostics.map(codedDiagnosticJson) });
  else await console.report(diagnostics, format);
  return EXIT.done;
}

/** Returns the project's stages in the order of the file, and the one that is selected. */
async function stageNames(options: ProjectOptions, host: Host) {
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

export async function stages(options: ProjectOptions, { host }: Context): Promise<View> {
  const { chosen } = await stageNames(options, host);
  const found = await forEachStage(options, host, async (one) => {
    const needs = { needsApiKey: false, allowMissingSecrets: true };
    const { settings, desired } = (await openProject(one, host, needs)).project;
    return {
      baseUrl: settings.baseUrl,
      targets: desired.targets.length,
      testCases: desired.targets.reduce((sum, { testCases }) => sum + testCases.length, 0),
    };
  });
  const failures = found.flatMap((of) => ("failure" in of ? [of.failure] : []));
  if (failures[0] !== undefined && failures.length === found.length) throw failures[0];
  const json = found.map(({ stage, ...of }) => ({
    stage,
    chosen: stage === chosen,
    ...("value" in of ? of.value : { error: of.failure.message }),
  }));
  const rows = json.map(({ stage, chosen: isChosen, ...of }) => [
    isChosen ? `${stage} *` : stage,
    ...("error" in of
      ? [of.error, "", ""]
      : [of.baseUrl, String(of.targets), String(of.testCases)]),
  ]);
  return {
    json: { stages: json },
    text: [[{ headings: ["stage", "service", "targets", "test cases"], rows }]],
    exitCode: failures.length === 0 ? EXIT.done : EXIT.invalid,
  };
}
