import { type Json, parseJson } from "../model/json.ts";
import { type Interface, faultRule } from "./exchange.ts";
import { type createRunner, notify } from "./generation.ts";
import {
  type Answer,
  type HandlerCall,
  type Received,
  type Reply,
  type Route,
  findRoute,
} from "./http.ts";
import * as v from "./input.ts";
import * as r from "./resources.ts";
import { testReportView } from "./reports.ts";
import type { Service } from "./service.ts";
import type { StoredRows } from "./store.ts";

/** Everything that the control interface can access: the service, and what runs around it. */
export type Control = Interface & {
  readonly runner: ReturnType<typeof createRunner>;
  /** The settings that the server was started with. */
  readonly startSettings: r.Settings;
};

/** Answers 200 with a body, or 204 without one. */
type ControlOperation = (control: Control, call: HandlerCall) => Answer | void;

const KINDS: readonly r.Collection[] = ["testTargets", ...r.OWNED];

/** GET /control/data: everything stored, including write-only fields. */
const readData: ControlOperation = ({ service: { store } }) =>
  Object.fromEntries(KINDS.map((kind) => [kind, [...store[kind].all()]]));

const replaceData: ControlOperation = ({ service, runner }, call) => {
  putData(service, dataIn(call.body(v.anything), service.runtime));
  runner.stop();
};

/**
 * Reads a document. Refuses it if an id is repeated, or if a row belongs to a target that is not in
 * the document.
 */
export function dataIn(document: Json, runtime: v.ServerRuntime): r.Data {
  const data = r.dataReader(document, "", runtime);
  const targets = new Set(data.testTargets.map((target) => target.id));
  v.refuseRepeated("testTargets", "id", data.testTargets);
  for (const kind of r.OWNED) {
    v.refuseRepeated(kind, "id", data[kind]);
    const loose = data[kind].findIndex((row) => !targets.has(row.testTargetId));
    if (loose !== -1)
      throw v.badValue(`${kind}[${loose}].testTargetId`, "is not a test target of the document");
  }
  return data;
}

/** Replaces all stored data. */
export function putData({ store }: Service, data: r.Data): void {
  store.write(() => {
    for (const kind of KINDS) {
      const table: StoredRows<r.Data[r.Collection][number]> = store[kind];
      table.clear();
      for (const row of data[kind]) table.insert(row);
    }
  });
}

const edit = v.object({
  kind: v.oneOf("testTarget", "environment", "testCase"),
  id: v.uuid,
  set: v.or(v.freeForm, {}),
  remove: v.or(v.flag, false),
});

/**
 * POST /control/edit: a change that a colleague could make in the web application. Answers the
 * resource as stored.
 */
const editResource: ControlOperation = ({ service: { store, runtime } }, call) => {
  const { kind, id, set, remove } = call.body(edit);
  for (const name of ["id", "testTargetId"])
    if (Object.hasOwn(set, name)) throw v.badValue(`set.${name}`, "cannot change");
  /** Reads the edited resource like a request, so that an edit cannot create an invalid row. */
  const overwritten = <T>(table: StoredRows<T>, read: v.Reader<T>): T => {
    const current = table.get(id);
    if (current === undefined) throw v.notFound("resource");
    const stored = v.freeForm(parseJson(JSON.stringify(current)), "", runtime);
    const edited = read({ ...stored, updatedAt: runtime.now(), ...set }, "set", runtime);
    table.update(edited);
    return edited;
  };
  const edits = {
    testTarget: () => overwritten(store.testTargets, r.testTargetReader),
    environment: () => overwritten(store.environments, r.environmentReader),
    testCase: () => overwritten(store.testCases, r.testCaseReader),
  };
  return store.write(() => {
    const edited = edits[kind]();
    if (!remove) return edited;
    // With a test target, everything it has is removed; with a test case, the generation that would
    // still write to it.
    if (kind === "testTarget")
      for (const owned of r.OWNED)
        for (const row of store[owned].of(id)) store[owned].remove(row.id);
    if (kind === "testCase")
      for (const generation of store.generations.all())
        if (generation.testCaseId === id) store.generations.remove(generation.id);
    store[`${kind}s`].remove(id);
    return undefined;
  });
};

const execution = v.object({
  testTargetId: v.uuid,
  testCaseIds: v.optional(v.list(v.uuid)),
  breakpoint: r.breakpoint,
  browser: r.browser,
  context: v.or(v.freeForm, {
    source: "WEB_APP",
    triggeredBy: { type: "USER", userId: "local" },
  }),
});

/**
 * POST /control/reports: starts a report of the given test cases, or of all that are not DELETED.
 */
