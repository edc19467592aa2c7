import type { Dispatcher } from "undici";
import type { JsonObject } from "../model/json.ts";
import type { State } from "../model/state.ts";
import { throughProxies } from "../service/transport.ts";
import {
  type Backend,
  type Clock,
  type HeldLock,
  NO_DOCUMENT,
  type Revision,
  Stopwatch,
  type StateRuntime,
  type StoredState,
} from "./backend.ts";
import type { HttpConfig } from "./config.ts";
import { formatDocument, isCount, isRecord, isText, isTexts, parseDocument, parseJson } from "./document.ts";
import { type LockInfo, createLockInfo, isLockInfo } from "./lock.ts";
import {
  type DocumentKey,
  type StateResult,
  type StateKey,
  type StateProblem,
  refusal,
  success,
} from "./problem.ts";

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

/** Documents that are asked for at once. */
const SIDE_BY_SIDE = 16;
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

  async read(key: DocumentKey): Promise<StateResult<StoredState | undefined>> {
    const first = await this.#readOnce(key);
    if (first.ok || first.problem.kind !== "corrupt") return first;
    await this.#world.clock.sleep(HALF_WRITTEN);
    return await this.#readOnce(key);
  }

  async #readOnce(key: DocumentKey): Promise<StateResult<StoredState | undefined>> {
    const text = await this.#at(key).get();
    if (!text.ok || text.value === undefined) return text.ok ? success(undefined) : text;
    const parsed = parseDocument(text.value, key, shown(addressesOf(this.#config, key).document));
    if (!parsed.ok) return parsed;
    const { state, serial } = parsed.value;
    return success({ state, revision: String(serial ?? 0), journalled: false });
  }

  async readAll(keys: readonly DocumentKey[]): Promise<StateResult<ReadonlyMap<string, StoredState>>> {
    const found = new Map<string, StoredState>();
    let problem: StateProblem | undefined;
    const waiting = keys.values();
    const worker = async (): Promise<void> => {
      for (const key of waiting) {
        const stored = await this.read(key);
        if (!stored.ok) problem ??= stored.problem;
        else if (stored.value !== undefined) found.set(key.target, stored.value);
        if (problem !== undefined) return;
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, worker));
    return problem === undefined ? success(found) : refusal(problem);
  }

  async list(stage: string): Promise<StateResult<readonly string[]>> {
    const index = await this.#readShared(stage, INDEX);
    if (!index.ok) return index;
    const targets = index.value["targets"] ?? [];
    if (isTexts(targets)) return success(targets);
    return refusal({
      kind: "corrupt",
      where: this.#where(stage, INDEX),
      reason: "it is not a list of targets",
    });
  }

  /** A target is added before it is first written: an entry without a document does no harm. */
  async register(stage: string, targets: readonly string[]): Promise<StateResult<void>> {
    return await this.#change(stage, INDEX, ({ targets: before }) => {
      const listed = isTexts(before) ? before : [];
      if (targets.every((target) => listed.includes(target))) return undefined;
      return { targets: [...new Set([...listed, ...targets])].toSorted() };
    });
  }

  async addHistory(stage: string, entry: JsonObject): Promise<StateResult<void>> {
    const text = JSON.stringify(entry);
    return await this.#change(stage, HISTORY, ({ entries = [] }) => {
      const before: readonly unknown[] = Array.isArray(entries) ? entries : [];
      if (before.some((one) => JSON.stringify(one) === text)) return undefined;
      return { entries: [...before, entry].slice(-ENTRIES) };
    });
  }

  async history(stage: string): Promise<StateResult<readonly unknown[]>> {
    const read = await this.#readShared(stage, HISTORY);
    if (!read.ok) return read;
    const entries = read.value["entries"];
    return success(Array.isArray(entries) ? entries : []);
  }

  /** A document that several runs add to. */
  async #readShared(stage: string, name: string): Promise<StateResult<Shared>> {
    const text = await this.#at({ stage, target: name }).get();
    if (!text.ok) return text;
    if (text.value === undefined) return success({});
    const root = parseJson(text.value);
    const where = this.#where(stage, name);
    if (!isRecord(root) || root["format"] !== `tasc-state-${name.slice(1)}` || root["stage"] !== stage)
      return refusal({ kind: "corrupt", where, reason: "it is not in the expected format" });
    const { version } = root;
    if (isCount(version) && version > 1) return refusal({ kind: "newer", where, version, understood: 1 });
    return success(root);
  }

  /**
   * Adds to such a document without a lock, which a run that is killed would leave behind: what was added is looked for
   * afterwards, and added again if another run wrote at the same time. A lock that something else holds on it is not
   * waited for; the next run adds what is missing.
   *
   * @param add the new members; nothing if all is there
   */
  async #change(
    stage: string,
    name: string,
    add: (before: Shared) => Shared | undefined,
  ): Promise<StateResult<void>> {
    for (let left = TRIES; left > 0; left -= 1) {
      const before = await this.#readShared(stage, name);
      if (!before.ok) return before;
      const added = add(before.value);
      if (added === undefined) return success(undefined);
      const { serial } = before.value;
      const next = {
        format: `tasc-state-${name.slice(1)}`,
        version: 1,
        serial: isCount(serial) ? serial + 1 : 1,
        stage,
        ...added,
      };
      const written = await this.#at({ stage, target: name }).put(`${JSON.stringify(next, undefined, 2)}\n`);
      if (!written.ok) return written.problem.kind === "lock-lost" ? success(undefined) : written;
      if (left < TRIES) await this.#world.clock.sleep(20 + Math.random() * 200);
    }
    return success(undefined);
  }

  async lock(key: DocumentKey, info: LockInfo): Promise<StateResult<HeldLock>> {
    const exchange = this.#at(key);
    const locked = await exchange.lock(info);
    return locked.ok ? success(new HttpLock(exchange, info)) : locked;
  }

  /** The protocol tells who holds a lock only to who asks for it. */
  async holder(): Promise<StateResult<LockInfo | undefined>> {
    return await Promise.resolve(success(undefined));
  }

  /** Asks for the lock, to learn who holds it, and frees what it gets. */
  async forceUnlock(key: StateKey, id?: string): Promise<StateResult<LockInfo | undefined>> {
    const exchange = this.#at(key);
    if (this.#config.locking === undefined) return success(undefined);
    const info = createLockInfo(this.#world, "tasc state unlock");
    const locked = await exchange.lock(info);
    if (locked.ok) {
      const freed = await exchange.unlock(info);
      return freed.ok ? success(undefined) : freed;
    }
    if (locked.problem.kind !== "locked") return locked;
    // Where the server does not say whose it is, the id that was given is taken at its word.
    const holder = locked.problem.holder ?? (id === undefined ? undefined : unknownHolder(id));
    if (holder === undefined || (id !== undefined && holder.id !== id)) return locked;
    const freed = await exchange.unlock(holder, "strictly");
    return freed.ok ? success(holder) : freed;
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
  async get(how?: "once"): Promise<StateResult<string | undefined>> {
    const call = { method: "GET", address: this.addresses.document };
    const answer = await this.#client.send(call, how);
    if (!answer.ok) return answer;
    const { status, text } = answer.value;
    if (NONE.has(status) || (status === 200 && text === "")) return success(undefined);
    return status === 200 ? success(text) : unexpected(call, status);
  }

  /**
   * Writes the document. After a lost answer it is looked up before it is sent again: a server that counts versions
   * refuses the same one twice. @param holder absent if nobody holds the lock
   */
  async put(text: string, holder?: LockInfo): Promise<StateResult<void>> {
    const address = withLockId(this.addresses.document, holder?.id);
    const call = { method: this.#config.updateMethod, address, body: text };
    const answer = await this.#carefully(call, async () => {
      const there = await this.get("once");
      return there.ok && there.value === text;
    });
    if (!answer.ok || answer.value === "arrived") return answer.ok ? success(undefined) : answer;
    const { status, text: body } = answer.value;
    if (isSuccess(status)) return success(undefined);
    if (!LOCKED.has(status)) return unexpected(call, status);
    const other = parseLockBody(body);
    const told = other !== undefined && other.id !== holder?.id;
    const reason = told ? `${other.who} holds it since ${other.since}` : "the server refused the lock's id";
    return refusal({ kind: "lock-lost", key: this.key, reason });
  }

  /** After a lost answer the lock may be ours: it is freed, and asked for again. */
  async lock(info: LockInfo): Promise<StateResult<void>> {
    const { locking } = this.#config;
    if (locking === undefined) return success(undefined);
    const call = { method: locking.lockMethod, address: this.addresses.lock, body: this.#lockBody(info) };
    const answer = await this.#carefully(call, async () => {
      await this.unlock(info);
      return false;
    });
    if (!answer.ok || answer.value === "arrived") return answer.ok ? success(undefined) : answer;
    const { status, text } = answer.value;
    if (isSuccess(status)) return success(undefined);
    if (!LOCKED.has(status)) return unexpected(call, status);
    const holder = parseLockBody(text);
    // Some servers, GitLab's among them, answer with what was sent: that is not the holder.
    return refusal({ kind: "locked", key: this.key, ...(holder && holder.id !== info.id && { holder }) });
  }

  /** Frees the lock of this holder. That it is somebody else's by now is a problem only where that matters. */
  async unlock(holder: LockInfo, how: "gladly" | "strictly" = "gladly"): Promise<StateResult<void>> {
    const { locking } = this.#config;
    if (locking === undefined) return success(undefined);
    const address = withLockId(this.addresses.unlock, holder.id);
    const call = { method: locking.unlockMethod, address, body: this.#lockBody(holder) };
    const answer = await this.#client.send(call);
    if (!answer.ok) return answer;
    const { status } = answer.value;
    if (isSuccess(status) || status === 404) return success(undefined);
    if (!LOCKED.has(status)) return unexpected(call, status);
    return how === "gladly" ? success(undefined) : refusal({ kind: "locked", key: this.key });
  }

  /** Sends what must not be repeated blindly. @param arrived asked after a lost answer */
  async #carefully(
    call: StateCall,
    arrived: () => Promise<boolean>,
  ): Promise<StateResult<StateAnswer | "arrived">> {
    const began = new Stopwatch();
    began.now();
    for (let tries = 0; ; tries += 1) {
      const answer = await this.#client.send(call);
      const isUncertain = answer.ok ? UNCERTAIN.has(answer.value.status) : answer.problem.kind === "failed";
      const isRefused = answer.ok && answer.value.status === TOO_MANY;
      if (!isUncertain && !isRefused) return answer;
      const pause = PAUSES[tries];
      if (pause === undefined || this.#client.isGivenUp() || began.isOver(LIMIT)) return answer;
      await this.#client.clock.sleep(pause);
      if (isUncertain && (await arrived())) return success("arrived");
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

function unexpected({ method, address }: StateCall, status: number): StateResult<never> {
  const isRedirect = status >= 300 && status < 400;
  const hint = isRedirect ? "redirects are not followed: state.address must be the final one" : HINTS[status];
  const reason = `${method} was answered with status ${status}${hint === undefined ? "" : `; ${hint}`}`;
  return refusal({ kind: "failed", where: shown(address), reason });
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
  #lost: StateProblem | undefined;

  constructor(exchange: StateRequest, info: LockInfo) {
    this.#exchange = exchange;
    this.info = info;
  }

  async write(state: State, base: Revision): Promise<StateResult<Revision>> {
    if (this.#lost !== undefined) return refusal(this.#lost);
    const below = await this.#revisionBelow(base);
    if (!below.ok) return below;
    const serial = Number(below.value) + 1;
    this.#known = undefined;
    this.#sent = formatDocument(state, serial);
    const { isLocking } = this.#exchange;
    const written = await this.#exchange.put(this.#sent, isLocking ? this.info : undefined);
    if (!written.ok && written.problem.kind === "lock-lost") this.#lost = written.problem;
    if (!written.ok) return written;
    if (isLocking) this.#known = String(serial);
    return success(String(serial));
  }

  async unlock(): Promise<StateResult<void>> {
    return await this.#exchange.unlock(this.info);
  }

  /** The revision to write upon: `base`, or our own last write, if that arrived without our knowing. */
  async #revisionBelow(base: Revision): Promise<StateResult<Revision>> {
    const changed = refusal({ kind: "changed", where: shown(this.#exchange.addresses.document) });
    if (this.#known !== undefined) return this.#known === base ? success(base) : changed;
    const text = await this.#exchange.get();
    if (!text.ok) return text;
    const revision = text.value === undefined ? NO_DOCUMENT : String(serialOf(text.value));
    return revision === base || text.value === this.#sent ? success(revision) : changed;
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
  send(call: StateCall, how?: "once"): Promise<StateResult<StateAnswer>>;
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
      const answer = await sendOnce(send, call, authorization, signal);
      if (signal.aborted) givenUp = true;
      else if (answer.ok) givenUp = false;
      return answer;
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
): Promise<StateResult<StateAnswer>> {
  const headers = { ...authorization, ...(body === undefined ? {} : { "content-type": "application/json" }) };
  const { origin, pathname, search } = new URL(address);
  const path = `${pathname}${search}`;
  const failed = (reason: string) =>
    refusal({ kind: "failed", where: shown(address), reason: `${method}: ${reason}` });
  try {
    const answer = await send({ origin, path, method, headers, body: body ?? null });
    const pieces: Buffer[] = [];
    let size = 0;
    for await (const piece of answer.body) {
      if (!Buffer.isBuffer(piece)) continue;
      size += piece.length;
      if (size > MAX_BYTES) return failed(`the answer is larger than ${MAX_BYTES / 1024 / 1024} MB`);
      pieces.push(piece);
    }
    return success({ status: answer.statusCode, text: Buffer.concat(pieces).toString("utf8") });
  } catch (error) {
    if (signal.aborted) return failed("no answer in time");
    if (!isConnectionError(error)) throw error;
    return failed(error.message === "" ? error.code : error.message);
  }
}

function isConnectionError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}
