import type { State } from "../../model/state.ts";
import type { HeldLock, Revision } from "../backend.ts";
import { NO_DOCUMENT } from "../backend.ts";
import { formatDocument } from "../document.ts";
import type { LockInfo } from "../lock-info.ts";
import type { Result, StateProblem } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { addressesOf } from "./address.ts";
import { shown } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { get, put, unlock } from "./exchange.ts";
import { addToIndex } from "./index-document.ts";
import { serialOf } from "./serial.ts";
import type { Clock } from "../world.ts";

/**
 * A lock that a server keeps. The protocol has no compare-and-set: under the lock nobody else writes, so it is
 * enough to look at the document's serial before the first write. Where the server knows no locks, or the outcome
 * of a write is not known, it is looked at again.
 */
export class HttpLock implements HeldLock {
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
