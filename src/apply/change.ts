import { GENERATING_KEYS } from "../fields/fields.ts";
import type { Json } from "../model/json.ts";
import type { Address } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Change, PlannedCall } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { IdOfElement, Secret } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf, mayGoOn, recordSoon } from "./context.ts";
import type { Run } from "./context.ts";
import { create } from "./create.ts";
import { findDefault, isDefaultCreation } from "./default-environment.ts";
import { elementIds, folderEvents, folderName, patchedRecords, writtenLocator } from "./records.ts";
import { awaitsElement, sendCall } from "./send.ts";
import type { Answered, Failure } from "./service.ts";

/** How far a change came. */
export type End =
  | { readonly kind: "done" }
  /** What is left names elements whose ids only another look can tell. */
  | { readonly kind: "halfway" }
  /** Nothing further may be started. */
  | { readonly kind: "stopped" }
  | { readonly kind: "failed"; readonly failure: Failure };

/** Carries out one change: its calls in turn, each recorded as soon as it is answered. */
export async function carryOut(run: Run, change: Change): Promise<End> {
  const resource = run.resources.get(change.address);
  if (resource !== undefined && isDefaultCreation(change)) {
    const failure = await findDefault(run, resource);
    if (failure !== undefined) return { kind: "failed", failure };
  }
  let elements: readonly string[] = [];
  let halfway = false;
  let failure: Failure | undefined;
  for (const call of change.calls) {
    if (!mayGoOn(run) && failure === undefined) return { kind: "stopped" };
    if (!mayGoOn(run)) break;
    if (awaitsElement(call, elements)) {
      halfway = true;
      continue;
    }
    const sent =
      call.method === "POST" ? await post(run, change, call) : await patch(run, change, call, elements);
    if (!sent.ok) {
      failure ??= sent.failure;
      // An element can be written whatever became of another.
      if (sent.failure.fatal || !call.path.includes("elements")) break;
      continue;
    }
    if (Object.hasOwn(call.body, "elements")) elements = elementIds(sent.value);
  }
  if (failure !== undefined) return { kind: "failed", failure };
  return { kind: halfway ? "halfway" : "done" };
}

async function post(run: Run, { address }: Change, call: PlannedCall): Promise<Answered<undefined>> {
  const resource = run.resources.get(address);
  if (resource === undefined) throw new TypeError(`a creation of ${address}, which is not declared`);
  const failure = await create(run, resource, call);
  if (failure !== undefined) return { ok: false, failure };
  if (resource.kind === "testCase") {
    run.progress.generating.add(address);
    noteFolder(run, address, call);
  }
  return { ok: true, value: undefined };
}

async function patch(
  run: Run,
  change: Change,
  call: PlannedCall,
  elements: readonly string[],
): Promise<Answered<Json | undefined>> {
  const { address } = change;
  const answer = await sendCall(run, address, call, elements);
  if (!answer.ok) return answer;
  const generates = GENERATING_KEYS.some((key) => Object.hasOwn(call.body, key));
  if (generates) run.progress.generating.add(address);
  noteFolder(run, address, call);
  const events = patchEvents(run, change, call, elements, answer.value);
  // A prompt that is sent again is generated from again, and that costs.
  recordSoon(run, targetOf(address), events, generates ? "for good" : "from a crash");
  return answer;
}

function noteFolder({ progress }: Run, address: Address, call: PlannedCall): void {
  const folder = folderName(call.body);
  if (folder !== undefined) progress.folders.set(address, folder);
}

/** What state remembers of an answered PATCH. */
function patchEvents(
  run: Run,
  { address, action, id = idOf(run, address) }: Change,
  call: PlannedCall,
  elements: readonly string[],
  answer: Json | undefined,
): readonly StateEvent[] {
  const resource = run.resources.get(address) ?? (action === "disable" ? disabled(address) : undefined);
  if (resource === undefined || id === undefined) return [];
  const { fingerprints } = run.context;
  const elementId = elementOf(call, elements);
  if (elementId !== undefined) return [writtenLocator(fingerprints, address, elementId, lineOf(call))];
  return [
    { type: "wrote", address, fields: patchedRecords(fingerprints, resource, id, call.body) },
    ...folderEvents(call.body, answer),
  ];
}

/** What is wanted of a test case that left the manifests. */
function disabled(address: Address): DesiredResource {
  return { kind: "testCase", address, key: "", fields: { status: "DISABLED" }, layers: [] };
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
