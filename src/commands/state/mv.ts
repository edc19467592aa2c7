import { existsSync } from "node:fs";
import { invalid, failed } from "../../model/error.ts";
import { emptyState } from "../../model/state.ts";
import type { View } from "../../render/view.ts";
import { moveAddress, moveTarget } from "../../state/edit.ts";
import { erroredFile } from "../../state/errored.ts";
import type { Session } from "../../app/session.ts";
import { type LockedDocument, withDocuments } from "./documents.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { address } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { STATE_NEEDS, inProject } from "../in-project.ts";

const OPTIONS = {
  from: address("<from>", "current address"),
  to: address("<to>", "new address"),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "State",
  summary: "move state to another address",
  examples: {
    "tasc state mv testCase.shop.login testCase.shop.sign-in": "rename a test case",
    "tasc state mv target.shop target.web": "rename a target and everything in it",
  },
  options: OPTIONS,
  run: inProject(moveState, STATE_NEEDS),
});

async function moveState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { from, to } = options;
  const { target } = from;
  if (from.address === to.address) throw invalid("same-address", "Both addresses are the same");
  if (from.kind !== to.kind)
    throw invalid(
      "other-kind",
      `${from.address} and ${to.address} are of different kinds`,
      "The kind of a live resource cannot change.",
    );
  const isTarget = from.kind === "target";
  if (!isTarget && target !== to.target)
    throw invalid(
      "other-target",
      `${from.address} and ${to.address} belong to different targets`,
      `A resource cannot move to another test target on the service. To rename the target and everything in it:\n  tasc state mv target.${target} target.${to.target}`,
    );
  const targets = isTarget ? [target, to.target] : [target];
  const keys = targets.map((one) => session.stateKey(one));
  const errored = keys
    .map((key) => erroredFile({ projectFolder: session.root }, key))
    .find(existsSync);
  if (errored !== undefined)
    throw failed(
      "state-errored-left",
      "An apply has left records that state does not have yet",
      `They are in ${errored}, under the addresses of now, and the next apply takes them in. Run \`tasc apply\` before the move, or remove the file if nothing of it matters.`,
    );
  await withDocuments(
    session,
    targets,
    "tasc state mv",
    options,
    async (old, next?: LockedDocument) => {
      if (next === undefined) return old.replace(moveAddress(old.state, from.address, to.address));
      // The new document first: if interrupted in between, both have everything, and the same
      // command finishes the move.
      await next.replace(moveTarget(old.state, to.target, next.stored));
      await old.replace(emptyState(old.key.stage, target, old.key.service));
    },
  );
  return {
    json: { stage: session.settings.stage, from: from.address, to: to.address },
    text: [[`${from.address} is now ${to.address}${isTarget ? ", with all that is in it" : ""}.`]],
  };
}
