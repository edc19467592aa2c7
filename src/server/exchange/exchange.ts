import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../http/answer.ts";
import type { Received } from "../http/received.ts";
import { type Reply, errorReply } from "../http/reply.ts";
import { send, sendHalf } from "../http/send.ts";
import { Refusal } from "../read/refusal.ts";
import type { Settings } from "../settings.ts";
import type { Fault } from "./fault.ts";
import type { FaultPlan } from "./faultPlan.ts";
import type { RequestLog } from "./requestLog.ts";

/** What is done with the connection in the end. */
type Delivery =
  { readonly kind: "whole" | "half"; readonly reply: Reply } | { readonly kind: "reset" | "silence" };

export type Exchange = {
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** Carries the request out. */
  readonly act: (received: Received) => Answer;
  readonly errorBody: () => Settings["errorBody"];
  /** Ends waits when the server closes. */
  readonly closing: AbortSignal;
};

/** One request of the interface from its arrival to the last byte, with the fault that befalls it, if any. */
export async function exchange(on: Exchange, received: Received, response: ServerResponse): Promise<void> {
  const end = on.log.begin(received);
  const fault = on.faults.next(received);
  if (fault?.type === "latency") await sleep(fault.ms, undefined, { signal: on.closing });
  const performed = acts(fault) ? on.act(received) : undefined;
  const delivery = deliveryOf(fault, performed?.reply, on.errorBody());
  end({
    ...("reply" in delivery ? { status: delivery.reply.status } : {}),
    ...(fault === undefined ? {} : { fault: fault.type }),
    ...(performed?.defect === undefined ? {} : { defect: performed.defect }),
  });
  await deliver(delivery, response);
}

function acts(fault: Fault | undefined): boolean {
  if (fault?.type === "status") return !fault.before;
  return fault?.type === "reset" || fault?.type === "hang" ? fault.when === "after" : true;
}

function deliveryOf(
  fault: Fault | undefined,
  reply: Reply | undefined,
  errorBody: Settings["errorBody"],
): Delivery {
  if (fault?.type === "status") return { kind: "whole", reply: faultReply(fault, errorBody) };
  if (fault?.type === "reset") return { kind: "reset" };
  if (fault?.type === "hang" || reply === undefined) return { kind: "silence" };
  return { kind: fault?.type === "truncate" ? "half" : "whole", reply };
}

/** Without a body of its own a status fault looks like any error of the service. */
function faultReply(
  { status, headers, body }: Extract<Fault, { type: "status" }>,
  errorBody: Settings["errorBody"],
): Reply {
  if (body === undefined) return errorReply(new Refusal(status, "an injected fault", { headers }), errorBody);
  if (typeof body !== "string") return { kind: "json", status, headers, body };
  return { kind: "text", status, headers, type: "text/plain; charset=utf-8", text: body };
}

async function deliver(delivery: Delivery, response: ServerResponse): Promise<void> {
  switch (delivery.kind) {
    case "whole":
      return send(response, delivery.reply);
    case "half":
      return sendHalf(response, delivery.reply);
    case "reset":
      response.socket?.resetAndDestroy();
      break;
    case "silence":
  }
}
