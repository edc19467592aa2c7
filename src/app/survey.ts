import { nearest } from "../manifest/problem.ts";
import { type Address, isAddress, targetOf } from "../model/address.ts";
import { type DesiredResource, resourcesOf } from "../model/desired.ts";
import { type Diagnostic, fault } from "../model/diagnostic.ts";
import { refuseAll } from "../model/error.ts";
import { kindNoun } from "../model/words.ts";
import type { Remembered } from "../plan/orphans.ts";
import type { Refreshed } from "../plan/refresh.ts";
import { type Shard, idlePatterns } from "../plan/scope.ts";
import { recordedAddresses } from "../state/edit.ts";
import type { PlanRequest, Session } from "./session.ts";

/** The user's options for a plan, as they were written. */
export interface ReviewOptions {
  readonly only?: readonly string[];
  readonly exclude?: readonly string[];
  readonly run?: readonly string[];
  readonly rediscover?: readonly string[];
  readonly shard?: Shard | undefined;
}

/**
 * Manifests, state and service, read and compared: the first step of all commands that change
 * nothing.
 */
export interface Survey extends Refreshed {
  readonly request: PlanRequest;
  readonly remembered: Remembered;
}

export async function survey(
  session: Session,
  options: ReviewOptions,
  needs: PlanRequest["needs"] = "values",
): Promise<Survey> {
  const remembered = await session.remembered();
  session.host.warn(await session.leftovers());
  const request = checkRequest(options, remembered);
  return { ...(await session.refresh({ ...request, needs })), request, remembered };
}

/**
 * Refuses addresses and globs that match nothing in the project, most likely because of typing
 * errors.
 */
export function checkRequest(
  { only = [], exclude = [], run = [], rediscover = [], shard }: ReviewOptions,
  { desired, states, strays }: Remembered,
): PlanRequest {
  const scope = { only, exclude, ...(shard === undefined ? {} : { shard }) };
  // Most plans have no such options, so the list of all addresses is not needed.
  if (only.length + exclude.length + run.length + rediscover.length === 0)
    return { scope, run: new Set(), rediscover: new Set() };
  const resources = desired.targets.flatMap(resourcesOf);
  const declared = new Map<string, DesiredResource>(resources.map((one) => [one.address, one]));
  const bound = [...states.values(), ...strays].flatMap(recordedAddresses);
  const known = [...resources.map(({ address }) => address), ...bound];
  const faults = [
    ...idlePatterns(scope, known).map((text) => unknownAddress(text, known)),
    ...run.flatMap((text) => onDemandFault(text, "run", "batchGeneration", declared) ?? []),
    ...rediscover.flatMap((text) => onDemandFault(text, "rediscover", "testCase", declared) ?? []),
  ];
  refuseAll(faults);
  return {
    scope,
    run: new Set(run.filter(isAddress)),
    rediscover: new Set(rediscover.filter(isAddress)),
  };
}

/** Returns the error of an address in `--run` or `--rediscover`, if it has one. */
function onDemandFault(
  text: string,
  option: string,
  kind: "batchGeneration" | "testCase",
  declared: ReadonlyMap<string, DesiredResource>,
): Diagnostic | undefined {
  const resource = declared.get(text);
  if (resource === undefined) {
    const known = [...declared.values()].flatMap((one) => (one.kind === kind ? one.address : []));
    return unknownAddress(text, known);
  }
  if (resource.kind !== kind)
    return fault(
      "wrong-kind",
      `--${option} takes the address of a ${kindNoun(kind)}`,
      `${text} is not one.`,
    );
  if (kind === "testCase" && resource.fields["discovery.prompt"] === undefined)
    return fault(
      "no-prompt",
      `${text} declares no prompt that could be sent`,
      "Declare it as `discovery: { prompt: … }`, or omit the option.",
    );
  return undefined;
}

function unknownAddress(text: string, known: readonly Address[]): Diagnostic {
  const named = known.find((address) => address.split(".").includes(text));
  const isTarget = named !== undefined && targetOf(named) === text;
  const close = named === undefined ? nearest(text, known) : isTarget ? `"*.${text}.*"` : named;
  const hint = close === undefined ? "" : ` Did you mean ${close}?`;
  return fault(
    "unknown-address",
    `No resource in this project has the address ${text}`,
    `Addresses look like testCase.shop.login; * matches any text.${hint}`,
  );
}
