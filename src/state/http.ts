import { type JsonObject, jsonIn } from "../model/json.ts";
import { isCount, isRecord, isText, isTexts } from "../model/shape.ts";
import { isDeeper } from "../service/json-stream.ts";
import { MAX_DEPTH } from "../service/request.ts";
import {
  type Backend,
  type DocumentKey,
  type HeldLock,
  type LockInfo,
  NO_DOCUMENT,
  type Revision,
  type StateKey,
  type StateRuntime,
  type StoredState,
  lockInfoIn,
} from "./backend.ts";
import type { HttpConfig } from "./config.ts";
import { formatDocument, parseDocument, readEach } from "./document.ts";
import { PAUSES, type StateCall, type StateClient, shown } from "./http-client.ts";
import { createLockInfo } from "./lock.ts";
import { StateFailure, lockLost, locked, problemOf } from "./problem.ts";

/*
 * Keeps documents on a server with the REST protocol of Terraform's http backend: GET and POST of a whole document, LOCK and
 * UNLOCK. The protocol cannot list documents or store other things, so a stage has two more documents, which an apply does
 * not lock: an index of its targets, and the history of applies.
 */

const INDEX = "_index";
const HISTORY = "_history";

const ENTRIES = 200;
const TRIES = 6;

const NONE = new Set([204, 404]);
/** Terraform's documentation names 423 and 409 for a lock that is already held. */
const LOCKED = new Set([409, 423]);
export class HttpBackend implements Backend {
  readonly place: string;
  readonly #config: HttpConfig;
  readonly #client: StateClient;
  readonly #world: StateRuntime;
  /** The last addition to a shared document. The next waits for it, not to be overwritten by it. */
  #lastAddition: Promise<unknown> = Promise.resolve();
  /** By stage: targets added to its index, which are looked for again when a lock is released. */
  readonly #added = new Map<string, readonly string[]>();

  constructor(config: HttpConfig, client: StateClient, world: StateRuntime) {
    this.#config = config;
    this.#client = client;
    this.#world = world;
    this.place = shown(config.address).replaceAll("%7B", "{").replaceAll("%7D", "}");
  }

  async readAll(keys: readonly DocumentKey[]): Promise<ReadonlyMap<string, StoredState>> {
    return await readEach(keys, this.#world.clock, async (key) => {
      const text = await this.#get(key);
      if (text === undefined) return undefined;
      const { state, serial } = parseDocument(text, key, this.#where(key));
      return { state, revision: String(serial ?? 0), journalled: false };
    });
  }

  async list(stage: string): Promise<readonly string[]> {
    const key = { stage, target: INDEX };
    const { targets = [] } = await this.#readShared(key);
    if (isTexts(targets)) return targets;
    const where = this.#where(key);
    throw new StateFailure({ kind: "corrupt", where, reason: "it is not a list of targets" });
  }

