import { type Read, nullable, object } from "../read/reader.ts";
import { dateTime, freeForm, oneOf, uuid } from "../read/values.ts";
import type { World } from "./world.ts";

/** "Notification types" (Events). */
export const notificationType = oneOf(
  "VALIDATION_PASSED",
  "VALIDATION_FAILED",
  "DISCOVERY_FINISHED",
  "PROPOSAL_SUCCESS",
  "PROPOSAL_FAILED",
  "REPORT_EXECUTION_FINISHED",
);

/** A notification as stored, which is as answered (Notification). */
export const notificationReader = (world: World) =>
  object((fields) => ({
    id: fields.optional("id", uuid) ?? world.newId(),
    testTargetId: fields.required("testTargetId", uuid),
    createdAt: fields.optional("createdAt", dateTime) ?? world.now(),
    updatedAt: fields.optional("updatedAt", dateTime) ?? world.now(),
    payload: fields.optional("payload", freeForm) ?? {},
    type: fields.required("type", notificationType),
    ack: fields.optional("ack", nullable(oneOf("IN_WEB_APP"))) ?? null,
  }));

export type Notification = Read<ReturnType<typeof notificationReader>>;
