import { MAX_ERROR_BYTES } from "../bounds.ts";
import type { Fault, TimedOut } from "../failure.ts";
import { type Result, bad } from "../result.ts";
import type { AnswerReader } from "./answer-reader.ts";
import { connectionFault } from "./connection-fault.ts";
import { statusFault } from "./status-fault.ts";
import { type Headers, type Receiver, type Transport, type WireRequest, headerText } from "./wire.ts";
import { type Redact, wordsOf } from "./words.ts";

export interface ExchangeOptions<T> {
  readonly request: WireRequest;
  /** Of a 2xx answer. */
  readonly reader: AnswerReader<T>;
  readonly origin: string;
  readonly host: string;
  /** Milliseconds from handing the request over to the last byte of the answer. */
  readonly limit: number;
  /** Ends the exchange at once. */
  readonly signal: AbortSignal;
  readonly redact: Redact;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface Exchanged<T> {
  readonly result: Result<T, Fault>;
  readonly status: number | undefined;
  /** The answer's `Date`, as it stands there. */
  readonly date: string | undefined;
  /** Whether any byte of the request can have left. */
  readonly began: boolean;
}

/**
 * Sends one request once and reads its answer.
 *
 * The time limit runs on the real clock, not on a clock that is handed in: it guards against a peer in the real
 * world. It covers connecting, headers and body, so a server that hangs or trickles at any point is given up on.
 * @throws what the reader throws
 */
export function exchange<T>(transport: Transport, options: ExchangeOptions<T>): Promise<Exchanged<T>> {
  return new Promise((resolve, reject) => {
    const receiver = new Exchange(options, resolve, reject);
    if (!receiver.isOver) transport.send(options.request, receiver);
  });
}

class Exchange<T> implements Receiver {
  readonly #options: ExchangeOptions<T>;
  readonly #resolve: (exchanged: Exchanged<T>) => void;
  readonly #reject: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  readonly #interrupt = (): void => this.#settle(bad({ kind: "interrupted" }));
  #abort: (() => void) | undefined;
  #status: number | undefined;
  #date: string | undefined;
  #body: AnswerReader<T> | undefined;
  #untilNextWindow = Infinity;
  /** The answer has come to its own end. */
  #isWhole = false;
  isOver = false;

  constructor(
    options: ExchangeOptions<T>,
    resolve: (exchanged: Exchanged<T>) => void,
    reject: (error: unknown) => void,
  ) {
    this.#options = options;
    this.#resolve = resolve;
    this.#reject = reject;
    this.#timer = setTimeout(() => this.#giveUp(this.#timedOut()), options.limit);
    options.signal.addEventListener("abort", this.#interrupt);
    if (options.signal.aborted) this.#interrupt();
  }

  began(abort: () => void): void {
    this.#abort = abort;
    // Given up while the connection was being made: dropped before a byte is written.
    if (this.isOver) abort();
  }

  head(status: number, headers: Headers): void {
    if (this.isOver) return;
    this.#status = status;
    this.#date = headerText(headers, "date");
    this.#body = status < 300 ? this.#success(headers) : this.#refusal(status, headers);
    this.#untilNextWindow = this.#body.window ?? Infinity;
  }

  piece(bytes: Uint8Array): void {
    if (this.isOver) return;
    this.#guard(() => {
      if (this.#body?.take(bytes) === false) this.#finish();
      else this.#progress(bytes.length);
    });
  }

  ended(): void {
    if (this.isOver) return;
    this.#isWhole = true;
    this.#guard(() => this.#finish());
  }

  broke(error: Error): void {
    if (this.isOver) return;
    const { host, limit } = this.#options;
    this.#giveUp(connectionFault(error, this.#abort !== undefined, host, limit));
  }

  /** Once a status refuses the request, that is the answer, whether or not its words come through. */
  #giveUp(fault: Fault): void {
    const isRefused = this.#status !== undefined && this.#status >= 300;
    if (isRefused) this.#guard(() => this.#finish());
    else this.#settle(bad(fault));
  }

  #success(headers: Headers): AnswerReader<T> {
    const encoding = headerText(headers, "content-encoding") ?? "identity";
    const { reader } = this.#options;
    return encoding === "identity" || encoding === "" ? reader : compressed(reader);
  }

  #refusal(status: number, headers: Headers): AnswerReader<T> {
    const { origin, now, redact } = this.#options;
    return errorAnswer((body) =>
      statusFault({ status, headers, words: wordsOf(body, redact) }, origin, now()),
    );
  }

  #finish(): void {
    if (this.#body !== undefined) this.#settle(this.#body.end());
  }

  #progress(bytes: number): void {
    this.#untilNextWindow -= bytes;
    if (this.#untilNextWindow > 0) return;
    this.#untilNextWindow = this.#body?.window ?? Infinity;
    this.#timer.refresh();
  }

  #timedOut(): TimedOut {
    const during =
      this.#abort === undefined ? "connecting" : this.#status === undefined ? "waiting" : "reading";
    return { kind: "timeout", limit: this.#options.limit, during };
  }

  /** An error in what the reader hands items to is a mistake of ours and not the connection's. */
  #guard(read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#cleanUp();
      this.#reject(error);
    }
  }

  #settle(result: Result<T, Fault>): void {
    if (this.isOver) return;
    this.#cleanUp();
    this.#resolve({ result, status: this.#status, date: this.#date, began: this.#abort !== undefined });
  }

  #cleanUp(): void {
    this.isOver = true;
    clearTimeout(this.#timer);
    this.#options.signal.removeEventListener("abort", this.#interrupt);
    if (!this.#isWhole) this.#abort?.();
  }
}

/** Compression was not asked for, so there is nothing here to undo it. */
function compressed<T>(reader: AnswerReader<T>): AnswerReader<T> {
  return {
    take: () => false,
    end: () => reader.fail({ kind: "unreadable", why: "compressed", offset: undefined }),
    fail: (fault) => reader.fail(fault),
  };
}

/** Keeps the beginning of a body for the service's words. */
function errorAnswer(fault: (body: Uint8Array) => Fault): AnswerReader<never> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  return {
    take(piece) {
      pieces.push(piece);
      size += piece.length;
      return size < MAX_ERROR_BYTES;
    },
    end: () => bad(fault(Buffer.concat(pieces).subarray(0, MAX_ERROR_BYTES))),
    fail: bad,
  };
}
