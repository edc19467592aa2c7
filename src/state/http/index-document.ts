import { parseJson } from "../json-text.ts";
import type { LockInfo } from "../lock-info.ts";
import type { Result, StateKey } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import { isCount, isRecord, isTexts } from "../shape.ts";
import type { Clock } from "../world.ts";
import { addressesOf } from "./address.ts";
import { shown } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { get, lock, put, unlock } from "./exchange.ts";

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

export async function readIndex(exchange: Exchange): Promise<Result<Index>> {
  const place = indexOf(exchange);
  const text = await get(place);
  if (!text.ok) return text;
  if (text.value === undefined) return success({ serial: 0, targets: [] });
  const where = shown(addressesOf(place.config, place.key).document);
  return parseIndex(text.value, exchange.key.stage, where);
}

/** Adds the exchange's target to the index of its stage, under the index' own lock. */
export async function addToIndex(exchange: Exchange, info: LockInfo, clock: Clock): Promise<Result<void>> {
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
