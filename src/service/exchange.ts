import type { Dispatcher } from "undici";
import type { Json } from "../model/json.ts";
import { type Fault, FaultError } from "./failure.ts";
import { JsonSplitter, isDeeper, parseBytes, tooBig, withoutBom } from "./json-stream.ts";
import { type Redact, headerText, statusFault, wordsOf } from "./refusal.ts";
import {
  type BaseUrl,
  MAX_ANSWER_BYTES,
  MAX_DEPTH,
  MAX_ERROR_BYTES,
  MAX_LIST_BYTES,
  type Result,
  STREAM_WINDOW_BYTES,
} from "./request.ts";

/** Connections to one origin. It does not retry, redirect or queue requests. */
export interface Transport {
  /** Whether there may be a proxy between tasc and the service. */
  readonly isProxied: boolean;
  readonly dispatcher: Pick<Dispatcher, "dispatch" | "destroy">;
}

export interface ExchangeOptions<T> {
  readonly request: Pick<
    Dispatcher.DispatchOptions,
    "origin" | "method" | "path" | "headers" | "body"
  >;
  readonly reader: AnswerReader<T>;
  readonly baseUrl: Pick<BaseUrl, "origin" | "host">;
  /**
   * Milliseconds from the start to the last byte of the answer; restarted after each `window` of
   * the reader.
   */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** The callbacks to call when the signal is aborted. */
  readonly inFlight: Set<() => void>;
  readonly redact: Redact;
  readonly now: () => number;
  /**
   * Called once connected, before a byte is written. If it returns false, the connection is
   * dropped.
   */
  readonly mayWrite: () => boolean;
}

export interface Exchanged<T> {
  readonly result: Result<T, Fault>;
  readonly status: number | undefined;
  readonly date: string | undefined;
  /** Whether any byte of the request may have been sent. */
  readonly began: boolean;
  /** True if nothing was sent, because `mayWrite` returned false after connecting. */
  readonly tooLate: boolean;
}

/**
 * Sends one request once and reads its answer. The time limit covers connecting, headers and body.
 * It runs on the real clock, because it protects against a real peer that hangs or trickles.
 * @throws any error of the reader except a FaultError
 */
export async function exchange<T>(
  transport: Transport,
  options: ExchangeOptions<T>,
): Promise<Exchanged<T>> {
  return await new Promise((resolve, reject) => {
    new Exchange(transport, options, resolve, reject).begin();
  });
}

/** One request and its answer; undici calls it at each step. */
class Exchange<T> implements Dispatcher.DispatchHandler {
  readonly #transport: Transport;
  readonly #options: ExchangeOptions<T>;
  readonly #resolve: (exchanged: Exchanged<T>) => void;
  readonly #reject: (error: unknown) => void;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  /** Whether the answer has ended by itself. */
  #isWhole = false;
  /** Set once a byte may have been sent. */
  #abort: (() => void) | undefined;
  #status: number | undefined;
  #date: string | undefined;
  #body: AnswerReader<T> | undefined;
  #tooLate = false;
  #untilNextWindow = Infinity;

