import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { flagOption, textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { locate } from "../manifest/locate.ts";
import type { Plan } from "../model/plan.ts";
import { connect } from "./connect.ts";
import { lookAround } from "./look.ts";
import { openProject } from "./opening.ts";
import type { Opened } from "./opening.ts";
import { printPlan } from "./print-plan.ts";
import { checkRequest } from "./request.ts";
import { savePlan } from "./saved-plan.ts";
import { openStates, readStates, readStrays } from "./states.ts";

/** `tasc plan`: reads manifests, state and service, and shows what an apply would do. It changes nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: true, leave: "warnings" });
  if (!opened.ok) return opened.code;
  const { project, console } = opened;
  const targets = project.desired.targets.map((target) => target.key);
  const opening = await openStates(opened, world);
  if (!opening.ok) return opening.code;
  const states = opening.value;
  const read = await readStates(states, targets, console);
  if (!read.ok) return read.code;
  const strays = await readStrays(states, targets, console);
  if (!strays.ok) return strays.code;
  const request = checkRequest(given, project.desired, [...read.value.values(), ...strays.value], console);
  if (!request.ok) return request.code;

  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected.code;
  const look = await lookAround(opened, connected.client, read.value, strays.value, request.value);
  await connected.client.close();
  if (!look.ok) return look.code;

  const plan = await withPlaces(look.value.planned.plan, opened);
  const out = textOption(given, "out");
  if (out !== undefined) {
    const saved = savePlan(
      out,
      { ...look.value, planned: { ...look.value.planned, plan } },
      request.value,
      opened,
      world,
    );
    if (!saved) return EXIT.failed;
  }
  printPlan(given, opened, plan, world);
  return exitCodeOf(plan, flagOption(given, "detailedExitcode"));
}

/** The plan with line and column in its diagnostics, and the manifests' own warnings among them. */
export async function withPlaces(plan: Plan, { project }: Opened): Promise<Plan> {
  const located = await locate(plan.diagnostics, project.sources);
  return { ...plan, diagnostics: [...project.diagnostics, ...located] };
}

/** What a plan's exit code is: errors win over changes. */
export function exitCodeOf(plan: Plan, detailed: boolean): ExitCode {
  if (plan.diagnostics.some((diagnostic) => diagnostic.severity === "error")) return EXIT.failed;
  return detailed && plan.changes.length > 0 ? EXIT.changes : EXIT.done;
}
