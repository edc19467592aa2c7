import { type Address, addressOf, targetAddress } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Failure } from "../model/events.ts";
import { type Json, isObject } from "../model/json.ts";
import type { BodyValue, Change, PlannedCall } from "../model/plan.ts";
import type { Intent, StateEvent } from "../model/state.ts";
import { IdOf, IdOfElement, Secret, Unknown, reveal } from "../model/value.ts";
import type { MatchedTarget } from "../plan/compare.ts";
import { scopeTest, targetOf } from "../plan/input.ts";
import { type NamedKind, liveNames, namesOf } from "../plan/match.ts";
import { NO_ID_YET, listedOf, nameDigests, recover } from "../plan/memory.ts";
import type { Planned } from "../plan/plan.ts";
import { refreshEvents } from "../plan/record.ts";
import { batchContent } from "../plan/resources.ts";
import { changedFields } from "../plan/staleness.ts";
import { applyEvents } from "../state/events.ts";
import {
  type Answered,
  type Run,
  createdRecords,
  defaultEnvironmentRecords,
  idOf,
  record,
  replan,
  sessionOf,
} from "./context.ts";

/**
 * A creation happens once (design contract, section 5). Before the POST its intent is durable; after it, only an answer
 * that names what was made, or a failure that says the service did not act, settles the matter. Anything else is
 * settled by looking: what the POST made is adopted, and only if it made nothing is it sent again.
 *
 * Sending a POST again on a time-out, as one may with a PATCH, would make the resource twice whenever the answer was
 * lost and not the request.
 */
export async function create(
  run: Run,
  resource: DesiredResource,
  call: PlannedCall,
): Promise<Failure | undefined> {
  const { context } = run;
  const { address } = resource;
  for (let attempt = 0; ; attempt++) {
    await record(run, targetOf(address), [{ type: "intended", address, intent: intentOf(run, resource) }]);
    const answer = await sendCall(run, address, call);
    const verdict = await judge(run, resource, answer);
    if (verdict.kind === "made") return undefined;
    if (verdict.kind === "failed" || attempt >= context.retries || context.stopping()) return verdict.failure;
    await context.sleep(backoff(attempt));
  }
}

/** Milliseconds before a creation is repeated that is known to have made nothing. */
function backoff(attempt: number): number {
  return Math.min(250 * 2 ** attempt, 10_000);
}

type CreationResult =
  | { readonly kind: "made" }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** It made nothing, for certain. */
  | { readonly kind: "again"; readonly failure: Failure };

async function judge(
  run: Run,
  resource: DesiredResource,
  answer: Answered<Json | undefined>,
): Promise<CreationResult> {
  const { address } = resource;
  if (!answer.ok && answer.failure.acted === "no") {
    await record(run, targetOf(address), [{ type: "settled", address }]);
    return { kind: "failed", failure: answer.failure };
  }
  const events = answer.ok ? madeEvents(run, resource, answer.value) : undefined;
  if (events !== undefined) return made(run, resource, events);
  const why: Failure = answer.ok ? UNREADABLE : answer.failure;
  return resource.kind === "batchGeneration" ? leaveOpen(run, resource, why) : lookUp(run, resource, why);
}

async function made(
  run: Run,
  { address, kind, key }: DesiredResource,
  events: readonly StateEvent[],
): Promise<CreationResult> {
  const answered: StateEvent = { type: "answered", address };
  const before = kind === "target" ? forgotten(run, key) : [];
  const begun: readonly StateEvent[] =
    kind === "testCase" ? [{ type: "generating", address, shown: "" }] : [];
  await record(run, targetOf(address), [...before, ...events, ...begun, answered]);
  run.progress.created.add(address);
  return { kind: "made" };
}

/** What an earlier test target of the same address held went with it. */
function forgotten({ progress }: Run, target: string): readonly StateEvent[] {
  return [...progress.ids.keys()]
    .filter((address) => targetOf(address) === target)
    .map((address) => ({ type: "unbound", address }));
}

