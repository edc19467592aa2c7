import { compareAddresses } from "../../model/address.ts";
import type { View } from "../../render/view.ts";
import type { Session } from "../../app/session.ts";
import { INSECURE } from "../shared-options.ts";
import { defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

export const command = defineCommand({
  group: "State",
  summary: "list addresses and the ids they are bound to",
  examples: { "tasc state list --stage staging": "list all bindings of staging" },
  options: INSECURE,
  run: inProject(listState, STATE_NEEDS),
});

async function listState(session: Session): Promise<View> {
  const { backend } = await session.states();
  const states = await session.readStates(await backend.list(session.settings.stage));
  const entries = [...states.values()].flatMap(({ bindings, batchGenerations }) => [
    ...[...bindings].map(([address, { id }]) => ({ address, id })),
    ...[...batchGenerations].map(([address, { status }]) => ({ address, status })),
  ]);
  const sorted = entries.toSorted((a, b) => compareAddresses(a.address, b.address));
  const lines = sorted.map(
    (entry) => `${entry.address}  ${"id" in entry ? entry.id : entry.status}`,
  );
  return { json: sorted, text: [lines] };
}
