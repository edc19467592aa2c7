import {
  type Address,
  addressOf,
  compareAddresses,
  compareText,
  parseAddress,
  targetAddress,
} from "../model/address.ts";
import type { DesiredTarget } from "../model/desired.ts";
import { type State, type StateEvent, emptyState } from "../model/state.ts";
import { isUnknown } from "../model/value.ts";
import type { Fingerprinter } from "../plan/input.ts";
import { batchContent } from "../plan/resources.ts";
import { type Backend, type HeldLock, NO_DOCUMENT, type StateWorld } from "./backend.ts";
import { formatDocument } from "./document.ts";
import { applyEvent, applyEvents } from "./events.ts";
import { type LockInfo, acquireLock, createLockInfo } from "./lock.ts";
import { type DocumentKey, type Result, success } from "./problem.ts";
import type { SessionOptions } from "./session.ts";

/**
 * What becomes of a state that somebody corrects by hand, or why it cannot be. `argument`: what was asked for means
 * nothing here; `state`: it would do harm to what is remembered.
 */
export type Correction =
  | { readonly ok: true; readonly state: State }
  | {
      readonly ok: false;
      readonly fault: "argument" | "state";
      readonly summary: string;
      readonly detail: string;
    };

export function corrected(state: State): Correction {
  return { ok: true, state };
}

function refusedArgument(summary: string, detail: string): Correction {
  return { ok: false, fault: "argument", summary, detail };
}

function refusedByState(summary: string, detail: string): Correction {
  return { ok: false, fault: "state", summary, detail };
}

/** Whether a state remembers anything of an address: an id, a run, or a creation under way. */
export function knows(state: State, address: Address): boolean {
  return state.bindings.has(address) || state.batchGenerations.has(address) || state.intents.has(address);
}

/** Every address that a state remembers anything of, sorted. */
export function knownAddresses(state: State): readonly Address[] {
  const all = [...state.bindings.keys(), ...state.batchGenerations.keys(), ...state.intents.keys()];
  return [...new Set(all)].toSorted(compareAddresses);
}

function isBlank(state: State): boolean {
  return knownAddresses(state).length === 0;
}

/** A target's document under lock. A correction reads it, and writes it whole or not at all. */
export interface LockedDocument {
  readonly key: DocumentKey;
  /** Nothing where there is no document yet. */
  readonly state: State | undefined;
  /** Whose lock was taken over: a process that is gone. */
  readonly takenOver?: LockInfo;
  replace(state: State): Promise<Result<void>>;
  unlock(): Promise<void>;
}

/** Locks documents, always in the same order, so that two commands cannot wait for each other; all or none. */
export async function lockDocuments(
  backend: Backend,
  world: StateWorld,
  keys: readonly DocumentKey[],
  options: SessionOptions,
): Promise<Result<readonly LockedDocument[]>> {
  const documents: LockedDocument[] = [];
  for (const key of keys.toSorted((a, b) => compareText(a.target, b.target))) {
    const document = await lockDocument(backend, world, key, options);
    if (!document.ok) {
      await unlockDocuments(documents);
      return document;
    }
    documents.push(document.value);
  }
  return success(documents);
}

export async function unlockDocuments(documents: readonly LockedDocument[]): Promise<void> {
  for (const document of documents) await document.unlock();
}

async function lockDocument(
  backend: Backend,
  world: StateWorld,
  key: DocumentKey,
  options: SessionOptions,
): Promise<Result<LockedDocument>> {
  const lock = await acquireLock(backend, key, createLockInfo(world, options.why), world.clock, options);
  if (!lock.ok) return lock;
  const stored = await backend.read(key);
  if (stored.ok)
    return success(documentOf(key, lock.value, stored.value?.state, stored.value?.revision ?? NO_DOCUMENT));
  await lock.value.unlock();
  return stored;
}

function documentOf(
  key: DocumentKey,
  lock: HeldLock,
  state: State | undefined,
  revision: string,
): LockedDocument {
  return {
    key,
    state,
    ...(lock.takenOver === undefined ? {} : { takenOver: lock.takenOver }),
    replace: async (next) => {
      const written = await lock.write(next, revision);
      return written.ok ? success(undefined) : written;
    },
    unlock: async () => void (await lock.unlock()),
  };
}

