import type { Dispatcher } from "undici";
import type { JsonObject } from "../model/json.ts";
import type { State } from "../model/state.ts";
import { throughProxies } from "../service/transport.ts";
import {
  type Backend,
  type Clock,
  type DocumentKey,
  type HeldLock,
  type LockInfo,
  NO_DOCUMENT,
  type Revision,
  type StateKey,
  type StateRuntime,
  Stopwatch,
  type StoredState,
  sideBySide,
} from "./backend.ts";
import type { HttpConfig } from "./config.ts";
import {
  formatDocument,
  isCount,
  isRecord,
  isText,
  isTexts,
  parseDocument,
  parseJson,
  readWhole,
} from "./document.ts";
import { createLockInfo, isLockInfo } from "./lock.ts";
import { StateFailure, problemOf } from "./problem.ts";

/*
 * Keeps documents on a server that speaks the REST protocol of Terraform's http backend: GET and POST of a whole
 * document, LOCK and UNLOCK. The protocol cannot list documents or keep other things, so a stage has two more
 * documents, which no apply locks: an index of its targets, and the history of applies.
 */

export async function openHttpBackend(config: HttpConfig, world: StateRuntime): Promise<Backend> {
  return new HttpBackend(await openClient(config, world), config, world);
}

/** No target's key begins like this. */
const INDEX = "_index";
const HISTORY = "_history";

/** Entries that the history keeps. */
const ENTRIES = 200;
/** Tries to add to a document that nobody locks, until the addition is seen in it. */
const TRIES = 6;
/** Milliseconds before a document is read again that could not be read: the server may have been writing it. */
const HALF_WRITTEN = 250;

class HttpBackend implements Backend {
  readonly place: string;
  readonly #client: StateClient;
  readonly #config: HttpConfig;
  readonly #world: StateRuntime;

  constructor(client: StateClient, config: HttpConfig, world: StateRuntime) {
    this.#client = client;
    this.#config = config;
    this.#world = world;
    this.place = decodeURI(shown(config.address));
  }

  async read(key: DocumentKey): Promise<StoredState | undefined> {
    const read = async (): Promise<StoredState | undefined> => {
      const text = await this.#at(key).get();
      if (text === undefined) return undefined;
      const { state, serial } = parseDocument(text, key, this.#where(key.stage, key.target));
      return { state, revision: String(serial ?? 0), journalled: false };
    };
    return await readWhole(read, this.#world.clock, HALF_WRITTEN);
  }

  async readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>> {
    const found = await sideBySide(keys, async (key) => [key.target, await this.read(key)] as const);
    return new Map(found.flatMap(([target, stored]) => (stored === undefined ? [] : [[target, stored]])));
  }

  async list(stage: string): Promise<readonly string[]> {
    const index = await this.#readShared(stage, INDEX);
    const targets = index["targets"] ?? [];
    if (isTexts(targets)) return targets;
    throw new StateFailure({
      kind: "corrupt",
      where: this.#where(stage, INDEX),
      reason: "it is not a list of targets",
    });
  }

  /** A target is added before it is first written: an entry without a document does no harm. */
  async register(stage: string, targets: readonly string[]): Promise<void> {
    await this.#change(stage, INDEX, ({ targets: before }) => {
      const listed = isTexts(before) ? before : [];
      if (targets.every((target) => listed.includes(target))) return undefined;
      return { targets: [...new Set([...listed, ...targets])].toSorted() };
    });
  }