const UNREADABLE: Failure = {
  summary: "The service's answer does not contain the id of the new resource",
  detail: "It reported success without an id.",
  acted: "maybe",
  fatal: false,
};

/** The events that follow from an answer which says what was made; nothing if it does not. */
function madeEvents(
  run: Run,
  resource: DesiredResource,
  answer: Json | undefined,
): readonly StateEvent[] | undefined {
  const { fingerprints } = run.context;
  const { address } = resource;
  // Its id is of no use to anyone, so a success without one is a success.
  if (resource.kind === "batchGeneration")
    return [
      { type: "batch", address, record: { status: "done", content: batchContent(fingerprints, resource) } },
    ];
  const id = isObject(answer) ? answer[resource.kind === "testCase" ? "testCaseId" : "id"] : undefined;
  if (typeof id !== "string" || id === "") return undefined;
  const bound: StateEvent = { type: "bound", address, id, ...createdRecords(fingerprints, resource, id) };
  return resource.kind === "target" ? [bound, ...defaultEvents(run, resource, answer)] : [bound];
}

/** The DEFAULT environment came with its target; where the answer shows it, it is bound at once. */
function defaultEvents(run: Run, target: DesiredResource, answer: Json | undefined): readonly StateEvent[] {
  const environment = run.resources.get(addressOf("environment", target.key, "default"));
  const shown = isObject(answer) ? answer["environments"] : undefined;
  const found = Array.isArray(shown)
    ? shown.filter(isObject).find((item) => item["type"] === "DEFAULT")
    : undefined;
  const id = found?.["id"];
  return environment === undefined || typeof id !== "string" ? [] : [bindDefault(run, environment, id)];
}

/** Nothing can be read of a batch generation, so it is the user who must say. */
async function leaveOpen(run: Run, resource: DesiredResource, why: Failure): Promise<CreationResult> {
  const { address } = resource;
  const content = batchContent(run.context.fingerprints, resource);
  await record(run, targetOf(address), [
    { type: "batch", address, record: { status: "uncertain", content } },
  ]);
  return { kind: "failed", failure: notKnown(address, why) };
}

/** For what cannot be looked up: why it is not sent again, and the two ways on. */
export function notKnown(address: Address, why: Failure): Failure {
  return {
    ...why,
    summary: `Unknown whether it ran: ${why.summary}`,
    detail: `${why.detail}\nThe API cannot read batch generations, so tasc does not send it again automatically.\nIf it ran:      tasc state mark ${address} done\nTo run it now: tasc apply --run ${address}`,
  };
}

/** Looks what became of a POST without a readable success, by the intent that was recorded before it. */
async function lookUp(run: Run, resource: DesiredResource, why: Failure): Promise<CreationResult> {
  const { context } = run;
  const { address } = resource;
  context.emit({ type: "lookingUp", address, why: why.summary });
  const failure =
    resource.kind === "testCase" ? await rereadTestCases(run, targetOf(address)) : await reread(run, []);
  if (failure !== undefined) return { kind: "failed", failure: unresolved(why, failure) };
  const { events, diagnostics } = recoverOne(run, resource);
  const [unclear] = diagnostics;
  if (unclear !== undefined)
    return { kind: "failed", failure: { ...why, summary: unclear.summary, detail: unclear.detail } };
  const bound = events.find((event) => event.type === "bound");
  if (bound !== undefined) {
    context.emit({ type: "adopted", address, id: bound.id });
    return made(run, resource, events);
  }
  await record(run, targetOf(address), events);
  return { kind: "again", failure: why };
}

function recoverOne(run: Run, { address }: DesiredResource): ReturnType<typeof recover> {
  const { context, progress, resources } = run;
  const { state } = sessionOf(run, targetOf(address));
  const own = [...state.intents].filter(([intended]) => intended === address);
  return recover(
    { ...state, intents: new Map(own) },
    {
      live: { targets: progress.targets, testCases: progress.testCases },
      fingerprints: context.fingerprints,
      resources,
      taken: new Set(progress.ids.values()),
    },
  );
}

