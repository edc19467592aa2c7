import type { View } from "../render/view.ts";
import { historyOf } from "../app/history.ts";
import type { Session } from "../app/session.ts";
import { INSECURE } from "./shared-options.ts";
import { address } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { STATE_NEEDS, inProject } from "./in-project.ts";

const OPTIONS = {
  address: address("[address]", "list only applies that changed this address"),
  ...INSECURE,
};

export const command = defineCommand({
  group: "Apply",
  summary: "list the applies of a stage, newest first",
  examples: {
    "tasc history --stage production": "show who changed what, when and from where",
    "tasc history testCase.shop.login": "list the applies that changed one test case",
  },
  options: OPTIONS,
  run: inProject(history, STATE_NEEDS),
});

async function history(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const address = options.address?.address;
  const entries = (await historyOf(session)).flatMap((entry) => {
    const changes = entry.changes.filter(
      (change) => address === undefined || change.address === address,
    );
    return address !== undefined && changes.length === 0 ? [] : [{ ...entry, changes }];
  });
  const lines = entries.flatMap(({ at, who, where, commit, plan, ended, changes }) => [
    [
      at,
      who,
      where,
      commit && `commit ${commit.slice(0, 12)}`,
      `plan ${plan}`,
      !ended && "(interrupted)",
    ]
      .filter((part) => typeof part === "string")
      .join("  "),
    ...changes.map(
      (change) => `  ${change.outcome.padEnd(7)}  ${change.action.padEnd(10)}  ${change.address}`,
    ),
  ]);
  return { json: entries, text: [lines.length === 0 ? ["No apply is recorded."] : lines] };
}
