import { setTimeout as delay } from "node:timers/promises";
import { type Session, withSession } from "../app/session.ts";
import {
  type TargetNotification,
  laterView,
  newNotifications,
  notificationsView,
} from "../inspect/reports.ts";
import { EXIT, type ExitCode, TascError, stop } from "../model/error.ts";
import type { Context } from "./context.ts";
import { type ManagedTargets, managedTargets } from "./managed.ts";
import { sideBySide } from "../model/live.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc notifications`: what the service reported of managed targets, oldest first. */
export async function run(
  options: OptionsOf<"notifications">,
  { host, console }: Context,
): Promise<ExitCode> {
  const { follow, interval = 5000, format, target } = options;
  if (follow && format === "json")
    throw stop(
      "invalid",
      "bad-option",
      "--follow prints notifications as they come, which is not a single JSON value; omit one of the two",
    );
  if (!follow)
    return withSession(options, host, async (session) => {
      const managed = await managedTargets(session, target);
      const notifications = newNotifications(await readAll(session, managed), new Set());
      console.show(notificationsView(notifications, managed.addressOf), format);
      return EXIT.done;
    });
  const ending = new AbortController();
  const { signal } = ending;
  const end = (): void => ending.abort();
  process.once("SIGINT", end).once("SIGTERM", end);
  try {
    return await withSession(options, { ...host, signal }, async (session) => {
      const managed = await managedTargets(session, target);
      const seen = new Set<string>();
      while (!signal.aborted) {
        const fresh = newNotifications(await readAll(session, managed), seen);
        if (fresh.length > 0) console.show(laterView(fresh, managed.addressOf));
        await delay(interval, undefined, { signal }).catch(() => undefined);
      }
      return EXIT.interrupted;
    });
  } catch (error) {
    if (signal.aborted && error instanceof TascError && error.reason === "interrupted")
      return EXIT.interrupted;
    throw error;
  } finally {
    process.off("SIGINT", end).off("SIGTERM", end);
  }
}

async function readAll(
  session: Session,
  { targets }: ManagedTargets,
): Promise<readonly TargetNotification[]> {
  const lists = await sideBySide(
    targets.map(async ({ key, id }) =>
      (await session.client().listNotifications(id)).map((notification) => ({ target: key, notification })),
    ),
  );
  return lists.flat();
}
