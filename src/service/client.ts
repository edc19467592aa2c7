import { setMaxListeners } from "node:events";
import { TascError } from "../model/error.ts";
import type { ClientEvent, OfCall } from "../model/events.ts";
import { type Json, isObject } from "../model/json.ts";
import type { LiveTestCase } from "../model/live.ts";
import { SENSITIVE, type Secret } from "../model/value.ts";
import * as answers from "./answers.ts";
import {
  type AnswerReader,
  type Exchanged,
  type Transport,
  exchange,
  optionalAnswer,
  shapedAnswer,
  streamedList,
  wholeAnswer,
} from "./exchange.ts";
import {
  type Fault,
  type MayHaveActed,
  ServiceError,
  isTooMany,
  mayHaveActed,
  mayRetry,
} from "./failure.ts";
import { Limiter, type ShareRate } from "./limiter.ts";
import type { Redact } from "./refusal.ts";
import {
  type BaseUrl,
  type ClientRuntime,
  type Method,
  ROOT,
  type WriteCall,
  pathOf,
  slept,
} from "./request.ts";

interface Call<T> {
  readonly method: Method;
  readonly path: readonly string[];
  readonly query?: string;
  readonly body?: string;
  /** Creates the reader of a 2xx answer; called for each send. */
  readonly reader: () => AnswerReader<T>;
}

/**
 * Called right before every send and resend, reads included, after all waiting for a turn or a
 * delay. The result of an asynchronous check is valid for PERMISSION_LASTS; if connecting takes
 * longer, it is called again. To refuse, it throws a `TascError`: nothing is sent, and the call
 * ends as `withheld`.
 */
export type BeforeSend = (send: Sending) => void | Promise<void>;
type Sending = Pick<OfCall, "method" | "path" | "attempt">;

export interface ClientOptions {
  /** From `checkBaseUrl`, which also decides whether plain http is allowed. */
  readonly baseUrl: BaseUrl;
  readonly apiKey: Secret;
  /** Where the key comes from, for the message if the service refuses it. */
  readonly keyFrom?: string | undefined;
  readonly concurrency: number;
  readonly rateLimit?: number | undefined;
  /** Takes sends from a rate that is shared with other processes. */
  readonly shareRate?: ShareRate | undefined;
  /**
   * Milliseconds from connecting to the last byte of the answer; for the streamed list of test
   * cases, per 256 KiB.
   */
  readonly requestTimeout: number;
  readonly retries: number;
  readonly world: ClientRuntime;
  readonly onEvent?: (event: ClientEvent) => void;
  /**
   * Environment with the proxy variables (HTTPS_PROXY, HTTP_PROXY, NO_PROXY). If unset, no proxy is
   * used.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly beforeSend?: BeforeSend;
  /**
   * Stops everything at once: requests in flight are dropped, and all calls end as `interrupted`.
   */
  readonly signal?: AbortSignal;
  /**
   * Removes secrets from the service's messages before these are shortened. The API key is always
   * removed.
   */
  readonly redact?: Redact;
}

/** Maximum delay of a Node timer, in milliseconds. A timer with a longer delay fires at once. */
const MAX_TIMER = 2 ** 31 - 1;
/** Milliseconds for which a permission by `beforeSend` is valid. */
const PERMISSION_LASTS = 1000;
/** Maximum number of connections per send, if connecting takes longer than PERMISSION_LASTS. */
const MAX_CONNECTS = 3;

export type Client = ReturnType<typeof createClient>;

/**
 * Creates the client of the service's 14 operations. They throw a `ServiceError` for faults of the
 * service or the network; any other error is a mistake of the caller. The HTTP library is loaded,
 * and a connection opened, at the first call.
 */
