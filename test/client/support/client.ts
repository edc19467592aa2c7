import { onTestFinished } from "vitest";
import type { ClientEvent } from "../../../src/model/events.ts";
import { Secret } from "../../../src/model/value.ts";
import { type Client, type ClientOptions, createClient } from "../../../src/service/client.ts";
import { type Failure, FaultError, ServiceError } from "../../../src/service/failure.ts";
import { type BaseUrl, type Result, checkBaseUrl } from "../../../src/service/request.ts";
import { type FakeWorld, fakeWorld } from "./world.ts";

export const KEY = "key-0123456789";

export interface Tested {
  readonly client: Client;
  readonly world: FakeWorld;
  readonly events: ClientEvent[];
}

/** A client of the address for the current test; `options` override the defaults. */
export function clientOf(url: string, options: Partial<ClientOptions> = {}): Tested {
  const world = fakeWorld();
  const events: ClientEvent[] = [];
  const client = createClient({
    baseUrl: baseUrl(url),
    apiKey: new Secret(KEY),
    concurrency: 8,
    requestTimeout: 5000,
    retries: 5,
    world,
    onEvent: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => client.close());
  return { client, world, events };
}

export function baseUrl(url: string): BaseUrl {
  const checked = checkBaseUrl(url);
  if (!checked.ok) throw new Error(checked.failure.summary);
  return checked.value;
}

/** The failure of a call that must fail. */
export async function failureOf(outcome: Promise<unknown>): Promise<Failure> {
  const result = await settled(outcome);
  if (result.ok) throw new Error("the call went well");
  return result.failure;
}

/** The result of a call. @throws errors that are not failures of a call */
export async function settled<T>(outcome: Promise<T>): Promise<Result<T, Failure>> {
  try {
    return { ok: true, value: await outcome };
  } catch (error) {
    if (error instanceof ServiceError) return { ok: false, failure: error.failure };
    throw error;
  }
}

/**
 * The result of reading an answer: its value, or the place that differs and what was expected
 * there.
 */
export function readingOf<T>(read: () => T): Result<T, object> {
  try {
    return { ok: true, value: read() };
  } catch (error) {
    if (!(error instanceof FaultError)) throw error;
    const { kind: _, ...failure } = error.fault;
    return { ok: false, failure };
  }
}
