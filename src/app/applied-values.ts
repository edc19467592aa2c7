import { type Address, targetOf } from "../model/address.ts";
import { type DesiredResource, byAddress, resourcesOf } from "../model/desired.ts";
import { TascError } from "../model/error.ts";
import type { Field } from "../model/fields.ts";
import { type Json, sameJson } from "../model/json.ts";
import { isSensitive, isUnknown } from "../model/value.ts";
import { display } from "../plan/compare.ts";
import { recordField } from "../plan/memory.ts";
import type { Planned } from "../plan/plan.ts";
import { projectAt } from "./base.ts";
import { historyOf } from "./history.ts";
import type { Session } from "./session.ts";

/** Maximum number of commits whose manifests are read. */
const MOST_COMMITS = 5;

/** Returns the value of a field that was last applied; undefined if nobody can tell. */
export type AppliedValue = (address: Address, field: Field) => Json | undefined;

/**
 * Finds what was applied of fields that the manifests and the service have both changed since.
 * State keeps no values, but the history names the commit of each apply: where git has it, and its
 * manifests give the value that state has a record of, that is the value. Secrets are left out.
 */
export async function appliedValues(session: Session, planned: Planned): Promise<AppliedValue> {
  const contested = new Set(
    planned.plan.changes.flatMap(({ address, fields }) =>
      fields.some(({ changedBy }) => changedBy === "both") ? [address] : [],
    ),
  );
  const found = contested.size === 0 ? [] : await resourcesApplied(session, contested);
  return (address, field) => {
    const { state, fingerprints } = planned.matched.get(targetOf(address)) ?? {};
    const { id, fields: records } = state?.bindings.get(address) ?? {};
    const record = records?.[field.name];
    if (id === undefined || record === undefined || fingerprints === undefined) return undefined;
    for (const resources of found) {
      const value = resources.get(address)?.fields[field.name];
      if (value === undefined || isUnknown(value) || isSensitive(value)) continue;
      if (sameJson(recordField(fingerprints, id, field, value), record)) return display(value);
    }
    return undefined;
  };
}

/** Returns the resources of the commits that were applied last to some addresses, newest first. */
async function resourcesApplied(session: Session, addresses: ReadonlySet<string>) {
  const commits = new Set(
    (await historyOf(session)).flatMap(({ commit, changes }) =>
      commit !== undefined && changes.some(({ address }) => addresses.has(address)) ? [commit] : [],
    ),
  );
  const read: ReadonlyMap<Address, DesiredResource>[] = [];
  for (const commit of [...commits].slice(0, MOST_COMMITS)) {
    // One at a time, because each is a checkout of the project.
    // oxlint-disable-next-line no-await-in-loop
    const project = await projectAt(session, commit).catch((error: unknown) => {
      if (error instanceof TascError) return undefined;
      throw error;
    });
    if (project !== undefined) read.push(byAddress(project.desired.targets.flatMap(resourcesOf)));
  }
  return read;
}
