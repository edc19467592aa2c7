import type { Answered, Service } from "../apply/context.ts";
import type { Failure } from "../model/events.ts";
import type { LiveTestCase, Reader } from "../model/live.ts";
import type { Client } from "../service/client.ts";
import { describeFailure } from "../service/describe-failure.ts";
import { inAList } from "../service/exchange.ts";
import { type Failure as ClientFailure, type Result, isOutOfReach } from "../service/request.ts";

/** The client as a look reads through it. */
export function readerOf(client: Client): Reader<ClientFailure> {
  return {
    listTargets: () => client.listTargets(),
    listTestCases: (id, keep) =>
      client.listTestCases(id, () => {
        const kept: LiveTestCase[] = [];
        return { add: (testCase) => void kept.push(keep(testCase)), result: () => kept };
      }),
  };
}

/** The client as an apply works with it. */
export function serviceOf(client: Client): Service {
  const reader = readerOf(client);
  return {
    listTargets: async () => answered(await reader.listTargets()),
    listTestCases: async (id) => answered(await client.listTestCases(id, () => inAList())),
    finishedDiscoveries: async (id) => {
      const answer = await client.listNotifications(id);
      if (!answer.ok) return answered(answer);
      const finished = answer.value.filter((notification) => notification.type === "DISCOVERY_FINISHED");
      return {
        ok: true,
        value: finished.flatMap(({ id: notification, payload }) => {
          const testCaseId = payload["testCaseId"];
          return typeof testCaseId === "string" ? [{ id: notification, testCaseId }] : [];
        }),
      };
    },
    send: async (call) => {
      const answer = answered(await client.send(call));
      return answer.ok ? { ok: true, value: answer.value.body } : answer;
    },
  };
}

function answered<T>(result: Result<T>): Answered<T> {
  return result.ok ? result : { ok: false, failure: explain(result.failure) };
}

/** A failure of the client in the words that an outcome carries. */
export function explain(failure: ClientFailure): Failure {
  const { summary, detail } = describeFailure(failure);
  return { summary, detail, acted: failure.acted, fatal: isOutOfReach(failure) };
}
