import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type Reply, contentType, pieces } from "./reply.ts";

/** Characters written at once, about. */
const CHUNK = 64 * 1024;

/** Writes an answer, no faster than it is read; ends early when the reader has gone. */
export async function send(response: ServerResponse, reply: Reply): Promise<void> {
  response.writeHead(reply.status, headersOf(reply));
  for (const piece of inChunks(pieces(reply))) {
    if (!response.write(piece)) await drained(response);
    // Asked before the next piece is: making it may need a store that is closed by now.
    if (response.destroyed) return;
  }
  response.end();
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

function headersOf(reply: Reply): Record<string, string> {
  const type = contentType(reply);
  return { ...(type === undefined ? {} : { "content-type": type }), ...reply.headers };
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

async function drained(response: ServerResponse): Promise<void> {
  const gone = new AbortController();
  const close = () => gone.abort();
  response.once("close", close);
  await once(response, "drain", { signal: gone.signal }).catch((error: unknown) => {
    if (!gone.signal.aborted) throw error;
  });
  response.off("close", close);
}
