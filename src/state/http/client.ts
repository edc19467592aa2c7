import type { Dispatcher } from "undici";
import type { HttpConfig } from "../config.ts";
import type { Result } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import type { Clock } from "../world.ts";

/** The one module that knows undici. Redirects are not followed: credentials go where they were meant for. */

export interface Answer {
  readonly status: number;
  readonly text: string;
}

export interface Call {
  readonly method: string;
  readonly address: string;
  /** JSON. */
  readonly body?: string;
}

export interface Client {
  /** Sends a call, and again if that may help; all calls of the protocol may be sent twice. */
  send(call: Call): Promise<Result<Answer>>;
  close(): Promise<void>;
}

const TIMEOUT = 30_000;
/** Milliseconds before each further try. */
const PAUSES = [250, 1_000, 3_000];
const WORTH_A_RETRY = new Set([408, 429, 500, 502, 503, 504]);

export async function openClient({ username, password }: HttpConfig, clock: Clock): Promise<Client> {
  const { Agent } = await import("undici");
  const agent = new Agent({ connectTimeout: TIMEOUT, headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT });
  const authorization = basicAuthorization(username, password?.reveal());
  return {
    send: async (call) => await sendPatiently(agent, call, authorization, clock),
    close: async () => await agent.close(),
  };
}

function basicAuthorization(username = "", password = ""): Readonly<Record<string, string>> {
  if (username === "" && password === "") return {};
  const credentials = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
  return { authorization: `Basic ${credentials}` };
}

async function sendPatiently(
  agent: Dispatcher,
  call: Call,
  headers: Readonly<Record<string, string>>,
  clock: Clock,
): Promise<Result<Answer>> {
  for (const pause of PAUSES) {
    const answer = await sendOnce(agent, call, headers);
    if (answer.ok && !WORTH_A_RETRY.has(answer.value.status)) return answer;
    await clock.sleep(pause);
  }
  return await sendOnce(agent, call, headers);
}

async function sendOnce(
  agent: Dispatcher,
  { method, address, body }: Call,
  authorization: Readonly<Record<string, string>>,
): Promise<Result<Answer>> {
  const headers = { ...authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const { origin, pathname, search } = new URL(address);
  try {
    const answer = await agent.request({
      origin,
      path: `${pathname}${search}`,
      method,
      headers,
      body: body ?? null,
    });
    return success({ status: answer.statusCode, text: await answer.body.text() });
  } catch (error) {
    if (!isConnectionError(error)) throw error;
    const reason = error.message === "" ? error.code : error.message;
    return refusal({ kind: "failed", where: shown(address), reason: `${method}: ${reason}` });
  }
}

function isConnectionError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

/** An address as it may be shown: without credentials, and without a query, which may hold a token. */
export function shown(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}
