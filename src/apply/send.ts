import type { Address } from "../model/address.ts";
import type { Json } from "../model/json.ts";
import type { BodyValue, PlannedCall } from "../model/plan.ts";
import { IdOf, IdOfElement, reveal, Secret, Unknown } from "../model/value.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf } from "./context.ts";
import type { Run } from "./context.ts";
import type { Answered } from "./service.ts";

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
