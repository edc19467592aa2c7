import { compareText } from "../model/address.ts";
import { safeLine } from "../output/safe.ts";
import type { Style } from "../render/style.ts";
import type { AddressOf } from "./bound.ts";
import { type TargetNotification, testCaseIn } from "./json.ts";
import { renderTable } from "./table.ts";

export function oldestFirst(notifications: readonly TargetNotification[]): readonly TargetNotification[] {
  return notifications.toSorted(
    ({ notification: a }, { notification: b }) =>
      compareText(a.createdAt, b.createdAt) || compareText(a.id, b.id),
  );
}

/** Those that were not seen yet; their ids are added to those seen. */
export function newNotifications(
  notifications: readonly TargetNotification[],
  seen: Set<string>,
): readonly TargetNotification[] {
  const fresh = notifications.filter(({ notification }) => !seen.has(notification.id));
  for (const { notification } of fresh) seen.add(notification.id);
  return oldestFirst(fresh);
}

const HEADINGS = ["CREATED", "TARGET", "TYPE", "ABOUT"];

export function renderNotifications(
  notifications: readonly TargetNotification[],
  addressOf: AddressOf,
  style: Style,
): string {
  if (notifications.length === 0) return "No notifications.\n";
  return renderTable(
    HEADINGS,
    notifications.map((one) => rowOf(one, addressOf)),
    style,
  );
}

/** Lines without headings, for those that come later. */
export function renderLater(notifications: readonly TargetNotification[], addressOf: AddressOf): string {
  return notifications.map((one) => `${rowOf(one, addressOf).map(safeLine).join("  ")}\n`).join("");
}

function rowOf({ target, notification }: TargetNotification, addressOf: AddressOf): readonly string[] {
  const about = addressOf(testCaseIn(notification)) ?? JSON.stringify(notification.payload);
  return [notification.createdAt, target, notification.type, about];
}
