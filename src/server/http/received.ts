import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import type { Json } from "../../model/json.ts";
import { parseForeign } from "../read/parse.ts";
import { Refusal } from "../read/refusal.ts";

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

/** A body too large is read to its end all the same: hanging up early would hide the answer from the sender. */
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
export function jsonBody(received: Received): Json {
  const type = (received.headers["content-type"] ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new Refusal(415, "the content-type must be application/json");
  return parseForeign(utf8(received.body), "the body");
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Refusal(400, "the body is not UTF-8");
  }
}
