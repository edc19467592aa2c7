import { type Address, targetAddress, targetOf } from "../model/address.ts";
import { byAddress } from "../model/desired.ts";
import type { Failure } from "../model/events.ts";
import type { LiveTestCase } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import {
  type FailedGeneration,
  type Generation,
  batchNamedBy,
  discoveryMark,
  failedBatch,
  generationFailure,
  generationOf,
  hasSteps,
  namesBatches,
} from "../plan/generation.ts";
import { scopeTest } from "../plan/scope.ts";
import { isRediscovering } from "../plan/staleness.ts";
import type { LiveNotification } from "../service/answers.ts";
import {
  type Run,
  failureIn,
  failureOf,
  hasStatus,
  mayContinue,
  recordSoon,
  replan,
  settle,
} from "./run.ts";
import { rereadTestCases } from "./refresh.ts";

/*
 * Generations that this run or an earlier one started: how they ended, and the wait for them
 * (service-api.md, "Events" and "Test case"). Which sign of an end comes first is not documented.
 */

/** Milliseconds between two polls. */
const INTERVAL = 2000;

/** The discoveries that were known when the apply began. */
export type DiscoveriesBefore = Awaited<ReturnType<typeof discoveriesBefore>>;

/** Reads the discoveries, but only if the apply is to wait. */
export async function discoveriesBefore(run: Run, changes: readonly Change[]) {
  const inScope = scopeTest(run.input.scope);
  /**
   * Discoveries that an earlier run started, by address, with the mark of the discovery before
   * them.
   */
  const underWay = new Map(
    (run.wait === undefined ? [] : [...run.sessions.values()]).flatMap(({ state }) =>
      [...state.bindings].flatMap(([address, { generating }]) =>
        generating !== undefined && inScope(address) && run.resources.has(address)
          ? [[address, generating] as const]
          : [],
      ),
    ),
  );
  const generating = changes.filter(
    (change) => run.wait !== undefined && (change.action === "create" || isRediscovering(change)),
  );
  const keys = new Set(
    [...generating.map(({ address }) => address), ...underWay.keys()].map(targetOf),
  );
  const ids = [...keys].flatMap((key) => run.planned.matched.get(key)?.live?.id ?? []);
  const answers = await Promise.all(ids.map((id) => notifications(run, id)));
  // Ids of notifications about earlier discoveries.
  const notified = new Set(answers.flat().map(({ id }) => id));
  // Looked up in a new plan, because a saved one does not contain later changes to the manifests.
  const differing = underWay.size === 0 ? new Map() : byAddress(replan(run, keys).plan.changes);
  // Test cases under discovery that are as declared now: if one differs later, its discovery has
  // changed it.
  const settled = new Set([...underWay.keys()].filter((address) => !differing.has(address)));
  return { notified, underWay, settled };
}

/**
 * Whether a patch of a test case waits for its generation, which may set the same fields: then it
 * is sent once, and nothing is switched on that has no steps.
 */
export function waitsForGeneration(
  { wait, progress }: Run,
  change: Change,
  { underWay }: DiscoveriesBefore,
): boolean {
  const { address } = change;
  const isOpen = progress.created.has(address) || underWay.has(address);
  return wait !== undefined && isOpen && !isRediscovering(change);
}

/**
 * Waits until the discoveries that this run or an earlier one started have ended. Those that failed
 * become failed changes.
 * @param deadline time of the limit, in milliseconds
 * @returns the test cases whose discovery had not ended at the time limit
 */
export async function awaitDiscoveries(
  run: Run,
  before: DiscoveriesBefore,
  deadline: number,
): Promise<readonly Address[]> {
  if (run.wait === undefined) return [];
  const started = [...run.generations.started].filter(
    (address) => !hasStatus(run, address, "failed", "skipped"),
  );
  let open: readonly Address[] = [...new Set([...before.underWay.keys(), ...started])];
  while (open.length > 0 && mayContinue(run)) {
    open = await stillOpen(run, open, before);
    if (open.length === 0 || run.now() >= deadline || !mayContinue(run)) break;
    run.emit({ type: "waiting", unfinished: open.length });
    await run.sleep(Math.min(INTERVAL, Math.max(1, deadline - run.now())));
  }
  return open;
}

/** Polls the targets of open discoveries once. If reading fails, its discoveries remain open. */
async function stillOpen(
  run: Run,
  open: readonly Address[],
  before: DiscoveriesBefore,
): Promise<readonly Address[]> {
  const results = new Map<Address, Generation>();
  const look = async (key: string): Promise<void> => {
    const targetId = run.known.ids.get(targetAddress(key)) ?? "";
    const [notices, failure] = await Promise.all([
      notifications(run, targetId),
      failureIn(run, rereadTestCases(run, key)),
    ]);
    if (failure?.fatal === true) run.progress.fatal = failure;
    const live = byId(run.live.testCases.get(targetId));
    for (const address of open) {
      const id = run.known.ids.get(address);
      if (targetOf(address) !== key || id === undefined) continue;
      const earlier = run.generations.started.has(address)
        ? undefined
        : before.underWay.get(address);
      const testCase = live.get(id) ?? { id };
      // For a creation, every notification counts; for others, an older one may be about the
      // previous discovery.
      const counts = (notification: string): boolean =>
        !before.notified.has(notification) ||
        (earlier !== undefined && (earlier === "" || testCase.discovery === undefined));
      const own = notices.filter((one) => one.payload["testCaseId"] === id && counts(one.id));
      results.set(
        address,
        generationOf(testCase, {
          before: earlier ?? markBefore(run, address),
          isFirst: run.progress.created.has(address) || earlier === "",
          needsSteps: makesSteps(run, address),
          notices: own,
        }),
      );
    }
  };
  await Promise.all([...new Set(open.map(targetOf))].map(look));
  return open.filter((address) => {
    const result = results.get(address) ?? { kind: "open", word: undefined };
    noteWord(run, address, result);
    if (result.kind === "open") return true;
    const failed =
      result.kind === "failed" ? { failed: discoveryMark(liveOf(run, address)?.discovery) } : {};
    recordSoon(run, targetOf(address), [{ type: "generated", address, ...failed }], "from a crash");
    if (result.kind === "failed") fail(run, address, result);
    return false;
  });
}

