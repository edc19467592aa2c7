import type { HttpConfig, HttpLocking } from "../config.ts";
import type { LockInfo } from "../lock-info.ts";
import type { Result, StateKey } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { addressesOf, withLockId } from "./address.ts";
import type { Answer, Call, Client } from "./client.ts";
import { shown } from "./client.ts";
import { lockBody, parseLockBody } from "./lock-body.ts";

/** The calls of the protocol, and what the answers mean. */

const NONE = new Set([204, 404]);
/** Terraform's text has 423 and 409 for a lock that somebody holds. */
const LOCKED = new Set([409, 423]);

export interface Exchange {
  readonly client: Client;
  readonly config: HttpConfig;
  readonly key: StateKey;
}

/** The document's text; `undefined` if there is none. */
export async function get({ client, config, key }: Exchange): Promise<Result<string | undefined>> {
  const call = { method: "GET", address: addressesOf(config, key).document };
  const answer = await client.send(call);
  if (!answer.ok) return answer;
  const { status, text } = answer.value;
  if (NONE.has(status) || (status === 200 && text === "")) return success(undefined);
  return status === 200 ? success(text) : unexpected(call, answer.value);
}

/** @param holder absent if the server knows no locks */
export async function put(
  { client, config, key }: Exchange,
  text: string,
  holder: LockInfo | undefined,
): Promise<Result<void>> {
  const address = withLockId(addressesOf(config, key).document, holder?.id);
  const call = { method: config.updateMethod, address, body: text };
  const answer = await client.send(call);
  if (!answer.ok) return answer;
  if (isSuccess(answer.value)) return success(undefined);
  if (!LOCKED.has(answer.value.status)) return unexpected(call, answer.value);
  const other = parseLockBody(answer.value.text);
  const reason = other === undefined ? "the server says so" : `${other.who} holds it since ${other.since}`;
  return refusal({ kind: "lock-lost", key, reason });
}

export async function lock(
  { client, config, key }: Exchange,
  { lockMethod }: HttpLocking,
  info: LockInfo,
): Promise<Result<void>> {
  const { lock: address } = addressesOf(config, key);
  const call = { method: lockMethod, address, body: lockBody(info, `${key.stage}/${key.target}`) };
  const answer = await client.send(call);
  if (!answer.ok) return answer;
  if (isSuccess(answer.value)) return success(undefined);
  if (!LOCKED.has(answer.value.status)) return unexpected(call, answer.value);
  const holder = parseLockBody(answer.value.text);
  // The lock was given at a first try, whose answer was lost.
  if (holder?.id === info.id) return success(undefined);
  return refusal({ kind: "locked", key, ...(holder === undefined ? {} : { holder }) });
}

/** Frees the lock of this holder. That it is somebody else's by now, or nobody's, is no problem. */
export async function unlock(
  { client, config, key }: Exchange,
  { unlockMethod }: HttpLocking,
  holder: LockInfo,
): Promise<Result<void>> {
  const address = withLockId(addressesOf(config, key).unlock, holder.id);
  const call = { method: unlockMethod, address, body: lockBody(holder, `${key.stage}/${key.target}`) };
  const answer = await client.send(call);
  if (!answer.ok) return answer;
  const isFree = isSuccess(answer.value) || LOCKED.has(answer.value.status) || answer.value.status === 404;
  return isFree ? success(undefined) : unexpected(call, answer.value);
}

function isSuccess({ status }: Answer): boolean {
  return status >= 200 && status < 300;
}

const HINTS: Readonly<Record<number, string>> = {
  401: "the server does not take these credentials: check state.username and state.password",
  403: "the server does not let this user do that",
  404: "the server knows no such address: check state.address and state.lockAddress",
  405: "the server does not know this method: check state.lockMethod, or set state.lock to false if it knows no locks",
  413: "the document is too large for the server",
  501: "the server does not know this method: check state.lockMethod, or set state.lock to false if it knows no locks",
};

function unexpected({ method, address }: Call, { status }: Answer): Result<never> {
  const isRedirect = status >= 300 && status < 400;
  const hint = isRedirect ? "redirects are not followed: state.address must be the final one" : HINTS[status];
  const reason = `${method} was answered with status ${status}${hint === undefined ? "" : `; ${hint}`}`;
  return refusal({ kind: "failed", where: shown(address), reason });
}
