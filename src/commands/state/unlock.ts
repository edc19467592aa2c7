import { describeHolder } from "../../state/problem.ts";
import type { Session } from "../../app/session.ts";
import { holderJson, mustKnowTarget } from "./documents.ts";
import { INSECURE } from "../shared-options.ts";
import { targetKey, text } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  target: targetKey("<target>", "key of the target, e.g. shop"),
  id: text(
    "[id]",
    "id of the lock, from the error message; a lock with another id is not released",
  ),
  ...INSECURE,
};

export const command = defineCommand({
  group: "State",
  summary: "release a stuck lock",
  examples: {
    "tasc state unlock shop --stage staging": "release the lock and print who held it",
    "tasc state unlock shop 5f0c3f8e-3c1d-4a57-9d0e-0a6b8b1d2c3f":
      "release only the lock with this id",
  },
  options: OPTIONS,
  run: inProject(unlockState, STATE_NEEDS),
});

async function unlockState(session: Session, { target, id }: OptionsOf<typeof OPTIONS>) {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const holder = await backend.forceUnlock({ stage, target }, id);
  if (holder === undefined) await mustKnowTarget(session, target);
  const result =
    holder === undefined ? "was not locked." : `is unlocked. ${describeHolder(holder)}`;
  return {
    json: { target, stage, holder: holder === undefined ? null : holderJson(holder) },
    text: [[`Target ${target} in stage ${stage} ${result}`]],
  };
}
