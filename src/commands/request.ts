import { EXIT, type Given, listOption } from "../cli/options.ts";
import { nearest } from "../manifest/document.ts";
import { type Address, isAddress } from "../model/address.ts";
import { type Desired, type DesiredResource, resourcesOf } from "../model/desired.ts";
import type { State } from "../model/state.ts";
import { type Scope, idlePatterns } from "../plan/input.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import type { OrCode } from "./states.ts";

/** What the command line asks of a plan beyond what the manifests say. */
export interface PlanRequest {
  readonly scope: Scope;
  readonly run: ReadonlySet<Address>;
  readonly rediscover: ReadonlySet<Address>;
}

function readRequest(given: Given): PlanRequest {
  return {
    scope: { only: listOption(given, "only"), exclude: listOption(given, "exclude") },
    run: new Set(listOption(given, "run").filter(isAddress)),
    rediscover: new Set(listOption(given, "rediscover").filter(isAddress)),
  };
}

/** Refuses addresses and globs that mean nothing in the project: most likely typing errors. */
export function checkRequest(
  given: Given,
  desired: Desired,
  states: Iterable<State>,
  console: Console,
): OrCode<PlanRequest> {
  const request = readRequest(given);
  const resources = desired.targets.flatMap(resourcesOf);
  const declared = new Map<string, DesiredResource>(resources.map((one) => [one.address, one]));
  const bound = [...states].flatMap((state) => [...state.bindings.keys()]);
  const idle = idlePatterns(request.scope, [...resources.map(({ address }) => address), ...bound]);
  const faults = [
    ...idle.map((text) => unknown(text, [...resources.map(({ address }) => address), ...bound])),
    ...faultsOf(given, "run", declared),
    ...faultsOf(given, "rediscover", declared),
  ];
  for (const { summary, detail } of faults) sayError(console, summary, detail);
  return faults.length === 0 ? { ok: true, value: request } : { ok: false, code: EXIT.invalid };
}

interface Fault {
  readonly summary: string;
  readonly detail: string;
}

/** What the two options that send something on demand can be given. */
const ON_DEMAND = {
  run: { kind: "batchGeneration", noun: "batch generation" },
  rediscover: { kind: "testCase", noun: "test case" },
} as const;

function faultsOf(
  given: Given,
  option: keyof typeof ON_DEMAND,
  declared: ReadonlyMap<string, DesiredResource>,
): readonly Fault[] {
  const { kind, noun } = ON_DEMAND[option];
  return listOption(given, option).flatMap((text) => {
    const resource = declared.get(text);
    if (resource === undefined) {
      const candidates = [...declared.values()].filter((one) => one.kind === kind);
      return [
        unknown(
          text,
          candidates.map(({ address }) => address),
        ),
      ];
    }
    if (resource.kind !== kind)
      return [{ summary: `--${option} takes the address of a ${noun}`, detail: `${text} is none.` }];
    if (kind === "testCase" && resource.fields["discovery.prompt"] === undefined)
      return [
        {
          summary: `${text} declares no prompt that could be sent`,
          detail: "Declare it as `discovery: { prompt: … }`, or leave the option out.",
        },
      ];
    return [];
  });
}

function unknown(text: string, known: readonly Address[]): Fault {
  const close = nearest(text, known);
  const hint = close === undefined ? "" : ` Did you mean ${close}?`;
  return {
    summary: `Nothing in this project has the address ${text}`,
    detail: `Addresses look like testCase.shop.login, and * stands for any text.${hint}`,
  };
}
