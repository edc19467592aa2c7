import { addressOf, targetAddress } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Change } from "../model/plan.ts";
import type { StateEvent } from "../model/state.ts";
import { targetOf } from "../plan/scope.ts";
import { idOf, record } from "./context.ts";
import type { Run } from "./context.ts";
import { reread } from "./read.ts";
import { defaultEnvironmentRecords } from "./records.ts";
import type { Failure } from "./service.ts";

/** The DEFAULT environment is made with its target: creating it means finding it. */
export function isDefaultCreation({ address, action }: Change): boolean {
  return action === "create" && address === addressOf("environment", targetOf(address), "default");
}

/** Binds the DEFAULT environment of a target that was just made, if its POST's answer did not show it. */
export async function findDefault(run: Run, environment: DesiredResource): Promise<Failure | undefined> {
  const { address } = environment;
  const target = targetOf(address);
  if (idOf(run, address) !== undefined) return undefined;
  const failure = await reread(run, []);
  if (failure !== undefined) return failure;
  const targetId = idOf(run, targetAddress(target));
  const live = run.progress.targets.find((candidate) => candidate.id === targetId);
  const found = live?.environments.find((candidate) => candidate.type === "DEFAULT");
  if (found === undefined) return NOT_SHOWN;
  await record(run, target, [bindDefault(run, environment, found.id)]);
  return undefined;
}

const NOT_SHOWN: Failure = {
  summary: "The service does not show the DEFAULT environment of the new test target",
  detail: "It is made with the target. Apply again once the service lists it.",
  acted: "no",
  fatal: false,
};

export function bindDefault({ context }: Run, environment: DesiredResource, id: string): StateEvent {
  const fields = defaultEnvironmentRecords(context.fingerprints, environment, id);
  return { type: "bound", address: environment.address, id, fields };
}
