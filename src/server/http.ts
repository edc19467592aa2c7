import { isUtf8 } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Json } from "../model/json.ts";
import { type Reader, Refusal, type ServerRuntime, isUuid, notFound, parseForeign } from "./input.ts";
import type { Settings } from "./resources.ts";

/** Far beyond any honest request; the text gives no size bounds (Limits). */
const LARGEST_BODY = 256 * 1024 * 1024;

/** A request, whole. */
export type Received = {
  readonly method: string;
  /** The path without the query, as sent. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
};

export async function receive(request: IncomingMessage): Promise<Received> {
  const target = request.url ?? "/";
  const mark = target.indexOf("?");
  return {
    method: request.method ?? "GET",
    path: mark === -1 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1)),
    headers: request.headers,
    body: await wholeBody(request),
  };
}

/** A body too large is still read to its end: hanging up early would hide the answer from the sender. */
async function wholeBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) throw new Error("a request's stream holds bytes");
    size += chunk.length;
    if (size <= LARGEST_BODY) chunks.push(chunk);
  }
  if (size > LARGEST_BODY) throw new Refusal(413, "the body is too large");
  return Buffer.concat(chunks);
}

/** "Bodies are `application/json`" (Endpoints). */
function jsonBody(received: Received): Json {
  const type = (received.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refusal(415, "the content-type must be application/json");
  if (!isUtf8(received.body)) throw new Refusal(400, "the body is not UTF-8");
  return parseForeign(new TextDecoder().decode(received.body), "the body");
}

/**
 * What answers are made of: plain data in which a field may be undefined. Such a field is not written, which is how
 * an answer leaves out what has no value and, in the text, no null either.
 */
export type AnsweredJson = null | boolean | number | string | readonly AnsweredJson[] | AnsweredObject;
export type AnsweredObject = { readonly [name: string]: AnsweredJson | undefined };

/** The body of an answer; undefined for none. A list may be made while it is written. */
export type Answer = AnsweredJson | Generator<AnsweredJson> | undefined;

/** An answer before it is bytes. */
export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Answer;
  /** In place of a body of JSON. */
  readonly text?: string;
};

function isList(body: Answer): body is Generator<AnsweredJson> | readonly AnsweredJson[] {
  return typeof body === "object" && body !== null && Symbol.iterator in body;
}

/** An answer's body, in pieces to be written one after the other: a list of many thousands is never one string. */
function* pieces({ body, text = "" }: Reply): Generator<string> {
  if (!isList(body)) {
    yield body === undefined ? text : JSON.stringify(body);
    return;
  }
  let before = "[";
  for (const item of body) {
    yield before + JSON.stringify(item);
    before = ",";
  }
  yield before === "[" ? "[]" : "]";
}

/** Objects whose keys are data, not fields: a key added there would be a lie about the data. */
const FREE_FORM = new Set(["additionalHeaderFields", "context", "options", "payload", "scrollState"]);

/** The answer of a later service, with a field the text does not know in every object. */
export function withExtraFields(body: Answer): Answer {
  return isList(body) ? eachExtended(body) : body === undefined ? body : extended(body);
}

function* eachExtended(items: Iterable<AnsweredJson>): Generator<AnsweredJson> {
  for (const item of items) yield extended(item);
}

function extended(json: AnsweredJson): AnsweredJson {
  if (typeof json !== "object" || json === null) return json;
  if (isList(json)) return json.map(extended);
  const fields = Object.entries(json).map(([name, value]): [string, AnsweredJson | undefined] => [
    name,
    value === undefined || FREE_FORM.has(name) ? value : extended(value),
  ]);
  return Object.fromEntries([...fields, ["addedLater", { since: "v3" }]]);
}

/** "Error status codes, error body shape and error codes ...: not shown" (Errors): so any of four forms. */
export function errorReply({ status, message, field, headers }: Refusal, form: Settings["errorBody"]): Reply {
  if (form === "empty") return { status, headers };
  if (form === "json") return { status, headers, body: { statusCode: status, message, field } };
  const escaped = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const page = `<!doctype html><title>${status}</title><h1>${status}</h1><p>${escaped}</p>`;
  const type = { "content-type": `text/${form === "html" ? "html" : "plain"}; charset=utf-8` };
  return { status, headers: { ...type, ...headers }, text: form === "html" ? page : message };
}

/** A reply, and the stack of the defect when it is one that says 500. */
export type HandlerAnswer = { readonly reply: Reply; readonly defect?: string };

/** Makes a reply of whatever comes of `work`: refusals are answers, anything else thrown is a defect. */
export function answerOf(work: () => Reply, errorBody: Settings["errorBody"]): HandlerAnswer {
  try {
    return { reply: work() };
  } catch (error) {
    if (error instanceof Refusal) return { reply: errorReply(error, errorBody) };
    const defect = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { reply: errorReply(new Refusal(500, "the service failed"), errorBody), defect };
  }
}

