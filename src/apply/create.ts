import { isObject } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { addressOf } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { PlannedCall } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { batchContent } from "../plan/batch-generation.ts";
import { recover } from "../plan/recover.ts";
import { targetOf } from "../plan/scope.ts";
import { record, sessionOf } from "./context.ts";
import type { Run } from "./context.ts";
import { bindDefault } from "./default-environment.ts";
import { intentOf } from "./intent.ts";
import { createdRecords } from "./records.ts";
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
): Promise<Verdict> {
  await record(run, targetOf(address), kind === "target" ? [...forgotten(run, key), ...events] : events);
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
  // Its id is of no use to anyone, so a success without one is a success.
  if (resource.kind === "batchGeneration")
    return [
      { type: "batch", address, record: { status: "done", content: batchContent(fingerprints, resource) } },
    ];
  const id = isObject(answer) ? answer[resource.kind === "testCase" ? "testCaseId" : "id"] : undefined;
  if (typeof id !== "string" || id === "") return undefined;
  const fields = createdRecords(fingerprints, resource, id);
  const bound: StateEvent = { type: "bound", address, id, fields };
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
async function leaveOpen(run: Run, resource: DesiredResource, why: Failure): Promise<Verdict> {
  const { address } = resource;
  const content = batchContent(run.context.fingerprints, resource);
  await record(run, targetOf(address), [
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
    detail: `${why.detail}\nWhat became of it could not be looked up: ${failure.summary}. The next run looks again before it repeats anything.`,
  };
}
