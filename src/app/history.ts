import { hash } from "node:crypto";
import { git } from "../manifest/files.ts";
import { cached } from "../model/collections.ts";
import { stale } from "../model/error.ts";
import { defined, sameJson } from "../model/json.ts";
import type { Outcome } from "../model/events.ts";
import type { Plan } from "../model/plan.ts";
import type { RunRecord, State } from "../model/state.ts";
import {
  type HistoryChange,
  type HistoryEntry,
  entryOf,
  entryOfInterrupted,
  readHistory,
} from "../state/history.ts";
import { createLockInfo } from "../state/lock.ts";
import { StateFailure } from "../state/problem.ts";
import type { LockedState } from "../state/locked.ts";
import type { Session } from "./session.ts";

/**
 * Returns the record of an apply that is about to begin.
 * @param digest of a saved plan, to recognise its second apply
 */
export async function beginRun(session: Session, plan: Plan, digest: string | undefined) {
  const { world } = await session.states();
  const { id, since, who, job, folder } = createLockInfo(world, "tasc apply");
  const { root, env } = session;
  // The pipeline's variables take precedence over git.
  const commit = (env["GITHUB_SHA"] ?? env["CI_COMMIT_SHA"]) || git(root, ["rev-parse", "HEAD"]);
  return defined({
    id,
    at: since,
    who,
    where: job ?? folder,
    commit,
    plan: digest ?? digestOf(plan),
  });
}

/**
 * Refuses a saved plan that was applied before, even if nothing shows it (write-only fields, batch
 * generations).
 */
export async function refuseSecond(session: Session, digest: string): Promise<void> {
  const before = (await historyOf(session)).find(({ plan }) => plan === digest);
  if (before === undefined) return;
  throw stale(
    "plan-applied-before",
    "The saved plan was applied before",
    `At ${before.at}, by ${before.who}. The next plan contains what that apply left unfinished.`,
  );
}

/** Returns a digest of what a plan changes and how, without any values. */
function digestOf({ stage, changes }: Plan): string {
  const content = changes.map(({ address, action, fields, calls }) => [
    address,
    action,
    fields.map(({ path }) => path),
    calls.map(({ method }) => method),
  ]);
  return hash("sha256", JSON.stringify([stage, content])).slice(0, 16);
}

/**
 * Writes the entry of an apply that has ended. If state was lost, the next run that restores it
 * writes the entry.
 */
export async function endRun(
  session: Session,
  run: Omit<RunRecord, "changes">,
  plan: Plan,
  outcome: Outcome,
  sessions: ReadonlyMap<string, LockedState>,
  before: ReadonlyMap<string, State>,
): Promise<void> {
  if ([...sessions.values()].some(({ lost }) => lost.aborted)) return;
  const byAddress = new Map<string, HistoryChange>(
    plan.changes.map(({ address, action }) => [address, { address, action, outcome: "unknown" }]),
  );
  const record = (address: string, how: HistoryChange["outcome"], other = "update") =>
    byAddress.set(address, {
      address,
      action: byAddress.get(address)?.action ?? other,
      outcome: how,
    });
  for (const address of outcome.done) record(address, "done");
  for (const { address } of outcome.failed) record(address, "failed");
  for (const { address } of outcome.skipped) record(address, "skipped");
  for (const address of pulled(before, sessions))
    if (!byAddress.has(address)) record(address, "done", "record");
  const changes = [...byAddress.values()];
  const { backend } = await session.states();
  try {
    if (changes.length > 0)
      await backend.addHistory(session.settings.stage, entryOf(run, true, changes));
  } catch (error) {
    if (!(error instanceof StateFailure)) throw error;
    return session.host.warn(error.diagnostics);
  }
  const open = [...sessions.values()].filter(({ state }) => state.run !== undefined);
  await Promise.all(open.map((one) => one.record([{ type: "ended" }], false)));
}

/**
 * Returns addresses whose records changed. Those that needed no call were changed on the service
 * and pulled since.
 */
function pulled(before: ReadonlyMap<string, State>, sessions: ReadonlyMap<string, LockedState>) {
  return [...sessions].flatMap(([target, { state }]) => {
    const known = before.get(target);
    // With another key, all records differ.
    if (known === undefined || known.keyCheck !== state.keyCheck) return [];
    return [...state.bindings].flatMap(([address, binding]) => {
      const last = known.bindings.get(address);
      if (last === binding || last?.id !== binding.id) return [];
      const { fields } = binding;
      const records = Object.entries(last.fields);
      return records.some(([name, record]) => !sameJson(record, fields[name] ?? record))
        ? [address]
        : [];
    });
  });
}

/** When an apply touched an address: as the history writes it, and in the service's time. */
export interface AppliedAt {
  readonly text: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** Returns the applies that touched each address, the newest first. */
export async function appliesByAddress(
  session: Session,
): Promise<ReadonlyMap<string, readonly AppliedAt[]>> {
  const found = new Map<string, AppliedAt[]>();
  for (const { at: text, changes } of await historyOf(session))
    for (const { address, outcome } of changes)
      if (outcome !== "skipped")
        cached(found, address, (): AppliedAt[] => []).push({
          text,
          at: Date.parse(text) + session.clockSkew,
        });
  session.warnOfClocks();
  return found;
}

/** Returns the stage's history, newest entry first, including runs that have not ended. */
export async function historyOf(session: Session): Promise<readonly HistoryEntry[]> {
  const { stage } = session.settings;
  const { backend } = await session.states();
  const [entries, targets] = await Promise.all([backend.history(stage), backend.list(stage)]);
  const stored = await backend.readAll(targets.map((target) => session.stateKey(target)));
  const open = [...stored.values()].flatMap(({ state: { run } }) =>
    run === undefined || run.changes.size === 0 ? [] : entryOfInterrupted(run),
  );
  return readHistory([...entries, ...open]);
}
