import { EXIT, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { StageView } from "../inspect/stages.ts";
import { type Document, didYouMean, hasErrors, locate, nearest } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import { MISSING_SECRET } from "../manifest/interpolation.ts";
import { type ProjectReading, readProject, resolveProject } from "../manifest/load.ts";
import { stagesInWords, stagesOf } from "../manifest/settings.ts";
import type { Desired } from "../model/desired.ts";
import type { Console } from "./console.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { consoleFor, projectRoot, readVariables } from "./opening.ts";
import { type PlanRequest, checkRequest } from "./request.ts";
import type { OrCode } from "./states.ts";

/** A project read once and seen in two of its stages; no secret need be at hand. */
export interface TwoStages {
  readonly root: string;
  readonly env: World["env"];
  readonly reading: ProjectReading;
  readonly project: Document;
  readonly from: StageView;
  readonly to: StageView;
  readonly scope: PlanRequest["scope"];
  readonly console: Console;
}

/** What commands about two stages begin with. It calls nobody, and what keeps it from its end is said. */
export async function openTwoStages(given: Given, world: World): Promise<OrCode<TwoStages>> {
  const root = projectRoot(given, world);
  const plain = consoleFor(given, world, []);
  const variables = readVariables(given, world, root);
  if ("problem" in variables) return refuse(plain, variables.problem);
  const { env } = variables;
  const reading = await readProject(projectFolder(root));
  const { project } = reading;
  if (project === undefined) return await refuseProblems(reading, reading.problems, plain);
  const names = stageNames(given, stagesOf(project));
  if ("problem" in names) return refuse(plain, names.problem, names.detail);
  const options = { env, allowMissingSecrets: true, needsApiKey: false };
  const from = resolveProject(reading, { ...options, stage: names.from });
  const to = resolveProject(reading, { ...options, stage: names.to });
  const console = consoleFor(given, world, [...from.secrets, ...to.secrets]);
  const problems = [...reading.problems, ...from.problems, ...to.problems].filter(
    // Nothing here needs a secret's value.
    ({ code, severity }) => severity === "error" || code !== MISSING_SECRET,
  );
  const { resolved: left } = from;
  const { resolved: right } = to;
  if (left === undefined || right === undefined || hasErrors(problems))
    return await refuseProblems(reading, problems, console);
  await sayProblems(reading, problems, console);
  const request = checkRequest(given, bothOf(left.desired, right.desired), [], console);
  if (!request.ok) return request;
  const view = (desired: Desired): StageView => new StageView(desired, project, reading, env);
  return {
    ok: true,
    value: {
      root,
      env,
      reading,
      project,
      from: view(left.desired),
      to: view(right.desired),
      scope: request.value.scope,
      console,
    },
  };
}

type Names =
  { readonly from: string; readonly to: string } | { readonly problem: string; readonly detail: string };

function stageNames(given: Given, stages: readonly string[]): Names {
  const [from, to] = [textOption(given, "from"), textOption(given, "to")];
  const there = stagesInWords(stages);
  if (textOption(given, "stage") !== undefined)
    return { problem: "--stage names one stage; here two are named, by --from and --to", detail: "" };
  if (from === undefined || to === undefined)
    return {
      problem: `--${from === undefined ? "from" : "to"} is missing: it names a stage`,
      detail: there,
    };
  for (const [option, stage] of [
    ["--from", from],
    ["--to", to],
  ])
    if (stage !== undefined && !stages.includes(stage))
      return {
        problem: `There is no stage ${stage}, which ${option} names`,
        detail: `${there}${didYouMean(nearest(stage, stages))}`,
      };
  if (from === to) return { problem: `--from and --to name the same stage, ${from}`, detail: there };
  return { from, to };
}

function bothOf(left: Desired, right: Desired): Desired {
  return { stage: left.stage, targets: [...left.targets, ...right.targets] };
}

function refuse(console: Console, problem: string, detail = ""): OrCode<never> {
  sayError(console, problem, detail);
  return { ok: false, code: EXIT.invalid };
}

async function refuseProblems(
  reading: ProjectReading,
  problems: ProjectReading["problems"],
  console: Console,
): Promise<OrCode<never>> {
  await sayProblems(reading, problems, console);
  return { ok: false, code: EXIT.invalid };
}

/** What is wrong in both stages is told once. */
async function sayProblems(
  { sources }: ProjectReading,
  problems: ProjectReading["problems"],
  console: Console,
): Promise<void> {
  const known = new Map(problems.map((one) => [JSON.stringify([one.origin, one.code, one.summary]), one]));
  sayDiagnostics(console, await locate([...known.values()], sources), sources);
}
