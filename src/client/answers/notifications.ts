import type { JsonObject } from "../../model/json.ts";

/** service-api.md, "Notification". */
export interface LiveNotification {
  readonly id: string;
  readonly testTargetId: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly type: string;
  /** What it holds depends on the event; `testCaseId` is the only key that is described. */
  readonly payload: JsonObject;
  readonly ack: string | undefined;
}
