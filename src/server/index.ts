import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { type IncomingMessage, type ServerResponse, createServer } from "node:http";
import { type JsonObject, defined } from "../model/json.ts";
import { type Control, dataIn, performControl, putData } from "./control.ts";
import { type HandlerAnswer, exchange } from "./exchange.ts";
import { createBatchGeneration, createDiscovery, createRunner } from "./generation.ts";
import * as http from "./http.ts";
import { Refusal, notFound } from "./input.ts";
import { listNotifications, listTestReports, readTestReport } from "./reports.ts";
import { type Settings, serverRuntime, settingsReader } from "./resources.ts";
import { type Operation, type Service, inTarget } from "./service.ts";
import { openStore } from "./store.ts";
import { listTestCases, updateElement, updateTestCase } from "./test-cases.ts";
import * as targets from "./test-targets.ts";

export type { Settings } from "./resources.ts";
export { Refusal } from "./input.ts";

export type ServerOptions = {
  /** If 0 or unset, any free port. */
  readonly port?: number;
  /** The folder for the data, created if it is missing. If unset, the data stays in memory. */
  readonly dataDir?: string;
  /** The key that `X-API-Key` must contain, also for the control interface. */
  readonly apiKey: string;
  /** Milliseconds a discovery or batch generation takes; short for `settings.discoveryTime`. */
  readonly discoveryTime?: number;
  /** Settings to start with, where they differ from the defaults. */
  readonly settings?: Partial<Settings>;
  /**
   * The content for an empty data directory: a document as from `GET /control/data`, in which
   * fields may be missing.
   */
  readonly seed?: JsonObject;
  /**
   * Returns milliseconds since the epoch; the service makes its timestamps strictly increasing by
   * itself.
   */
  readonly clock?: () => number;
  /** Returns UUIDs; random ones by default. */
  readonly ids?: () => string;
};

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/** Only this machine may use the service. */
const HOST = "127.0.0.1";

/**
 * Starts the local service.
 * @throws TascError, a Refusal of the seed, or the system's error (port taken)
 */
export async function startServer(options: ServerOptions) {
  const { apiKey, seed, discoveryTime, settings } = options;
  const runtime = serverRuntime(options.clock ?? Date.now, options.ids ?? randomUUID);
  const defaults = settingsReader({})({}, "", runtime);
  const startSettings: Settings = { ...defaults, ...defined({ discoveryTime }), ...settings };
  const data = seed && dataIn(seed, runtime);
  const store = await openStore(options.dataDir);
  const service: Service = { store, runtime, settings: startSettings };
  const runner = createRunner(service);
  const closing = new AbortController();
  const control = { service, runner, log: [], faults: new Map(), startSettings };
  const handle = handlerOf(control, apiKey, closing.signal);
  try {
    // A seed is only for an empty data directory: after a restart, the data written since then is
    // kept.
    if (data !== undefined && [...store.testTargets.all()].length === 0) putData(service, data);
    const server = createServer((request, response) => {
      // It is too late to answer after an error here: the client has gone, or half of the answer
      // was sent.
      handle(request, response).catch(() => response.destroy());
    });
    server.listen(options.port ?? 0, HOST);
    await once(server, "listening");
    const address = server.address();
    if (typeof address !== "object" || address === null)
      throw new Error("a listening server has an address");
    runner.schedule();
    const url = `http://${HOST}:${address.port}`;
    const close = async (): Promise<void> => {
      closing.abort();
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
      runner.stop();
      store.close();
    };
    return {
      /** The base address, which precedes `/apiKey`. */
      url,
      /** The address of the control interface, `/control` included. */
      controlUrl: `${url}/control`,
      /** Aborts requests in progress and releases the data directory. */
      close,
    };
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

/**
 * Carries out one request of the interface: checks key, path, method and ids; an operation writes
 * in one transaction.
 */
function performed(service: Service, apiKey: string, received: http.Received): http.Reply {
  const { settings, store } = service;
  http.checkKey(received.headers, apiKey, settings.wrongKeyStatus);
  const { route, call } = http.findRoute(operations, received, service.runtime);
  const run = () => route.run(service, call);
  const body = route.method === "GET" ? run() : store.write(run);
  const usual = { POST: settings.createStatus, PATCH: settings.updateStatus };
  const status = route.status ?? { GET: 200, PUT: 200, DELETE: 200, ...usual }[route.method];
  if (status === 204) return { status };
  return { status, body: settings.extraFields ? http.withExtraFields(body) : body };
}

/**
 * Returns the handler of requests: version 3 of the described interface, and the one that controls
 * this server.
 */
function handlerOf(control: Control, apiKey: string, closing: AbortSignal) {
  const { service, runner } = control;
  /**
   * Carries out a request, and starts the timers of new generations; any error other than a refusal
   * is a defect.
   */
  const act = (work: () => http.Reply, form = service.settings.errorBody): HandlerAnswer => {
    try {
      return { reply: work() };
    } catch (error) {
      if (error instanceof Refusal) return { reply: http.errorReply(error, form) };
      const defect = error instanceof Error ? (error.stack ?? error.message) : String(error);
      return { reply: http.errorReply(new Refusal(500, "the service failed"), form), defect };
    } finally {
      runner.schedule();
    }
  };
  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    try {
      http.refuseForeignPages(request.headers);
      const whole = await http.receive(request, apiKey);
      const [, part, path] = /^\/(apiKey\/v3|control)(\/.*)$/.exec(whole.path) ?? [];
      if (path === undefined) throw notFound("path");
      const received = { ...whole, path };
      if (part !== "control") {
        const perform = () => act(() => performed(service, apiKey, received));
        return await exchange(control, received, perform, response, closing);
      }
      const work = () => {
        http.checkKey(received.headers, apiKey, 403);
        return performControl(control, received);
      };
      await http.send(response, act(work, "json").reply);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      await http.send(response, http.errorReply(error, service.settings.errorBody));
    }
  };
}
