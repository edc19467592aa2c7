import { setMaxListeners } from "node:events";
import type { ClientEvent } from "../model/events.ts";
import type { Json } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { Secret } from "../model/value.ts";
import {
  type NewReports,
  type ReportPage,
  newReports,
  readNotifications,
  readReport,
  readReportPage,
  readTarget,
  readTargets,
  readTestCase,
} from "./answers.ts";
import { type BeforeSend, Calls, type Done, redactingKey } from "./calls.ts";
import {
  type AnswerReader,
  type Collector,
  type Transport,
  optionalAnswer,
  shapedAnswer,
  streamedList,
  wholeAnswer,
} from "./exchange.ts";
import { Limiter, type ShareRate } from "./limiter.ts";
import type { Redact } from "./refusal.ts";
import { type BaseUrl, type ClientRuntime, ROOT, type WriteCall } from "./request.ts";

export interface ClientOptions {
  /** From `checkBaseUrl`, which also decides whether plain http is allowed. */
  readonly baseUrl: BaseUrl;
  readonly apiKey: Secret;
  /** Calls in flight, of any kind. */
  readonly concurrency: number;
  /** Sends in a second, of any call. */
  readonly rateLimit?: number | undefined;
  /** Where the rate is kept together with other processes. */
  readonly shareRate?: ShareRate | undefined;
  /**
   * Milliseconds that one send may take, from connecting to the answer's last byte. For the streamed list of test
   * cases, it is the time for each 256 KiB.
   */
  readonly requestTimeout: number;
  /** Sends after the first. */
  readonly retries: number;
  readonly world: ClientRuntime;
  /** Must not throw. */
  readonly onEvent?: (event: ClientEvent) => void;
  /** Where the variables of proxies are looked for (HTTPS_PROXY, HTTP_PROXY, NO_PROXY); no proxy without it. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** See `BeforeSend`. */
  readonly beforeSend?: BeforeSend;
  /** Ends everything at once: calls in flight are dropped, and all calls end as `interrupted`. */
  readonly signal?: AbortSignal;
  /** Removes secrets from the service's own words, before these are shortened. The API key is removed anyway. */
  readonly redact?: Redact;
}

/** Milliseconds: timers of Node that are set for longer go off at once. */
const MAX_TIMER = 2 ** 31 - 1;

export type Client = ReturnType<typeof createClient>;

/**
 * Makes a client: the service's 14 operations. They throw a `ServiceError` for what the service or the network does wrong,
 * and else only mistakes of the caller: a path segment that no path can carry (RangeError), an error of a collector.
 * Nothing is connected, and no HTTP library loaded, before the first call.
 */
export function createClient(options: ClientOptions) {
  const { concurrency, rateLimit, shareRate, world } = options;
  const ending = endingSignal(options.signal);
  const requestTimeout = Math.min(options.requestTimeout, MAX_TIMER);
  let transport: Promise<Transport> | undefined;
  const open = async (): Promise<Transport> => {
    const { openTransport } = await import("./transport.ts");
    return openTransport(options.baseUrl.origin, requestTimeout, options.env ?? {});
  };
  const calls = new Calls({
    base: options.baseUrl,
    apiKey: options.apiKey,
    transport: () => (transport ??= open()),
    limiter: new Limiter({ concurrency, rateLimit, shareRate, world, signal: ending.signal }),
    requestTimeout,
    retries: options.retries,
    world,
    signal: ending.signal,
    redact: redactingKey(options.apiKey, options.redact ?? ((text) => text)),
    onEvent: options.onEvent ?? ((): void => undefined),
    beforeSend: options.beforeSend ?? ((): void => undefined),
  });
  const get = async <T>(inner: readonly string[], reader: () => AnswerReader<T>, query = ""): Promise<T> =>
    (await calls.make({ method: "GET", path: [...ROOT, "test-targets", ...inner], query, reader })).value;
  const read = <T>(inner: readonly string[], reader: (answer: Json) => T, query?: string): Promise<T> =>
    get(inner, () => shapedAnswer(reader), query);
  /** Operation 12, one page. @param key of the page before */
  const listReports = (targetId: string, key?: Json): Promise<ReportPage> => {
    const query = key === undefined ? "" : `?key=${encodeURIComponent(JSON.stringify(key))}`;
    return read([targetId, "test-reports"], readReportPage, query);
  };
  return {
    /** Operation 1. */
    listTargets: () => read([], readTargets),
    /** Operation 3. */
    getTarget: (targetId: string) => read([targetId], readTarget),
    /**
     * Operation 7: the cases go through one by one, in the service's order, and the answer is never held whole.
     * @param collector makes one; asked again for each try, so that a try that broke leaves nothing behind
     */
    listTestCases: <T>(targetId: string, collector: () => Collector<LiveTestCase, T>): Promise<T> =>
      get([targetId, "test-cases"], () => streamedList(readTestCase, collector())),
    /**
     * Operations 2, 4 to 6 and 8 to 11. The value is undefined for an answer that is empty, and for one to a PATCH that
     * cannot be read.
     */
    send: ({ method, path, body }: WriteCall): Promise<Done<Json | undefined>> =>
      calls.make({
        method,
        path,
        body: JSON.stringify(body),
        reader: method === "PATCH" ? optionalAnswer : wholeAnswer,
      }),
    listReports,
    /** Operation 12, page after page. */
    async *allReports(targetId: string): AsyncGenerator<NewReports, void, undefined> {
      const seen = new Set<string>();
      let key: Json | undefined;
      for (let pages = 1, more = true; more; pages++) {
        const page = await listReports(targetId, key);
        const fresh = newReports(page, seen, pages);
        yield fresh;
        key = page.key;
        more = fresh.next === "more";
      }
    },
    /** Operation 13. */
    getReport: (targetId: string, reportId: string) => read([targetId, "test-reports", reportId], readReport),
    /** Operation 14. */
    listNotifications: (targetId: string) => read([targetId, "notifications"], readNotifications),
    /** Drops all connections; calls still under way end as `interrupted`. */
    close: async (): Promise<void> => {
      ending.abort();
      // Where it could not be opened, the calls said why.
      await (await transport?.catch(() => undefined))?.close();
    },
  };
}

/** A signal of the client's own, aborted with the one handed in. */
function endingSignal(outer: AbortSignal | undefined): AbortController {
  const ending = new AbortController();
  // Every call in flight listens; that is not a leak, as Node would warn from the eleventh on.
  setMaxListeners(0, ending.signal);
  outer?.addEventListener("abort", () => ending.abort(), { signal: ending.signal });
  if (outer?.aborted === true) ending.abort();
  return ending;
}
