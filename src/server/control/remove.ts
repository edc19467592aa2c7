import type { Store } from "../store/store.ts";
import type { Table } from "../store/table.ts";

/** A case goes with the generation that would still write to it; reports keep what they said about it. */
export function removeTestCase(store: Store, id: string): void {
  for (const generation of store.generations.all())
    if (generation.testCaseId === id) store.generations.remove(generation.id);
  store.testCases.remove(id);
}

/** A test target goes with all it has. */
export function removeTestTarget(store: Store, id: string): void {
  removeOf(store.environments, id);
  removeOf(store.folders, id);
  removeOf(store.testCases, id);
  removeOf(store.testReports, id);
  removeOf(store.notifications, id);
  removeOf(store.generations, id);
  store.testTargets.remove(id);
}

function removeOf<T extends { readonly id: string }>(table: Table<T>, testTargetId: string): void {
  for (const { id } of table.of(testTargetId)) table.remove(id);
}
