import type { Backend, HeldLock, StoredState } from "../backend.ts";
import type { HttpConfig } from "../config.ts";
import type { LockInfo } from "../lock-info.ts";
import { createLockInfo } from "../lock-info.ts";
import { parseDocument } from "../parse-document.ts";
import type { DocumentKey, Result, StateKey } from "../problem.ts";
import { success } from "../problem.ts";
import type { StateWorld } from "../world.ts";
import { addressesOf } from "./address.ts";
import type { Client } from "./client.ts";
import { openClient, shown } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { get, lock, unlock } from "./exchange.ts";
import { HttpLock } from "./held-lock.ts";
import { readIndex } from "./index-document.ts";

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
