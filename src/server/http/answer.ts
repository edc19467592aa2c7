import { Refusal } from "../read/refusal.ts";
import type { Settings } from "../settings.ts";
import { type Reply, errorReply } from "./reply.ts";

/** A reply, and the stack of the defect when it is one that says 500. */
export type Answer = { readonly reply: Reply; readonly defect?: string };

/** Makes a reply of whatever comes of `work`: refusals are answers, anything else thrown is a defect. */
export function answerOf(work: () => Reply, errorBody: Settings["errorBody"]): Answer {
  try {
    return { reply: work() };
  } catch (error) {
    if (error instanceof Refusal) return { reply: errorReply(error, errorBody) };
    const defect = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { reply: errorReply(new Refusal(500, "the service failed"), errorBody), defect };
  }
}