  /** Adds targets before their first write. An entry without a document does no harm. */
  async register(stage: string, targets: readonly string[]): Promise<void> {
    if (await this.#list(stage, targets))
      this.#added.set(stage, [...(this.#added.get(stage) ?? []), ...targets]);
  }

  /** @returns false if all were in the index already */
  async #list(stage: string, targets: readonly string[]): Promise<boolean> {
    return await this.#add({ stage, target: INDEX }, "targets", targets, (all) =>
      all.filter(isText).toSorted(),
    );
  }

  /**
   * Looks for new targets in the index once more, at the end of the session that added them: a run
   * that read the index before they were added may have written it after they were checked.
   */
  async #listAgain(stage: string): Promise<void> {
    const targets = this.#added.get(stage);
    this.#added.delete(stage);
    if (targets !== undefined) await this.#list(stage, targets);
  }

  async addHistory(stage: string, entry: JsonObject): Promise<void> {
    await this.#add({ stage, target: HISTORY }, "entries", [entry], (all) => all.slice(-ENTRIES));
  }

  async history(stage: string): Promise<readonly unknown[]> {
    return listOf((await this.#readShared({ stage, target: HISTORY }))["entries"]);
  }

  async #readShared(key: StateKey): Promise<Readonly<Record<string, unknown>>> {
    const text = await this.#get(key);
    if (text === undefined) return {};
    const root = isDeeper(Buffer.from(text), MAX_DEPTH) ? undefined : jsonIn(text);
    const where = this.#where(key);
    if (!isRecord(root) || root["format"] !== formatOf(key) || root["stage"] !== key.stage)
      throw new StateFailure({
        kind: "corrupt",
        where,
        reason: "it is not in the expected format",
      });
    const { version } = root;
    if (isCount(version) && version > 1)
      throw new StateFailure({ kind: "newer", where, version, understood: 1 });
    return root;
  }

  /**
   * Adds to the list in a shared document without a lock, because a killed run would leave the lock
   * behind. Checks afterwards that the items are there, and adds them again if another run wrote at
   * the same time.
   * @returns false if all were there already
   */
  async #add(
    key: StateKey,
    member: string,
    items: readonly unknown[],
    shape: (all: readonly unknown[]) => readonly unknown[],
  ): Promise<boolean> {
    const added = this.#lastAddition.then(() => this.#addNow(key, member, items, shape));
    this.#lastAddition = added.catch(() => {});
    return await added;
  }

  async #addNow(
    key: StateKey,
    member: string,
    items: readonly unknown[],
    shape: (all: readonly unknown[]) => readonly unknown[],
  ): Promise<boolean> {
    for (let left = TRIES; left > 0; left -= 1) {
      const before = await this.#readShared(key);
      const known = listOf(before[member]);
      const texts = new Set(known.map((item) => JSON.stringify(item)));
      const missing = items.filter((item) => !texts.has(JSON.stringify(item)));
      if (missing.length === 0) return left < TRIES;
      const serial = serialOf(before) + 1;
      const all = shape([...known, ...missing]);
      const next = { format: formatOf(key), version: 1, serial, stage: key.stage, [member]: all };
      try {
        await this.#put(key, `${JSON.stringify(next, undefined, 2)}\n`);
      } catch (error) {
        problemOf(error, "lock-lost");
        return true;
      }
      if (left < TRIES) await this.#world.clock.sleep(20 + Math.random() * 200);
    }
    return true;
  }

  /**
   * Takes the lock. The protocol has no compare-and-set. Under the lock there is no other writer,
   * so the document's serial is checked before the first write, and again only if the server has no
   * locks or the outcome of a write is unknown. Only a write shows whether the lock is still ours,
   * so there is no `confirm`.
   */
  async lock(key: DocumentKey, info: LockInfo): Promise<HeldLock> {
    await this.#takeLock(key, info);
    /** The revision after our last write; `undefined` if it is not certain. */
    let known: Revision | undefined;
    /** The last document that we sent, to distinguish it from one that somebody else wrote. */
    let sent: string | undefined;
    /** Set permanently when the server has reported that the lock is not ours. */
    let lost: StateFailure | undefined;
    const holder = this.#config.locking && info;
    return {
      key,
      write: async (state, base) => {
        if (lost !== undefined) throw lost;
        let below = known;
        if (below === undefined) {
          const text = await this.#get(key);
          below = text === undefined ? NO_DOCUMENT : String(serialOf(jsonIn(text)));
          // Our last write may have arrived although its answer was lost.
          if (text !== undefined && text === sent) base = below;
        }
        if (below !== base) throw new StateFailure({ kind: "changed", where: this.#where(key) });
        const serial = Number(below) + 1;
        known = undefined;
        sent = formatDocument(state, serial);
        await this.#put(key, sent, holder).catch((error: unknown) => {
          if (error instanceof StateFailure && error.problem.kind === "lock-lost") lost = error;
          throw error;
        });
        if (holder !== undefined) known = String(serial);
        return String(serial);
      },
      unlock: async () => {
        await this.#listAgain(key.stage).catch(() => {});
        await this.#free(key, info);
      },
    };
  }

  /**
   * Always returns `undefined`: the protocol names the holder only in the answer to a lock request.
   */
  async holder(): Promise<undefined> {}

  /** Requests the lock to find out its holder, and releases it. */
  async forceUnlock(key: StateKey, id?: string): Promise<LockInfo | undefined> {
    if (this.#config.locking === undefined) return undefined;
    const info = createLockInfo(this.#world, "tasc state unlock");
    try {
      await this.#takeLock(key, info);
    } catch (error) {
      // If the server does not name the holder, the given id is used without a check.
      const { holder = id === undefined ? undefined : unknownHolder(id) } = problemOf(
        error,
        "locked",
      );
      if (holder === undefined || (id !== undefined && holder.id !== id)) throw error;
      if (await this.#free(key, holder)) return holder;
      throw locked(key);
    }
    await this.#free(key, info);
    return undefined;
  }

  async close(): Promise<void> {
    await this.#client.close();
  }

  #where(key: StateKey): string {
    return shown(addressesOf(this.#config, key).document);
  }

  async #get(key: StateKey, pauses = PAUSES): Promise<string | undefined> {
    const call = { method: "GET", address: addressesOf(this.#config, key).document };
    const { status, text } = await this.#client.send(call, pauses);
    if (NONE.has(status) || (status === 200 && text === "")) return undefined;
    if (status !== 200) throw unexpected(call, status);
    return text;
  }

  /**
   * Writes a document. After a lost answer it is read first: a server that counts versions refuses
   * the same one twice.
   */
  async #put(key: StateKey, body: string, holder?: LockInfo): Promise<void> {
    const address = withLockId(addressesOf(this.#config, key).document, holder?.id);
    const call = { method: this.#config.updateMethod, address, body };
    const hasArrived = async () => (await this.#get(key, []).catch(() => undefined)) === body;
    const { status, text } = await this.#client.send(call, PAUSES, hasArrived);
    if (isSuccess(status)) return;
    if (!LOCKED.has(status)) throw unexpected(call, status);
    const other = parseLockBody(text);
    const isOther = other !== undefined && other.id !== holder?.id;
    throw lockLost(
      key,
      isOther ? `${other.who} holds it since ${other.since}` : "the server refused the lock's id",
    );
  }

  /**
   * Requests the lock. After a lost answer the lock may be ours, so it is released and requested
   * again.
   */
  async #takeLock(key: StateKey, info: LockInfo): Promise<void> {
    const { locking } = this.#config;
    if (locking === undefined) return;
    const address = addressesOf(this.#config, key).lock;
    const call = { method: locking.lockMethod, address, body: lockBody(key, info) };
    const { status, text } = await this.#client.send(call, PAUSES, async () => {
      await this.#free(key, info).catch(() => {});
      return false;
    });
    if (isSuccess(status)) return;
    if (!LOCKED.has(status)) throw unexpected(call, status);
    const holder = parseLockBody(text);
    // Some servers, e.g. GitLab, answer with the lock info that was sent, which is not the
    // holder's.
    throw locked(key, holder?.id === info.id ? undefined : holder);
  }

  /**
   * Releases this holder's lock; doing it twice does no harm.
   * @returns false if somebody else has the lock by now
   */
  async #free(key: StateKey, holder: LockInfo): Promise<boolean> {
    const { locking } = this.#config;
    if (locking === undefined) return true;
    const address = withLockId(addressesOf(this.#config, key).unlock, holder.id);
    const call = { method: locking.unlockMethod, address, body: lockBody(key, holder) };
    const { status } = await this.#client.send(call);
    if (isSuccess(status) || status === 404) return true;
    if (!LOCKED.has(status)) throw unexpected(call, status);
    return false;
  }
}

/**
 * Returns a lock in the protocol's format. `Info` is free text there, so it contains tasc's own
 * lock info as JSON.
 */
function lockBody({ stage, target }: StateKey, info: LockInfo): string {
  return JSON.stringify({
    ID: info.id,
    Operation: info.why,
    Info: JSON.stringify(info),
    Who: info.who,
    Version: "1",
    Created: info.since,
    Path: `${stage}/${target}`,
  });
}

function formatOf({ target }: StateKey): string {
  return `tasc-state-${target.slice(1)}`;
}

/** Returns a document's serial. Servers use it to keep versions, and some require that it grows. */
function serialOf(root: unknown): number {
  const serial = isRecord(root) ? root["serial"] : undefined;
  return isCount(serial) ? serial : 0;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Returns the addresses of a document; the protocol has one for each. Fills in `{stage}` and
 * `{target}` (some servers accept only one path segment: `…/state/{stage}-{target}`). Without
 * `{target}`, it adds `/STAGE/TARGET` to the path.
 */
export function addressesOf({ address, locking }: HttpConfig, key: StateKey) {
  const [stage, target] = [encodeURIComponent(key.stage), encodeURIComponent(key.target)];
  const fill = (template: string): string => {
    if (template.includes("{target}"))
      return template.replaceAll("{stage}", stage).replaceAll("{target}", target);
    const url = new URL(template);
    url.pathname = `${url.pathname.replace(/(?<!\/)\/+$/, "")}/${stage}/${target}`;
    return url.href;
  };
  return {
    document: fill(address),
    lock: fill(locking?.lockAddress ?? address),
    unlock: fill(locking?.unlockAddress ?? address),
  };
}

/** Adds a lock's id to the query, where the protocol expects it. */
function withLockId(address: string, id: string | undefined): string {
  if (id === undefined) return address;
  const url = new URL(address);
  url.searchParams.set("ID", id);
  return url.href;
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

const NO_METHOD =
  "The server does not know this method: check state.lockMethod, or set state.lock to false if it has no locks.";
const ADVICE: Readonly<Record<number, string>> = {
  400: "The server refuses the request: check state.address, and that the server speaks the protocol of Terraform's http backend.",
  401: "The server does not accept these credentials: check state.username and state.password.",
  403: "The server does not allow this user to do that: give it the right to read, write and lock state.",
  404: "The server does not know this address: check state.address and state.lockAddress.",
  405: NO_METHOD,
  409: "The server sees a conflict with what it has: look at what else writes state there, and run tasc again.",
  413: "The document is too large for the server: raise its limit.",
  422: "The server understands the document and does not accept it: its log says why. Some servers refuse a serial that they already have; `tasc state pull` shows the one of the document.",
  429: "The server receives too many requests: run tasc again later.",
  501: NO_METHOD,
  507: "The server has no space left: free some there, and run tasc again.",
};

/** Returns what to do after an answer with a status that the protocol does not expect. */
export function adviceForStatus(status: number): string {
  if (status >= 300 && status < 400)
    return "Redirects are not followed: state.address must be the final address.";
  const general =
    status >= 500
      ? "The server failed: look at its log, or run tasc again later."
      : "The server's log says why.";
  return ADVICE[status] ?? general;
}

function unexpected({ method, address }: StateCall, status: number): StateFailure {
  const reason = `${method} was answered with status ${status}`;
  const next = adviceForStatus(status);
  return new StateFailure({ kind: "failed", where: shown(address), reason, next });
}

/**
 * Returns the holder from a server's answer; `undefined` if it is not in it. Some servers answer
 * only with the id.
 */
function parseLockBody(text: string): LockInfo | undefined {
  const body = jsonIn(text) ?? text.trim();
  if (isText(body)) return /^[\w-]{8,64}$/.test(body) ? unknownHolder(body) : undefined;
  if (!isRecord(body) || !isText(body["ID"]) || body["ID"] === "") return undefined;
  const { ID: id, Info: info, Who: who, Created: since, Operation: why } = body;
  const own = isText(info) ? lockInfoIn(info) : undefined;
  if (own?.id === id) return own;
  const known = Object.entries({ who, since, why }).filter(
    ([, text]) => isText(text) && text !== "",
  );
  return { ...unknownHolder(id), ...Object.fromEntries(known) };
}

function unknownHolder(id: string): LockInfo {
  return { id, who: "somebody", since: "an unknown time", why: "an unknown command" };
}
