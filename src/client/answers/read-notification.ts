import type { Json } from "../../model/json.ts";
import type { Misfit } from "../failure.ts";
import type { Result } from "../result.ts";
import type { LiveNotification } from "./notifications.ts";
import { aList, anObject, checked, id, requiredText, text, within } from "./shape.ts";

/** The answer of operation 14. */
export function readNotifications(answer: Json): Result<readonly LiveNotification[], Misfit> {
  return checked(() => aList(answer, notification));
}

function notification(json: Json): LiveNotification {
  const fields = anObject(json);
  return {
    id: id(fields, "id"),
    testTargetId: id(fields, "testTargetId"),
    createdAt: requiredText(fields, "createdAt"),
    updatedAt: requiredText(fields, "updatedAt"),
    type: requiredText(fields, "type"),
    payload: within("payload", () => anObject(fields["payload"])),
    ack: text(fields, "ack"),
  };
}
