import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { text as readText } from "node:stream/consumers";
import { isRecord, isText } from "../../../src/model/shape.ts";

/** A call as the server received it. */
export interface Seen {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly authorization: string | undefined;
  readonly body: string;
}

/**
 * Replaces the right answer: a status, an answer that is not HTTP, or a connection cut before or
 * after the work.
 */
export type Fault = number | "malformed" | "cut before" | "cut after";

/** A server of the REST protocol that Terraform's http backend defined, strict about locks. */
export interface HttpServer {
  readonly address: string;
  /** By path. */
  readonly documents: Map<string, string>;
  readonly locks: Map<string, string>;
  readonly seen: Seen[];
  /** Returns the fault of a call; `undefined` for none. */
  fault: (call: Seen) => Fault | undefined;
  /** Called after the work of a call; its answer waits for the returned promise. */
  delay: (call: Seen) => Promise<void> | undefined;
  stop(): Promise<void>;
}

/** Methods other than GET, POST and PUT; GitLab uses POST and DELETE at a separate address. */
export interface LockMethods {
  readonly lock: string;
  readonly unlock: string;
  /** Appended to a document's path to make the path of its lock. */
  readonly suffix: string;
  /** The status of an answer if another holds the lock. */
  readonly status: number;
  /**
   * How the answer names the holder: GitLab repeats the request, other servers return only the id.
   */
  readonly says?: "asker" | "id";
}

const TERRAFORM: LockMethods = { lock: "LOCK", unlock: "UNLOCK", suffix: "", status: 423 };

export async function startHttpServer(methods = TERRAFORM): Promise<HttpServer> {
  const store = { documents: new Map<string, string>(), locks: new Map<string, string>() };
  const seen: Seen[] = [];
  const listener = createServer((request, response) => {
    void (async () => {
      const call = await callOf(request);
      seen.push(call);
      const fault = server.fault(call);
      if (typeof fault === "number") return reply(response, { status: fault });
      if (fault === "cut before") return response.destroy();
      if (fault === "malformed") return response.socket?.end("HTTP/1.1 200 OK\r\n\0: \r\n\r\n");
      const answer = answerTo(call, store, methods);
      await server.delay(call);
      return fault === "cut after" ? response.destroy() : reply(response, answer);
    })();
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  const address = listener.address();
  if (address === null || typeof address === "string") throw new Error("no port was given");
  const server: HttpServer = {
    ...store,
    address: `http://127.0.0.1:${address.port}/base`,
    seen,
    fault: () => undefined,
    delay: () => undefined,
    stop: async () => {
      listener.closeAllConnections();
      listener.close();
      await once(listener, "close");
    },
  };
  return server;
}

async function callOf(request: IncomingMessage): Promise<Seen> {
  const { method = "", url = "", headers } = request;
  return { method, path: url, authorization: headers.authorization, body: await readText(request) };
}

interface Answer {
  readonly status: number;
  readonly body?: string | undefined;
}

interface Store {
  readonly documents: Map<string, string>;
  readonly locks: Map<string, string>;
}

function answerTo(call: Seen, store: Store, methods: LockMethods): Answer {
  const { pathname, searchParams } = new URL(call.path, "http://any");
  const isLockPath = methods.suffix !== "" && pathname.endsWith(methods.suffix);
  const path = isLockPath ? pathname.slice(0, -methods.suffix.length) : pathname;
  const mayLock = isLockPath || methods.suffix === "";
  if (mayLock && call.method === methods.lock) return lock(path, call.body, store, methods);
  if (mayLock && call.method === methods.unlock) return unlock(path, call.body, store, methods);
  if (call.method === "GET") return get(path, store);
  if (call.method !== "POST" && call.method !== "PUT") return { status: 405 };
  const holder = store.locks.get(path);
  if (holder !== undefined && idOf(holder) !== searchParams.get("ID"))
    return { status: methods.status, body: holder };
  if (holder === undefined && searchParams.has("ID")) return { status: methods.status };
  store.documents.set(path, call.body);
  return { status: 200 };
}

function get(path: string, { documents }: Store): Answer {
  const body = documents.get(path);
  return { status: body === undefined ? 404 : 200, body };
}

function lock(path: string, body: string, { locks }: Store, { status, says }: LockMethods): Answer {
  const holder = locks.get(path);
  if (holder !== undefined)
    return { status, body: says === "asker" ? body : says === "id" ? idOf(holder) : holder };
  locks.set(path, body);
  return { status: 200 };
}

function unlock(path: string, body: string, { locks }: Store, { status }: LockMethods): Answer {
  const holder = locks.get(path);
  if (holder !== undefined && idOf(holder) !== idOf(body)) return { status, body: holder };
  locks.delete(path);
  return { status: 200 };
}

function idOf(body: string): string | undefined {
  const info: unknown = JSON.parse(body);
  return isRecord(info) && isText(info["ID"]) ? info["ID"] : undefined;
}

function reply(response: ServerResponse, { status, body }: Answer): void {
  const headers = status >= 300 && status < 400 ? { location: "/elsewhere" } : {};
  response.writeHead(status, headers).end(body ?? "");
}
