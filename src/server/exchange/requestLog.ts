import type { Json, JsonObject } from "../../model/json.ts";
import type { Received } from "../http/received.ts";
import { parseOwn } from "../read/parse.ts";

/** Older ones are dropped: the log lives in memory. */
const MOST = 100_000;

/**
 * How a request of the interface came out: a status, or the fault that took its place; both for a status fault.
 * `defect` is the stack of an error the service did not expect.
 */
export type Outcome = { readonly status?: number; readonly fault?: string; readonly defect?: string };

/** The requests the interface received, in the order they came. */
export type RequestLog = {
  /** Takes the request's place in the order; what it returns is called once it is known how it came out. */
  begin(received: Received): (outcome: Outcome) => void;
  entries(): JsonObject[];
  clear(): void;
};

export function createRequestLog(): RequestLog {
  const log = new Map<number, JsonObject>();
  let count = 0;
  return {
    begin(received) {
      const place = count++;
      const request = asSeen(received);
      log.set(place, request);
      log.delete(place - MOST);
      return (outcome) => {
        if (log.has(place)) log.set(place, { ...request, ...outcome });
      };
    },
    entries: () => [...log.values()],
    clear: () => log.clear(),
  };
}

function asSeen({ method, path, query, body }: Received): JsonObject {
  return { method, path, query: Object.fromEntries(query), body: bodyOf(body.toString()) };
}

/** The body as it was meant where it is JSON, as it was sent where it is not. */
function bodyOf(text: string): Json {
  if (text === "") return null;
  try {
    return parseOwn(text);
  } catch {
    return text;
  }
}
