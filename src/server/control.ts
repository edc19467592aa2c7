import type { Json, JsonObject } from "../model/json.ts";
import { type FaultPlan, type RequestLog, faultRule } from "./exchange.ts";
import { type Runner, notify } from "./generation.ts";
import { type AnsweredJson, type Received, type Reply, type Route, findRoute, jsonBody, ok } from "./http.ts";
import {
  type Read,
  type Reader,
  badValue,
  flag,
  freeForm,
  list,
  nonEmptyText,
  notFound,
  object,
  oneOf,
  parseOwn,
  text,
  uuid,
} from "./input.ts";
import type { HandlerCall, Service } from "./service.ts";
import { testReportView } from "./reports.ts";
import {
  OWNED,
  type Data,
  type Collection,
  type TestCase,
  type TestReport,
  type TestResult,
  breakpoint,
  browser,
  dataReader,
  derivedStatus,
  environmentReader,
  isLive,
  testCaseReader,
  testTargetReader,
} from "./resources.ts";
import { type Settings, settingsReader } from "./settings.ts";
import type { Store, Table, Tables } from "./store.ts";

/** What the control interface can reach: the service, and the machinery around it. */
export type Control = {
  readonly service: Service;
  readonly runner: Runner;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** The settings the server was started with. */
  readonly startSettings: Settings;
  readonly setSettings: (settings: Settings) => void;
};

type ControlOperation = (control: Control, call: HandlerCall) => Reply;

const KINDS: readonly Collection[] = ["testTargets", ...OWNED];

const done: Reply = { kind: "empty", status: 204 };

/** GET /control/data: everything stored, what can only be written included. */
const readData: ControlOperation = ({ service: { store } }) =>
  ok(Object.fromEntries(KINDS.map((kind) => [kind, store[kind].documents()])));

/** PUT /control/data: replaces everything. */
const replaceData: ControlOperation = ({ service, runner }, call) => {
  putData(service, call.body());
  runner.stop();
  return done;
};

/** Puts a document of everything in place of what is stored, or refuses it and leaves all as it was. */
export function putData({ store, world }: Pick<Service, "store" | "world">, document: Json): void {
  const data = dataReader(world)(document, "");
  refuseLoose(data);
  store.write(() => {
    for (const kind of KINDS) replaceRows(store, kind, data);
  });
}

function replaceRows<K extends Collection>(tables: Pick<Tables, K>, kind: K, data: Pick<Data, K>): void {
  const table: Table<Data[K][number]> = tables[kind];
  table.clear();
  for (const row of data[kind]) table.insert(row);
}

/** Ids are one of a kind, and whatever belongs to a test target belongs to one of the document. */
function refuseLoose(data: Data): void {
  const targets = new Set(data.testTargets.map((target) => target.id));
  refuseRepeatedIds("testTargets", data.testTargets);
  for (const kind of OWNED) {
    refuseRepeatedIds(kind, data[kind]);
    const loose = data[kind].findIndex((row) => !targets.has(row.testTargetId));
    if (loose !== -1) throw badValue(`${kind}[${loose}].testTargetId`, "is no test target of the document");
  }
}

function refuseRepeatedIds(kind: Collection, rows: readonly { readonly id: string }[]): void {
  const seen = new Set<string>();
  for (const [at, { id }] of rows.entries()) {
    if (seen.has(id)) throw badValue(`${kind}[${at}].id`, "comes twice");
    seen.add(id);
  }
}

const edit = object((fields) => ({
  kind: fields.required("kind", oneOf("testTarget", "environment", "testCase")),
  id: fields.required("id", uuid),
  set: fields.optional("set", freeForm) ?? {},
  remove: fields.optional("remove", flag) ?? false,
}));

/** POST /control/edit: what a colleague could do in the web application. Answers the resource as stored. */
const editResource: ControlOperation = ({ service }, call) => {
  const { kind, id, set, remove } = edit(call.body(), "");
  const editor = editorsOf(service)[kind];
  return service.store.write(() => {
    const edited = editor.set(id, { updatedAt: service.world.now(), ...set });
    if (!remove) return ok(edited);
    editor.remove(id);
    return done;
  });
};

type Editor = {
  readonly set: (id: string, set: JsonObject) => AnsweredJson;
  readonly remove: (id: string) => void;
};

function editorsOf({ store, world }: Service): Record<"testTarget" | "environment" | "testCase", Editor> {
  return {
    testTarget: {
      set: (id, set) => overwrite(store.testTargets, testTargetReader(world), id, set),
      remove: (id) => removeTestTarget(store, id),
    },
    environment: {
      set: (id, set) => overwrite(store.environments, environmentReader(world), id, set),
      remove: (id) => store.environments.remove(id),
    },
    testCase: {
      set: (id, set) => overwrite(store.testCases, testCaseReader(world), id, set),
      remove: (id) => removeTestCase(store, id),
    },
  };
}