export function createClient(options: ClientOptions) {
  const { make, close } = openCalls(options);
  const get = <T>(
    inner: readonly string[],
    reader: () => AnswerReader<T>,
    query = "",
  ): Promise<T> =>
    make({ method: "GET", path: [...ROOT, "test-targets", ...inner], query, reader });
  const read = <T>(
    inner: readonly string[],
    reader: (answer: Json) => T,
    query?: string,
  ): Promise<T> => get(inner, () => shapedAnswer(reader), query);
  const listReports = (
    targetId: string,
    key?: Json,
    form: CursorForm = "json",
  ): Promise<answers.ReportPage> => {
    const query = key === undefined ? "" : cursorQuery(key, form);
    return read([targetId, "test-reports"], answers.readReportPage, query);
  };
  return {
    listTargets: () => read([], answers.readTargets),
    getTarget: (targetId: string) => read([targetId], answers.readTarget),
    /**
     * In the service's order; the answer is never in memory as a whole.
     * @param keep returns the part to keep of each
     */
    listTestCases: <T>(
      targetId: string,
      keep: (testCase: LiveTestCase) => T,
    ): Promise<readonly T[]> =>
      get([targetId, "test-cases"], () =>
        streamedList((item, at) => keep(answers.readTestCase(item, at))),
      ),
    /** Returns undefined for an empty answer, and for an unreadable answer to a PATCH. */
    send: ({ method, path, body }: WriteCall): Promise<Json | undefined> =>
      make({
        method,
        path,
        body: JSON.stringify(body),
        reader: method === "PATCH" ? optionalAnswer : wholeAnswer,
      }),
    listReports,
    async *allReports(targetId: string): AsyncGenerator<answers.NewReports, void, undefined> {
      const seen = new Set<string>();
      let key: Json | undefined;
      let form: CursorForm | undefined;
      for (let pages = 1, more = true; more; pages++) {
        let page = await listReports(targetId, key, form);
        let fresh = answers.newReports(page, seen, pages);
        // Until a page has brought more, the service may read the cursor in another form.
        if (key !== undefined && form === undefined) {
          form = "json";
          for (const other of isObject(key) ? OTHER_FORMS : []) {
            if (fresh.next !== "nothing-new") break;
            const again = await listReports(targetId, key, other).catch(ifRefused);
            if (again === undefined) continue;
            [page, form] = [again, other];
            fresh = answers.newReports(again, seen, pages);
          }
        }
        yield fresh;
        key = page.key;
        more = fresh.next === "more";
      }
    },
    getReport: (targetId: string, reportId: string) =>
      read([targetId, "test-reports", reportId], answers.readReport),
    listNotifications: (targetId: string) =>
      read([targetId, "notifications"], answers.readNotifications),
    /** Drops all connections; calls in progress end as `interrupted`. */
    close,
  };
}

/** Opens what makes calls: each takes its turn, and is sent again while that may help. */
function openCalls(options: ClientOptions) {
  const { concurrency, rateLimit, shareRate, retries, world, onEvent = () => undefined } = options;
  const ending = new AbortController();
  const signal = AbortSignal.any([
    ending.signal,
    ...(options.signal === undefined ? [] : [options.signal]),
  ]);
  // Every call that waits for its next attempt adds a listener. From the eleventh on, Node would
  // wrongly report a leak.
  setMaxListeners(0, signal);
  const limiter = new Limiter({ concurrency, rateLimit, shareRate, world, signal });
  const sender = openSender(options, signal);
  let count = 0;
  const make = async <T>(call: Call<T>): Promise<T> => {
    const { method } = call;
    const path = pathOf(call.path);
    let attempt = 0;
    let acted: MayHaveActed = "no";
    const failed = (fault: Fault): ServiceError =>
      new ServiceError({
        ...(fault.kind === "key-refused" ? { ...fault, keyFrom: options.keyFrom } : fault),
        method,
        path,
        attempts: attempt,
        acted,
      });
    if (!sender.isSendable) throw failed({ kind: "unsendable" });
    if (!(await limiter.enter())) throw failed({ kind: "interrupted" });
    const number = ++count;
    try {
      for (;;) {
        attempt++;
        const { era } = limiter;
        const started = world.now();
        const about = { call: number, method, path, attempt };
        // The spread comes last: V8 takes several times as long to create an object if fields are
        // added after it.
        onEvent({ kind: "started", ...about });
        const { result, status, date, began } = await sender
          .send(call, about)
          .catch((error: unknown) => {
            limiter.sent(false);
            throw error;
          });
        const fault = result.ok ? undefined : result.failure;
        const ms = world.now() - started;
        onEvent({ kind: "finished", status, ms, fault: fault?.kind, date, ...about });
        const delay = fault === undefined ? 0 : retryDelay(fault, attempt, world.random());
        if (fault !== undefined && isTooMany(fault)) {
          limiter.slowDown(delay, era);
          onEvent({ kind: "slowed", pause: delay, concurrency: limiter.concurrency });
        } else limiter.sent(result.ok);
        if (result.ok) return result.value;
        const actedNow = mayHaveActed(method, result.failure, began);
        if (actedNow === "maybe") acted = actedNow;
        if (attempt > retries || !mayRetry(method, result.failure, actedNow))
          throw failed(result.failure);
        const { kind } = result.failure;
        onEvent({ kind: "waiting", fault: kind, status, attempts: retries + 1, delay, ...about });
        // After a 429, the limiter makes all calls wait, including this one.
        const mayGoOn = isTooMany(result.failure) || (await slept(world, delay, signal));
        if (!mayGoOn || !(await limiter.again())) throw failed({ kind: "interrupted" });
      }
    } finally {
      limiter.leave();
    }
  };

  const close = async (): Promise<void> => {
    ending.abort();
    await sender.close();
  };
  return { make, close };
}

