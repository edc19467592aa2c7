import { addressOf, targetAddress, targetOf } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Failure } from "../model/events.ts";
import { type Json, isArray, isObject } from "../model/json.ts";
import type { Change, PlannedCall } from "../model/plan.ts";
import type { Intent, StateEvent } from "../model/state.ts";
import { type NamedKind, levelName, liveNames, namesOf } from "../plan/match.ts";
import { NO_ID_YET, listedOf, nameDigests, recover } from "../plan/memory.ts";
import { batchContent } from "../plan/batches.ts";
import {
  ChangeFailed,
  type Run,
  createdRecords,
  failureIn,
  failureOf,
  mayContinue,
  record,
  recordsOf,
  sendCall,
  sessionOf,
} from "./run.ts";
import { isSegment } from "../service/request.ts";
import { reread, rereadTestCases } from "./refresh.ts";

/**
 * Creates a resource exactly once (design contract, section 5). The intent is durable before the
 * POST. Only an answer that identifies the new resource, or a failure that proves that the service
 * did not act, settles it. In any other case, tasc looks at the service: it adopts what the POST
 * created, and sends it again only if it created nothing.
 */
export async function create(
  run: Run,
  resource: DesiredResource,
  call: PlannedCall,
): Promise<void> {
  const { address, kind } = resource;
  const tell = (events: readonly StateEvent[]): Promise<void> =>
    record(run, targetOf(address), events);
  for (let attempt = 0; ; attempt++) {
    await tell([{ type: "intended", address, intent: intentOf(run, resource) }]);
    const sent = run.now();
    let why = UNREADABLE;
    let made: readonly StateEvent[] | undefined;
    try {
      const answer = await sendCall(run, address, call);
      made = madeEvents(run, resource, answer);
      if (kind === "batchGeneration") run.generations.batches.set(address, batchId(answer));
    } catch (error) {
      why = failureOf(run, error);
    }
    if (made === undefined) {
      if (why.acted === "no") {
        await tell([{ type: "settled", address }]);
        throw new ChangeFailed(why);
      }
      if (kind === "batchGeneration") {
        // The service does not return batch generations, so the user must say whether it ran.
        const content = contentOf(run, resource);
        await tell([{ type: "batch", address, record: { status: "uncertain", content } }]);
        throw new ChangeFailed(notKnown(why));
      }
      const found = await lookUp(run, resource, why, run.now() - sent);
      if (found.some(isBound)) made = found;
      else await tell(found);
    }
    if (made !== undefined) {
      const { bindings, batchGenerations } = sessionOf(run, targetOf(address)).state;
      // The resources of an earlier test target at this address are gone with it, and so are its
      // batch generations.
      const lost =
        kind === "target" ? new Set([...bindings.keys(), ...batchGenerations.keys()]) : [];
      const unbound = [...lost].map((gone) => ({ type: "unbound", address: gone }) as const);
      const begun: readonly StateEvent[] =
        kind === "testCase" ? [{ type: "generating", address, shown: "" }] : [];
      await tell([...unbound, ...made, ...begun, { type: "answered", address }]);
      run.progress.created.add(address);
      return;
    }
    if (attempt >= run.retries || run.stopping()) throw new ChangeFailed(why);
  }
}

const UNREADABLE: Failure = {
  summary: "The service's answer does not contain the id of the new resource",
  detail: "It reported success without an id, or with the id of another resource.",
  acted: "maybe",
  fatal: false,
};

/**
 * Returns the failure of a call whose result cannot be read: it says why the call is not sent
 * again.
 */
export function notKnown(why: Failure): Failure {
  return {
    ...why,
    summary: `Unknown whether it ran: ${why.summary}`,
    detail: `${why.detail}\nThe API cannot read batch generations, so tasc does not send it again automatically: \`tasc state mark\` records that it ran, \`tasc apply --run\` runs it.`,
  };
}

/** Returns the events that follow from an answer; undefined if it does not say what was created. */
function madeEvents(
  run: Run,
  resource: DesiredResource,
  answer: Json | undefined,
): readonly StateEvent[] | undefined {
  const { fingerprints } = run;
  const { address, kind } = resource;
  // A success does not need the id of a batch generation, which only notifications may name.
  if (kind === "batchGeneration")
    return [
      {
        type: "batch",
        address,
        record: { status: "done", content: contentOf(run, resource) },
      },
    ];
  const shown = isObject(answer) ? answer : {};
  const id = shown[kind === "testCase" ? "testCaseId" : "id"];
  if (!isSegment(id) || (run.known.holders.get(id) ?? address) !== address) return undefined;
  // At once, because another creation may be answered with the same id.
  run.known.holders.set(id, address);
  const bound: StateEvent = {
    type: "bound",
    address,
    id,
    ...createdRecords(fingerprints, resource, id),
  };
  if (kind !== "target") return [bound];
  // The DEFAULT environment is created with its target; if the answer shows it, it is bound at
  // once.
  const environment = run.resources.get(addressOf("environment", resource.key, "default"));
  const environments = isArray(shown["environments"]) ? shown["environments"].filter(isObject) : [];
  const own = environments.find(({ type }) => type === "DEFAULT")?.["id"];
  if (environment === undefined || !isSegment(own)) return [bound];
  return [bound, bindDefault(run, environment, own)];
}

function contentOf({ fingerprints, known }: Run, resource: DesiredResource): string {
  return batchContent(fingerprints, resource, (address) => known.ids.get(address));
}

