import {
  type IncomingMessage,
  type ServerResponse,
  createServer,
  request as send,
} from "node:http";
import type { AddressInfo } from "node:net";

/** Possible faults of one call, seen from the service's side of the connection. */
export const FAULTS = [
  "kill before the service acts",
  "kill after the service acted",
  "kill after the answer",
  "reset before the service acts",
  "reset after the service acted",
  "500 after the service acted",
  "truncated answer",
] as const;
export type Fault = (typeof FAULTS)[number];

/** A proxy to the service; the n-th write meets a fault. */
export interface FaultyWay {
  readonly url: string;
  /** Number of writes received, faulty or not. */
  writes(): number;
  /** Sets the fault for one write, counted from 1; `kill` ends the process that sends it. */
  arm(nth: number, fault: Fault, kill: () => void): void;
  close(): Promise<void>;
}

interface Armed {
  readonly nth: number;
  readonly fault: Fault;
  readonly kill: () => void;
}

export async function openFaultyWay(service: string): Promise<FaultyWay> {
  let writes = 0;
  let armed: Armed | undefined;
  const server = createServer((incoming, outgoing) => {
    void bodyOf(incoming).then((body) => {
      const isWrite = incoming.method === "POST" || incoming.method === "PATCH";
      if (isWrite) writes++;
      const fault = isWrite && armed !== undefined && armed.nth === writes ? armed : undefined;
      return pass(service, incoming, outgoing, body, fault);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    url: `http://127.0.0.1:${portOf(server.address())}`,
    writes: () => writes,
    arm: (nth, fault, kill) => {
      writes = 0;
      armed = { nth, fault, kill };
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of incoming) if (Buffer.isBuffer(piece)) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function pass(
  service: string,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  body: Buffer,
  armed: Armed | undefined,
): Promise<void> {
  if (armed?.fault === "kill before the service acts") return armed.kill();
  if (armed?.fault === "reset before the service acts")
    return void incoming.socket.resetAndDestroy();
  const answer = await forward(service, incoming, body);
  switch (armed?.fault) {
    case "kill after the service acted":
      return armed.kill();
    case "reset after the service acted":
      return void incoming.socket.resetAndDestroy();
    case "500 after the service acted":
      return void outgoing
        .writeHead(500, { "content-type": "text/plain" })
        .end("Internal Server Error");
    case "truncated answer":
      outgoing.writeHead(answer.status, {
        "content-type": "application/json",
        "content-length": answer.body.length,
      });
      outgoing.write(answer.body.subarray(0, Math.floor(answer.body.length / 2)));
      return void setImmediate(() => incoming.socket.destroy());
    case "kill after the answer":
      return void outgoing
        .writeHead(answer.status, { "content-type": "application/json" })
        .end(answer.body, armed.kill);
    case undefined:
    default:
      return void outgoing
        .writeHead(answer.status, { "content-type": "application/json" })
        .end(answer.body);
  }
}

interface Answer {
  readonly status: number;
  readonly body: Buffer;
}

function forward(service: string, incoming: IncomingMessage, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { host: _, connection: __, ...headers } = incoming.headers;
    const outgoing = send(
      `${service}${incoming.url ?? ""}`,
      { method: incoming.method ?? "GET", headers },
      (answer) => {
        bodyOf(answer).then(
          (content) => resolve({ status: answer.statusCode ?? 500, body: content }),
          reject,
        );
      },
    );
    outgoing.once("error", reject);
    outgoing.end(body);
  });
}