/** The intent stays open, so the next run looks again. */
function unresolved(why: Failure, failure: Failure): Failure {
  return {
    ...failure,
    summary: why.summary,
    detail: `${why.detail}\nIts result could not be checked: ${failure.summary}. The next run checks again before it repeats anything.`,
  };
}

/** What must be known later to tell what a POST made from what was there before, and what it carried. */
function intentOf(run: Run, resource: DesiredResource): Intent {
  const { fingerprints, now } = run.context;
  const at = new Date(now()).toISOString();
  if (resource.kind === "batchGeneration")
    return { at, existing: [], content: batchContent(fingerprints, resource), fields: {} };
  return {
    at,
    existing: alike(run, resource, resource.kind),
    ...nameDigests(fingerprints, resource.kind, namesOf(resource)),
    ...createdRecords(fingerprints, resource, NO_ID_YET),
  };
}

/** Ids of what was there before and could be taken for it. */
function alike(run: Run, resource: DesiredResource, kind: NamedKind): readonly string[] {
  const { name, externalId } = namesOf(resource);
  return listedOf(kind, run.progress, idOf(run, targetAddress(targetOf(resource.address)))).flatMap(
    (live) => {
      const names = liveNames(kind, live);
      const isAlike = names.name === name || (externalId !== undefined && names.externalId === externalId);
      return kind === "environment" || isAlike ? [live.id] : [];
    },
  );
}

/** The DEFAULT environment is made with its target: creating it means finding it. */
export function isDefaultCreation({ address, action }: Change): boolean {
  return action === "create" && address === addressOf("environment", targetOf(address), "default");
}

/** Binds the DEFAULT environment of a target that was just made, if its POST's answer did not show it. */
export async function findDefault(run: Run, environment: DesiredResource): Promise<Failure | undefined> {
  const { address } = environment;
  const target = targetOf(address);
  if (idOf(run, address) !== undefined) return undefined;
  const failure = await reread(run, []);
  if (failure !== undefined) return failure;
  const targetId = idOf(run, targetAddress(target));
  const live = run.progress.targets.find((candidate) => candidate.id === targetId);
  const found = live?.environments.find((candidate) => candidate.type === "DEFAULT");
  if (found === undefined) return NOT_SHOWN;
  await record(run, target, [bindDefault(run, environment, found.id)]);
  return undefined;
}

const NOT_SHOWN: Failure = {
  summary: "The service does not show the DEFAULT environment of the new test target",
  detail: "The service creates it together with the target. Apply again once the service lists it.",
  acted: "no",
  fatal: false,
};

function bindDefault({ context }: Run, environment: DesiredResource, id: string): StateEvent {
  const records = defaultEnvironmentRecords(context.fingerprints, environment, id);
  return { type: "bound", address: environment.address, id, ...records };
}

/** Reads targets again: the list of targets, and the test cases of the targets named. */
export async function reread(run: Run, targetKeys: Iterable<string>): Promise<Failure | undefined> {
  const { context, progress } = run;
  const targets = await context.service.listTargets();
  if (!targets.ok) return targets.failure;
  progress.targets = targets.value;
  // A target that is gone, and whose replacement could not be made, has none to read.
  const ids = new Set(targets.value.map(({ id }) => id));
  const keys = [...targetKeys].filter((key) => ids.has(idOf(run, targetAddress(key)) ?? ""));
  const failures = await Promise.all(keys.map((key) => rereadTestCases(run, key)));
  const failure = failures.find((one) => one !== undefined);
  // Called between phases, when nothing is in flight that the answer could have missed.
  if (failure === undefined) for (const key of keys) progress.dirty.delete(key);
  return failure;
}

/** Reads one target's test cases again. */
export async function rereadTestCases(run: Run, key: string): Promise<Failure | undefined> {
  const { context, progress } = run;
  const id = idOf(run, targetAddress(key));
  if (id === undefined) return undefined;
  const testCases = await context.service.listTestCases(id);
  if (!testCases.ok) return testCases.failure;
  progress.testCases.set(id, testCases.value);
  return undefined;
}

