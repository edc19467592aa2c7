import { once } from "node:events";
import { type RequestListener, createServer } from "node:http";

export type Listening = {
  /** As "http://127.0.0.1:4010". */
  readonly origin: string;
  readonly stop: () => Promise<void>;
};

/** Listens, or rejects with the system's error when the port is taken. */
export async function listen(listener: RequestListener, host: string, port: number): Promise<Listening> {
  const server = createServer(listener);
  server.listen(port, host);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a listening server has an address");
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { origin: `http://${host.includes(":") ? `[${host}]` : host}:${address.port}`, stop };
}
