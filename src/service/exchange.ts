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
export function exchange<T>(
  transport: Transport,
  options: ExchangeOptions<T>,
): Promise<Exchanged<T>> {
  const { reader, limit, signal, inFlight, redact, now } = options;
  const { origin, host } = options.baseUrl;
  return new Promise((resolve, reject) => {
    let isOver = false;
    let abort: (() => void) | undefined;
    let status: number | undefined;
    let date: string | undefined;
    let body: AnswerReader<T> | undefined;
    let tooLate = false;
    let untilNextWindow = Infinity;
    /** Whether the answer has ended by itself. */
    let isWhole = false;

    const cleanUp = (): void => {
      isOver = true;
      clearTimeout(timer);
      inFlight.delete(interrupt);
      if (!isWhole) abort?.();
    };
    const settle = (result: Result<T, Fault>): void => {
      if (isOver) return;
      cleanUp();
      resolve({ result, status, date, began: abort !== undefined, tooLate });
    };
    const fail = (failure: Fault): void => settle({ ok: false, failure });
    /**
     * Runs the reader. An error other than a FaultError is a bug in tasc, so it rejects the
     * promise.
     */
    const guard = (read: () => void): void => {
      try {
        read();
      } catch (error) {
        if (error instanceof FaultError) return fail(error.fault);
        cleanUp();
        reject(error);
      }
    };
    const finish = (): void => {
      if (body !== undefined) settle({ ok: true, value: body.end() });
    };
    /**
     * Ends with a fault. If a status has already refused the request, that is the result, even with
     * an incomplete body.
     */
    const giveUp = (fault: Fault): void => {
      if (status !== undefined && status >= 300) guard(finish);
      else fail(fault);
    };
    const timedOut = (): Fault => {
      const during =
        abort === undefined ? "connecting" : status === undefined ? "waiting" : "reading";
      return { kind: "timeout", limit, during };
    };
    const interrupt = (): void => fail({ kind: "interrupted" });
    const timer = setTimeout(() => giveUp(timedOut()), limit);
    inFlight.add(interrupt);
    if (signal.aborted) return interrupt();

    transport.dispatcher.dispatch(options.request, {
      onRequestStart(controller) {
        // undici may move a request to another connection. A creation could then be sent twice.
        if (abort !== undefined)
          return controller.abort(new Error("the request was about to be sent twice"));
        const drop = (): void => controller.abort(new Error("the answer is not wanted any more"));
        // The call gave up while connecting: drop the connection before a byte is written.
        if (isOver) return drop();
        tooLate = !options.mayWrite();
        if (!tooLate) abort = drop;
        else {
          fail(timedOut());
          drop();
        }
      },
      onResponseStart(_controller, code, headers) {
        if (isOver || code < 200) return;
        status = code;
        date = headerText(headers, "date");
        const encoding = headerText(headers, "content-encoding") ?? "";
        if (code >= 300)
          body = held(MAX_ERROR_BYTES - 1, (bytes) => {
            const words = wordsOf(bytes.subarray(0, MAX_ERROR_BYTES), redact);
            throw new FaultError(statusFault(code, headers, words, origin, now()));
          });
        else if (encoding === "" || encoding === "identity") body = reader;
        // tasc does not ask for compression, so it cannot decompress.
        else body = { take: () => false, end: () => reader.end(COMPRESSED) };
        untilNextWindow = body.window ?? Infinity;
      },
      onResponseData(_controller, bytes) {
        if (isOver) return;
        guard(() => {
          if (body?.take(bytes) === false) return finish();
          untilNextWindow -= bytes.length;
          if (untilNextWindow > 0) return;
          untilNextWindow = body?.window ?? Infinity;
          timer.refresh();
        });
      },
      onResponseEnd() {
        if (isOver) return;
        isWhole = true;
        guard(finish);
      },
      onResponseError(_controller, error) {
        if (!isOver)
          giveUp(connectionFault(error, abort !== undefined, host, limit, transport.isProxied));
      },
    });
  });
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
