import { StageView } from "../inspect/stages.ts";
import { MISSING_SECRET } from "../manifest/interpolation.ts";
import { resolveProject } from "../manifest/load.ts";
import { didYouMean, hasErrors, nearest } from "../manifest/problem.ts";
import { stagesInWords, stagesOf } from "../manifest/stages.ts";
import type { Desired } from "../model/desired.ts";
import { invalid } from "../model/error.ts";
import { checkRequest } from "../app/survey.ts";
import { type Host, invalidProject, readFolder } from "../app/project.ts";
import type { SCOPE, TWO_STAGES } from "./shared-options.ts";
import type { OptionsOf } from "./command.ts";

type TwoStages = OptionsOf<typeof TWO_STAGES & typeof SCOPE>;

/**
 * Reads a project once and resolves it for two stages. Secrets may be missing, and the service is
 * not called.
 */
export async function openTwoStages(options: TwoStages, host: Host) {
  const { root, env, folder, reading } = await readFolder(options, host);
  const { project } = reading;
  if (project === undefined) throw await invalidProject(reading, reading.problems);
  const stages = stagesOf(project);
  const names = namesOf(options, stages);
  const resolving = { env, allowMissingSecrets: true, needsApiKey: false };
  const from = resolveProject(reading, { ...resolving, stage: names.from });
  const to = resolveProject(reading, { ...resolving, stage: names.to });
  for (const secret of [...from.secrets, ...to.secrets]) host.secrets.add(secret);
  const problems = [...reading.problems, ...from.problems, ...to.problems].filter(
    // Nothing here needs the value of a secret.
    ({ code, severity }) => severity === "error" || code !== MISSING_SECRET,
  );
  // A problem that both stages have is reported once.
  const known = new Map(
    problems.map((one) => [JSON.stringify([one.origin, one.code, one.summary]), one]),
  );
  const found = await invalidProject(reading, [...known.values()]);
  if (from.resolved === undefined || to.resolved === undefined || hasErrors(problems)) throw found;
  host.warn(found.diagnostics, found.source);
  const [left, right] = [from.resolved.desired, to.resolved.desired];
  const both = { stage: left.stage, targets: [...left.targets, ...right.targets] };
  const { only, exclude } = options;
  const { scope } = checkRequest(
    { only, exclude },
    { desired: both, states: new Map(), strays: [] },
  );
  const viewOf = (desired: Desired): StageView => new StageView(desired, project, reading, env);
  const views = { from: viewOf(left), to: viewOf(right) };
  const toPolicy = to.resolved.settings.policy;
  return { root, folder, env, reading, project, stages, ...views, toPolicy, scope };
}

function namesOf({ from, to, stage }: TwoStages, stages: readonly string[]) {
  const there = stagesInWords(stages);
  const wrong = (summary: string, detail = there): Error => invalid("bad-stages", summary, detail);
  if (stage !== undefined)
    throw wrong("--stage names one stage; use --from and --to to name two", "");
  if (from === undefined) throw wrong("--from is missing: it names a stage");
  if (to === undefined) throw wrong("--to is missing: it names a stage");
  for (const [option, name] of Object.entries({ "--from": from, "--to": to }))
    if (!stages.includes(name))
      throw wrong(
        `Stage ${name}, given by ${option}, does not exist`,
        `${there}${didYouMean(nearest(name, stages))}`,
      );
  if (from === to) throw wrong(`--from and --to name the same stage, ${from}`);
  return { from, to };
}
