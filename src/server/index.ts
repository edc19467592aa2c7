import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, type RequestListener, type ServerResponse, createServer } from "node:http";
import { type JsonObject, defined } from "../model/json.ts";
import { type Control, performControl, putData } from "./control.ts";
import { FaultPlan, RequestLog, exchange } from "./exchange.ts";
import { createBatchGeneration, createDiscovery, Runner } from "./generation.ts";
import * as http from "./http.ts";
import { Refusal, notFound } from "./input.ts";
import { listNotifications, listTestReports, readTestReport } from "./reports.ts";
import { type Operation, type Service, inTarget } from "./service.ts";
import { type Settings, serverRuntime, settingsReader } from "./resources.ts";
import { openStore } from "./store.ts";
import { listTestCases, updateElement, updateTestCase } from "./test-cases.ts";
import * as targets from "./test-targets.ts";

export type { Settings } from "./resources.ts";
export { DataDirInUseError, DriverMissingError } from "./store.ts";
export { Refusal } from "./input.ts";

export type ServerOptions = {
  /** 0 or absent: any free port. */
  readonly port?: number;
  /** Where the data is kept; created when missing. Without it, the data stays in memory. */
  readonly dataDir?: string;
  /** What `X-API-Key` must carry, for the control interface as well. */
  readonly apiKey: string;
  /** Milliseconds a discovery or batch generation takes; short for `settings.discoveryTime`. */
  readonly discoveryTime?: number;
  /** Behaviour to start with, where it is not the default. */
  readonly settings?: Partial<Settings>;
  /** What an empty data directory is filled with: a document as `GET /control/data` gives, gaps allowed. */
  readonly seed?: JsonObject;
  /** Milliseconds since the epoch; the service makes its timestamps strictly increasing by itself. */
  readonly clock?: () => number;
  /** Makes UUIDs; the default ones are random. */
  readonly ids?: () => string;
};

export type RunningServer = {
  /** The base address, which precedes `/apiKey`. */
  readonly url: string;
  /** The address of the control interface, `/control` included. */
  readonly controlUrl: string;
  /** Breaks off what is under way and releases the data directory. */
  readonly close: () => Promise<void>;
};

/**
 * Starts the service of service-api.md on this machine: all 14 operations, and `/control` beside them.
 * Rejects with DataDirInUseError while another process serves the same data, with DriverMissingError where no SQLite
 * driver is installed, and with a Refusal for a seed that it cannot hold.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const { apiKey, seed } = options;
  const runtime = serverRuntime(options.clock ?? Date.now, options.ids ?? randomUUID);
  const { discoveryTime, settings } = options;
  const defaults = settingsReader({})({}, "", runtime);
  const startSettings: Settings = { ...defaults, ...defined({ discoveryTime }), ...settings };
  const store = await openStore(options.dataDir);
  const service: Service = { store, runtime, settings: startSettings };
  const runner = new Runner(service);
  const control: Control = { service, runner, log: new RequestLog(), faults: new FaultPlan(), startSettings };
  const closing = new AbortController();
  try {
    // A seed is for an empty data directory: on a restart, what was written since counts.
    if (seed !== undefined && [...store.testTargets.all()].length === 0) putData(service, seed);
    const handle = handlerOf(control, apiKey, closing.signal);
    const listener: RequestListener = (request, response) => {
      // Whatever goes wrong here is past any answer: the other side has gone, or half of the answer is out.
      handle(request, response).catch(() => response.destroy());
    };
    const { origin, stop } = await listen(listener, options.port ?? 0);
    runner.schedule();
    const close = async () => {
      closing.abort();
      await stop();
      runner.stop();
      store.close();
    };
    return { url: origin, controlUrl: `${origin}/control`, close };
  } catch (error) {
    store.close();
    throw error;
  }
}

const target = "/test-targets/{testTargetId}";
const environment = `${target}/environments/{environmentId}`;
const testCase = `${target}/test-cases/{testCaseId}`;

/** The table of "Endpoints", row by row; paths are relative to `/apiKey/v3`. */
const operations: readonly http.Route<Operation>[] = [
  { method: "GET", path: "/test-targets", run: targets.listTestTargets },
  { method: "POST", path: "/test-targets", run: targets.createTestTarget },
  { method: "GET", path: target, run: inTarget(targets.readTestTarget) },
  { method: "PATCH", path: target, run: inTarget(targets.updateTestTarget) },
  { method: "POST", path: `${target}/environments`, run: inTarget(targets.createEnvironment) },
  { method: "PATCH", path: environment, run: inTarget(targets.updateEnvironment), status: 200 },
  { method: "GET", path: `${target}/test-cases`, run: inTarget(listTestCases) },
  { method: "PATCH", path: testCase, run: inTarget(updateTestCase) },
  { method: "PATCH", path: `${testCase}/elements/{elementId}`, run: inTarget(updateElement) },
  { method: "POST", path: `${target}/discoveries`, run: inTarget(createDiscovery) },
  { method: "POST", path: `${target}/batch-generations`, run: inTarget(createBatchGeneration) },
  { method: "GET", path: `${target}/test-reports`, run: inTarget(listTestReports) },
  { method: "GET", path: `${target}/test-reports/{testReportId}`, run: inTarget(readTestReport) },
  { method: "GET", path: `${target}/notifications`, run: inTarget(listNotifications) },
];

