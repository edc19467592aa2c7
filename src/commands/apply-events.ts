import type { Applied } from "../app/apply.ts";
import type { ApplyEvent, ClientEvent } from "../model/events.ts";
import { type JsonObject, defined, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import { redactPlan } from "../render/redact.ts";
import type { Context } from "./context.ts";

/** `apply --format json`: one JSON object a line (`schemas/events.schema.json`), the last of type `result`. */
export interface EventStream {
  readonly planned: (plan: PlanJson) => void;
  readonly heard: (event: ApplyEvent | ClientEvent) => void;
  readonly result: (applied: Applied, next: readonly string[]) => void;
}

export function openEventStream({ console, host }: Context): EventStream {
  console.streams = true;
  const write = (event: JsonObject): void =>
    console.event({ at: new Date(host.now()).toISOString(), ...event });
  return {
    planned: (plan) =>
      write({ type: "planned", plan: parseJson(JSON.stringify(redactPlan(plan, console.redactor))) }),
    heard: (event) => {
      const told = "kind" in event ? callEvent(event) : changeEvent(event);
      if (told !== undefined) write(told);
    },
    result: ({ outcome, uncertain, exitCode, milliseconds }, next) =>
      write({
        type: "result",
        done: outcome.done,
        failed: outcome.failed.map(({ address, failure: { summary, detail } }) => ({
          address,
          summary,
          detail,
        })),
        skipped: outcome.skipped.map(({ address, reason }) => ({ address, reason: { ...reason } })),
        notTaken: outcome.notTaken.map(({ address, paths }) => ({
          address,
          paths: paths.map((path) => [...path]),
        })),
        unfinished: outcome.unfinished,
        uncertain,
        calls: { ...outcome.calls },
        interrupted: outcome.interrupted,
        milliseconds,
        exitCode,
        next,
      }),
  };
}

/** The last line where nothing was applied. */
export function failedResult(exitCode: number, failure: JsonObject): JsonObject {
  return {
    type: "result",
    done: [],
    failed: [],
    skipped: [],
    notTaken: [],
    unfinished: [],
    exitCode,
    ...failure,
  };
}

function changeEvent(event: ApplyEvent): JsonObject {
  if (event.type === "changeSkipped") return { ...event, reason: { ...event.reason } };
  if (event.type !== "changeFailed") return { ...event };
  const { type, address, failure } = event;
  return { type, address, summary: failure.summary, detail: failure.detail };
}

function callEvent(event: ClientEvent): JsonObject | undefined {
  if (event.kind === "started") return undefined;
  if (event.kind === "slowed") {
    const { pause, concurrency } = event;
    return { type: "slowed", pause, concurrency };
  }
  const { method, path, attempt, status, fault } = event;
  const call = { method, path, attempt, status, fault };
  return event.kind === "waiting"
    ? defined({ type: "retry", ...call, delay: event.delay })
    : defined({ type: "call", ...call, milliseconds: Math.round(event.ms) });
}
