import { invalid } from "../../model/error.ts";
import type { View } from "../../render/view.ts";
import { applyEvents } from "../../state/events.ts";
import type { Session } from "../../app/session.ts";
import { contentOf, withDocuments } from "./documents.ts";
import { STATE_EDIT } from "../shared-options.ts";
import { address, oneOf } from "../options.ts";
import { type OptionsOf, defineCommand } from "../command.ts";
import { inProject } from "../in-project.ts";

const OPTIONS = {
  address: address("<address>", "address of a batch generation"),
  what: oneOf("<what>", "whether the batch generation ran", ["done", "undone"]),
  ...STATE_EDIT,
};

export const command = defineCommand({
  group: "State",
  summary: "record whether a batch generation ran",
  examples: {
    "tasc state mark batchGeneration.shop.spring done":
      "record that it ran, so that it does not run again",
  },
  options: OPTIONS,
  run: inProject(markState),
});

async function markState(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const { address, target } = options.address;
  const { what: status } = options;
  const declared = session.desired.targets.flatMap(({ batchGenerations }) => batchGenerations);
  const resource = declared.find((one) => one.address === address);
  if (resource === undefined)
    throw invalid(
      "not-a-batch-generation",
      `${address} is not a batch generation of this project`,
      "Addresses of batch generations look like batchGeneration.shop.spring.",
    );
  await withDocuments(session, [target], "tasc state mark", options, async ({ state, replace }) => {
    const record = { status, ...contentOf(resource, state, session) };
    await replace(applyEvents(state, [{ type: "batch", address, record }]));
  });
  const json = { stage: session.settings.stage, address, status };
  return { json, text: [[`${address} is marked ${status}.`]] };
}
