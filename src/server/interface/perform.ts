import { type Received, jsonBody } from "../http/received.ts";
import type { Reply } from "../http/reply.ts";
import { findRoute } from "../http/router.ts";
import type { Service } from "../service.ts";
import { checkKey } from "./key.ts";
import type { Call } from "./operation.ts";
import { operations } from "./operations.ts";
import { withExtraFields } from "./view/extraFields.ts";

/** Carries out one request of the interface: key, path, method, ids, then the operation in one transaction. */
export function perform(service: Service, apiKey: string, received: Received): Reply {
  checkKey(received.headers["x-api-key"], apiKey, service.settings());
  const { route, id } = findRoute(operations, received.method, received.path);
  const call: Call = { id, query: received.query, body: () => jsonBody(received) };
  const run = () => route.run(service, call);
  const reply = route.method === "GET" ? run() : service.store.write(run);
  return service.settings().extraFields ? extended(reply) : reply;
}

function extended(reply: Reply): Reply {
  if (reply.kind === "json") return { ...reply, body: withExtraFields(reply.body) };
  return reply.kind === "list" ? { ...reply, items: eachExtended(reply.items) } : reply;
}

function* eachExtended(items: Extract<Reply, { kind: "list" }>["items"]) {
  for (const item of items) yield withExtraFields(item);
}
