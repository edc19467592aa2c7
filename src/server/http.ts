import { isUtf8 } from "node:buffer";
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { isLoopback, urlOf } from "../model/shape.ts";
import {
  type Reader,
  Refusal,
  type ServerRuntime,
  isUuid,
  notFound,
  parseForeign,
} from "./input.ts";
import type { Settings } from "./resources.ts";

/**
 * Maximum bytes of a body, far above any honest request; service-api.md gives no size bounds
 * (Limits).
 */
const LARGEST_BODY = 256 * 1024 * 1024;

export type Received = Awaited<ReturnType<typeof receive>>;

export async function receive(request: IncomingMessage, apiKey: string) {
  const { method = "GET", url = "/", headers } = request;
  const most = isKey(headers["x-api-key"], apiKey) ? LARGEST_BODY : 0;
  const [path = "", query] = url.split(/\?(.*)/s);
  const chunks: Buffer[] = [];
  let size = 0;
  // A body that is too large, or without the key, is still read to its end: otherwise, the sender
  // would miss the answer.
  for await (const chunk of request) {
    if (!Buffer.isBuffer(chunk)) throw new Error("a request's stream holds bytes");
    size += chunk.length;
    if (size <= most) chunks.push(chunk);
  }
  if (size > LARGEST_BODY) throw new Refusal(413, "the body is too large");
  return { method, path, query: new URLSearchParams(query), headers, body: Buffer.concat(chunks) };
}

/**
 * The values in answers. An undefined field is not written: it has no value, and service-api.md
 * does not allow null.
 */
export type AnsweredJson =
  null | boolean | number | string | readonly AnsweredJson[] | AnsweredObject;
export type AnsweredObject = { readonly [name: string]: AnsweredJson | undefined };

/** Undefined for no body. A list may be generated while it is written. */
export type Answer = AnsweredJson | Generator<AnsweredJson> | undefined;

/** An answer before it is serialised; `text` is used if there is no JSON body. */
export type Reply = {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Answer;
  readonly text?: string;
};

function isList(body: Answer): body is Generator<AnsweredJson> | readonly AnsweredJson[] {
  return typeof body === "object" && body !== null && Symbol.iterator in body;
}

const CHUNK = 64 * 1024;

/** Yields an answer's body in pieces, so that a list of many thousands is never one string. */
function* pieces({ body, text = "" }: Reply): Generator<string> {
  let piece = body === undefined ? text : isList(body) ? "[" : JSON.stringify(body);
  if (isList(body)) {
    let before = "";
    for (const item of body) {
      piece += before + JSON.stringify(item);
      before = ",";
      if (piece.length < CHUNK) continue;
      yield piece;
      piece = "";
    }
    piece += "]";
  }
  if (piece !== "") yield piece;
}

/** Objects whose keys are data, not fields: an additional key would falsify the data. */
const FREE_FORM = new Set([
  "additionalHeaderFields",
  "context",
  "options",
  "payload",
  "scrollState",
]);

/**
 * Returns the answer of a later service: every object has a field that service-api.md does not
 * have.
 */
export function withExtraFields(body: Answer): Answer {
  return isList(body) ? Array.from(body, extended) : body === undefined ? body : extended(body);
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

/**
 * "Error status codes, error body shape and error codes ...: not shown" (Errors), so one of four
 * forms.
 */
export function errorReply(
  { status, message, field, headers }: Refusal,
  form: Settings["errorBody"],
): Reply {
  if (form === "empty") return { status, headers };
  if (form === "json") return { status, headers, body: { statusCode: status, message, field } };
  const escaped = message.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const page = `<!doctype html><title>${status}</title><h1>${status}</h1><p>${escaped}</p>`;
  const type = { "content-type": `text/${form === "html" ? "html" : "plain"}; charset=utf-8` };
  return { status, headers: { ...type, ...headers }, text: form === "html" ? page : message };
}

export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status, headersOf(reply));
  await pipeline(Readable.from(pieces(reply)), response);
}

