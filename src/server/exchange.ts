import { type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Json, type JsonObject, defined, parseJson } from "../model/json.ts";
import { type Received, type Reply, errorReply, send, sendHalf } from "./http.ts";
import * as v from "./input.ts";
import type { Service } from "./service.ts";

/** A reply, and the stack of the defect if the reply is a 500. */
export type HandlerAnswer = { readonly reply: Reply; readonly defect?: string };

/** Maximum number of requests in the log, because it is kept in memory. Older ones are dropped. */
const MOST = 100_000;

/** The data that the requests of the interface share. */
export type Interface = {
  readonly service: Service;
  /** The received requests, in order. */
  readonly log: JsonObject[];
  readonly faults: FaultPlan;
};

/**
 * Handles one request of the interface, with the fault that applies to it, if any, and logs the
 * result.
 */
export async function exchange(
  { log, faults, service }: Interface,
  received: Received,
  act: () => HandlerAnswer,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  const { method, path, query } = received;
  const body = bodyOf(received.body.toString());
  const logged: JsonObject = { method, path, query: Object.fromEntries(query), body };
  log.push(logged);
  if (log.length > MOST) log.shift();
  const fault = nextFault(faults, received);
  if (fault?.type === "latency") await sleep(fault.ms, undefined, { signal: closing });
  const isSilent = fault?.type === "reset" || fault?.type === "hang";
  const isKept =
    (isSilent && fault.when === "before") || (fault?.type === "status" && fault.before);
  const performed = isKept ? undefined : act();
  const made = fault?.type === "status" ? faultReply(fault, service) : performed?.reply;
  const reply = isSilent ? undefined : made;
  Object.assign(
    logged,
    defined({ status: reply?.status, fault: fault?.type, defect: performed?.defect }),
  );
  if (fault?.type === "reset") response.socket?.resetAndDestroy();
  if (reply !== undefined) await (fault?.type === "truncate" ? sendHalf : send)(response, reply);
}

function faultReply(
  { status, headers, body }: v.Read<typeof FAULTS.status>,
  { settings }: Service,
): Reply {
  if (body === undefined)
    return errorReply(new v.Refusal(status, "an injected fault", { headers }), settings.errorBody);
  if (typeof body !== "string") return { status, headers, body };
  return {
    status,
    headers: { "content-type": "text/plain; charset=utf-8", ...headers },
    text: body,
  };
}

/** Returns the body as JSON, or as it was sent if it is not JSON. */
function bodyOf(sent: string): Json {
  if (sent === "") return null;
  try {
    return parseJson(sent);
  } catch {
    return sent;
  }
}

const headers: v.Reader<Readonly<Record<string, string>>> = (value, at, runtime) =>
  Object.fromEntries(
    Object.entries(v.freeForm(value, at, runtime)).map(([name, content]) => {
      const sent = v.text(content, `${at}.${name}`, runtime);
      try {
        validateHeaderName(name);
        validateHeaderValue(name, sent);
        return [name, sent];
      } catch {
        throw v.badValue(`${at}.${name}`, "must be a header");
      }
    }),
  );

const when = v.or(v.oneOf("before", "after"), "before");

/** The faults of requests. With "before", the request is not carried out; with "after", it is. */
const FAULTS = {
  latency: v.object({ type: v.oneOf("latency"), ms: v.integerFrom(0, 600_000) }),
  status: v.object({
    type: v.oneOf("status"),
    status: v.integerFrom(200, 599),
    before: v.or(v.flag, true),
    headers: v.or(headers, {}),
    body: v.optional(v.anything),
  }),
  reset: v.object({ type: v.oneOf("reset"), when }),
  hang: v.object({ type: v.oneOf("hang"), when }),
  truncate: v.object({ type: v.oneOf("truncate") }),
};

type Fault = v.Read<(typeof FAULTS)[keyof typeof FAULTS]>;

const fault: v.Reader<Fault> = (value, at, runtime) => {
  const { type } = v.freeForm(value, at, runtime);
  if (type === undefined) throw v.badValue(`${at}.type`, "is required");
  const typed = v.oneOf("latency", "status", "reset", "hang", "truncate");
  return FAULTS[typed(type, `${at}.type`, runtime)](value, at, runtime);
};

const pattern: v.Reader<string> = (value, at, runtime) => {
  const source = v.nonEmptyText(value, at, runtime);
  try {
    return new RegExp(source).source;
  } catch {
    throw v.badValue(at, "must be a regular expression");
  }
};

/**
 * A fault and its requests: those with `method` whose path after /apiKey/v3 matches the expression
 * `path`; of these, the `nth` and all later ones, but at most `times`. With `nth` alone, only that
 * request.
 */
export const faultRule = v.object({
  method: v.optional(v.nonEmptyText),
  path: v.optional(pattern),
  nth: v.optional(v.integerFrom(1)),
  times: v.optional(v.integerFrom(1)),
  fault,
});

/** The active rules, with the number of requests that each has matched so far. */
export type FaultPlan = Map<v.Read<typeof faultRule>, number>;

/**
 * Counts the request for every rule that it matches, and returns the fault of the first rule that
 * applies.
 */
function nextFault(faults: FaultPlan, { method, path }: Received): Fault | undefined {
  let found: Fault | undefined;
  for (const [rule, before] of faults) {
    if ((rule.method ?? method) !== method || !new RegExp(rule.path ?? "").test(path)) continue;
    faults.set(rule, before + 1);
    const { nth, times = nth === undefined ? Infinity : 1 } = rule;
    const first = nth ?? 1;
    if (before + 1 >= first && before + 1 < first + times) found ??= rule.fault;
  }
  return found;
}