/** Opens what sends a call once, over connections that are opened with the first. */
function openSender(options: ClientOptions, signal: AbortSignal) {
  const { baseUrl, apiKey, concurrency, world, env = {} } = options;
  const { beforeSend = () => undefined, redact = (text) => text } = options;
  const requestTimeout = Math.min(options.requestTimeout, MAX_TIMER);
  const key = apiKey.reveal();
  const redactAll: Redact =
    key.length < MIN_REDACTED ? redact : (words) => redact(words).replaceAll(key, SENSITIVE);
  let transport: Promise<Transport> | undefined;
  const open = async (): Promise<Transport> =>
    (await import("./transport.ts")).openTransport(
      baseUrl.origin,
      requestTimeout,
      concurrency,
      env,
    );

  const now = (): number => world.now();
  // Calls in flight register here: a signal walks through all its listeners whenever one is added
  // or removed.
  const inFlight = new Set<() => void>();
  const interruptAll = (): void => {
    for (const interrupt of inFlight) interrupt();
  };
  // Node keeps a signal of several others, and all that its listeners know, while it has any.
  signal.addEventListener("abort", interruptAll, { once: true });

  const headers = ["X-API-Key", key, "Accept", "application/json", "User-Agent", "tasc"];
  const headersOfBody = [...headers, "Content-Type", "application/json"];
  const send = async <T>(
    { query = "", body, reader }: Call<T>,
    about: Sending,
  ): Promise<Exchanged<T>> => {
    const connections = await (transport ??= open());
    const request = {
      origin: baseUrl.origin,
      method: about.method,
      path: `${baseUrl.path}${about.path}${query}`,
      headers: body === undefined ? headers : headersOfBody,
      body: body ?? null,
    };
    for (let connects = 1; ; connects++) {
      let looked: void | Promise<void>;
      try {
        looked = beforeSend(about);
        await looked;
      } catch (error) {
        if (!(error instanceof TascError)) throw error;
        const result = { ok: false, failure: { kind: "withheld", cause: error } } as const;
        return { result, status: undefined, date: undefined, began: false, tooLate: false };
      }
      // The wall clock, because monotonic clocks stop while a machine is suspended.
      const granted = Date.now();
      const exchanged = await exchange(connections, {
        request,
        reader: reader(),
        baseUrl,
        limit: requestTimeout,
        signal,
        inFlight,
        redact: redactAll,
        now,
        mayWrite: () => looked === undefined || Math.abs(Date.now() - granted) < PERMISSION_LASTS,
      });
      if (!exchanged.tooLate || connects === MAX_CONNECTS) return exchanged;
    }
  };
  return {
    isSendable: HEADER_VALUE.test(key),
    send,
    close: async (): Promise<void> => {
      // If opening failed, the calls have already reported why.
      await (await transport?.catch(() => undefined))?.dispatcher.destroy();
    },
  };
}

/**
 * How a cursor is sent back: service-api.md does not show the query parameters for paging
 * (operation 12).
 */
type CursorForm = "json" | (typeof OTHER_FORMS)[number];
const OTHER_FORMS = ["bracketed", "plain"] as const;

function cursorQuery(key: Json, form: CursorForm): string {
  const query = new URLSearchParams();
  if (form === "json" || !isObject(key)) query.set("key", JSON.stringify(key));
  else
    for (const [name, value] of Object.entries(key))
      query.set(
        form === "plain" ? name : `key[${name}]`,
        typeof value === "string" ? value : JSON.stringify(value),
      );
  // A space is sent as %20, which every server reads.
  return `?${query.toString().replaceAll("+", "%20")}`;
}

/** A refusal of a form is an answer, too. @throws any other error */
function ifRefused(error: unknown): undefined {
  const isRefusal =
    error instanceof ServiceError &&
    error.failure.kind === "status" &&
    error.failure.status >= 400 &&
    error.failure.status < 500;
  if (!isRefusal) throw error;
}

/**
 * Returns the milliseconds before the next send. A delay asked for by the service wins.
 * @param send sends so far, from 1
 */
export function retryDelay(fault: Fault, send: number, random: number): number {
  const asked = fault.kind === "status" ? fault.retryAfter : undefined;
  if (asked !== undefined && asked > 0) return asked;
  // All five retries together take about 4 s on average. After a 429, half of the delay is fixed,
  // to spare the service.
  const [base, cap, jitter] = isTooMany(fault) ? [1000, 30_000, 0.5] : [250, 10_000, 1];
  return Math.round(Math.min(cap, base * 2 ** (send - 1)) * (1 - jitter + jitter * random));
}

/**
 * Header values that arrive unchanged: ASCII, without line breaks or the blanks at the ends that CI
 * variables can have.
 */
const HEADER_VALUE = /^[!-~]([\t -~]*[!-~])?$/;

/**
 * Minimum length of a key to redact. Shorter texts occur by chance; removing them would only spoil
 * messages.
 */
const MIN_REDACTED = 4;
