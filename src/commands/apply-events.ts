import { type Applied, outcomeJson } from "../app/apply.ts";
import type { ApplyEvent, ClientEvent } from "../model/events.ts";
import { type JsonObject, defined, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import type { NextStep } from "../render/apply.ts";
import { redactPlan } from "../render/redact.ts";
import type { Context } from "./context.ts";

/** `apply --format json`: one JSON object a line (`schemas/events.schema.json`), the last of type `result`. */
export function openEventStream({ console, host }: Context) {
  console.streams = true;
  const write = (event: JsonObject): void =>
    console.event({ at: new Date(host.now()).toISOString(), ...event });
  return {
    planned: (plan: PlanJson): void =>
      write({ type: "planned", plan: parseJson(JSON.stringify(redactPlan(plan, console.redactor))) }),
    heard(event: ApplyEvent | ClientEvent): void {
      const told = "kind" in event ? callEvent(event) : changeEvent(event);
      if (told !== undefined) write(told);
    },
    result({ outcome, uncertain, exitCode, milliseconds }: Applied, next: readonly NextStep[]): void {
      const { calls, interrupted } = outcome;
      write({
        type: "result",
        ...outcomeJson(outcome),
        uncertain,
        calls: { ...calls },
        interrupted,
        milliseconds,
        exitCode,
        next: next.map(({ command }) => command),
      });
    },
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
  if (event.kind === "slowed") return { type: "slowed", pause: event.pause, concurrency: event.concurrency };
  const { method, path, attempt, status, fault } = event;
  const call = { method, path, attempt, status, fault };
  return event.kind === "waiting"
    ? defined({ type: "retry", ...call, delay: event.delay })
    : defined({ type: "call", ...call, milliseconds: Math.round(event.ms) });
}
