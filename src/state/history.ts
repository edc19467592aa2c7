import { defined } from "../model/json.ts";
import { type Guarded, isText, oneOf, shape } from "../model/shape.ts";
import { RUN, type RunRecord } from "../model/state.ts";
import { groupBy } from "../model/collections.ts";

/*
 * There is one entry for each apply in each stage. A killed apply leaves its run in the state of each target; the next
 * session on the target writes an entry from it, so several entries may describe one run. Readers join them by the run's id.
 */

const isChange = shape(
  {
    address: isText,
    action: isText,
    /**
     * `unknown`: the run was interrupted, so the change was sent in part, not at all, or its answer
     * was lost.
     */
    outcome: oneOf("done", "failed", "skipped", "unknown"),
  },
  "and others",
);
export type HistoryChange = Guarded<typeof isChange>;

const isEntry = shape(
  {
    run: isText,
    ...RUN,
    /** Whether the run itself wrote this entry, at its end. Otherwise a later session wrote it. */
    ended: (value): value is boolean => typeof value === "boolean",
    changes: (value): value is readonly HistoryChange[] =>
      Array.isArray(value) && value.every(isChange),
  },
  "and others",
);
export type HistoryEntry = Guarded<typeof isEntry>;

export function entryOfInterrupted({ changes, ...run }: RunRecord): HistoryEntry {
  const entries = [...changes].map(([address, { action, calls, answered }]) => ({
    address,
    action,
    outcome: answered >= calls ? ("done" as const) : ("unknown" as const),
  }));
  return entryOf(run, false, entries);
}

export function entryOf(
  of: Omit<RunRecord, "changes">,
  ended: boolean,
  changes: readonly HistoryChange[],
) {
  const { id: run, at, who, where, commit, plan } = of;
  return defined({ run, at, who, where, commit, plan, ended, changes });
}

/**
 * Returns one entry per run, newest first. Ignores invalid entries, because the history is mainly
 * for people.
 */
export function readHistory(values: readonly unknown[]): readonly HistoryEntry[] {
  const runs = groupBy(values.filter(isEntry), ({ run }) => run);
  const joined = [...runs.values()].flatMap((entries): readonly HistoryEntry[] => {
    // The entry that the run wrote at its end comes first. Without one, the latest entry comes
    // first.
    const rank = entries.findIndex(({ ended }) => ended) + 1 || entries.length;
    const [first, ...others] = [...entries.slice(0, rank).toReversed(), ...entries.slice(rank)];
    const changes = new Map(first?.changes.map((change) => [change.address, change]));
    for (const change of others.flatMap((one) => one.changes))
      if (!changes.has(change.address)) changes.set(change.address, change);
    return first === undefined ? [] : [{ ...first, changes: [...changes.values()] }];
  });
  return joined.toSorted((a, b) => (a.at === b.at ? 0 : a.at < b.at ? 1 : -1));
}
