import { appendFileSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { rm, truncate } from "node:fs/promises";
import type { State, StateEvent } from "../../model/state.ts";
import type { HeldLock, Revision } from "../backend.ts";
import { formatDocument } from "../document.ts";
import type { LockInfo } from "../lock-info.ts";
import type { DocumentKey, Result, StateProblem } from "../problem.ts";
import { refusal, success } from "../problem.ts";
import type { StateWorld } from "../world.ts";
import { attempt } from "./attempt.ts";
import { openForAppend, replaceFile, syncFolder } from "./files.ts";
import type { Journal } from "./journal-text.ts";
import { eventsLine, foldedLine, headerLine } from "./journal-text.ts";
import { readLock, removeLock } from "./lock-file.ts";
import type { StatePaths } from "./paths.ts";
import type { StoredFiles } from "./stored.ts";
import { readFiles, revisionOf } from "./stored.ts";

/** Milliseconds between two looks at the lock, where each answer of the service would give a reason for one. */
const LOOK_EVERY = 100;

/** A document's lock in hand, and what may be done under it. */
export class LocalLock implements HeldLock {
  readonly info: LockInfo;
  readonly takenOver?: LockInfo;
  readonly #key: DocumentKey;
  readonly #paths: StatePaths;
  readonly #world: Pick<StateWorld, "clock" | "processes">;
  #journal: FileHandle | undefined;
  /** Milliseconds since 1970. */
  #lookedAt = -Infinity;

  constructor(
    key: DocumentKey,
    paths: StatePaths,
    info: LockInfo,
    world: Pick<StateWorld, "clock" | "processes">,
    takenOver: LockInfo | undefined,
  ) {
    this.#key = key;
    this.#paths = paths;
    this.info = info;
    this.#world = world;
    if (takenOver !== undefined) this.takenOver = takenOver;
  }

  async write(state: State, base: Revision): Promise<Result<Revision>> {
    return await attempt(this.#paths.document, async () => {
      await this.#closeJournal();
      const ready = await this.#readUnderLock(base);
      if (!ready.ok) return ready;
      const bytes = Buffer.from(formatDocument(state));
      const revision = revisionOf(bytes);
      await this.#markJournal(ready.value.journal, revision);
      const lost = this.#lossOfLock();
      if (lost !== undefined) return refusal(lost);
      await replaceFile(this.#paths.document, bytes);
      await rm(this.#paths.journal, { force: true });
      return success(revision);
    });
  }

  /**
   * The lock is looked at after the flush: if it is still ours then, nobody can have folded the journal without
   * these events. What need not last may be missing there, so for that it is looked at from time to time only.
   */
  readonly append = async (
    events: readonly StateEvent[],
    base: Revision,
    lasting: boolean,
  ): Promise<Result<void>> =>
    await attempt(this.#paths.journal, async () => {
      const opened = await this.#openJournal(base);
      if (!opened.ok) return opened;
      if (lasting) await flush(opened.value, eventsLine(events));
      // The system has it, and keeps it whatever becomes of this process.
      else appendFileSync(opened.value.fd, eventsLine(events));
      const lost = lasting || this.#isLookDue() ? this.#lossOfLock() : undefined;
      return lost === undefined ? success(undefined) : refusal(lost);
    });

  async unlock(): Promise<Result<void>> {
    return await attempt(this.#paths.lock, async () => {
      await this.#closeJournal();
      await removeLock(this.#paths.lock, this.info, this.info, this.#world.processes);
      return success(undefined);
    });
  }

  async #openJournal(base: Revision): Promise<Result<FileHandle>> {
    if (this.#journal !== undefined) return success(this.#journal);
    const files = await this.#readUnderLock(base);
    if (!files.ok) return files;
    if (files.value.journalled === "pending")
      return refusal({ kind: "changed", where: this.#paths.document });
    await rm(this.#paths.journal, { force: true });
    const journal = await openForAppend(this.#paths.journal);
    this.#journal = journal;
    await flush(journal, headerLine(this.#key, base));
    await syncFolder(this.#paths.folder);
    return success(journal);
  }

  async #readUnderLock(base: Revision): Promise<Result<StoredFiles>> {
    const lost = this.#lossOfLock();
    if (lost !== undefined) return refusal(lost);
    const files = await readFiles(this.#paths, this.#key);
    if (!files.ok || files.value.revision === base) return files;
    return refusal({ kind: "changed", where: this.#paths.document });
  }

  /** Notes in the journal, after its last sound line, which revision is about to have its events in it. */
  async #markJournal(journal: Journal | undefined, revision: Revision): Promise<void> {
    if (journal === undefined) return;
    await truncate(this.#paths.journal, journal.soundBytes);
    const file = await openForAppend(this.#paths.journal);
    try {
      await flush(file, foldedLine(revision));
    } finally {
      await file.close();
    }
  }

  async #closeJournal(): Promise<void> {
    const journal = this.#journal;
    this.#journal = undefined;
    await journal?.close();
  }

  #isLookDue(): boolean {
    const elapsed = this.#world.clock.now().getTime() - this.#lookedAt;
    // A clock that was set back tells nothing.
    return elapsed < 0 || elapsed >= LOOK_EVERY;
  }

  #lossOfLock(): StateProblem | undefined {
    this.#lookedAt = this.#world.clock.now().getTime();
    const holder = readLock(this.#paths.lock);
    if (holder?.id === this.info.id) return undefined;
    const { stage, target } = this.#key;
    const reason = holder === undefined ? "its file is gone" : `${holder.who} holds it since ${holder.since}`;
    return { kind: "lock-lost", key: { stage, target }, reason };
  }
}

/** Handing a short text to the system takes less time than asking another thread to; waiting for the disk does not. */
async function flush(file: FileHandle, text: string): Promise<void> {
  appendFileSync(file.fd, text);
  await file.datasync();
}
