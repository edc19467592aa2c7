import type { Json } from "../../model/json.ts";
import type { Answered } from "../http/answered.ts";
import type { Reply } from "../http/reply.ts";
import type { Service } from "../service.ts";

/** A request as an operation sees it. */
export type Call = {
  /** A uuid of the path, by its name there. */
  readonly id: (name: string) => string;
  readonly query: URLSearchParams;
  /** Read on demand, so that an unknown resource is named before a bad body. */
  readonly body: () => Json;
};

/** One of the 14 operations: answers, or throws a Refusal and nothing is written. */
export type Operation = (service: Service, call: Call) => Reply;

/** The answer of a POST; its status is not shown (Errors). */
export function created({ settings }: Service, body: Answered): Reply {
  return { kind: "json", status: settings().createStatus, body };
}

/** The answer of a PATCH whose status is not shown (Errors). */
export function updated({ settings }: Service, body: Answered): Reply {
  const status = settings().updateStatus;
  return status === 204 ? { kind: "empty", status } : { kind: "json", status, body };
}