/** Forgets all that is known of an address, also a creation whose outcome nobody has looked up yet. */
export function forgetAddress(state: State, address: Address): Correction {
  if (!knows(state, address)) return nothing(address);
  return corrected(
    applyEvents(state, [
      { type: "unbound", address },
      { type: "settled", address },
    ]),
  );
}

/** Forgets a target with all that is in it: without the target's id, nothing in it could be looked up again. */
export function forgetTarget(state: State, address: Address): Correction {
  if (isBlank(state)) return nothing(address);
  return corrected(emptyState(state.stage, state.target, state.service));
}

function nothing(address: Address): Correction {
  return refusedArgument(
    `State knows nothing of ${address}`,
    "There is nothing to forget. What is known:\n  tasc state list",
  );
}

/** Carries what is known of an address over to another one of the same target. */
export function moveAddress(state: State, from: Address, to: Address): Correction {
  if (!knows(state, from)) return unknown(from);
  if (knows(state, to)) return occupied(to);
  return corrected(applyEvent(state, { type: "moved", from, to }));
}

/**
 * The whole document under another target's key. Fingerprints are made from ids and not from addresses, so they hold
 * on. A document that is there already is taken for an earlier try that was cut off half-way, if it says the same.
 *
 * @param there the document of the new key, if there is one
 */
export function moveTarget(state: State, to: string, there: State | undefined): Correction {
  const from = targetAddress(state.target);
  if (isBlank(state)) return unknown(from);
  const moved = underKey(state, to);
  if (there !== undefined && !isBlank(there) && formatDocument(there) !== formatDocument(moved))
    return occupied(targetAddress(to));
  return corrected(moved);
}

function underKey(state: State, target: string): State {
  const rename = <V>(map: ReadonlyMap<Address, V>): ReadonlyMap<Address, V> =>
    new Map([...map].map(([address, value]) => [inTarget(address, target), value]));
  return {
    ...state,
    target,
    bindings: rename(state.bindings),
    batchGenerations: rename(state.batchGenerations),
    intents: rename(state.intents),
  };
}

function inTarget(address: Address, target: string): Address {
  const parts = parseAddress(address);
  if (parts === undefined) throw new TypeError(`not an address: ${address}`);
  return parts.kind === "target" ? targetAddress(target) : addressOf(parts.kind, target, parts.key);
}

function unknown(address: Address): Correction {
  return refusedArgument(
    `State knows nothing of ${address}`,
    "There is nothing to move. What is known:\n  tasc state list",
  );
}

function occupied(address: Address): Correction {
  return refusedByState(
    `${address} is taken`,
    `State knows something of it already, and would forget that. If it may:\n  tasc state rm ${address}`,
  );
}

export interface Binder {
  /** What the manifests declare of the target, where they do. */
  readonly target: DesiredTarget | undefined;
  readonly fingerprints: Fingerprinter | undefined;
}

/**
 * Binds an address to a live resource. Nothing is recorded of its fields, so write-only ones are sent once more; a
 * binding that was there before goes with its records, or those would speak of another resource.
 *
 * The first binding of a target makes state of it. Batch generations without a record would then count as never run,
 * so they are held: nobody knows whether they ran before.
 */
export function bindAddress(state: State, address: Address, id: string, binder: Binder): Correction {
  const holder = [...state.bindings].find(([other, binding]) => other !== address && binding.id === id);
  if (holder !== undefined) return taken(id, holder[0]);
  return corrected(
    applyEvents(state, [
      ...(state.bindings.size === 0 ? heldBatches(state, binder) : []),
      { type: "unbound", address },
      { type: "bound", address, id, fields: {} },
    ]),
  );
}

/** One live resource cannot answer to two addresses. */
export function taken(id: string, address: Address): Correction {
  return refusedByState(
    `${id} is bound to ${address}`,
    `One live resource cannot answer to two addresses. Free it first:\n  tasc state rm ${address}`,
  );
}

function heldBatches(state: State, { target, fingerprints }: Binder): readonly StateEvent[] {
  const unrecorded = (target?.batchGenerations ?? []).filter(
    ({ address }) => !state.batchGenerations.has(address),
  );
  return unrecorded.map((resource) => {
    const known = fingerprints !== undefined && !Object.values(resource.fields).some(isUnknown);
    const content = known ? { content: batchContent(fingerprints, resource) } : {};
    return { type: "batch", address: resource.address, record: { status: "held", ...content } };
  });
}
