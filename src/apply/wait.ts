import type { Address } from "../model/address.ts";
import { targetAddress } from "../model/address.ts";
import type { LiveTestCase } from "../model/live.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf, mayGoOn } from "./context.ts";
import type { Run } from "./context.ts";
import { rereadTestCases } from "./read.ts";

/** Milliseconds between two looks. */
const INTERVAL = 2000;

/** Notifications that were there before: what they tell is of earlier discoveries. */
export type EarlierNotifications = ReadonlySet<string>;

/** Ids of the notifications of all targets in scope, read only where the apply is to wait. */
export async function discoveriesBefore(run: Run): Promise<EarlierNotifications> {
  const { context } = run;
  if (context.wait === undefined) return new Set();
  const ids = [...context.planned.seen.values()].flatMap(({ live }) => (live === undefined ? [] : [live.id]));
  const answers = await Promise.all(ids.map((id) => context.service.finishedDiscoveries(id)));
  return new Set(answers.flatMap((answer) => (answer.ok ? answer.value.map((finished) => finished.id) : [])));
}

/**
 * Waits until the discoveries that this run started have finished: a notification says so, or the list's discovery
 * status (service-api.md, "Events" and "Test case"). Which of the two a service tells first is not shown, so either
 * counts.
 *
 * @returns what had not finished when the time was over.
 */
export async function awaitDiscoveries(run: Run, before: EarlierNotifications): Promise<readonly Address[]> {
  const { context, progress } = run;
  if (context.wait === undefined) return [];
  const deadline = context.now() + context.wait;
  let open: readonly Address[] = [...progress.generating].filter((address) => progress.done.has(address));
  for (;;) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || context.now() >= deadline || !mayGoOn(run)) return open;
    context.emit({ type: "waiting", unfinished: open.length });
    await context.sleep(Math.min(INTERVAL, Math.max(1, deadline - context.now())));
  }
}

async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: EarlierNotifications,
): Promise<readonly Address[]> {
  const { context, progress } = run;
  const left: Address[] = [];
  for (const key of new Set(open.map(targetOf))) {
    const targetId = idOf(run, targetAddress(key));
    if (targetId === undefined) continue;
    const [notified] = await Promise.all([
      context.service.finishedDiscoveries(targetId),
      rereadTestCases(run, key),
    ]);
    // What generation has changed since is patched afterwards, so the target counts as not read.
    progress.dirty.add(key);
    const told = new Set(
      notified.ok
        ? notified.value.filter((finished) => !before.has(finished.id)).map((finished) => finished.testCaseId)
        : [],
    );
    const live = new Map((progress.testCases.get(targetId) ?? []).map((testCase) => [testCase.id, testCase]));
    for (const address of open.filter((candidate) => targetOf(candidate) === key)) {
      const id = idOf(run, address);
      if (id !== undefined && !told.has(id) && !hasEnded(live.get(id))) left.push(address);
    }
  }
  return left;
}

/** The text lists CREATED alone; a cause or a message of an abort, or a word for an end, says that it is over. */
function hasEnded(testCase: LiveTestCase | undefined): boolean {
  const discovery = testCase?.discovery;
  if (discovery === undefined) return false;
  if ((discovery.abortCause ?? "") !== "") return true;
  return /finish|complete|success|succeed|done|fail|abort|cancel|error/i.test(discovery.status ?? "");
}
