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

/** Connections to one origin. Nothing is retried, redirected or queued in there. */
export interface Transport {
  /** Whether a proxy may stand between here and the service. */
  readonly isProxied: boolean;
  readonly dispatcher: Pick<Dispatcher, "dispatch" | "destroy">;
}

export interface ExchangeOptions<T> {
  readonly request: Pick<Dispatcher.DispatchOptions, "origin" | "method" | "path" | "headers" | "body">;
  readonly reader: AnswerReader<T>;
  readonly baseUrl: Pick<BaseUrl, "origin" | "host">;
  /** Milliseconds from handing the request over to the last byte of the answer. */
  readonly limit: number;
  readonly signal: AbortSignal;
  /** Called when the signal is aborted. */
  readonly inFlight: Set<() => void>;
  readonly redact: Redact;
  readonly now: () => number;
  /** Asked once a connection stands, before a byte is written; if not, the connection is dropped. */
  readonly mayWrite: () => boolean;
}

export interface Exchanged<T> {
  readonly result: Result<T, Fault>;
  readonly status: number | undefined;
  readonly date: string | undefined;
  /** Whether any byte of the request can have left. */
  readonly began: boolean;
  /** Nothing was sent, since it might not be written any more when a connection stood. */
  readonly tooLate: boolean;
}

/**
 * Sends one request once and reads its answer. The time limit covers connecting, headers and body, and runs on the real
 * clock: it guards against a peer in the real world that hangs or trickles.
 * @throws what the reader throws, but for a FaultError
 */
export function exchange<T>(transport: Transport, options: ExchangeOptions<T>): Promise<Exchanged<T>> {
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
    /** The answer has come to its own end. */
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
    /** An error in what the reader hands items to is a mistake of ours and not the connection's. */
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
    /** Once a status refuses the request, that is the answer, whether or not its words come through. */
    const giveUp = (fault: Fault): void => {
      if (status !== undefined && status >= 300) guard(finish);
      else fail(fault);
    };
    const timedOut = (): Fault => {
      const during = abort === undefined ? "connecting" : status === undefined ? "waiting" : "reading";
      return { kind: "timeout", limit, during };
    };
    const interrupt = (): void => fail({ kind: "interrupted" });
    const timer = setTimeout(() => giveUp(timedOut()), limit);
    inFlight.add(interrupt);
    if (signal.aborted) return interrupt();

    transport.dispatcher.dispatch(options.request, {
      onRequestStart(controller) {
        // undici may move a request to another connection. For a creation that could be a second one.
        if (abort !== undefined) return controller.abort(new Error("the request was about to be sent twice"));
        const drop = (): void => controller.abort(new Error("the answer is not wanted any more"));
        // Given up while the connection was being made: dropped before a byte is written.
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
        // Compression was not asked for, so there is nothing here to undo it.
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
        if (!isOver) giveUp(connectionFault(error, abort !== undefined, host, limit, transport.isProxied));
      },
    });
  });
}

const COMPRESSED: Fault = { kind: "unreadable", why: "compressed", offset: undefined };

export interface AnswerReader<T> {
  /** @returns whether it wants the next piece; if not, the rest of the answer cannot change the result */
  take(piece: Uint8Array): boolean;
  /** Called once, after the last piece. @param unreadable why the answer cannot be read at all @throws FaultError */
  end(unreadable?: Fault): T;
  /** The call's time limit starts again after so many bytes; without it, it holds for the whole answer. */
  readonly window?: number;
}

/** Holds what comes until it is more than so many bytes. @param read is given all of it, once */
function held<T>(most: number, read: (bytes: Uint8Array, unreadable?: Fault) => T): AnswerReader<T> {
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
      return read(first === undefined || others.length > 0 ? Buffer.concat(pieces) : first, unreadable);
    },
  };
}

/** @param read is given what parses the answer */
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

/** An empty answer is undefined. */
export function wholeAnswer(): AnswerReader<Json | undefined> {
  return heldAnswer((parse) => parse());
}

export function shapedAnswer<T>(read: (answer: Json) => T): AnswerReader<T> {
  return heldAnswer((parse) => {
    const answer = parse();
    if (answer === undefined) throw new FaultError({ kind: "unreadable", why: "empty", offset: undefined });
    return read(answer);
  });
}

/** The answer of an update, of which the status says it all: a body that cannot be read is as good as none. */
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

/** A list of which one item is held at a time. @param read what is kept of it */
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

/** @param began whether a connection stood and the request was being written @param limit of the call's time */
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
 * Codes of certificate checks are OpenSSL's and Node's own: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_CERT_ALTNAME_INVALID. A
 * handshake fails otherwise with a server that speaks plain http.
 */
const CAUSES = [
  [/^ECONNREFUSED$/, "refused"],
  [/^(ENOTFOUND|EAI_AGAIN)$/, "name"],
  [/CERT|^UNABLE_TO_/, "certificate"],
  [/^ERR_TLS_|^ERR_SSL_|^EPROTO$/, "encryption"],
] as const;

/** The system's code, of the first that has one: where a name has several addresses, errors come in a bundle. */
function codeOf(error: Error): string {
  if ("code" in error && typeof error.code === "string" && error.code !== "") return error.code;
  const inner: readonly unknown[] = error instanceof AggregateError ? error.errors : [];
  const first = inner.find((part) => part instanceof Error);
  return first === undefined ? error.name : codeOf(first);
}
