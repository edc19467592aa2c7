import { guessed } from "../../manifest/problem.ts";
import type { DesiredResource } from "../../model/desired.ts";
import { invalid } from "../../model/error.ts";
import { defined } from "../../model/json.ts";
import { type State, emptyState } from "../../model/state.ts";
import { isUnknown } from "../../model/value.ts";
import { batchContent, idsIn } from "../../plan/batches.ts";
import { type DocumentKey, type LockInfo, NO_DOCUMENT } from "../../state/backend.ts";
import { explainTakeover } from "../../state/problem.ts";
import { lockDocuments, unlockAll } from "../../state/locked.ts";
import type { Session } from "../../app/session.ts";
import type { Options } from "../options.ts";
import type { LOCK_TIMEOUT } from "../shared-options.ts";

/** A target's document under lock. An edit reads it, and writes it as a whole or not at all. */
export interface LockedDocument {
  readonly key: DocumentKey;
  readonly stored: State | undefined;
  /** The stored state, or an empty one. */
  readonly state: State;
  /** The document's version number, if the backend counts versions. */
  readonly serial: number | undefined;
  readonly replace: (state: State) => Promise<void>;
  /** Removes the document; where the backend cannot do that, it is left without content. */
  readonly remove: () => Promise<void>;
}

/**
 * Does the work while these targets' documents are locked. The work gets one document per target,
 * in the same order.
 */
export async function withDocuments<T>(
  session: Session,
  targets: readonly string[],
  why: string,
  { lockTimeout = 0 }: Options<typeof LOCK_TIMEOUT>,
  work: (...documents: readonly LockedDocument[]) => Promise<T>,
): Promise<T> {
  session.requireFingerprintKey();
  const { backend, world } = await session.states();
  const keys = targets.map((target) => session.stateKey(target));
  const locks = await lockDocuments(backend, keys, world, { timeout: lockTimeout, why });
  try {
    const all = await backend.readAll(keys);
    let listing: Promise<void> | undefined;
    const documents = locks.map((lock) => {
      const { key } = lock;
      if (lock.takenOver !== undefined) session.host.warn([explainTakeover(key, lock.takenOver)]);
      const { state: stored, revision } = all.get(key.target) ?? {};
      const empty = emptyState(key.stage, key.target, key.service);
      const replace = async (next: State) => {
        const lineage = next.lineage ?? stored?.lineage ?? world.newId();
        await (listing ??= backend.register?.(key.stage, targets));
        await lock.write({ ...next, lineage }, revision ?? NO_DOCUMENT);
      };
      return {
        key,
        stored,
        state: stored ?? empty,
        serial: serialOf(revision),
        replace,
        remove: () => lock.remove?.(revision ?? NO_DOCUMENT) ?? replace(empty),
      };
    });
    const place = ({ key }: LockedDocument) => targets.indexOf(key.target);
    return await work(...documents.toSorted((a, b) => place(a) - place(b)));
  } finally {
    await unlockAll(locks);
  }
}

export function serialOf(revision: string | undefined): number | undefined {
  return revision !== undefined && /^\d{1,15}$/.test(revision) ? Number(revision) : undefined;
}

/** @throws TascError if no manifest declares the target and it has no state */
export async function mustKnowTarget(session: Session, target: string): Promise<void> {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const known = [...session.desired.targets.map(({ key }) => key), ...(await backend.list(stage))];
  if (known.includes(target)) return;
  throw invalid(
    "unknown-target",
    `There is no target ${target} in stage ${stage}`,
    `No manifest declares it and state does not contain it.${guessed(target, known)}`,
  );
}

export function holderJson({ id, who, since, why, folder, job, process }: LockInfo) {
  return defined({ id, who, since, why, folder, job, host: process?.host, pid: process?.pid });
}

export function contentOf(
  resource: DesiredResource,
  state: State,
  { fingerprints }: Session,
): { readonly content?: string } {
  if (fingerprints === undefined || Object.values(resource.fields).some(isUnknown)) return {};
  return { content: batchContent(fingerprints, resource, idsIn(state)) };
}
