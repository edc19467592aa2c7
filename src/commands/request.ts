import { EXIT } from "../cli/exit.ts";
import { listOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import { isAddress, parseAddress } from "../model/address.ts";
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { State } from "../model/state.ts";
import { nearest } from "../manifest/nearest.ts";
import { resourcesOf } from "../plan/plan.ts";
import { idlePatterns } from "../plan/scope.ts";
import type { Scope } from "../plan/scope.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import type { OrCode } from "./states.ts";

/** What the command line asks of a plan beyond what the manifests say. */
export interface PlanRequest {
  readonly scope: Scope;
  readonly run: ReadonlySet<Address>;
  readonly rediscover: ReadonlySet<Address>;
}

export function readRequest(given: Given): PlanRequest & { readonly unknown: readonly string[] } {
  const run = listOption(given, "run");
  const rediscover = listOption(given, "rediscover");
  return {
    scope: { only: listOption(given, "only"), exclude: listOption(given, "exclude") },
    run: new Set(run.filter((text) => isKind(text, "batchGeneration"))),
    rediscover: new Set(rediscover.filter((text) => isKind(text, "testCase"))),
    unknown: [
      ...run.filter((text) => !isKind(text, "batchGeneration")),
      ...rediscover.filter((text) => !isKind(text, "testCase")),
    ],
  };
}

function isKind(text: string, kind: "batchGeneration" | "testCase"): text is Address {
  return isAddress(text) && parseAddress(text)?.kind === kind;
}

/** Refuses addresses and globs that mean nothing in the project: most likely typing errors. */
export function checkRequest(
  given: Given,
  desired: Desired,
  states: Iterable<State>,
  console: Console,
): OrCode<PlanRequest> {
  const { unknown, ...request } = readRequest(given);
  const declared = desired.targets.flatMap(resourcesOf).map((resource) => resource.address);
  const known = [...declared, ...[...states].flatMap((state) => [...state.bindings.keys()])];
  const listed = new Set<string>(declared);
  const missing = [
    ...unknown,
    ...idlePatterns(request.scope, known),
    ...[...request.run, ...request.rediscover].filter((address) => !listed.has(address)),
  ];
  for (const text of missing) sayUnknown(console, text, known);
  return missing.length === 0 ? { ok: true, value: request } : { ok: false, code: EXIT.invalid };
}

function sayUnknown(console: Console, text: string, known: readonly Address[]): void {
  const close = nearest(text, known);
  const hint = close === undefined ? "" : ` Did you mean ${close}?`;
  sayError(
    console,
    `Nothing in this project has the address ${text}`,
    `Addresses look like testCase.shop.login, and * stands for any text.${hint}`,
  );
}