  constructor(
    transport: Transport,
    options: ExchangeOptions<T>,
    resolve: (exchanged: Exchanged<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#transport = transport;
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  begin(): void {
    const { limit, inFlight, signal, request } = this.#options;
    this.#timer = setTimeout(() => this.#giveUp(this.#timedOut()), limit);
    inFlight.add(this.#interrupt);
    if (signal.aborted) this.#interrupt();
    else this.#transport.dispatcher.dispatch(request, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // undici may move a request to another connection. A creation could then be sent twice.
    if (this.#abort !== undefined)
      return controller.abort(new Error("the request was about to be sent twice"));
    const drop = (): void => controller.abort(new Error("the answer is not wanted any more"));
    // The call gave up while connecting: drop the connection before a byte is written.
    if (this.#isOver) return drop();
    this.#tooLate = !this.#options.mayWrite();
    if (!this.#tooLate) this.#abort = drop;
    else {
      this.#fail(this.#timedOut());
      drop();
    }
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    code: number,
    headers: Parameters<typeof headerText>[0],
  ): void {
    if (this.#isOver || code < 200) return;
    const { reader, redact, now, baseUrl } = this.#options;
    this.#status = code;
    this.#date = headerText(headers, "date");
    const encoding = headerText(headers, "content-encoding") ?? "";
    if (code >= 300)
      this.#body = held(MAX_ERROR_BYTES - 1, (bytes) => {
        const words = wordsOf(bytes.subarray(0, MAX_ERROR_BYTES), redact);
        throw new FaultError(statusFault(code, headers, words, baseUrl.origin, now()));
      });
    else if (encoding === "" || encoding === "identity") this.#body = reader;
    // tasc does not ask for compression, so it cannot decompress.
    else this.#body = { take: () => false, end: () => reader.end(COMPRESSED) };
    this.#untilNextWindow = this.#body.window ?? Infinity;
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#isOver) return;
    this.#guard(() => {
      if (this.#body?.take(bytes) === false) return this.#finish();
      this.#untilNextWindow -= bytes.length;
      if (this.#untilNextWindow > 0) return;
      this.#untilNextWindow = this.#body?.window ?? Infinity;
      this.#timer?.refresh();
    });
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isWhole = true;
    this.#guard(() => this.#finish());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.#isOver) return;
    const { limit, baseUrl } = this.#options;
    const began = this.#abort !== undefined;
    const { isProxied } = this.#transport;
    this.#giveUp(connectionFault(error, began, baseUrl.host, limit, isProxied));
  }

  readonly #interrupt = (): void => this.#fail({ kind: "interrupted" });

  #cleanUp(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#options.inFlight.delete(this.#interrupt);
    if (!this.#isWhole) this.#abort?.();
  }

  #settle(result: Result<T, Fault>): void {
    if (this.#isOver) return;
    this.#cleanUp();
    const [status, date, tooLate] = [this.#status, this.#date, this.#tooLate];
    this.#resolve({ result, status, date, began: this.#abort !== undefined, tooLate });
  }

  #fail(failure: Fault): void {
    this.#settle({ ok: false, failure });
  }

  /**
   * Runs the reader. An error other than a FaultError is a bug in tasc, so it rejects the promise.
   */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      if (error instanceof FaultError) return this.#fail(error.fault);
      this.#cleanUp();
      this.#reject(error);
    }
  }

  #finish(): void {
    if (this.#body !== undefined) this.#settle({ ok: true, value: this.#body.end() });
  }

  /**
   * Ends with a fault. If a status has already refused the request, that is the result, even with
   * an incomplete body.
   */
  #giveUp(fault: Fault): void {
    if (this.#status !== undefined && this.#status >= 300) this.#guard(() => this.#finish());
    else this.#fail(fault);
  }

  #timedOut(): Fault {
    const isSent = this.#abort !== undefined;
    const during = !isSent ? "connecting" : this.#status === undefined ? "waiting" : "reading";
    return { kind: "timeout", limit: this.#options.limit, during };
  }
}

const COMPRESSED: Fault = { kind: "unreadable", why: "compressed", offset: undefined };

export interface AnswerReader<T> {
  /**
   * @returns whether it needs the next piece; if not, the rest of the answer cannot change the
   * result
   */
  take(piece: Uint8Array): boolean;
  /**
   * Called once, after the last piece.
   * @param unreadable why the answer cannot be read at all
   * @throws FaultError
   */
  end(unreadable?: Fault): T;
  /**
   * Number of bytes after which the time limit restarts. If unset, the limit covers the whole
   * answer.
   */
  readonly window?: number;
}

/**
 * Keeps an answer in memory until it is longer than `most` bytes.
 * @param read receives all of it, once
 */
function held<T>(
  most: number,
  read: (bytes: Uint8Array, unreadable?: Fault) => T,
): AnswerReader<T> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      return size <= most;
    },
    end(unreadable) {
      const [first, ...others] = pieces;
      return read(
        first === undefined || others.length > 0 ? Buffer.concat(pieces) : first,
        unreadable,
      );
    },
  };
}