/** The stored row with some fields replaced, and read again: so an edit can no more break a row than a request can. */
function overwrite<T>(table: Table<T>, read: Reader<T>, id: string, set: JsonObject): T {
  for (const name of ["id", "testTargetId"])
    if (Object.hasOwn(set, name)) throw badValue(`set.${name}`, "cannot change");
  const current = table.get(id);
  if (current === undefined) throw notFound("resource");
  const stored = freeForm(parseOwn(JSON.stringify(current)), "");
  const edited = read({ ...stored, ...set }, "set");
  table.update(edited);
  return edited;
}

/** A case goes with the generation that would still write to it; reports keep what they said about it. */
function removeTestCase(store: Store, id: string): void {
  for (const generation of store.generations.all())
    if (generation.testCaseId === id) store.generations.remove(generation.id);
  store.testCases.remove(id);
}

/** A test target goes with all it has. */
function removeTestTarget(store: Store, id: string): void {
  for (const kind of OWNED) for (const row of store[kind].of(id)) store[kind].remove(row.id);
  store.testTargets.remove(id);
}

const execution = object((fields) => ({
  testTargetId: fields.required("testTargetId", uuid),
  testCaseIds: fields.optional("testCaseIds", list(uuid)),
  breakpoint: fields.optional("breakpoint", breakpoint) ?? "DESKTOP",
  browser: fields.optional("browser", browser) ?? "CHROMIUM",
}));

/** POST /control/reports: a report begins to run, of the cases named or of all that are not DELETED. */
const beginReport: ControlOperation = ({ service }, call) => {
  const given = execution(call.body(), "");
  if (service.store.testTargets.get(given.testTargetId) === undefined) throw notFound("test target");
  const cases = casesToRun(service, given);
  const report = waitingReport(service, given, cases);
  service.store.write(() => service.store.testReports.insert(report));
  return { kind: "json", status: 201, body: testReportView(report) };
};

/** A report without results would be done before it began. */
function casesToRun({ store }: Service, given: Read<typeof execution>): readonly TestCase[] {
  const live = [...store.testCases.of(given.testTargetId)].filter(isLive);
  const cases =
    given.testCaseIds?.map((id, at) => {
      const found = live.find((testCase) => testCase.id === id);
      if (found === undefined) throw badValue(`testCaseIds[${at}]`, "is no test case of the test target");
      return found;
    }) ?? live;
  if (cases.length === 0) throw badValue("testCaseIds", "must name a test case");
  return cases;
}

function waitingReport(
  { store, world }: Service,
  given: Read<typeof execution>,
  cases: readonly TestCase[],
): TestReport {
  const now = world.now();
  const environments = [...store.environments.of(given.testTargetId)];
  return {
    id: world.newId(),
    testTargetId: given.testTargetId,
    createdAt: now,
    updatedAt: now,
    executionUrl: environments.find(({ type }) => type === "DEFAULT")?.discoveryUrl,
    context: { source: "WEB_APP", triggeredBy: { type: "USER", userId: "local" } },
    breakpoint: given.breakpoint,
    browser: given.browser,
    testResults: cases.map((testCase) => ({
      id: world.newId(),
      testCaseId: testCase.id,
      name: testCase.description,
      createdAt: now,
      updatedAt: now,
      status: "WAITING",
      errorMessage: null,
      traceUrl: null,
    })),
  };
}

const outcome = object((fields) => ({
  results: fields.required("results", freeForm),
  errorMessage: fields.optional("errorMessage", text) ?? "the test failed",
}));

/** POST /control/reports/{id}/results: results finish; the report is done when the last of them is. */
const finishResults: ControlOperation = ({ service }, call) => {
  const before = service.store.testReports.get(call.id("id"));
  if (before === undefined) throw notFound("test report");
  const given = outcome(call.body(), "");
  refuseStrangers(before, given);
  const updatedAt = service.world.now();
  const testResults = before.testResults.map((result) => withOutcome(result, given, updatedAt));
  return service.store.write(() => recordResults(service, before, { ...before, updatedAt, testResults }));
};

function refuseStrangers(report: TestReport, { results }: Read<typeof outcome>): void {
  const known = new Set(report.testResults.map((result) => result.testCaseId));
  const stranger = Object.keys(results).find((id) => !known.has(id));
  if (stranger !== undefined) throw badValue(`results.${stranger}`, "is no test case of the report");
}

function withOutcome(result: TestResult, given: Read<typeof outcome>, updatedAt: string): TestResult {
  const sent = given.results[result.testCaseId];
  if (sent === undefined) return result;
  const status = nonEmptyText(sent, `results.${result.testCaseId}`);
  const errorMessage = status === "FAILED" ? given.errorMessage : null;
  return {
    ...result,
    status,
    errorMessage,
    updatedAt,
    traceUrl: `https://traces.example.com/${result.id}.zip`,
  };
}

function recordResults(service: Service, before: TestReport, report: TestReport): Reply {
  service.store.testReports.update(report);
  const status = derivedStatus(report.testResults);
  if (derivedStatus(before.testResults) === "WAITING" && status !== "WAITING")
    notify(service, report.testTargetId, "REPORT_EXECUTION_FINISHED", { testReportId: report.id, status });
  return ok(testReportView(report));
}

/** The control interface, under `/control`: no part of the described service, so no faults. */
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
