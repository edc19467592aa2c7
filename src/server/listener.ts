import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";
import type { Control } from "./control/control.ts";
import { performControl } from "./control/routes.ts";
import { type Exchange, exchange } from "./exchange/exchange.ts";
import { answerOf } from "./http/answer.ts";
import { type Received, receive } from "./http/received.ts";
import { errorReply } from "./http/reply.ts";
import { send } from "./http/send.ts";
import { Refusal, notFound } from "./read/refusal.ts";

/** Where requests go: the described interface, or the one that controls this server. */
export type Wiring = { readonly control: Control; readonly interface: Exchange; readonly basePath: string };

/** Version 3 of the interface (Versioning). */
const INTERFACE = "/apiKey/v3";

export function createListener(wiring: Wiring): RequestListener {
  return (request, response) => {
    // Whatever goes wrong here is past any answer: the other side has gone, or half of the answer is out.
    handle(wiring, request, response).catch(() => response.destroy());
  };
}

async function handle(wiring: Wiring, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { errorBody } = wiring.control.service.settings();
  const received = await receive(request).catch(refusalIn);
  if (received instanceof Refusal) return send(response, errorReply(received, errorBody));
  const inInterface = below(received, wiring.basePath + INTERFACE);
  if (inInterface !== undefined) return exchange(wiring.interface, inInterface, response);
  const inControl = below(received, "/control");
  const work = () => {
    if (inControl === undefined) throw notFound("path");
    return performControl(wiring.control, inControl);
  };
  const { reply } = answerOf(work, inControl === undefined ? errorBody : "json");
  wiring.control.runner.schedule();
  await send(response, reply);
}

function refusalIn(error: unknown): Refusal {
  if (error instanceof Refusal) return error;
  throw error;
}

/** The request as seen from below a path, or undefined when it is not for there. */
function below(received: Received, prefix: string): Received | undefined {
  if (!received.path.startsWith(`${prefix}/`)) return undefined;
  return { ...received, path: received.path.slice(prefix.length) };
}