const beginReport: ControlOperation = ({ service: { store, runtime } }, call) => {
  const { testCaseIds, ...given } = call.body(execution);
  const { testTargetId } = given;
  if (store.testTargets.get(testTargetId) === undefined) throw v.notFound("test target");
  const live = [...store.testCases.of(testTargetId)].filter(r.isLive);
  const cases =
    testCaseIds?.map((id, at) => {
      const found = live.find((testCase) => testCase.id === id);
      if (found !== undefined) return found;
      throw v.badValue(`testCaseIds[${at}]`, "is not a test case of the test target");
    }) ?? live;
  // A report without results would be finished at once.
  if (cases.length === 0) throw v.badValue("testCaseIds", "must name a test case");
  const times = r.created(runtime);
  const environments = [...store.environments.of(testTargetId)];
  const executionUrl = environments.find(({ type }) => type === "DEFAULT")?.discoveryUrl;
  const report = r.fresh(r.testReportReader, runtime, {
    ...given,
    ...times,
    ...(executionUrl !== undefined && { executionUrl }),
    testResults: cases.map(({ id, description }) => ({
      testCaseId: id,
      name: description,
      ...times,
    })),
  });
  store.write(() => store.testReports.insert(report));
  return testReportView(report);
};

const outcome = v.object({ results: v.freeForm, errorMessage: v.or(v.text, "the test failed") });

/**
 * POST /control/reports/{id}/results: finishes results; the report is finished with the last of
 * them.
 */
const finishResults: ControlOperation = ({ service }, call) => {
  const { store, runtime } = service;
  const before = store.testReports.get(call.id("id"));
  if (before === undefined) throw v.notFound("test report");
  const { results, errorMessage } = call.body(outcome);
  const known = new Set(before.testResults.map((result) => result.testCaseId));
  const unknownId = Object.keys(results).find((id) => !known.has(id));
  if (unknownId !== undefined)
    throw v.badValue(`results.${unknownId}`, "is not a test case of the report");
  const updatedAt = runtime.now();
  const testResults = before.testResults.map((result): r.TestResult => {
    const sent = results[result.testCaseId];
    if (sent === undefined) return result;
    const status = v.nonEmptyText(sent, `results.${result.testCaseId}`, runtime);
    const traceUrl = `https://traces.example.com/${result.id}.zip`;
    const message = status === "FAILED" ? errorMessage : null;
    return { ...result, status, errorMessage: message, updatedAt, traceUrl };
  });
  const report = { ...before, updatedAt, testResults };
  const status = r.derivedStatus(testResults);
  return store.write(() => {
    store.testReports.update(report);
    if (r.derivedStatus(before.testResults) === "WAITING" && status !== "WAITING")
      notify(service, report.testTargetId, "REPORT_EXECUTION_FINISHED", {
        testReportId: report.id,
        status,
      });
    return testReportView(report);
  });
};

const addFault: ControlOperation = ({ faults }, call) => {
  const rule = call.body(faultRule);
  faults.set(rule, 0);
  return rule;
};

const listFaults: ControlOperation = ({ faults }) =>
  Array.from(faults, ([rule, matched]) => ({ ...rule, matched }));

/** Missing settings become those that the server was started with, so `{}` undoes all changes. */
const replaceSettings: ControlOperation = ({ service, startSettings }, call) =>
  (service.settings = call.body(r.settingsReader(startSettings)));

/**
 * The control interface, under `/control`. It is not part of the described service, so faults do
 * not apply to it.
 */
const routes: readonly Route<ControlOperation>[] = [
  { method: "GET", path: "/requests", run: ({ log }) => log },
  { method: "DELETE", path: "/requests", run: ({ log }) => void log.splice(0) },
  { method: "GET", path: "/faults", run: listFaults },
  { method: "POST", path: "/faults", run: addFault, status: 201 },
  { method: "DELETE", path: "/faults", run: ({ faults }) => faults.clear() },
  { method: "GET", path: "/data", run: readData },
  { method: "PUT", path: "/data", run: replaceData },
  { method: "POST", path: "/edit", run: editResource },
  { method: "POST", path: "/reports", run: beginReport, status: 201 },
  { method: "POST", path: "/reports/{id}/results", run: finishResults },
  {
    method: "POST",
    path: "/discoveries/finish",
    run: ({ runner }) => ({ finished: runner.finishAll() }),
  },
  { method: "GET", path: "/settings", run: ({ service }) => service.settings },
  { method: "PUT", path: "/settings", run: replaceSettings },
];

export function performControl(control: Control, received: Received): Reply {
  const { route, call } = findRoute(routes, received, control.service.runtime);
  const body = route.run(control, call);
  return body === undefined ? { status: 204 } : { status: route.status ?? 200, body };
}
