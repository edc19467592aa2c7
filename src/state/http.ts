import type { Dispatcher } from "undici";
import type { State } from "../model/state.ts";
import {
  type Backend,
  type Clock,
  type HeldLock,
  NO_DOCUMENT,
  type Revision,
  type StateWorld,
  type StoredState,
} from "./backend.ts";
import type { HttpConfig, HttpLocking } from "./config.ts";
import { formatDocument, isCount, isRecord, isText, isTexts, parseDocument, parseJson } from "./document.ts";
import { type LockInfo, createLockInfo, isLockInfo } from "./lock.ts";
import {
  type DocumentKey,
  type Result,
  type StateKey,
  type StateProblem,
  refusal,
  success,
} from "./problem.ts";

/** Keeps documents on a server that speaks the REST protocol of Terraform's http backend. */
export async function openHttpBackend(config: HttpConfig, world: StateWorld): Promise<Backend> {
  return new HttpBackend(await openClient(config, world.clock), config, world);
}

class HttpBackend implements Backend {
  readonly #client: Client;
  readonly #config: HttpConfig;
  readonly #world: StateWorld;

  constructor(client: Client, config: HttpConfig, world: StateWorld) {
    this.#client = client;
    this.#config = config;
    this.#world = world;
  }

  async read(key: DocumentKey): Promise<Result<StoredState | undefined>> {
    const text = await get(this.#exchange(key));
    if (!text.ok || text.value === undefined) return text.ok ? success(undefined) : text;
    const where = shown(addressesOf(this.#config, key).document);
    const parsed = parseDocument(text.value, key, where);
    if (!parsed.ok) return parsed;
    const { state, serial } = parsed.value;
    return success({ state, revision: String(serial ?? 0), journalled: false });
  }

  async list(stage: string): Promise<Result<readonly string[]>> {
    const index = await readIndex(this.#exchange({ stage, target: "" }));
    return index.ok ? success(index.value.targets) : index;
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<Result<HeldLock>> {
    const exchange = this.#exchange(key);
    const { locking } = this.#config;
    const locked = locking === undefined ? success(undefined) : await lock(exchange, locking, info);
    return locked.ok ? success(new HttpLock(exchange, info, this.#world.clock)) : locked;
  }

  /** The protocol tells who holds a lock only to who asks for it; so this asks, and frees what it gets. */
  async forceUnlock(key: StateKey): Promise<Result<LockInfo | undefined>> {
    const exchange = this.#exchange(key);
    const { locking } = this.#config;
    if (locking === undefined) return success(undefined);
    const info = createLockInfo(this.#world, "tasc state unlock");
    const locked = await lock(exchange, locking, info);
    if (locked.ok) {
      const freed = await unlock(exchange, locking, info);
      return freed.ok ? success(undefined) : freed;
    }
    // Without the holder's id there is nothing to free it by.
    if (locked.problem.kind !== "locked" || locked.problem.holder === undefined) return locked;
    const { holder } = locked.problem;
    const freed = await unlock(exchange, locking, holder);
    return freed.ok ? success(holder) : freed;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #exchange({ stage, target }: StateKey): Exchange {
    return { client: this.#client, config: this.#config, key: { stage, target } };
  }
}

/** Where a document and its lock are. */
export interface Addresses {
  readonly document: string;
  readonly lock: string;
  readonly unlock: string;
}

/**
 * The protocol has one address for one document. With `{target}` in the configured address, `{stage}` and
 * `{target}` are filled in (a server may take one path segment only: `…/state/{stage}-{target}`); without it,
 * `/STAGE/TARGET` is added to the path. The addresses of the lock are made in the same way.
 */
export function addressesOf({ address, locking }: HttpConfig, key: StateKey): Addresses {
  const fill = (template: string) => fillIn(template, key);
  return {
    document: fill(address),
    lock: fill(locking?.lockAddress ?? address),
    unlock: fill(locking?.unlockAddress ?? address),
  };
}

function fillIn(template: string, { stage, target }: StateKey): string {
  const [stagePart, targetPart] = [encodeURIComponent(stage), encodeURIComponent(target)];
  if (template.includes("{target}"))
    return template.replaceAll("{stage}", stagePart).replaceAll("{target}", targetPart);
  const url = new URL(template);
  url.pathname = `${url.pathname.replace(/\/+$/, "")}/${stagePart}/${targetPart}`;
  return url.href;
}

/** The address for a write under a lock: the protocol has the lock's id in the query. */
function withLockId(address: string, id: string | undefined): string {
  if (id === undefined) return address;
  const url = new URL(address);
  url.searchParams.set("ID", id);
  return url.href;
}

/** The one module that knows undici. Redirects are not followed: credentials go where they were meant for. */

interface Answer {
  readonly status: number;
  readonly text: string;
}

interface Call {
  readonly method: string;
  readonly address: string;
  /** JSON. */
  readonly body?: string;
}

interface Client {
  /** Sends a call, and again if that may help; all calls of the protocol may be sent twice. */
  send(call: Call): Promise<Result<Answer>>;
  close(): Promise<void>;
}

const TIMEOUT = 30_000;
/** Milliseconds before each further try. */
const PAUSES = [250, 1_000, 3_000];
const WORTH_A_RETRY = new Set([408, 429, 500, 502, 503, 504]);

async function openClient({ username, password }: HttpConfig, clock: Clock): Promise<Client> {
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
function shown(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

/** The calls of the protocol, and what the answers mean. */

const NONE = new Set([204, 404]);
/** Terraform's text has 423 and 409 for a lock that somebody holds. */
const LOCKED = new Set([409, 423]);

interface Exchange {
  readonly client: Client;
  readonly config: HttpConfig;
  readonly key: StateKey;
}

/** The document's text; `undefined` if there is none. */
async function get({ client, config, key }: Exchange): Promise<Result<string | undefined>> {
  const call = { method: "GET", address: addressesOf(config, key).document };
  const answer = await client.send(call);
  if (!answer.ok) return answer;
  const { status, text } = answer.value;
  if (NONE.has(status) || (status === 200 && text === "")) return success(undefined);
  return status === 200 ? success(text) : unexpected(call, answer.value);
}

/** @param holder absent if the server knows no locks */
async function put(
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

async function lock(
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
async function unlock(
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

/**
 * A lock that a server keeps. The protocol has no compare-and-set: under the lock nobody else writes, so it is
 * enough to look at the document's serial before the first write. Where the server knows no locks, or the outcome
 * of a write is not known, it is looked at again.
 */
class HttpLock implements HeldLock {
  readonly info: LockInfo;
  readonly #exchange: Exchange;
  readonly #clock: Clock;
  /** The document's revision as we left it; `undefined` if that is not certain. */
  #known: Revision | undefined;
  /** What we sent last, to tell it from what somebody else wrote. */
  #sent: string | undefined;
  /** Set for good once the server said that the lock is not ours. */
  #lost: StateProblem | undefined;

  constructor(exchange: Exchange, info: LockInfo, clock: Clock) {
    this.#exchange = exchange;
    this.info = info;
    this.#clock = clock;
  }

  async write(state: State, base: Revision): Promise<Result<Revision>> {
    if (this.#lost !== undefined) return refusal(this.#lost);
    const below = await this.#revisionBelow(base);
    if (!below.ok) return below;
    if (base === NO_DOCUMENT) {
      const listed = await addToIndex(this.#exchange, this.info, this.#clock);
      if (!listed.ok) return listed;
    }
    const serial = Number(below.value) + 1;
    this.#known = undefined;
    this.#sent = formatDocument(state, serial);
    const isLocking = this.#exchange.config.locking !== undefined;
    const written = await put(this.#exchange, this.#sent, isLocking ? this.info : undefined);
    if (!written.ok) return this.#refused(written.problem);
    if (isLocking) this.#known = String(serial);
    return success(String(serial));
  }

  async unlock(): Promise<Result<void>> {
    const { locking } = this.#exchange.config;
    return locking === undefined ? success(undefined) : await unlock(this.#exchange, locking, this.info);
  }

  #refused(problem: StateProblem): Result<never> {
    if (problem.kind === "lock-lost") this.#lost = problem;
    return refusal(problem);
  }

  /** The revision to write upon: `base`, or our own last write, if that arrived without our knowing. */
  async #revisionBelow(base: Revision): Promise<Result<Revision>> {
    const { config, key } = this.#exchange;
    const changed = refusal({ kind: "changed", where: shown(addressesOf(config, key).document) });
    if (this.#known !== undefined) return this.#known === base ? success(base) : changed;
    const text = await get(this.#exchange);
    if (!text.ok) return text;
    const revision = text.value === undefined ? NO_DOCUMENT : String(serialOf(text.value));
    return revision === base || text.value === this.#sent ? success(revision) : changed;
  }
}

/*
 * The protocol cannot list documents, and without a list nobody would notice the state of a target that has left
 * the manifests. So each stage has one more document, which names its targets. A target is added before its first
 * document is written: an entry without a document does no harm, a document without an entry would be forgotten.
 */

/** No target's key begins like this. */
const INDEX = "_index";
const FORMAT = "tasc-state-index";
const VERSION = 1;

interface Index {
  readonly serial: number;
  /** Sorted. */
  readonly targets: readonly string[];
}

async function readIndex(exchange: Exchange): Promise<Result<Index>> {
  const place = indexOf(exchange);
  const text = await get(place);
  if (!text.ok) return text;
  if (text.value === undefined) return success({ serial: 0, targets: [] });
  const where = shown(addressesOf(place.config, place.key).document);
  return parseIndex(text.value, exchange.key.stage, where);
}

/** Adds the exchange's target to the index of its stage, under the index' own lock. */
async function addToIndex(exchange: Exchange, info: LockInfo, clock: Clock): Promise<Result<void>> {
  const before = await readIndex(exchange);
  if (!before.ok || before.value.targets.includes(exchange.key.target))
    return before.ok ? success(undefined) : before;
  const { locking } = exchange.config;
  if (locking === undefined) return await writeEntry(exchange, undefined);
  const locked = await lockIndex(exchange, info, clock);
  if (!locked.ok) return locked;
  const written = await writeEntry(exchange, info);
  const unlocked = await unlock(indexOf(exchange), locking, info);
  return written.ok ? unlocked : written;
}

const TRIES = 100;
const PAUSE = 100;

/** The index is locked for a moment only, so this waits whatever the user's patience with other locks. */
async function lockIndex(exchange: Exchange, info: LockInfo, clock: Clock): Promise<Result<void>> {
  const { locking } = exchange.config;
  if (locking === undefined) return success(undefined);
  for (let left = TRIES; ; left -= 1) {
    const locked = await lock(indexOf(exchange), locking, info);
    if (locked.ok || locked.problem.kind !== "locked" || left === 0) return locked;
    await clock.sleep(PAUSE);
  }
}

async function writeEntry(exchange: Exchange, info: LockInfo | undefined): Promise<Result<void>> {
  const index = await readIndex(exchange);
  if (!index.ok) return index;
  const { stage, target } = exchange.key;
  const targets = [...new Set([...index.value.targets, target])].toSorted();
  return await put(indexOf(exchange), formatIndex(stage, { serial: index.value.serial + 1, targets }), info);
}

function indexOf(exchange: Exchange): Exchange {
  const key: StateKey = { stage: exchange.key.stage, target: INDEX };
  return { ...exchange, key };
}

function formatIndex(stage: string, { serial, targets }: Index): string {
  const index = { format: FORMAT, version: VERSION, serial, stage, targets };
  return `${JSON.stringify(index, undefined, 2)}\n`;
}

function parseIndex(text: string, stage: string, where: string): Result<Index> {
  const corrupt = refusal({ kind: "corrupt", where, reason: "it is no list of targets as tasc writes it" });
  const root = parseJson(text);
  if (!isRecord(root) || root["format"] !== FORMAT) return corrupt;
  const { version, serial, targets } = root;
  if (isCount(version) && version > VERSION)
    return refusal({ kind: "newer", where, version, understood: VERSION });
  if (root["stage"] !== stage || !isCount(serial) || !isTexts(targets)) return corrupt;
  return success({ serial, targets });
}

/*
 * A lock in the words of the protocol, whose members servers read, and some demand. What only tasc knows goes as
 * JSON into `Info`, which is free text there; a server that drops it still tells who, since when and why.
 */

const PROTOCOL_VERSION = "1";

function lockBody(info: LockInfo, path: string): string {
  return JSON.stringify({
    ID: info.id,
    Operation: info.why,
    Info: JSON.stringify(info),
    Who: info.who,
    Version: PROTOCOL_VERSION,
    Created: info.since,
    Path: path,
  });
}

/** The holder, from a server's answer; `undefined` if it does not tell. */
function parseLockBody(text: string): LockInfo | undefined {
  const body = parseJson(text);
  if (!isRecord(body) || !isText(body["ID"])) return undefined;
  const own = isText(body["Info"]) ? parseJson(body["Info"]) : undefined;
  if (isLockInfo(own) && own.id === body["ID"]) return own;
  return {
    id: body["ID"],
    who: textOr(body["Who"], "somebody"),
    since: textOr(body["Created"], "an unknown time"),
    why: textOr(body["Operation"], "an unknown command"),
  };
}

function textOr(value: unknown, otherwise: string): string {
  return isText(value) && value !== "" ? value : otherwise;
}

/**
 * The serial in a document's text: servers keep versions by it, and some demand that it grows. 0 where there is
 * none; whether the text is a document of ours at all is for its reader to say.
 */
function serialOf(text: string): number {
  const root = parseJson(text);
  const serial = isRecord(root) ? root["serial"] : undefined;
  return isCount(serial) ? serial : 0;
}
