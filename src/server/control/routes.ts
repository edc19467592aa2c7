import { faultRule } from "../exchange/fault.ts";
import { refuseForeignPages } from "../http/loopback.ts";
import { type Received, jsonBody } from "../http/received.ts";
import { type Reply, ok } from "../http/reply.ts";
import { type Route, findRoute } from "../http/router.ts";
import { settingsReader } from "../settings.ts";
import { type Control, type ControlOperation, done } from "./control.ts";
import { readData, replaceData } from "./data.ts";
import { editResource } from "./edit.ts";
import { beginReport, finishResults } from "./reports.ts";

/** The control interface, under `/control`: no part of the described service, so no key and no faults. */
const routes: readonly Route<ControlOperation>[] = [
  { method: "GET", path: "/requests", run: ({ log }) => ok(log.entries()) },
  { method: "DELETE", path: "/requests", run: ({ log }) => cleared(log) },
  { method: "GET", path: "/faults", run: ({ faults }) => ok(faults.rules()) },
  { method: "POST", path: "/faults", run: addFault },
  { method: "DELETE", path: "/faults", run: ({ faults }) => cleared(faults) },
  { method: "GET", path: "/data", run: readData },
  { method: "PUT", path: "/data", run: replaceData },
  { method: "POST", path: "/edit", run: editResource },
  { method: "POST", path: "/reports", run: beginReport },
  { method: "POST", path: "/reports/{id}/results", run: finishResults },
  { method: "POST", path: "/discoveries/finish", run: ({ runner }) => ok({ finished: runner.finishAll() }) },
  { method: "GET", path: "/settings", run: ({ service }) => ok(service.settings()) },
  { method: "PUT", path: "/settings", run: replaceSettings },
];

export function performControl(control: Control, received: Received): Reply {
  refuseForeignPages(received.headers);
  const { route, id } = findRoute(routes, received.method, received.path);
  return route.run(control, { id, query: received.query, body: () => jsonBody(received) });
}

function addFault({ faults }: Control, call: Parameters<ControlOperation>[1]): Reply {
  const rule = faultRule(call.body(), "");
  faults.add(rule);
  return { kind: "json", status: 201, body: rule };
}

/** What is left out is as the server was started with, so `{}` undoes all changes. */
function replaceSettings(control: Control, call: Parameters<ControlOperation>[1]): Reply {
  control.setSettings(settingsReader(control.startSettings)(call.body(), ""));
  return ok(control.service.settings());
}

function cleared(memory: { clear: () => void }): Reply {
  memory.clear();
  return done;
}