/**
 * Returns a reader that keeps the whole answer.
 * @param read receives a function that parses the answer
 */
function heldAnswer<T>(read: (parse: () => Json | undefined) => T): AnswerReader<T> {
  return held(MAX_ANSWER_BYTES, (whole, unreadable) =>
    read(() => {
      if (unreadable !== undefined) throw new FaultError(unreadable);
      if (whole.length > MAX_ANSWER_BYTES) throw tooBig("answer", MAX_ANSWER_BYTES);
      if (whole.length === 0) return undefined;
      const bytes = withoutBom(whole);
      if (isDeeper(bytes, MAX_DEPTH)) throw tooBig("depth", MAX_DEPTH);
      return parseBytes(bytes);
    }),
  );
}

/** Reads a whole JSON answer; undefined if it is empty. */
export function wholeAnswer(): AnswerReader<Json | undefined> {
  return heldAnswer((parse) => parse());
}

export function shapedAnswer<T>(read: (answer: Json) => T): AnswerReader<T> {
  return heldAnswer((parse) => {
    const answer = parse();
    if (answer === undefined)
      throw new FaultError({ kind: "unreadable", why: "empty", offset: undefined });
    return read(answer);
  });
}

/**
 * Reads the answer to an update. Its status is sufficient, so an unreadable body counts as empty.
 */
export function optionalAnswer(): AnswerReader<Json | undefined> {
  return heldAnswer((parse) => {
    try {
      return parse();
    } catch (error) {
      if (error instanceof FaultError) return undefined;
      throw error;
    }
  });
}

/**
 * Reads a list with only one item in memory at a time.
 * @param read returns the part of an item to keep
 */
export function streamedList<T>(
  read: (item: Json, index: number) => T,
  limit = MAX_LIST_BYTES,
): AnswerReader<readonly T[]> {
  const items: T[] = [];
  const splitter = new JsonSplitter((json, index) => items.push(read(json, index)));
  let size = 0;
  return {
    window: STREAM_WINDOW_BYTES,
    take(piece) {
      size += piece.length;
      if (size > limit) throw tooBig("answer", limit);
      splitter.push(piece);
      return true;
    },
    end(unreadable) {
      if (unreadable !== undefined) throw new FaultError(unreadable);
      splitter.end();
      return items;
    },
  };
}

/**
 * Returns the fault of a connection error.
 * @param began whether writing had begun
 * @param limit time limit of the call
 */
export function connectionFault(
  error: Error,
  began: boolean,
  host: string,
  limit: number,
  isProxied = false,
): Fault {
  const code = codeOf(error);
  if (began) return { kind: "broken", code };
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return { kind: "timeout", limit, during: "connecting" };
  const [, cause] = CAUSES.find(([codes]) => codes.test(code)) ?? [];
  const isOfService = cause === "certificate" || cause === "encryption";
  return {
    kind: "unreachable",
    cause: isProxied && !isOfService ? "proxy" : (cause ?? "network"),
    host,
    code,
  };
}

/**
 * Causes by error code. The codes of certificate checks come from OpenSSL and Node:
 * DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_CERT_ALTNAME_INVALID. Other handshake errors come, for
 * example, from a server that speaks plain http.
 */
const CAUSES = [
  [/^ECONNREFUSED$/, "refused"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "name"],
  [/CERT|^UNABLE_TO_/, "certificate"],
  [/^ERR_TLS_|^ERR_SSL_|^EPROTO$/, "encryption"],
] as const;

/**
 * Returns the system's error code. If a name has several addresses, errors are bundled, and the
 * first one counts.
 */
function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const first = inner.find((part) => part instanceof Error);
  return first === undefined ? error.name : codeOf(first);
}
