import type { Address } from "../model/address.ts";
import { compareAddresses } from "../model/address.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Change, Orphan, Plan, Summary } from "../model/plan.ts";
import type { PlanInput } from "./inputs.ts";
import { withNeeded } from "./needed.ts";
import { orderedChange } from "./ordered.ts";
import { strayOrphans } from "./orphans.ts";
import type { Outlook } from "./outlook.ts";
import { resourcesOf } from "../model/desired.ts";
import { scopeTest } from "./scope.ts";

type InScope = (address: Address) => boolean;

/** What the targets come to, narrowed to the scope, sorted and counted. */
export function assemble(
  input: PlanInput,
  outlooks: readonly Outlook[],
  problems: readonly Diagnostic[],
): Plan {
  const inScope = scopeTest(input.scope);
  const all = outlooks.flatMap((outlook) => outlook.changes);
  const needed = withNeeded(all, inScope, input.scope);
  const disables = outlooks.flatMap((outlook) => outlook.disables).filter(({ address }) => inScope(address));
  const changes = [...needed.changes, ...disables].toSorted(byAddress).map(orderedChange);
  const orphaned = orphansInScope(input, outlooks, inScope);
  const diagnostics = diagnosticsInScope(
    [...problems, ...needed.problems, ...outlooks.flatMap((outlook) => outlook.diagnostics)],
    changes,
    inScope,
  );
  return {
    stage: input.desired.stage,
    baseUrl: input.baseUrl,
    summary: {
      ...countChanges(changes),
      unchanged: countUnchanged(outlooks, changes, diagnostics, inScope),
      orphaned: orphaned.length,
      unmanaged: outlooks.reduce((sum, outlook) => sum + outlook.unmanaged, 0),
    },
    changes,
    orphaned,
    diagnostics,
  };
}

function byAddress(a: { readonly address: Address }, b: { readonly address: Address }): number {
  return compareAddresses(a.address, b.address);
}

function orphansInScope(input: PlanInput, outlooks: readonly Outlook[], inScope: InScope): readonly Orphan[] {
  const own = outlooks.flatMap((outlook) => outlook.orphans);
  const meant = new Set(outlooks.flatMap(({ seen }) => seen?.live?.id ?? []));
  const strays = strayOrphans(input.strays, input.live.targets, meant);
  return [...own, ...strays].filter((orphan) => inScope(orphan.address)).toSorted(byAddress);
}

/** What is said of addresses that the plan is about, and of none in particular. */
function diagnosticsInScope(
  diagnostics: readonly Diagnostic[],
  changes: readonly Change[],
  inScope: InScope,
): readonly Diagnostic[] {
  const changed = new Set(changes.map((change) => change.address));
  return diagnostics
    .filter(({ address }) => address === undefined || inScope(address) || changed.has(address))
    .toSorted(byPlace);
}

function byPlace(a: Diagnostic, b: Diagnostic): number {
  if (a.address === undefined || b.address === undefined)
    return Number(a.address !== undefined) - Number(b.address !== undefined);
  return compareAddresses(a.address, b.address);
}

function countChanges(changes: readonly Change[]): Omit<Summary, "unchanged" | "orphaned" | "unmanaged"> {
  const count = (action: Change["action"]): number =>
    changes.filter((change) => change.action === action).length;
  const calls = changes.flatMap((change) => change.calls);
  return {
    create: count("create"),
    update: count("update"),
    rediscover: count("rediscover"),
    disable: count("disable"),
    calls: {
      POST: calls.filter((call) => call.method === "POST").length,
      PATCH: calls.filter((call) => call.method === "PATCH").length,
    },
    followUps: changes.reduce((sum, change) => sum + change.followUps.length, 0),
  };
}

/** Declared resources in scope that neither change nor have a problem. */
function countUnchanged(
  outlooks: readonly Outlook[],
  changes: readonly Change[],
  diagnostics: readonly Diagnostic[],
  inScope: InScope,
): number {
  const busy = new Set<Address>(changes.map((change) => change.address));
  for (const { severity, address } of diagnostics)
    if (severity === "error" && address !== undefined) busy.add(address);
  return outlooks
    .filter((outlook) => outlook.seen !== undefined)
    .flatMap((outlook) => resourcesOf(outlook.target))
    .filter(({ address }) => inScope(address) && !busy.has(address)).length;
}
