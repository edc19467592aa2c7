import { type ServerResponse, validateHeaderName, validateHeaderValue } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { type Json, type JsonObject, defined, parseJson } from "../model/json.ts";
import {
  type AnsweredJson,
  type HandlerAnswer,
  type Received,
  type Reply,
  errorReply,
  send,
  sendHalf,
} from "./http.ts";
import * as v from "./input.ts";
import type { Service } from "./service.ts";
import type { Settings } from "./resources.ts";

/**
 * One request of the interface from its arrival to the last byte, with the fault that applies to it, if any.
 * @param act carries the request out
 * @param closing ends waits when the server closes
 */
export async function exchange(
  {
    log,
    faults,
    service,
  }: { readonly log: RequestLog; readonly faults: FaultPlan; readonly service: Service },
  received: Received,
  act: () => HandlerAnswer,
  response: ServerResponse,
  closing: AbortSignal,
): Promise<void> {
  const end = log.begin(received);
  const fault = faults.next(received);
  if (fault?.type === "latency") await sleep(fault.ms, undefined, { signal: closing });
  const performed = acts(fault) ? act() : undefined;
  const isSilent = fault?.type === "reset" || fault?.type === "hang";
  const made = fault?.type === "status" ? faultReply(fault, service.settings.errorBody) : performed?.reply;
  const reply = isSilent ? undefined : made;
  end(defined({ status: reply?.status, fault: fault?.type, defect: performed?.defect }));
  if (fault?.type === "reset") response.socket?.resetAndDestroy();
  if (reply !== undefined) await (fault?.type === "truncate" ? sendHalf : send)(response, reply);
}

function acts(fault: Fault | undefined): boolean {
  if (fault?.type === "status") return !fault.before;
  return fault?.type === "reset" || fault?.type === "hang" ? fault.when === "after" : true;
}

/** Without a body of its own a status fault looks like any error of the service. */
function faultReply(
  { status, headers, body }: Extract<Fault, { type: "status" }>,
  errorBody: Settings["errorBody"],
): Reply {
  if (body === undefined)
    return errorReply(new v.Refusal(status, "an injected fault", { headers }), errorBody);
  if (typeof body !== "string") return { status, headers, body };
  return { status, headers: { "content-type": "text/plain; charset=utf-8", ...headers }, text: body };
}

/** Older ones are dropped: the log lives in memory. */
const MOST = 100_000;

/**
 * How a request of the interface came out: a status, or the fault that took its place; both for a status fault.
 * `defect` is the stack of an error the service did not expect.
 */
export type Outcome = { readonly status?: number; readonly fault?: string; readonly defect?: string };

/** The requests the interface received, in the order they came. */
export class RequestLog {
  #requests: JsonObject[] = [];

  /** Takes the request's place in the order; what it returns is called once it is known how it came out. */
  begin({ method, path, query, body }: Received): (outcome: Outcome) => void {
    const request = { method, path, query: Object.fromEntries(query), body: bodyOf(body.toString()) };
    this.#requests.push(request);
    if (this.#requests.length > MOST) this.#requests.shift();
    return (outcome) => void Object.assign(request, outcome);
  }

  entries(): readonly JsonObject[] {
    return this.#requests;
  }

  clear(): void {
    this.#requests = [];
  }
}

/** The body as it was meant where it is JSON, as it was sent where it is not. */
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

/** What goes wrong with a request. "before" and "after" say whether the request is carried out. */
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

export type Fault = v.Read<(typeof FAULTS)[keyof typeof FAULTS]>;

const faultType = v.oneOf("latency", "status", "reset", "hang", "truncate");

const fault: v.Reader<Fault> = (value, at, runtime) => {
  const { type } = v.freeForm(value, at, runtime);
  if (type === undefined) throw v.badValue(`${at}.type`, "is required");
  return FAULTS[faultType(type, `${at}.type`, runtime)](value, at, runtime);
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
 * A fault and the requests it applies to: those of `method` whose path after /apiKey/v3 matches the expression `path`;
 * of these the `nth` and all later ones, at most `times` of them. Given `nth` alone it is that request only.
 */
export const faultRule = v.object({
  method: v.optional(v.nonEmptyText),
  path: v.optional(pattern),
  nth: v.optional(v.integerFrom(1)),
  times: v.optional(v.integerFrom(1)),
  fault,
});

type FaultRule = v.Read<typeof faultRule>;

/** The rules in force, and how many requests each has matched so far. */
export class FaultPlan {
  readonly #counted = new Map<FaultRule, number>();

  add(rule: FaultRule): void {
    this.#counted.set(rule, 0);
  }

  /** Counts the request on every rule it matches; the first rule that applies decides. */
  next(request: Pick<Received, "method" | "path">): Fault | undefined {
    const matching = [...this.#counted].filter(([rule]) => matches(rule, request));
    for (const [rule, before] of matching) this.#counted.set(rule, before + 1);
    return matching.find(([rule, before]) => applies(rule, before + 1))?.[0].fault;
  }

  rules(): AnsweredJson[] {
    return Array.from(this.#counted, ([rule, matched]) => ({ ...rule, matched }));
  }

  clear(): void {
    this.#counted.clear();
  }
}

function matches({ method, path }: FaultRule, request: Pick<Received, "method" | "path">): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || new RegExp(path).test(request.path))
  );
}

function applies({ nth, times }: FaultRule, count: number): boolean {
  const first = nth ?? 1;
  const most = times ?? (nth === undefined ? Infinity : 1);
  return count >= first && count < first + most;
}
