import type { Dispatcher } from "undici";
import { codeOf } from "../model/error.ts";
import { defined } from "../model/json.ts";
import { throughProxies } from "../service/transport.ts";
import { type StateRuntime, isPast, moment } from "./backend.ts";
import type { HttpConfig } from "./config.ts";
import { StateFailure, adviceFor } from "./problem.ts";

/** After these it is unknown whether the server acted. */
const UNCERTAIN = new Set([408, 500, 502, 503, 504]);
const TOO_MANY = 429;
/** Pauses before retries, in milliseconds. */
export const PAUSES = [250, 1_000, 2_000];

export type StateCall = {
  readonly method: string;
  readonly address: string;
  readonly body?: string;
};

/** Timeout of a call, and of a call to a server that did not answer before, in milliseconds. */
const LIMIT = 8_000;
const LAST_LIMIT = 1_000;
/** Maximum size of an answer. A document of a hundred thousand bindings has about 30 MB. */
const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Opens a client. Imports only parts of undici: its index exports them under the same names, but
 * loads much more.
 */
export async function openClient(
  { address, username = "", password }: HttpConfig,
  { clock, environment }: StateRuntime,
): Promise<StateClient> {
  const [{ default: Agent }, { default: request }] = await Promise.all([
    import("undici/lib/dispatcher/agent.js"),
    import("undici/lib/api/api-request.js"),
  ]);
  const limits = {
    connectTimeout: LIMIT,
    headersTimeout: LIMIT,
    bodyTimeout: LIMIT,
    maxResponseSize: MAX_BYTES,
  };
  const proxied = await throughProxies(new URL(address).origin, environment, limits);
  const agent: Dispatcher = proxied ?? new Agent(limits);
  const credentials = `${username}:${password?.reveal() ?? ""}`;
  const authorization =
    credentials === ":" ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;
  return new StateClient(agent, request, authorization, clock);
}

/** Sends calls to a server of states. */
export class StateClient {
  readonly #agent: Dispatcher;
  readonly #request: Dispatcher["request"];
  readonly #authorization: string | undefined;
  readonly #clock: StateRuntime["clock"];
  /**
   * Whether a call timed out and none was answered since. Later calls then have a short timeout and
   * no retries.
   */
  #isGivenUp = false;

  constructor(
    agent: Dispatcher,
    request: Dispatcher["request"],
    authorization: string | undefined,
    clock: StateRuntime["clock"],
  ) {
    this.#agent = agent;
    this.#request = request;
    this.#authorization = authorization;
    this.#clock = clock;
  }

  /**
   * Sends a call, with retries. Does not follow redirects, so that credentials reach only the
   * configured server.
   * @param hasArrived for calls that must not be repeated blindly; reports after a lost answer
   * whether the call was done
   */
  async send(
    call: StateCall,
    pauses: readonly number[] = PAUSES,
    hasArrived?: () => Promise<boolean>,
  ) {
    const began = moment();
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#sendOnce(call);
      const isUncertain = answer instanceof StateFailure || UNCERTAIN.has(answer.status);
      const mayRetry =
        (isUncertain || answer.status === TOO_MANY) && !this.#isGivenUp && !isPast(began, LIMIT);
      const pause = mayRetry ? pauses[tries] : undefined;
      if (pause !== undefined) {
        await this.#clock.sleep(pause);
        if (isUncertain && (await hasArrived?.()) === true) return { status: 200, text: "" };
      } else if (answer instanceof StateFailure) throw answer;
      else return answer;
    }
  }

  async close(): Promise<void> {
    await this.#agent.close();
  }

  /** @returns a failure if it is unknown whether the server acted */
  async #sendOnce({ method, address, body }: StateCall) {
    const signal = AbortSignal.timeout(this.#isGivenUp ? LAST_LIMIT : LIMIT);
    const failed = (reason: string, cause?: string) =>
      new StateFailure({
        kind: "failed",
        where: shown(address),
        reason: `${method}: ${reason}`,
        next: adviceFor(cause),
      });
    const { origin, pathname, search } = new URL(address);
    const headers = defined({
      authorization: this.#authorization,
      "content-type": body === undefined ? undefined : "application/json",
    });
    try {
      const path = `${pathname}${search}`;
      const options = { origin, path, method, headers, body: body ?? null, signal };
      const answer = await this.#request.call(this.#agent, options);
      const text = await answer.body.text();
      this.#isGivenUp = false;
      return { status: answer.statusCode, text };
    } catch (error) {
      if (codeOf(error) === "UND_ERR_RES_EXCEEDED_MAX_SIZE")
        throw failed(`the answer is larger than ${MAX_BYTES / 1024 / 1024} MB`);
      if (!(error instanceof Error)) throw error;
      this.#isGivenUp ||= signal.aborted;
      if (signal.aborted) return failed("no answer in time", "ETIMEDOUT");
      const code = codeOf(error);
      return failed(error.message || (code ?? error.name), code);
    }
  }
}

/** Returns an address without credentials and without its query, which may contain a token. */
export function shown(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
