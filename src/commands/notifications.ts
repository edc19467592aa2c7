import { setTimeout as delay } from "node:timers/promises";
import type { Session } from "../app/session.ts";
import * as reports from "../inspect/reports.ts";
import { EXIT, invalid } from "../model/error.ts";
import { sideBySide } from "../model/live.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import { managedTargets } from "./managed-targets.ts";
import { READING, TARGET } from "./shared-options.ts";
import { duration, flag } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { inProject } from "./in-project.ts";

const OPTIONS = {
  ...TARGET,
  follow: flag("--follow", "keep running and print new notifications as they arrive"),
  interval: duration("--interval <duration>", "polling interval for --follow; default: 5s", {
    examples: "5s or 1m",
    least: 1,
  }),
  ...READING,
};

export const command = defineCommand({
  group: "Service",
  summary: "read the service's notifications, oldest first",
  examples: {
    "tasc notifications --target shop": "show the notifications of one target",
    "tasc notifications --follow": "keep printing until Ctrl-C",
  },
  options: OPTIONS,
  run: inProject(notifications),
});

async function notifications(
  session: Session,
  { follow, interval = 5000, format, target }: OptionsOf<typeof OPTIONS>,
  { console }: Context,
): Promise<View> {
  if (follow && format === "json")
    throw invalid(
      "bad-option",
      "--follow prints notifications as they come, which is not a single JSON value; omit one of the two",
    );
  // This changes nothing, so it may end at any moment.
  const end = () => process.exit(EXIT.interrupted);
  if (follow) process.once("SIGINT", end).once("SIGTERM", end);
  const { targets, addressOf } = await managedTargets(session, target);
  const seen = new Set<string>();
  const readNew = async (): Promise<readonly reports.TargetNotification[]> => {
    const lists = await sideBySide(
      targets.map(async ({ key, id }) =>
        (await session.client().listNotifications(id)).map((one) => ({ ...one, target: key })),
      ),
    );
    return reports.newNotifications(lists.flat(), seen);
  };
  if (!follow) return reports.notificationsView(await readNew(), addressOf);
  for (;;) {
    const fresh = await readNew();
    if (fresh.length > 0) await console.show(reports.laterView(fresh, addressOf));
    await delay(interval);
  }
}