/** Carries out one request of the interface: key, path, method, ids, then the operation in one transaction. */
function performed(service: Service, apiKey: string, received: http.Received): http.Reply {
  const { settings, store } = service;
  http.checkKey(received.headers, apiKey, settings.wrongKeyStatus);
  const { route, call } = http.findRoute(operations, received, service.runtime);
  const run = () => route.run(service, call);
  const body = route.method === "GET" ? run() : store.write(run);
  const usual = {
    GET: 200,
    POST: settings.createStatus,
    PATCH: settings.updateStatus,
    PUT: 200,
    DELETE: 200,
  };
  const status = route.status ?? usual[route.method];
  if (status === 204) return { status };
  return { status, body: settings.extraFields ? http.withExtraFields(body) : body };
}

/** Version 3 of the interface (Versioning). */
const INTERFACE = "/apiKey/v3";

/** Answers the described interface, and the one that controls this server. */
function handlerOf(control: Control, apiKey: string, closing: AbortSignal) {
  const { service, runner } = control;
  /** Carries out what was asked, and starts the timers of what that began. */
  const act = (work: () => http.Reply, form = service.settings.errorBody): http.HandlerAnswer => {
    const answer = http.answerOf(work, form);
    runner.schedule();
    return answer;
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const refuse = async (refusal: unknown): Promise<void> => {
      if (!(refusal instanceof Refusal)) throw refusal;
      await http.send(response, http.errorReply(refusal, service.settings.errorBody));
    };
    let received: http.Received;
    try {
      http.refuseForeignPages(request.headers);
      received = await http.receive(request);
    } catch (error) {
      return refuse(error);
    }
    const inInterface = below(received, INTERFACE);
    if (inInterface !== undefined) {
      const perform = () => act(() => performed(service, apiKey, inInterface));
      return exchange(control, inInterface, perform, response, closing);
    }
    const inControl = below(received, "/control");
    if (inControl === undefined) return refuse(notFound("path"));
    const work = () => {
      http.checkKey(inControl.headers, apiKey, 403);
      return performControl(control, inControl);
    };
    return http.send(response, act(work, "json").reply);
  };
}

/** The request as seen from below a path, or undefined when it is not for there. */
function below(received: http.Received, prefix: string): http.Received | undefined {
  if (!received.path.startsWith(`${prefix}/`)) return undefined;
  return { ...received, path: received.path.slice(prefix.length) };
}

/** The service has no business beyond this machine. */
const HOST = "127.0.0.1";

/** Listens, or rejects with the system's error when the port is taken. @returns the origin, as "http://127.0.0.1:4010" */
async function listen(
  listener: RequestListener,
  port: number,
): Promise<{ readonly origin: string; readonly stop: () => Promise<void> }> {
  const server = createServer(listener);
  server.listen(port, HOST);
  await once(server, "listening");
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new Error("a listening server has an address");
  const stop = async () => {
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  return { origin: `http://${HOST}:${address.port}`, stop };
}
