import type { JsonObject } from "../model/json.ts";
import type { Notification } from "./data/notification.ts";
import type { Service } from "./service.ts";

/** Records an event, to be read with operation 14 (Events). */
export function notify(
  { store, world }: Service,
  testTargetId: string,
  type: Notification["type"],
  payload: JsonObject,
): void {
  const now = world.now();
  store.notifications.insert({
    id: world.newId(),
    testTargetId,
    createdAt: now,
    updatedAt: now,
    payload,
    type,
    ack: null,
  });
}