/** Writes the head of the whole answer and half of its body, then closes the connection. */
export async function sendHalf(response: ServerResponse, reply: Reply): Promise<void> {
  const whole = Buffer.from([...pieces(reply)].join(""));
  response.writeHead(reply.status, { ...headersOf(reply), "content-length": whole.length });
  await new Promise(
    (written) => void response.write(whole.subarray(0, whole.length >> 1), written),
  );
  response.destroy();
}

function headersOf({ headers, body }: Reply): Record<string, string> {
  return {
    ...(body !== undefined && { "content-type": "application/json; charset=utf-8" }),
    ...headers,
  };
}

/**
 * A request as an operation sees it: the query, the UUIDs of the path by name, and the body, read
 * on demand.
 */
export type HandlerCall = ReturnType<typeof findRoute>["call"];

/**
 * One row of a table of operations; `{name}` in a path is a UUID. `status` is set if it is not the
 * usual one.
 */
export type Route<Run> = {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly run: Run;
  readonly status?: number;
};

/**
 * Finds the row of a request. Unknown paths are 404, methods without a row 405 with Allow, other
 * ids than UUIDs 400.
 */
export function findRoute<Run>(
  routes: readonly Route<Run>[],
  { method, path, query, headers, body }: Received,
  runtime: ServerRuntime,
) {
  const atPath = routes.flatMap((route) => {
    const pattern = route.path.replaceAll(/\{(\w+)\}/g, "(?<$1>[^/]+)");
    const match = new RegExp(`^${pattern}$`).exec(path);
    return match === null ? [] : [{ route, ids: { ...match.groups } }];
  });
  if (atPath.length === 0) throw notFound("path");
  const found = atPath.find(({ route }) => route.method === method);
  if (found === undefined) {
    const allow = atPath.map(({ route }) => route.method).join(", ");
    throw new Refusal(405, `${method} is not allowed here`, { headers: { allow } });
  }
  const { route, ids } = found;
  for (const [name, id] of Object.entries(ids))
    if (!isUuid(id)) throw new Refusal(400, `${name} in the path must be a UUID`, { field: name });
  const call = {
    query,
    id: (name: string): string => {
      const id = ids[name];
      if (id === undefined) throw new Error(`the path has no ${name}`);
      return id.toLowerCase();
    },
    /** "Bodies are `application/json`" (Endpoints). */
    body: <T>(read: Reader<T>): T => {
      const type = (headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
      if (type !== "application/json")
        throw new Refusal(415, "the content-type must be application/json");
      if (!isUtf8(body)) throw new Refusal(400, "the body is not UTF-8");
      return read(parseForeign(new TextDecoder().decode(body), "the body"), "", runtime);
    },
  };
  return { route, call };
}

/**
 * Refuses requests from web pages. If a page's name was made to point here (DNS rebinding), Host
 * contains that name; a page from elsewhere has its own name in Origin; and browsers report a
 * request from another site in Sec-Fetch-Site.
 */
export function refuseForeignPages({
  host = "",
  origin,
  "sec-fetch-site": site = "none",
}: IncomingHttpHeaders): void {
  if (!isLoopback(urlOf(`http://${host}`)?.hostname))
    throw new Refusal(403, "the Host header is not a loopback address");
  if (origin !== undefined && !isLoopback(urlOf(origin)?.hostname))
    throw new Refusal(403, "the Origin header is not a loopback address");
  if (site !== "none" && site !== "same-origin")
    throw new Refusal(403, "the Sec-Fetch-Site header says that a page of another site asks");
}

/**
 * "Every operation requires an API key sent in the request header `X-API-Key`" (Authentication).
 */
export function checkKey(
  headers: IncomingHttpHeaders,
  apiKey: string,
  wrongKeyStatus: 401 | 403,
): void {
  const sent = headers["x-api-key"];
  if (sent === undefined) throw new Refusal(401, "the header X-API-Key is missing");
  if (!isKey(sent, apiKey)) throw new Refusal(wrongKeyStatus, "the API key in X-API-Key is wrong");
}

function isKey(sent: string | readonly string[] | undefined, apiKey: string): boolean {
  // Both sides of a timing-safe comparison must have the same length.
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return typeof sent === "string" && timingSafeEqual(digest(sent), digest(apiKey));
}
