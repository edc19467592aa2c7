import type { Json } from "../../model/json.ts";
import { type Data, dataReader } from "../data/data.ts";
import { ok } from "../http/reply.ts";
import { badValue } from "../read/refusal.ts";
import type { Service } from "../service.ts";
import type { Store, Tables } from "../store/store.ts";
import type { Table } from "../store/table.ts";
import { type ControlOperation, done } from "./control.ts";

/** GET /control/data: everything stored, what can only be written included. */
export const readData: ControlOperation = ({ service: { store } }) =>
  ok({
    testTargets: store.testTargets.documents(),
    environments: store.environments.documents(),
    folders: store.folders.documents(),
    testCases: store.testCases.documents(),
    testReports: store.testReports.documents(),
    notifications: store.notifications.documents(),
    generations: store.generations.documents(),
  });

/** PUT /control/data: replaces everything. */
export const replaceData: ControlOperation = ({ service, runner }, call) => {
  putData(service, call.body());
  runner.stop();
  return done;
};

/** Puts a document of everything in place of what is stored, or refuses it and leaves all as it was. */
export function putData({ store, world }: Pick<Service, "store" | "world">, document: Json): void {
  const data = dataReader(world)(document, "");
  refuseLoose(data);
  store.write(() => replaceAll(store, data));
}

function replaceAll(store: Store, data: Data): void {
  replace(store.testTargets, data.testTargets);
  replace(store.environments, data.environments);
  replace(store.folders, data.folders);
  replace(store.testCases, data.testCases);
  replace(store.testReports, data.testReports);
  replace(store.notifications, data.notifications);
  replace(store.generations, data.generations);
}

function replace<T>(table: Table<T>, rows: readonly T[]): void {
  table.clear();
  for (const row of rows) table.insert(row);
}

/** Ids are one of a kind, and whatever belongs to a test target belongs to one of the document. */
function refuseLoose(data: Data): void {
  const targets = new Set(data.testTargets.map((target) => target.id));
  refuseRepeatedIds("testTargets", data.testTargets);
  const owned = [
    "environments",
    "folders",
    "testCases",
    "testReports",
    "notifications",
    "generations",
  ] as const;
  for (const kind of owned) {
    refuseRepeatedIds(kind, data[kind]);
    const loose = data[kind].findIndex((row) => !targets.has(row.testTargetId));
    if (loose !== -1) throw badValue(`${kind}[${loose}].testTargetId`, "is no test target of the document");
  }
}

function refuseRepeatedIds(kind: keyof Tables, rows: readonly { readonly id: string }[]): void {
  const seen = new Set<string>();
  for (const [at, { id }] of rows.entries()) {
    if (seen.has(id)) throw badValue(`${kind}[${at}].id`, "comes twice");
    seen.add(id);
  }
}
