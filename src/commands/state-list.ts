import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { compareAddresses } from "../model/address.ts";
import type { State } from "../model/state.ts";
import { withStates } from "./state-access.ts";
import { readStates, sayStateProblem } from "./states.ts";

/** `tasc state list`: the stage's bindings and batch generations. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  return await withStates(given, world, async ({ opened, states }) => {
    const { console } = opened;
    const listed = await states.backend.list(states.settings.stage);
    if (!listed.ok) return sayStateProblem(console, listed.problem);
    const read = await readStates(states, listed.value, console);
    if (!read.ok) return read.code;
    const entries = [...read.value.values()].flatMap(entriesOf);
    const sorted = entries.toSorted((a, b) => compareAddresses(a.address, b.address));
    if (textOption(given, "format") === "json") console.json(sorted);
    else
      for (const entry of sorted)
        console.data(`${entry.address}  ${"id" in entry ? entry.id : entry.status}\n`);
    return EXIT.done;
  });
}

function entriesOf({ bindings, batchGenerations }: State) {
  return [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...[...batchGenerations].map(([address, { status }]) => ({ address, status })),
  ];
}
