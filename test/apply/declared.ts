import { type Desired, type DesiredResource, resourcesOf } from "../../src/model/desired.ts";
import { fieldsOf } from "../../src/model/fields.ts";
import { type Json, isArray, sameJson } from "../../src/model/json.ts";
import type { State } from "../../src/model/state.ts";
import { reveal } from "../../src/model/value.ts";
import type { LoggedCall } from "./memory-service.ts";

/** Parts of calls that no manifest declares. The states give the addresses of created resources. */
export function undeclaredParts(
  desired: Desired,
  sent: readonly LoggedCall[],
  states: ReadonlyMap<string, State>,
): readonly string[] {
  const resources = desired.targets.flatMap(resourcesOf);
  const owners = new Map<string, DesiredResource>();
  for (const state of states.values())
    for (const [address, { id }] of state.bindings)
      for (const resource of resources) if (resource.address === address) owners.set(id, resource);
  return sent
    .filter(({ method, operation }) => method === "PATCH" && operation !== "patchElement")
    .flatMap(({ path, body }) =>
      Object.entries(body).flatMap(([key, value]) => {
        const owner = owners.get(path[5] ?? path[3] ?? "");
        return isDeclared(owner, key, value) ? [] : [`${owner?.address ?? path.join("/")}: ${key}`];
      }),
    );
}

function isDeclared(owner: DesiredResource | undefined, key: string, sent: Json): boolean {
  // An orphan is not declared; it may only be disabled.
  if (owner === undefined) return key === "status" && sent === "DISABLED";
  const field = fieldsOf(owner.kind).find(({ update }) => update === key);
  const value = field && owner.fields[field.name];
  if (value === undefined) return false;
  const declared = reveal(value);
  return key === "elements"
    ? isArray(sent) && isArray(declared) && sent.length === declared.length
    : sameJson(sent, declared);
}