/** Whether a test case must get its steps from its generation, as no manifest declares them. */
function makesSteps({ resources }: Run, address: Address): boolean {
  const { elements } = resources.get(address)?.fields ?? {};
  return !Array.isArray(elements) || elements.length === 0;
}

function noteWord(run: Run, address: Address, result: Generation): void {
  if (result.kind === "open" && result.word !== undefined)
    run.generations.words.set(address, result.word);
  else run.generations.words.delete(address);
}

/** Returns the mark of the discovery that the plan saw. */
function markBefore(run: Run, address: Address): string {
  const match = run.planned.matched.get(targetOf(address))?.matches.get(address);
  return discoveryMark(match?.live?.discovery);
}

function liveOf(run: Run, address: Address): LiveTestCase | undefined {
  const targetId = run.known.ids.get(targetAddress(targetOf(address))) ?? "";
  const id = run.known.ids.get(address);
  return run.live.testCases.get(targetId)?.find((one) => one.id === id);
}

/** Makes the change of a test case whose generation failed a failed one. */
function fail(run: Run, address: Address, generation: FailedGeneration): void {
  const { summary, message } = generationFailure(generation);
  const steps = liveOf(run, address);
  const kept =
    steps !== undefined && hasSteps(steps) === true
      ? "It keeps the steps that it has."
      : "It has no steps, so tasc does not switch it on.";
  const way = `Change its prompt, or generate it again: tasc apply --rediscover ${address}`;
  failWith(run, address, summary, [message, kept, way]);
}

function failWith(run: Run, address: Address, summary: string, lines: readonly string[]): void {
  const detail = lines.filter((line) => line !== "").join("\n");
  const failure: Failure = { summary, detail, acted: "no", fatal: false };
  run.generations.failed.set(address, failure);
  // A change that is halfway fails once the rest of it has been sent.
  if (!hasStatus(run, address, "halfway", "failed", "skipped"))
    settle(run, address, { kind: "failed", failure });
}

/**
 * Fails the changes whose generation was seen to have failed without a wait: the list that was read
 * at the end shows it.
 */
export function failGenerations(run: Run): void {
  for (const address of run.generations.started) {
    const live = liveOf(run, address);
    if (live === undefined || run.generations.failed.has(address)) continue;
    const result = generationOf(live, {
      before: markBefore(run, address),
      isFirst: run.progress.created.has(address),
      needsSteps: false,
    });
    if (result.kind === "failed") fail(run, address, result);
  }
}

/** Returns a target's notifications; empty if they cannot be read. */
async function notifications(run: Run, targetId: string): Promise<readonly LiveNotification[]> {
  try {
    return await run.service.listNotifications(targetId);
  } catch (error) {
    failureOf(run, error);
    return [];
  }
}

function byId(testCases: readonly LiveTestCase[] = []): ReadonlyMap<string, LiveTestCase> {
  return new Map(testCases.map((one) => [one.id, one]));
}

/**
 * Milliseconds to look for a first notification that names a batch generation. The interface cannot
 * read them, and whether the service's notifications name them is not documented.
 */
const PATIENCE = 6000;

/**
 * Waits for the batch generations of this run, as long as the service's notifications name batch
 * generations at all.
 * @param deadline time of the limit, in milliseconds
 * @returns those that no notification has named: `unfinished` at the limit, or not waited for
 */
export async function awaitBatches(run: Run, deadline: number) {
  const open = new Map<string, Address>();
  const nameless: Address[] = [];
  for (const [address, id] of run.generations.batches)
    if (id === undefined) nameless.push(address);
    else open.set(id, address);
  const patient = Math.min(deadline, run.now() + PATIENCE);
  let isNaming = false;
  while (open.size > 0 && mayContinue(run)) {
    const targets = new Set([...open.values()].map(targetOf));
    const ids = [...targets].map((key) => run.known.ids.get(targetAddress(key)) ?? "");
    const all = (await Promise.all(ids.map((id) => notifications(run, id)))).flat();
    isNaming ||= all.some(namesBatches);
    for (const notice of all) {
      const id = batchNamedBy(notice, open);
      const address = open.get(id ?? "");
      if (id === undefined || address === undefined) continue;
      isNaming = true;
      open.delete(id);
      const failed = failedBatch(notice);
      if (failed !== undefined) failBatch(run, address, failed);
    }
    if (open.size === 0 || run.now() >= (isNaming ? deadline : patient) || !mayContinue(run)) break;
    run.emit({ type: "waiting", unfinished: open.size, what: "batch generation" });
    await run.sleep(Math.min(INTERVAL, Math.max(1, (isNaming ? deadline : patient) - run.now())));
  }
  const left = [...open.values()];
  return isNaming
    ? { unfinished: left, notWaited: nameless }
    : { unfinished: [], notWaited: [...nameless, ...left] };
}

function failBatch(run: Run, address: Address, generation: FailedGeneration): void {
  const { summary, message } = generationFailure(generation);
  const way = `It counts as run. Change its prompt, or run it again: tasc apply --run ${address}`;
  failWith(run, address, summary, [message, way]);
}