  async addHistory(stage: string, entry: JsonObject): Promise<void> {
    const text = JSON.stringify(entry);
    await this.#change(stage, HISTORY, ({ entries = [] }) => {
      const before: readonly unknown[] = Array.isArray(entries) ? entries : [];
      if (before.some((one) => JSON.stringify(one) === text)) return undefined;
      return { entries: [...before, entry].slice(-ENTRIES) };
    });
  }

  async history(stage: string): Promise<readonly unknown[]> {
    const { entries = [] } = await this.#readShared(stage, HISTORY);
    const list: readonly unknown[] = Array.isArray(entries) ? entries : [];
    return list;
  }

  /** A document that several runs add to. */
  async #readShared(stage: string, name: string): Promise<Shared> {
    const text = await this.#at({ stage, target: name }).get();
    if (text === undefined) return {};
    const root = parseJson(text);
    const where = this.#where(stage, name);
    if (!isRecord(root) || root["format"] !== `tasc-state-${name.slice(1)}` || root["stage"] !== stage)
      throw new StateFailure({ kind: "corrupt", where, reason: "it is not in the expected format" });
    const { version } = root;
    if (isCount(version) && version > 1)
      throw new StateFailure({ kind: "newer", where, version, understood: 1 });
    return root;
  }

  /**
   * Adds to such a document without a lock, which a run that is killed would leave behind: what was added is looked for
   * afterwards, and added again if another run wrote at the same time. A lock that something else holds on it is not
   * waited for; the next run adds what is missing.
   *
   * @param add the new members; nothing if all is there
   */
  async #change(stage: string, name: string, add: (before: Shared) => Shared | undefined): Promise<void> {
    for (let left = TRIES; left > 0; left -= 1) {
      const before = await this.#readShared(stage, name);
      const added = add(before);
      if (added === undefined) return;
      const { serial } = before;
      const next = {
        format: `tasc-state-${name.slice(1)}`,
        version: 1,
        serial: isCount(serial) ? serial + 1 : 1,
        stage,
        ...added,
      };
      try {
        await this.#at({ stage, target: name }).put(`${JSON.stringify(next, undefined, 2)}\n`);
      } catch (error) {
        problemOf(error, "lock-lost");
        return;
      }
      if (left < TRIES) await this.#world.clock.sleep(20 + Math.random() * 200);
    }
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<HeldLock> {
    const exchange = this.#at(key);
    await exchange.lock(info);
    return new HttpLock(exchange, info);
  }

  /** The protocol tells who holds a lock only to who asks for it. */
  async holder(): Promise<LockInfo | undefined> {
    return await Promise.resolve(undefined);
  }

  /** Asks for the lock, to learn who holds it, and frees what it gets. */
  async forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined> {
    const exchange = this.#at(key);
    if (this.#config.locking === undefined) return undefined;
    const info = createLockInfo(this.#world, "tasc state unlock");
    try {
      await exchange.lock(info);
    } catch (error) {
      // Where the server does not say whose it is, the id that was given is taken at its word.
      const { holder = id === undefined ? undefined : unknownHolder(id) } = problemOf(error, "locked");
      if (holder === undefined || (id !== undefined && holder.id !== id)) throw error;
      await exchange.unlock(holder, "strictly");
      return holder;
    }
    await exchange.unlock(info);
    return undefined;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #at({ stage, target }: StateKey): StateRequest {
    return new StateRequest(this.#client, this.#config, { stage, target });
  }

  #where(stage: string, target: string): string {
    return shown(addressesOf(this.#config, { stage, target }).document);
  }
}

type Shared = Readonly<Record<string, unknown>>;

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

/** An address as it may be shown: without credentials, and without a query, which may hold a token. */
function shown(address: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${pathname}`;
}

const NONE = new Set([204, 404]);
/** Terraform's text has 423 and 409 for a lock that somebody holds. */
const LOCKED = new Set([409, 423]);
/** After these it is not known whether the server acted. */
const UNCERTAIN = new Set([408, 500, 502, 503, 504]);
const TOO_MANY = 429;
/** Milliseconds before each further try of what may not be repeated blindly. */
const PAUSES = [250, 1_000, 2_000];

/** The calls of the protocol on one document, and what the answers mean. */
class StateRequest {
  readonly #client: StateClient;
  readonly #config: HttpConfig;
  readonly key: StateKey;
  readonly addresses: Addresses;

  constructor(client: StateClient, config: HttpConfig, key: StateKey) {
    this.#client = client;
    this.#config = config;
    this.key = key;
    this.addresses = addressesOf(config, key);
  }

  get isLocking(): boolean {
    return this.#config.locking !== undefined;
  }

  /** The document's text; `undefined` if there is none. */
  async get(how?: "once"): Promise<string | undefined> {
    const call = { method: "GET", address: this.addresses.document };
    const { status, text } = await this.#client.send(call, how);
    if (NONE.has(status) || (status === 200 && text === "")) return undefined;
    if (status !== 200) throw unexpected(call, status);
    return text;
  }

  /**
   * Writes the document. After a lost answer it is looked up before it is sent again: a server that counts versions
   * refuses the same one twice. @param holder absent if nobody holds the lock
   */
  async put(text: string, holder?: LockInfo): Promise<void> {
    const address = withLockId(this.addresses.document, holder?.id);
    const call = { method: this.#config.updateMethod, address, body: text };
    const isThere = async () => (await this.get("once").catch(() => undefined)) === text;
    const answer = await this.#carefully(call, isThere);
    if (answer === undefined) return;
    const other = parseLockBody(answer);
    const told = other !== undefined && other.id !== holder?.id;
    const reason = told ? `${other.who} holds it since ${other.since}` : "the server refused the lock's id";
    throw new StateFailure({ kind: "lock-lost", key: this.key, reason });
  }

  /** After a lost answer the lock may be ours: it is freed, and asked for again. */
  async lock(info: LockInfo): Promise<void> {
    const { locking } = this.#config;
    if (locking === undefined) return;
    const call = { method: locking.lockMethod, address: this.addresses.lock, body: this.#lockBody(info) };
    const answer = await this.#carefully(call, async () => {
      await this.unlock(info).catch(() => {});
      return false;
    });
    if (answer === undefined) return;
    const holder = parseLockBody(answer);
    // Some servers, GitLab's among them, answer with what was sent: that is not the holder.
    throw new StateFailure({
      kind: "locked",
      key: this.key,
      ...(holder && holder.id !== info.id && { holder }),
    });
  }

  /** Frees the lock of this holder. That it is somebody else's by now is a problem only where that matters. */
  async unlock(holder: LockInfo, how: "gladly" | "strictly" = "gladly"): Promise<void> {
    const { locking } = this.#config;
    if (locking === undefined) return;
    const address = withLockId(this.addresses.unlock, holder.id);
    const call = { method: locking.unlockMethod, address, body: this.#lockBody(holder) };
    const { status } = await this.#client.send(call);
    if (isSuccess(status) || status === 404) return;
    if (!LOCKED.has(status)) throw unexpected(call, status);
    if (how === "strictly") throw new StateFailure({ kind: "locked", key: this.key });
  }

  /**
   * Sends what must not be repeated blindly.
   *
   * @param arrived asked after a lost answer
   * @returns nothing if it succeeded, or what the server says of a lock that somebody else holds
   */
  async #carefully(call: StateCall, arrived: () => Promise<boolean>): Promise<string | undefined> {
    const began = Stopwatch.started();
    for (let tries = 0; ; tries += 1) {
      let error: unknown;
      const { status, text } = await this.#client.send(call).catch((failure: unknown) => {
        problemOf((error = failure), "failed");
        return { status: 0, text: "" };
      });
      if (isSuccess(status)) return undefined;
      if (LOCKED.has(status)) return text;
      const isUncertain = error !== undefined || UNCERTAIN.has(status);
      const pause = isUncertain || status === TOO_MANY ? PAUSES[tries] : undefined;
      if (pause === undefined || this.#client.isGivenUp() || began.isOver(LIMIT))
        throw error ?? unexpected(call, status);
      await this.#client.clock.sleep(pause);
      if (isUncertain && (await arrived())) return undefined;
    }
  }

  /**
   * A lock in the words of the protocol, whose members servers read, and some demand. What only tasc knows goes as
   * JSON into `Info`, which is free text there; a server that drops it still tells who, since when and why.
   */
  #lockBody(info: LockInfo): string {
    return JSON.stringify({
      ID: info.id,
      Operation: info.why,
      Info: JSON.stringify(info),
      Who: info.who,
      Version: "1",
      Created: info.since,
      Path: `${this.key.stage}/${this.key.target}`,
    });
  }
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

const HINTS: Readonly<Record<number, string>> = {
  401: "the server does not accept these credentials: check state.username and state.password",
  403: "the server does not allow this user to do that",
  404: "the server does not know this address: check state.address and state.lockAddress",
  405: "the server does not know this method: check state.lockMethod, or set state.lock to false if it has no locks",
  413: "the document is too large for the server",
  501: "the server does not know this method: check state.lockMethod, or set state.lock to false if it has no locks",
};

function unexpected({ method, address }: StateCall, status: number): StateFailure {
  const isRedirect = status >= 300 && status < 400;
  const hint = isRedirect ? "redirects are not followed: state.address must be the final one" : HINTS[status];
  const reason = `${method} was answered with status ${status}${hint === undefined ? "" : `; ${hint}`}`;
  return new StateFailure({ kind: "failed", where: shown(address), reason });
}

/** The holder, from a server's answer; `undefined` if it does not tell. Some answer with nothing but the id. */
function parseLockBody(text: string): LockInfo | undefined {
  const body = parseJson(text) ?? text.trim();
  if (isText(body)) return /^[\w-]{8,64}$/.test(body) ? unknownHolder(body) : undefined;
  if (!isRecord(body) || !isText(body["ID"]) || body["ID"] === "") return undefined;
  const own = isText(body["Info"]) ? parseJson(body["Info"]) : undefined;
  if (isLockInfo(own) && own.id === body["ID"]) return own;
  const { who, since, why } = unknownHolder("");
  return {
    id: body["ID"],
    who: textOr(body["Who"], who),
    since: textOr(body["Created"], since),
    why: textOr(body["Operation"], why),
  };
}

function unknownHolder(id: string): LockInfo {
  return { id, who: "somebody", since: "an unknown time", why: "an unknown command" };
}

function textOr(value: unknown, otherwise: string): string {
  return isText(value) && value !== "" ? value : otherwise;
}

/**
 * A lock that a server keeps. The protocol has no compare-and-set: under the lock nobody else writes, so it is
 * enough to look at the document's serial before the first write. Where the server knows no locks, or the outcome
 * of a write is not known, it is looked at again. Only a write tells whether the lock still is ours, so there is no
 * `confirm`: the session writes the document again.
 */
class HttpLock implements HeldLock {
  readonly info: LockInfo;
  readonly #exchange: StateRequest;
  /** The document's revision as we left it; `undefined` if that is not certain. */
  #known: Revision | undefined;
  /** What we sent last, to tell it from what somebody else wrote. */
  #sent: string | undefined;
  /** Set for good once the server said that the lock is not ours. */
  #lost: StateFailure | undefined;

  constructor(exchange: StateRequest, info: LockInfo) {
    this.#exchange = exchange;
    this.info = info;
  }

  async write(state: State, base: Revision): Promise<Revision> {
    if (this.#lost !== undefined) throw this.#lost;
    const below = await this.#revisionBelow(base);
    const serial = Number(below) + 1;
    this.#known = undefined;
    this.#sent = formatDocument(state, serial);
    const { isLocking } = this.#exchange;
    await this.#exchange.put(this.#sent, isLocking ? this.info : undefined).catch((error: unknown) => {
      if (error instanceof StateFailure && error.problem.kind === "lock-lost") this.#lost = error;
      throw error;
    });
    if (isLocking) this.#known = String(serial);
    return String(serial);
  }

  async unlock(): Promise<void> {
    await this.#exchange.unlock(this.info);
  }

  /** The revision to write upon: `base`, or our own last write, if that arrived without our knowing. */
  async #revisionBelow(base: Revision): Promise<Revision> {
    let revision = this.#known;
    if (revision === undefined) {
      const text = await this.#exchange.get();
      revision = text === undefined ? NO_DOCUMENT : String(serialOf(text));
      if (text !== undefined && text === this.#sent) return revision;
    }
    if (revision === base) return revision;
    throw new StateFailure({ kind: "changed", where: shown(this.#exchange.addresses.document) });
  }
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

interface StateAnswer {
  readonly status: number;
  readonly text: string;
}

interface StateCall {
  readonly method: string;
  readonly address: string;
  /** JSON. */
  readonly body?: string;
}

interface StateClient {
  readonly clock: Clock;
  /**
   * Sends a call; what may be repeated blindly again if that may help. Redirects are not followed: credentials go
   * where they belong.
   */
  send(call: StateCall, how?: "once"): Promise<StateAnswer>;
  /** Whether the server did not answer for so long that nothing more is tried for long. */
  isGivenUp(): boolean;
  close(): Promise<void>;
}

/** Milliseconds that a call may take, with its repetitions; and one to a server that did not answer before. */
const LIMIT = 8_000;
const LAST_LIMIT = 1_000;
/** A document of a hundred thousand bindings has about 30 MB. */
const MAX_BYTES = 256 * 1024 * 1024;

/** These parts are what undici's index exports under these names, without what else that loads. */
async function openClient(
  config: HttpConfig,
  { clock, environment }: Pick<StateRuntime, "clock" | "environment">,
): Promise<StateClient> {
  const { username, password, locking, updateMethod } = config;
  const others = [updateMethod, locking?.lockMethod];
  // To free a lock twice does no harm.
  const repeatable =
    locking === undefined || others.includes(locking.unlockMethod) ? [] : [locking.unlockMethod];
  const [{ default: Agent }, { default: RetryAgent }, { default: request }] = await Promise.all([
    import("undici/lib/dispatcher/agent.js"),
    import("undici/lib/dispatcher/retry-agent.js"),
    import("undici/lib/api/api-request.js"),
  ]);
  const limits = { connectTimeout: LIMIT, headersTimeout: LIMIT, bodyTimeout: LIMIT };
  const proxied = await throughProxies(new URL(config.address).origin, environment, limits);
  const agent = proxied ?? new Agent(limits);
  const retrying = new RetryAgent(agent, {
    maxRetries: 3,
    minTimeout: 250,
    maxTimeout: 2_000,
    methods: ["GET", ...repeatable],
    statusCodes: [...UNCERTAIN, TOO_MANY],
    throwOnError: false,
  });
  const authorization = basicAuthorization(username, password?.reveal());
  let givenUp = false;
  return {
    clock,
    isGivenUp: () => givenUp,
    send: async (call, how) => {
      const signal = AbortSignal.timeout(givenUp ? LAST_LIMIT : LIMIT);
      const dispatcher = givenUp || how === "once" ? agent : retrying;
      const send: Send = async (options) => await request.call(dispatcher, { ...options, signal });
      try {
        const answer = await sendOnce(send, call, authorization, signal);
        givenUp = false;
        return answer;
      } finally {
        givenUp ||= signal.aborted;
      }
    },
    close: async () => await agent.close(),
  };
}

function basicAuthorization(username = "", password = ""): Readonly<Record<string, string>> {
  if (username === "" && password === "") return {};
  const credentials = Buffer.from(`${username}:${password}`, "utf8").toString("base64");
  return { authorization: `Basic ${credentials}` };
}

type Send = (options: Dispatcher.RequestOptions) => Promise<Dispatcher.ResponseData>;

async function sendOnce(
  send: Send,
  { method, address, body }: StateCall,
  authorization: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<StateAnswer> {
  const headers = { ...authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const { origin, pathname, search } = new URL(address);
  const path = `${pathname}${search}`;
  const failed = (reason: string) =>
    new StateFailure({ kind: "failed", where: shown(address), reason: `${method}: ${reason}` });
  try {
    const answer = await send({ origin, path, method, headers, body: body ?? null });
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of answer.body) {
      if (!Buffer.isBuffer(piece)) continue;
      size += piece.length;
      if (size > MAX_BYTES) throw failed(`the answer is larger than ${MAX_BYTES / 1024 / 1024} MB`);
      pieces.push(piece);
    }
    return { status: answer.statusCode, text: Buffer.concat(pieces).toString("utf8") };
  } catch (error) {
    if (signal.aborted) throw failed("no answer in time");
    if (error instanceof StateFailure || !isConnectionError(error)) throw error;
    throw failed(error.message === "" ? error.code : error.message);
  }
}

function isConnectionError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