/**
 * Records what a look at targets has shown (folder ids, that what was written is there, what open creations have made),
 * and plans again from it. Only for targets that were just read: of others, an open creation would seem to have made
 * nothing.
 */
export async function recordRefresh(run: Run, targetKeys: Iterable<string>): Promise<Planned> {
  const planned = replan(run);
  const keys = [...targetKeys];
  const isAnew = isChanging(run);
  const learned = await Promise.all(keys.map((key) => recordTarget(run, planned, key, isAnew)));
  // All but the id of a folder the plan has taken into account already.
  return learned.includes(true) ? replan(run) : planned;
}

async function recordTarget(
  run: Run,
  planned: Planned,
  key: string,
  isAnew: (address: Address, field: string) => boolean,
): Promise<boolean> {
  const { context, progress } = run;
  const inScope = scopeTest(context.input.scope);
  const touched = (address: Address): boolean =>
    inScope(address) || progress.done.has(address) || progress.created.has(address);
  const matched = planned.matched.get(key);
  if (matched === undefined) return false;
  const folders = folderSights(run, matched);
  const state = applyEvents(matched.state ?? sessionOf(run, key).state, folders);
  await record(run, key, [
    ...(planned.stateEvents.get(key) ?? []),
    ...folders,
    ...refreshEvents({ ...matched, state }, context.fingerprints, touched, isAnew),
  ]);
  return folders.length > 0;
}

/** A field that the plan does not change was as declared at the start, and has its record since then. */
function isChanging({ context }: Run): (address: Address, field: string) => boolean {
  const changes = new Map(context.planned.plan.changes.map((change) => [change.address, change]));
  const fields = new Map<Address, readonly string[]>();
  return (address, field) => {
    const change = changes.get(address);
    if (change === undefined) return true;
    const own = fields.get(address) ?? changedFields(change);
    fields.set(address, own);
    return own.includes(field);
  };
}

/** A folder that was written by name and now shows its id. */
function folderSights({ progress }: Run, { matches, state }: MatchedTarget): readonly StateEvent[] {
  const known = new Map(state?.folders);
  const events: StateEvent[] = [];
  for (const [address, name] of progress.folders) {
    const id = matches.get(address)?.live?.folderId;
    if (typeof id !== "string" || known.get(name) === id) continue;
    known.set(name, id);
    events.push({ type: "folder", name, id });
  }
  return events;
}

/** Sends a planned call: ids that have become known are filled in, and secrets stand in nothing but the wire's body. */
export async function sendCall(
  run: Run,
  address: Address,
  call: PlannedCall,
  elements: readonly string[] = [],
): Promise<Answered<Json | undefined>> {
  const path = call.path.map((segment) => resolveSegment(run, segment, elements));
  const { progress, context } = run;
  progress.calls[call.method]++;
  progress.dirty.add(targetOf(address));
  progress.touched.add(targetOf(address));
  return context.service.send({ method: call.method, path, body: resolveBody(run, call.body) });
}

function resolveSegment(run: Run, segment: string | IdOf | IdOfElement, elements: readonly string[]): string {
  if (typeof segment === "string") return segment;
  if (segment instanceof IdOf) return knownId(run, segment);
  const id = elements[segment.at];
  if (id === undefined) throw new TypeError("a call to an element was sent before the element was known");
  return id;
}

function knownId(run: Run, { address }: IdOf): string {
  const id = idOf(run, address);
  if (id === undefined) throw new TypeError(`a call was sent before ${address} was known`);
  return id;
}

function resolveBody(run: Run, value: BodyValue): Json {
  if (value instanceof IdOf) return knownId(run, value);
  if (value instanceof Secret || value instanceof Unknown) return reveal(value);
  if (isList(value)) return value.map((item) => resolveBody(run, item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, resolveBody(run, part)]));
}

function isList(value: BodyValue): value is readonly BodyValue[] {
  return Array.isArray(value);
}

/** Whether a call names an element that only an answer or a later look can tell. */
export function awaitsElement(call: PlannedCall, elements: readonly string[]): boolean {
  return call.path.some((segment) => segment instanceof IdOfElement && elements[segment.at] === undefined);
}
