import { isAddress } from "../model/address.ts";
import type { Change } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import type { Fingerprinter } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import { type Staleness, changedFields, compareGuards, guardOf, onlyReviewed } from "../plan/staleness.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import type { SavedPlan } from "./saved-plan.ts";

export type Verdict =
  | { readonly ok: true; readonly planned: Planned }
  | { readonly ok: false; readonly stale: readonly StaleField[] };

/** A reason with the three values that a person compares. */
export interface StaleField {
  readonly why: Staleness;
  readonly reviewed: string;
  readonly now: string;
  readonly wanted: string;
}

/**
 * The plan of now, cut down to what a saved plan shows, or the places where what the saved one saw has changed.
 * What else differs by now was not reviewed and is left for the next plan.
 */
export function asReviewed(
  saved: SavedPlan,
  planned: Planned,
  fingerprints: Fingerprinter | undefined,
): Verdict {
  const current = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const stale: StaleField[] = [];
  const changes: Change[] = [];
  for (const reviewed of saved.plan.changes) {
    const guard = saved.guards[reviewed.address];
    const now =
      fingerprints && isAddress(reviewed.address)
        ? guardOf(reviewed.address, changedFields(reviewed), planned, fingerprints)
        : undefined;
    const whys: readonly Staleness[] =
      guard === undefined || now === undefined
        ? [{ kind: "manifest", address: reviewed.address }]
        : compareGuards(reviewed.address, guard, now);
    stale.push(...whys.flatMap((why) => explain(why, reviewed, current.get(reviewed.address))));
    const change = current.get(reviewed.address);
    if (change !== undefined) {
      const fields = change.fields.filter(({ path }) =>
        reviewed.fields.some((one) => one.path[0] === path[0]),
      );
      changes.push({ ...onlyReviewed(change, reviewed.calls), fields });
    }
  }
  if (stale.length > 0) return { ok: false, stale };
  const kept = changes.filter((change) => change.calls.length > 0 || change.action === "create");
  return { ok: true, planned: { ...planned, plan: { ...planned.plan, changes: kept } } };
}

function explain(why: Staleness, reviewed: ReviewedChange, now: Change | undefined): readonly StaleField[] {
  switch (why.kind) {
    case "existence":
      return [
        {
          why,
          reviewed: why.reviewed === null ? "to be created" : `exists as ${why.reviewed}`,
          now: why.now === null ? "does not exist" : `exists as ${why.now}`,
          wanted: reviewed.action,
        },
      ];
    case "manifest":
      return [changedManifest(why, reviewed, now)];
    case "value":
      return [changedValue(why, reviewed, now)];
  }
}

type ReviewedChange = SavedPlan["plan"]["changes"][number];

/** What was to be written, what is live, and what the manifest, a variable or a secret makes of it by now. */
function changedManifest(why: Staleness, reviewed: ReviewedChange, now: Change | undefined): StaleField {
  return {
    why,
    reviewed: reviewed.fields.map((field) => `${field.path.join(".")} to be ${shownAfter(field)}`).join("; "),
    now: reviewed.fields
      .map((field) => `${field.path.join(".")} is ${field.sensitive ? SENSITIVE : show(field.before)}`)
      .join("; "),
    wanted:
      now === undefined
        ? "nothing: it is as the manifest says by now"
        : now.fields.map((field) => `${field.path.join(".")} to be ${shownAfter(field)}`).join("; "),
  };
}

function shownAfter(field: { readonly sensitive?: true; readonly after?: unknown }): string {
  return field.sensitive ? SENSITIVE : show(field.after);
}

function changedValue(
  why: Extract<Staleness, { kind: "value" }>,
  reviewed: ReviewedChange,
  now: Change | undefined,
): StaleField {
  const before = reviewed.fields.find(({ path }) => path.join(".").startsWith(why.field));
  const after = now?.fields.find(({ path }) => path.join(".").startsWith(why.field));
  return {
    why,
    reviewed: before?.sensitive ? SENSITIVE : show(before?.before),
    now: after === undefined ? "as wanted" : after.sensitive ? SENSITIVE : show(after.before),
    wanted: before?.sensitive ? SENSITIVE : show(before?.after),
  };
}

function show(value: unknown): string {
  return value === undefined ? "(not shown)" : JSON.stringify(value);
}

/** Without the key there is nothing to compare with, and write-only fields and secrets were not reviewed at all. */
export function sayWithoutKey(console: Console): void {
  sayError(
    console,
    "The saved plan cannot be applied: it was made without the API key",
    "Nothing was applied. A plan from a snapshot is for review alone. Plan again with the key, and review that:\ntasc plan --out FILE",
  );
}

/** What is reviewed for one service is not done to another. */
export function sayOtherService(console: Console, { plan }: SavedPlan, baseUrl: string): void {
  sayError(
    console,
    "The saved plan is stale: it was made for another service",
    `  service.baseUrl\n    as reviewed: ${plan.baseUrl}\n    now:         ${baseUrl}\nNothing was applied. Plan again and review that:\ntasc plan --out FILE`,
  );
}

export function sayStale(console: Console, saved: SavedPlan, stale: readonly StaleField[]): void {
  const places = stale.map(({ why, reviewed, now, wanted }) => {
    const where =
      why.kind === "value"
        ? `${why.address}, ${why.field}`
        : why.kind === "manifest"
          ? `${why.address}, whose manifest has changed, or a variable or secret in it`
          : why.address;
    return `  ${where}\n    as reviewed: ${reviewed}\n    live now:    ${now}\n    wanted:      ${wanted}`;
  });
  sayError(
    console,
    `The saved plan is stale: what it saw at ${saved.plan.createdAt} has changed`,
    `${places.join("\n")}\nNothing was applied. Plan again and review that:\ntasc plan --out FILE`,
  );
}
