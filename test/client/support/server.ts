import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { onTestFinished } from "vitest";

/** A request as the server received it. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export interface TestServer {
  readonly url: string;
  readonly received: Received[];
}

type Respond = (response: ServerResponse, received: Received, nth: number) => void | Promise<void>;

/** An HTTP server for the current test; `nth` counts requests from 1. */
export async function httpServer(respond: Respond): Promise<TestServer> {
  const received: Received[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "", headers } = request;
    const one = { method, url, headers, body: await text(request) };
    await respond(response, one, received.push(one));
  };
  const listener: RequestListener = (request, response) => void handle(request, response);
  return { url: await listen(createServer(listener)), received };
}

/**
 * A server that sends raw bytes, for answers that no HTTP library would send; `nth` counts
 * connections from 1.
 */
export async function rawServer(onRequest: (socket: Socket, nth: number) => void): Promise<string> {
  let count = 0;
  return listen(
    net.createServer((socket) => {
      const nth = ++count;
      socket.on("error", () => undefined);
      socket.once("data", () => onRequest(socket, nth));
    }),
  );
}

/** An address on which no server listens. */
export async function closedPort(): Promise<string> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = urlOf(server);
  server.close();
  await once(server, "close");
  return url;
}

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, "close");
  });
  return urlOf(server);
}

function urlOf(server: Server): string {
  const address = server.address();
  if (!isAddress(address)) throw new Error("the server has no port");
  return `http://127.0.0.1:${address.port}`;
}

function isAddress(address: AddressInfo | string | null): address is AddressInfo {
  return typeof address === "object" && address !== null;
}

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

export function reply(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>> = {},
  body = "",
): void {
  response.writeHead(status, headers).end(body);
}
