import { testTargetOf } from "./lookup.ts";
import type { Operation } from "./operation.ts";
import { openEnum } from "./view/openEnum.ts";

/** Operation 14: GET /test-targets/{testTargetId}/notifications, in the order of the events. */
export const listNotifications: Operation = (service, call) => {
  const target = testTargetOf(service, call);
  const items = Array.from(service.store.notifications.of(target.id), (notification) => ({
    ...notification,
    type: openEnum(notification.type, service.settings()),
  }));
  return { kind: "list", status: 200, items };
};