function batchId(answer: Json | undefined): string | undefined {
  const id = isObject(answer) ? answer["batchGenerationId"] : undefined;
  return isSegment(id) ? id : undefined;
}

const isBound = ({ type }: StateEvent): boolean => type === "bound";

/**
 * Minimum and maximum time to look for the result of a POST before it counts as without effect, in
 * milliseconds.
 */
const PATIENCE = [3_000, 60_000] as const;

/**
 * Looks for the result of a POST without a readable success. A service or gateway that gave up may
 * still be working on it, and may take as long again. So the POST created nothing only if nothing
 * appears for a while.
 * @param took milliseconds from sending it to its failure
 */
async function lookUp(
  run: Run,
  resource: DesiredResource,
  why: Failure,
  took: number,
): Promise<readonly StateEvent[]> {
  const [least, most] = PATIENCE;
  const patience = Math.min(Math.max(took, least), most);
  run.emit({ type: "lookingUp", address: resource.address, why: why.summary });
  for (let waited = 0, pause = 250; ; waited += pause, pause *= 2) {
    const found = await look(run, resource, why);
    if (found.some(isBound) || waited >= patience) return found;
    await run.sleep(pause);
    if (!mayContinue(run)) throw notChecked(why, "the run was stopped");
  }
}

/**
 * Returns the error of a creation that could not be checked. The intent stays open, so the next run
 * checks again.
 */
function notChecked(why: Failure, because: string, failure = why): ChangeFailed {
  const detail = `${why.detail}\nIts result could not be checked: ${because}. The next run checks again before it repeats anything.`;
  return new ChangeFailed({ ...failure, summary: why.summary, detail });
}

/** Looks once, with the intent that was recorded before the POST. */
async function look(
  run: Run,
  resource: DesiredResource,
  why: Failure,
): Promise<readonly StateEvent[]> {
  const { address, kind } = resource;
  const target = targetOf(address);
  const read = kind === "testCase" ? rereadTestCases(run, target) : reread(run, []);
  const failure = await failureIn(run, read);
  if (failure !== undefined) throw notChecked(why, failure.summary, failure);
  const { state } = sessionOf(run, target);
  const intents = new Map([...state.intents].filter(([intended]) => intended === address));
  const { fingerprints, resources } = run;
  const taken = new Set(run.known.ids.values());
  const found = recover({ ...state, intents }, { live: run.live, fingerprints, resources, taken });
  const [unclear] = found.diagnostics;
  if (unclear !== undefined)
    throw new ChangeFailed({ ...why, summary: unclear.summary, detail: unclear.detail });
  for (const event of found.events)
    if (event.type === "bound") run.emit({ type: "adopted", address, id: event.id });
  return found.events;
}

/**
 * Returns what is needed later to distinguish the result of a POST from earlier resources, and what
 * the POST contained.
 */
function intentOf(run: Run, resource: DesiredResource): Intent {
  const { fingerprints, now } = run;
  const at = new Date(now()).toISOString();
  if (resource.kind === "batchGeneration")
    return { at, existing: [], content: contentOf(run, resource), fields: {} };
  return {
    at,
    existing: alike(run, resource, resource.kind),
    ...nameDigests(fingerprints, resource.kind, namesOf(resource)),
    ...createdRecords(fingerprints, resource, NO_ID_YET),
  };
}

/** Returns the ids of existing resources that could be mistaken for the new one. */
function alike(run: Run, resource: DesiredResource, kind: NamedKind): readonly string[] {
  const { name, externalId } = namesOf(resource);
  return listedOf(
    kind,
    run.live,
    run.known.ids.get(targetAddress(targetOf(resource.address))),
  ).flatMap((live) => {
    const names = liveNames(kind, live);
    const isSame = (a = "", b = ""): boolean => levelName(a) === levelName(b);
    const isAlike =
      isSame(names.name, name) ||
      (externalId !== undefined && isSame(names.externalId, externalId));
    return kind === "environment" || isAlike ? [live.id] : [];
  });
}

/**
 * Whether a change creates a DEFAULT environment. The service creates it with its target, so tasc
 * only finds it.
 */
export function isDefaultCreation({ address, action }: Change): boolean {
  return action === "create" && address === addressOf("environment", targetOf(address), "default");
}

/**
 * Binds the DEFAULT environment of a new target, if the answer to the target's POST did not show
 * it.
 */
export async function findDefault(run: Run, environment: DesiredResource): Promise<void> {
  const { address } = environment;
  const target = targetOf(address);
  if (run.known.ids.get(address) !== undefined) return;
  await reread(run, []);
  const all = listedOf("environment", run.live, run.known.ids.get(targetAddress(target)));
  const found = all.find(({ type }) => type === "DEFAULT");
  if (found === undefined)
    throw new ChangeFailed({
      summary: "The service does not show the DEFAULT environment of the new test target",
      detail:
        "The service creates it together with the target. Apply again once the service lists it.",
      acted: "no",
      fatal: false,
    });
  await record(run, target, [bindDefault(run, environment, found.id)]);
}

function bindDefault({ fingerprints }: Run, environment: DesiredResource, id: string): StateEvent {
  const isMade: Parameters<typeof recordsOf>[3] = ({ name }, value) =>
    name === "discoveryUrl" || value === null;
  return {
    type: "bound",
    address: environment.address,
    id,
    ...recordsOf(fingerprints, environment, id, isMade),
  };
}
