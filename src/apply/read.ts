import type { StateEvent } from "../model/state.ts";
import { settleEvents } from "../plan/settle.ts";
import { scopeTest } from "../plan/scope.ts";
import { replan } from "./context.ts";
import type { Run } from "./context.ts";
import type { Failure } from "./service.ts";
import type { Seen } from "../plan/seen.ts";
import { writtenLocator } from "./records.ts";
import type { Planned } from "../plan/plan.ts";
import { declaredElements } from "../plan/elements.ts";
import type { Address } from "../model/address.ts";

/** Reads targets again: the list of targets, and the test cases of the targets named. */
export async function reread(run: Run, targetKeys: Iterable<string>): Promise<Failure | undefined> {
  const { context, progress } = run;
  const targets = await context.service.listTargets();
  if (!targets.ok) return targets.failure;
  progress.targets = targets.value;
  const keys = [...targetKeys];
  const failures = await Promise.all(keys.map((key) => rereadTestCases(run, key)));
  return failures.find((failure) => failure !== undefined);
}

/** Reads one target's test cases again. */
export async function rereadTestCases(run: Run, key: string): Promise<Failure | undefined> {
  const { context, progress } = run;
  const id = context.sessions.get(key)?.state.bindings.get(`target.${key}`)?.id;
  if (id === undefined) return undefined;
  progress.dirty.delete(key);
  const testCases = await context.service.listTestCases(id);
  if (!testCases.ok) return testCases.failure;
  progress.testCases.set(id, testCases.value);
  return undefined;
}

/** Records what a look at the targets has shown: folder ids, selectors, and that what was written is there. */
export async function recordSight(run: Run, targetKeys: Iterable<string>): Promise<Planned> {
  const inScope = scopeTest(run.context.input.scope);
  const touched = (address: Address): boolean =>
    inScope(address) || run.progress.done.has(address) || run.progress.created.has(address);
  const keys = new Set(targetKeys);
  const first = replan(run);
  await recordEach(run, keys, first, (seen) => [...folderSights(run, seen), ...locatorSights(run, seen)]);
  const second = replan(run);
  await recordEach(run, keys, second, (seen) => settleEvents(seen, run.context.fingerprints, touched));
  return replan(run);
}

async function recordEach(
  run: Run,
  keys: ReadonlySet<string>,
  planned: Planned,
  eventsOf: (seen: Seen) => readonly StateEvent[],
): Promise<void> {
  const records = [...planned.seen]
    .filter(([key]) => keys.has(key))
    .map(async ([key, seen]) => {
      const events = eventsOf(seen);
      if (events.length > 0) await run.context.sessions.get(key)?.record(events);
    });
  await Promise.all(records);
}

/** A folder that was written by name and now shows its id. */
function folderSights({ progress }: Run, { testCaseMatches, state }: Seen): readonly StateEvent[] {
  const events: StateEvent[] = [];
  const known = new Map(state?.folders);
  for (const [address, name] of progress.folders) {
    const match = testCaseMatches.get(address);
    const id = match?.found === true ? match.live.folderId : undefined;
    if (typeof id !== "string" || known.get(name) === id) continue;
    known.set(name, id);
    events.push({ type: "folder", name, id });
  }
  return events;
}

/** The selectors that the service made of the locator lines written in this run, as its list shows them. */
function locatorSights({ progress, resources, context }: Run, seen: Seen): readonly StateEvent[] {
  return [...progress.located].flatMap((address) => {
    const match = seen.testCaseMatches.get(address);
    const declared = declaredElements(resources.get(address)?.fields["elements"]);
    const records = seen.state?.bindings.get(address)?.locators ?? {};
    if (match?.found !== true) return [];
    return (match.live.elements ?? []).flatMap((element, at): readonly StateEvent[] => {
      const line = declared[at]?.["locatorLine"];
      const { id } = element;
      if (line === undefined || id === undefined || records[id] === undefined) return [];
      return [writtenLocator(context.fingerprints, address, id, line, element)];
    });
  });
}
