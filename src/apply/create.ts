import { isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import type { Address } from "../model/address.ts";
import { addressOf } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { PlannedCall } from "../model/plan.ts";
import type { Intent, StateEvent } from "../model/state.ts";
import { batchContent } from "../plan/batch-generation.ts";
import { nameDigest, recover, urlDigest } from "../plan/recover.ts";
import { knownText } from "../plan/seen.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf, sessionOf } from "./context.ts";
import type { Run } from "./context.ts";
import { createdRecords, defaultEnvironmentRecords } from "./records.ts";
import { reread, rereadTestCases } from "./read.ts";
import { sendCall } from "./send.ts";
import type { Answered, Failure } from "./service.ts";

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
  for (let attempt = 0; ; attempt++) {
    await sessionOf(run, resource.address).record([
      { type: "intended", address: resource.address, intent: intentOf(run, resource) },
    ]);
    const answer = await sendCall(run, resource.address, call);
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

type Verdict =
  | { readonly kind: "made" }
  | { readonly kind: "failed"; readonly failure: Failure }
  /** It made nothing, for certain. */
  | { readonly kind: "again"; readonly failure: Failure };

async function judge(
  run: Run,
  resource: DesiredResource,
  answer: Answered<Json | undefined>,
): Promise<Verdict> {
  const session = sessionOf(run, resource.address);
  if (!answer.ok && answer.failure.acted === "no") {
    await session.record([{ type: "settled", address: resource.address }]);
    return { kind: "failed", failure: answer.failure };
  }
  const events = answer.ok ? madeEvents(run, resource, answer.value) : undefined;
  if (events !== undefined) {
    await session.record(events);
    run.progress.created.add(resource.address);
    return { kind: "made" };
  }
  const why: Failure = answer.ok ? UNREADABLE : answer.failure;
  return resource.kind === "batchGeneration" ? leaveOpen(run, resource, why) : lookUp(run, resource, why);
}

const UNREADABLE: Failure = {
  summary: "The service's answer does not say what it made",
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
  if (resource.kind === "batchGeneration")
    return [
      { type: "batch", address, record: { status: "done", content: batchContent(fingerprints, resource) } },
    ];
  const id = isObject(answer) ? answer[resource.kind === "testCase" ? "testCaseId" : "id"] : undefined;
  if (typeof id !== "string" || id === "") return undefined;
  const bound: StateEvent = {
    type: "bound",
    address,
    id,
    fields: createdRecords(fingerprints, resource, id),
  };
  return resource.kind === "target" ? [bound, ...defaultEvents(run, resource, answer)] : [bound];
}

/** The DEFAULT environment came with its target; where the answer shows it, it is bound at once. */
function defaultEvents(run: Run, target: DesiredResource, answer: Json | undefined): readonly StateEvent[] {
  const environment = run.resources.get(addressOf("environment", target.key, "default"));
  const shown = isObject(answer) && Array.isArray(answer["environments"]) ? answer["environments"] : [];
  const found: unknown = shown.find((item: Json) => isObject(item) && item["type"] === "DEFAULT");
  if (environment === undefined || typeof found !== "object" || found === null || !("id" in found)) return [];
  return typeof found.id === "string" ? [bindDefault(run, environment, found.id)] : [];
}

function bindDefault({ context }: Run, environment: DesiredResource, id: string): StateEvent {
  const fields = defaultEnvironmentRecords(context.fingerprints, environment, id);
  return { type: "bound", address: environment.address, id, fields };
}

/** Binds the DEFAULT environment of a target that was just made, if its POST's answer did not show it. */
export async function findDefaultEnvironment(
  run: Run,
  target: DesiredResource,
): Promise<Failure | undefined> {
  const address = addressOf("environment", target.key, "default");
  const environment = run.resources.get(address);
  if (environment === undefined || idOf(run, address) !== undefined) return undefined;
  const failure = await reread(run, []);
  if (failure !== undefined) return failure;
  const targetId = idOf(run, target.address);
  const live = run.progress.targets.find((candidate) => candidate.id === targetId);
  const found = live?.environments.find((candidate) => candidate.type === "DEFAULT");
  if (found !== undefined) await sessionOf(run, address).record([bindDefault(run, environment, found.id)]);
  return undefined;
}

/** Nothing can be read of a batch generation, so it is the user who must say. */
async function leaveOpen(run: Run, resource: DesiredResource, why: Failure): Promise<Verdict> {
  const { address } = resource;
  const content = batchContent(run.context.fingerprints, resource);
  await sessionOf(run, address).record([
    { type: "batch", address, record: { status: "uncertain", content } },
  ]);
  return {
    kind: "failed",
    failure: {
      ...why,
      summary: `Not known whether it ran: ${why.summary}`,
      detail: `${why.detail}\nThe interface cannot read batch generations, so it is not sent again by itself.\nIf it ran:      tasc state mark ${address} done\nIf it is to run: tasc apply --run ${address}`,
    },
  };
}

/** Looks what became of a POST without a readable success, by the intent that was recorded before it. */
async function lookUp(run: Run, resource: DesiredResource, why: Failure): Promise<Verdict> {
  const { context, progress } = run;
  const { address } = resource;
  context.emit({ type: "lookingUp", address, why: why.summary });
  const failure =
    resource.kind === "testCase" ? await rereadTestCases(run, targetOf(address)) : await reread(run, []);
  if (failure !== undefined) return { kind: "failed", failure: unresolved(why, failure) };
  const session = sessionOf(run, address);
  const own = [...session.state.intents].filter(([intended]) => intended === address);
  const state = { ...session.state, intents: new Map(own) };
  const live = { targets: progress.targets, testCases: progress.testCases };
  const { events, diagnostics } = recover(state, live, context.fingerprints);
  const [unclear] = diagnostics;
  if (unclear !== undefined)
    return { kind: "failed", failure: { ...why, summary: unclear.summary, detail: unclear.detail } };
  const bound = events.find((event) => event.type === "bound");
  if (bound === undefined) {
    await session.record(events);
    return { kind: "again", failure: why };
  }
  const fields = createdRecords(context.fingerprints, resource, bound.id);
  await session.record([{ ...bound, fields }]);
  progress.created.add(address);
  context.emit({ type: "adopted", address, id: bound.id });
  return { kind: "made" };
}

/** The intent stays open, so the next run looks again. */
function unresolved(why: Failure, failure: Failure): Failure {
  return {
    ...failure,
    summary: why.summary,
    detail: `${why.detail}\nWhat became of it could not be looked up: ${failure.summary}. The next run looks again before it repeats anything.`,
  };
}

/** What must be known later to tell what the POST made from what was there before. */
function intentOf(run: Run, resource: DesiredResource): Intent {
  const { context, progress } = run;
  const { fingerprints } = context;
  const at = new Date(context.now()).toISOString();
  switch (resource.kind) {
    case "target": {
      const app = knownText(resource, "app") ?? "";
      const existing = progress.targets.filter((target) => target.app === app).map((target) => target.id);
      return { at, existing, name: nameDigest(fingerprints, app), fields: {} };
    }
    case "environment": {
      const targetId = idOf(run, `target.${targetOf(resource.address)}`);
      const target = progress.targets.find((candidate) => candidate.id === targetId);
      const existing = (target?.environments ?? []).map((environment) => environment.id);
      return { at, existing, name: urlDigest(fingerprints, knownText(resource, "discoveryUrl")), fields: {} };
    }
    case "testCase":
      return testCaseIntent(run, resource, at);
    case "batchGeneration":
      return { at, existing: [], content: batchContent(fingerprints, resource), fields: {} };
  }
}

function testCaseIntent(run: Run, resource: DesiredResource, at: string): Intent {
  const { context, progress } = run;
  const targetId: Address = `target.${targetOf(resource.address)}`;
  const name = knownText(resource, "description") ?? "";
  const externalId = knownText(resource, "externalId");
  const alike = (progress.testCases.get(idOf(run, targetId) ?? "") ?? []).filter(
    (testCase) =>
      testCase.description === name || (externalId !== undefined && testCase.externalId === externalId),
  );
  return {
    at,
    existing: alike.map((testCase) => testCase.id),
    name: nameDigest(context.fingerprints, name),
    ...(externalId === undefined ? {} : { externalId: nameDigest(context.fingerprints, externalId) }),
    fields: {},
  };
}
