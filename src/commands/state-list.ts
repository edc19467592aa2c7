import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { compareAddresses } from "../model/address.ts";
import { openProject } from "./opening.ts";
import { openStates, readStates, sayStateProblem } from "./states.ts";

/** `tasc state list`: the stage's bindings and batch generations. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const opened = await openProject(given, world, { needsApiKey: false });
  if (!opened.ok) return opened.code;
  const { console, project } = opened;
  const opening = await openStates(opened, world);
  if (!opening.ok) return opening.code;
  const states = opening.value;
  const listed = await states.backend.list(project.settings.stage);
  if (!listed.ok) return sayStateProblem(console, listed.problem);
  const read = await readStates(states, listed.value, console);
  if (!read.ok) return read.code;
  const bindings = [...read.value.values()].flatMap((state) => [
    ...[...state.bindings].map(([address, { id }]) => ({ address, id })),
    ...[...state.batchGenerations].map(([address, { status }]) => ({ address, status })),
  ]);
  const sorted = bindings.toSorted((a, b) => compareAddresses(a.address, b.address));
  if (textOption(given, "format") === "json") console.json(sorted);
  else
    for (const entry of sorted)
      console.data(`${entry.address}  ${"id" in entry ? entry.id : entry.status}\n`);
  return EXIT.done;
}
