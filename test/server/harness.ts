import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import {
  type Json,
  type JsonArray,
  type JsonObject,
  isArray,
  isObject,
} from "../../src/model/json.ts";
import { type RunningServer, type ServerOptions, startServer } from "../../src/server/index.ts";

export const KEY = "the-key";

/** Every clock of these tests starts here, and moves a millisecond each time it is read. */
export const START = Date.UTC(2030, 0, 1);

/** Matches any string in an expected value. */
export const anyText: unknown = expect.any(String);

/** Matches a string of that form in an expected value. */
export function like(form: RegExp): unknown {
  return expect.stringMatching(form);
}

export type Answer = { readonly status: number; readonly headers: Headers; readonly body: Json };

export type Harness = {
  readonly server: RunningServer;
  readonly dataDir: string;
  /** Sends a request to the API. The path is relative to /apiKey/v3. */
  readonly call: (
    method: string,
    path: string,
    body?: Json,
    headers?: Record<string, string>,
  ) => Promise<Answer>;
  readonly control: (method: string, path: string, body?: Json) => Promise<Answer>;
};

export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "tasc-server-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/**
 * A service with known time and ids; discoveries wait to be finished unless a test says otherwise.
 */
export async function start(options: Partial<ServerOptions> = {}): Promise<Harness> {
  const harness = await startShared({ dataDir: tempDir(), ...options });
  onTestFinished(() => harness.server.close());
  return harness;
}

/** Like `start`, but for a whole test file, which closes it. */
export async function startShared(options: Partial<ServerOptions>): Promise<Harness> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), "tasc-server-"));
  let count = 0xf000;
  const server = await startServer({
    apiKey: KEY,
    discoveryTime: 3_600_000,
    clock: () => START,
    ids: () => id(count++),
    ...options,
    dataDir,
  });
  const call: Harness["call"] = (method, path, body, headers) =>
    request(`${server.url}/apiKey/v3${path}`, method, body, { "x-api-key": KEY, ...headers });
  const control: Harness["control"] = (method, path, body) =>
    request(server.controlUrl + path, method, body, { "x-api-key": KEY });
  return { server, dataDir, call, control };
}

export async function stopShared({ server, dataDir }: Harness): Promise<void> {
  await server.close();
  rmSync(dataDir, { recursive: true, force: true });
}

async function request(
  url: string,
  method: string,
  body: Json | undefined,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return {
    status: response.status,
    headers: response.headers,
    body: bodyOf(await response.text()),
  };
}

/** Parses JSON; returns any other text unchanged. */
export function bodyOf(text: string): Json {
  const parse: (text: string) => Json = JSON.parse;
  try {
    return parse(text);
  } catch {
    return text;
  }
}

/** Known ids, one for each number. */
export function id(number: number): string {
  return `00000000-0000-4000-8000-${number.toString(16).padStart(12, "0")}`;
}

/** A value inside an answer: `at(body, "elements", 0, "id")`. Throws if there is nothing. */
export function at(value: Json, ...path: (string | number)[]): Json {
  let found: Json | undefined = value;
  for (const step of path) found = inside(found, step);
  if (found === undefined)
    throw new Error(`nothing at ${path.join(".")} of ${JSON.stringify(value)}`);
  return found;
}

function inside(value: Json | undefined, step: string | number): Json | undefined {
  if (isArray(value)) return typeof step === "number" ? value[step] : undefined;
  return isObject(value) ? value[step] : undefined;
}

export function objectAt(value: Json, ...path: (string | number)[]): JsonObject {
  const found = at(value, ...path);
  if (!isObject(found)) throw new Error(`no object at ${path.join(".")}`);
  return found;
}

export function listAt(value: Json, ...path: (string | number)[]): JsonArray {
  const found = at(value, ...path);
  if (!isArray(found)) throw new Error(`no list at ${path.join(".")}`);
  return found;
}

export function textAt(value: Json, ...path: (string | number)[]): string {
  const found = at(value, ...path);
  if (typeof found !== "string") throw new Error(`no text at ${path.join(".")}`);
  return found;
}

export const TARGET = id(1);
export const OTHER_TARGET = id(2);
export const ENVIRONMENT = id(0x11);
export const CASE = id(0x21);
export const OTHER_CASE = id(0x22);
export const REPORT = id(0x31);

/**
 * A target whose test case has two elements, and another target that must not be confused with it.
 */
export function seed(more: JsonObject = {}): JsonObject {
  return {
    testTargets: [
      { id: TARGET, app: "shop", tags: ["smoke"] },
      { id: OTHER_TARGET, app: "blog" },
    ],
    environments: [
      {
        id: ENVIRONMENT,
        testTargetId: TARGET,
        type: "DEFAULT",
        discoveryUrl: "https://shop.example.com/",
      },
      { id: id(0x12), testTargetId: OTHER_TARGET, type: "DEFAULT" },
    ],
    testCases: [testCase(), testCase({ id: OTHER_CASE, testTargetId: OTHER_TARGET, elements: [] })],
    ...more,
  };
}

export function testCase(more: JsonObject = {}): JsonObject {
  return {
    id: CASE,
    testTargetId: TARGET,
    description: "log in",
    status: "ENABLED",
    runStatus: "ON",
    tags: ["smoke"],
    elements: [
      {
        id: id(0x41),
        interaction: { id: id(0x42), action: "CLICK" },
        selectors: [
          { id: id(0x43), selector: "Log in", selectorType: "TEXT", scrollStateId: "s1" },
        ],
        scrollState: { id: "s1" },
      },
      {
        id: id(0x44),
        assertion: { id: id(0x45), expectation: "VISIBLE", calledWith: "Hello" },
        selectors: [
          { id: id(0x46), selector: "h1", selectorType: "CSS" },
          { id: id(0x47), selector: "Hello", selectorType: "TEXT", options: { name: "x" } },
        ],
      },
    ],
    ...more,
  };
}
