import type { Answered, FinishedDiscovery, Service } from "../apply/context.ts";
import type { Failure } from "../model/events.ts";
import type { Desired } from "../model/desired.ts";
import type { LiveTarget } from "../model/live.ts";
import type { State } from "../model/state.ts";
import { liveTargets } from "../plan/plan.ts";
import type { Client } from "../service/client.ts";
import {
  type Failure as ClientFailure,
  ServiceError,
  describeFailure,
  isOutOfReach,
} from "../service/failure.ts";

/** The ids of the declared targets that are live, by key, found as a plan finds them. */
export function liveIds(
  desired: Desired,
  states: ReadonlyMap<string, State>,
  targets: readonly LiveTarget[],
): ReadonlyMap<string, string> {
  const found = liveTargets({ desired, states, fingerprints: undefined }, targets);
  return new Map([...found].map(([key, { id }]) => [key, id]));
}

/** The client as an apply works with it: there, a failure is a value. */
export function serviceOf(client: Client): Service {
  return {
    listTargets: () => answered(client.listTargets()),
    listTestCases: (id) => answered(client.listTestCases(id, (testCase) => testCase)),
    finishedDiscoveries: (id) => answered(finishedDiscoveries(client, id)),
    send: (call) => answered(client.send(call).then(({ value }) => value)),
  };
}

async function finishedDiscoveries(client: Client, targetId: string): Promise<readonly FinishedDiscovery[]> {
  const notifications = await client.listNotifications(targetId);
  return notifications.flatMap(({ type, id, payload: { testCaseId } }) =>
    type === "DISCOVERY_FINISHED" && typeof testCaseId === "string" ? [{ id, testCaseId }] : [],
  );
}

async function answered<T>(answer: Promise<T>): Promise<Answered<T>> {
  try {
    return { ok: true, value: await answer };
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, failure: explain(error.failure) };
    throw error;
  }
}

/** A failure of the client in the words that an outcome carries. */
export function explain(failure: ClientFailure): Failure {
  const { summary, detail } = describeFailure(failure);
  return { summary, detail, acted: failure.acted, fatal: isOutOfReach(failure) };
}
