import type { Json } from "../model/json.ts";
import type { Address } from "../model/address.ts";
import type { Change, PlannedCall } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { IdOfElement, Secret } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { knownText } from "../plan/seen.ts";
import { idOf, sessionOf } from "./context.ts";
import type { Run } from "./context.ts";
import { create, findDefaultEnvironment } from "./create.ts";
import { elementIds, folderEvents, patchedRecords, writtenLocator } from "./records.ts";
import { awaitsElement, sendCall } from "./send.ts";
import type { Failure } from "./service.ts";

/**
 * Carries out one change: its calls in turn, each recorded as soon as it is answered.
 *
 * @returns the failure that ended it, or nothing.
 */
export async function carryOut(run: Run, change: Change): Promise<Failure | undefined> {
  const resource = run.resources.get(change.address);
  let elements: readonly string[] = [];
  for (const call of change.calls) {
    if (call.method === "POST") {
      if (resource === undefined)
        throw new TypeError(`a creation of ${change.address}, which is not declared`);
      const failure = (await create(run, resource, call)) ?? (await afterCreation(run, change.address));
      if (failure !== undefined) return failure;
    } else if (!awaitsElement(call, elements)) {
      const answer = await sendCall(run, change.address, call, elements);
      if (!answer.ok) return answer.failure;
      await sessionOf(run, change.address).record(patchEvents(run, change, call, elements, answer.value));
      if (Object.hasOwn(call.body, "elements")) elements = elementIds(answer.value);
    }
    // Else the answer did not tell the new elements' ids: the check at the end finds what is left to write.
  }
  return undefined;
}

async function afterCreation(run: Run, address: Address): Promise<Failure | undefined> {
  const resource = run.resources.get(address);
  if (resource?.kind === "target") return findDefaultEnvironment(run, resource);
  if (resource?.kind === "testCase") {
    run.progress.generating.add(address);
    const folder = knownText(resource, "folder");
    if (folder !== undefined) run.progress.folders.set(address, folder);
  }
  return undefined;
}

/** What state remembers of an answered PATCH. */
function patchEvents(
  run: Run,
  change: Change,
  call: PlannedCall,
  elements: readonly string[],
  answer: Json | undefined,
): readonly StateEvent[] {
  const { address } = change;
  const resource = run.resources.get(address);
  const id = change.id ?? idOf(run, address);
  if (resource === undefined || id === undefined) return [];
  const { fingerprints } = run.context;
  const elementId = elementOf(call, elements);
  if (elementId !== undefined) {
    run.progress.located.add(address);
    return [writtenLocator(fingerprints, address, elementId, lineOf(call), undefined)];
  }
  const folder = call.body["folderName"];
  if (typeof folder === "string") run.progress.folders.set(address, folder);
  if (Object.hasOwn(call.body, "createBackendDiscoveryPrompt")) run.progress.generating.add(address);
  return [
    { type: "wrote", address, fields: patchedRecords(fingerprints, resource, id, call.body) },
    ...folderEvents(call.body, answer),
  ];
}

/** The element that a call is about; none for a call about the test case itself. */
function elementOf(call: PlannedCall, elements: readonly string[]): string | undefined {
  const at = call.path.indexOf("elements");
  const segment = at < 0 ? undefined : call.path[at + 1];
  if (segment instanceof IdOfElement) return elements[segment.at];
  return typeof segment === "string" ? segment : undefined;
}

function lineOf(call: PlannedCall): Value {
  const line = call.body["locatorLine"];
  return typeof line === "string" || line instanceof Secret ? line : "";
}