/** Characters written at once, about. */
const CHUNK = 64 * 1024;

/** Writes an answer, no faster than it is read; rejects when the reader has gone. */
export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status, headersOf(reply));
  await pipeline(Readable.from(inChunks(pieces(reply))), response);
}

/** Writes the head of the whole answer and half of its body, then hangs up. */
export async function sendHalf(response: ServerResponse, reply: Reply): Promise<void> {
  const whole = Buffer.from([...pieces(reply)].join(""));
  response.writeHead(reply.status, { ...headersOf(reply), "content-length": whole.length });
  await new Promise((written) => {
    response.write(whole.subarray(0, whole.length >> 1), written);
  });
  response.destroy();
}

function headersOf({ headers, body }: Reply): Record<string, string> {
  return { ...(body !== undefined && { "content-type": "application/json; charset=utf-8" }), ...headers };
}

/** Items are small: written one by one, a long list would be as many writes. */
function* inChunks(all: Iterable<string>): Generator<string> {
  let chunk = "";
  for (const piece of all) {
    chunk += piece;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = "";
  }
  if (chunk !== "") yield chunk;
}

/** A request as an operation sees it. */
export type HandlerCall = {
  /** A uuid of the path, by its name there. */
  readonly id: (name: string) => string;
  readonly query: URLSearchParams;
  /** Read on demand, so that an unknown resource is named before a bad body. */
  readonly body: <T>(read: Reader<T>) => T;
};

/** One row of a table of operations; `{name}` in a path stands for a uuid. The status is for where it is not the usual. */
export type Route<Run> = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly run: Run;
  readonly status?: number;
};

/** Finds the row for a request: unknown paths are 404, methods no row has 405 with Allow, ids no uuid 400. */
export function findRoute<Run>(
  routes: readonly Route<Run>[],
  received: Received,
  runtime: ServerRuntime,
): { readonly route: Route<Run>; readonly call: HandlerCall } {
  const { method, path, query } = received;
  const atPath = routes.filter((route) => idsIn(route.path, path) !== undefined);
  if (atPath.length === 0) throw notFound("path");
  const route = atPath.find((each) => each.method === method);
  if (route === undefined) {
    const allow = atPath.map((each) => each.method).join(", ");
    throw new Refusal(405, `${method} is not allowed here`, { headers: { allow } });
  }
  const ids = idsIn(route.path, path) ?? {};
  for (const [name, id] of Object.entries(ids))
    if (!isUuid(id)) throw new Refusal(400, `${name} in the path must be a UUID`, { field: name });
  const id = (name: string): string => {
    const found = ids[name];
    if (found === undefined) throw new Error(`the path has no ${name}`);
    return found.toLowerCase();
  };
  return { route, call: { id, query, body: (read) => read(jsonBody(received), "", runtime) } };
}

/** What stands in a path for each `{name}` of a pattern; undefined for a path that does not match it. */
function idsIn(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const source = pattern.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
  const match = new RegExp(`^${source}$`).exec(path);
  return match === null ? undefined : { ...match.groups };
}

/**
 * Web pages have no business here. A page whose name was made to point here (DNS rebinding) has that name in Host; a
 * page from elsewhere has its own in Origin; and browsers say in Sec-Fetch-Site that a request is another site's.
 */
export function refuseForeignPages({
  host,
  origin,
  "sec-fetch-site": site = "none",
}: IncomingHttpHeaders): void {
  if (!isLoopback(`http://${host ?? ""}`))
    throw new Refusal(403, "the Host header is not a loopback address");
  if (origin !== undefined && !isLoopback(origin))
    throw new Refusal(403, "the Origin header is not a loopback address");
  if (site !== "none" && site !== "same-origin")
    throw new Refusal(403, "the Sec-Fetch-Site header says that a page of another site asks");
}

function isLoopback(url: string): boolean {
  const { hostname } = URL.canParse(url) ? new URL(url) : { hostname: "" };
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** "Every operation requires an API key sent in the request header `X-API-Key`" (Authentication). */
export function checkKey(headers: IncomingHttpHeaders, apiKey: string, wrongKeyStatus: 401 | 403): void {
  const sent = headers["x-api-key"];
  if (sent === undefined) throw new Refusal(401, "the header X-API-Key is missing");
  if (typeof sent !== "string" || !timingSafeEqual(digest(sent), digest(apiKey)))
    throw new Refusal(wrongKeyStatus, "the API key in X-API-Key is wrong");
}

/** Both sides of a timing-safe comparison must be of one length. */
function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
