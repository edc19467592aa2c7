import type { Address } from "../model/address.ts";
import { targetAddress } from "../model/address.ts";
import type { LiveDiscovery, LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import { isRediscovering } from "../plan/reviewed.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf, mayGoOn } from "./context.ts";
import type { Run } from "./context.ts";
import { rereadTestCases } from "./read.ts";

/** Milliseconds between two looks. */
const INTERVAL = 2000;

/** Notifications that were there before: what they tell is of earlier discoveries. */
export type EarlierNotifications = ReadonlySet<string>;

/** Ids of the notifications of the targets that are to generate, read only where the apply is to wait. */
export async function discoveriesBefore(run: Run, changes: readonly Change[]): Promise<EarlierNotifications> {
  const { context } = run;
  if (context.wait === undefined) return new Set();
  const generating = changes.filter((change) => change.action === "create" || isRediscovering(change));
  const keys = new Set(generating.map(({ address }) => targetOf(address)));
  const ids = [...keys].flatMap((key) => context.planned.seen.get(key)?.live?.id ?? []);
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
  const { generating, failed, skipped } = progress;
  let open = [...generating].filter((address) => !failed.has(address) && !skipped.has(address));
  while (open.length > 0 && mayGoOn(run)) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || context.now() >= deadline || !mayGoOn(run)) break;
    context.emit({ type: "waiting", unfinished: open.length });
    await context.sleep(Math.min(INTERVAL, Math.max(1, deadline - context.now())));
  }
  return open;
}

async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: EarlierNotifications,
): Promise<Address[]> {
  const keys = [...new Set(open.map(targetOf))];
  const ended = await Promise.all(keys.map((key) => endedIn(run, key, before)));
  const isOpen = new Map(keys.map((key, at) => [key, ended[at]]));
  return open.filter((address) => isOpen.get(targetOf(address))?.(idOf(run, address)) !== true);
}

/** A look at one target: a test for the test cases whose discovery has ended. A failed look tells of none. */
async function endedIn(
  run: Run,
  key: string,
  before: EarlierNotifications,
): Promise<(id: string | undefined) => boolean> {
  const { context, progress } = run;
  const targetId = idOf(run, targetAddress(key)) ?? "";
  const [notified, failure] = await Promise.all([
    context.service.finishedDiscoveries(targetId),
    rereadTestCases(run, key),
  ]);
  if (failure?.fatal === true) progress.fatal = failure;
  const told = new Set(
    notified.ok ? notified.value.flatMap(({ id, testCaseId }) => (before.has(id) ? [] : testCaseId)) : [],
  );
  const live = discoveries(progress.testCases.get(targetId));
  const reviewed = discoveries(context.planned.seen.get(key)?.testCases);
  return (id) =>
    id !== undefined &&
    (told.has(id) || (!isAsBefore(live.get(id), reviewed.get(id)) && hasEnded(live.get(id))));
}

function discoveries(
  testCases: readonly LiveTestCase[] = [],
): ReadonlyMap<string, LiveDiscovery | undefined> {
  return new Map(testCases.map(({ id, discovery }) => [id, discovery]));
}

/** The end of an earlier generation, which is shown until the new one begins. Told where the service shows dates. */
function isAsBefore(now: LiveDiscovery | undefined, before: LiveDiscovery | undefined): boolean {
  return now?.updatedAt !== undefined && now.updatedAt === before?.updatedAt && now.status === before.status;
}

/** The text lists CREATED alone; a cause or a message of an abort, or a word for an end, says that it is over. */
function hasEnded(discovery: LiveDiscovery | undefined): boolean {
  if (discovery === undefined) return false;
  if ((discovery.abortCause ?? "") !== "") return true;
  return /finish|complete|success|succeed|done|fail|abort|cancel|error/i.test(discovery.status ?? "");
}
