import { type Address, isAddress, parseAddress } from "../model/address.ts";
import { byAddress } from "../model/desired.ts";
import { type Json, isObject, sameJson } from "../model/json.ts";
import type { Change, ChangeJson, PlanJson } from "../model/plan.ts";
import { KNOWN_AFTER_APPLY, SENSITIVE } from "../model/value.ts";
import type { Fingerprinter } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import {
  type Guard,
  type Staleness,
  changedFields,
  compareGuards,
  guardOf,
  onlyReviewed,
} from "../plan/staleness.ts";
import { planJson } from "../render/json.ts";
import { type Redactor, redactPlan } from "../render/redact.ts";
import { canonicalJson } from "../state/fingerprint.ts";
import type { SavedPlan } from "./plan-file.ts";
import { stale } from "../model/error.ts";

/**
 * Returns the current plan, reduced to what a saved plan shows. Other differences were not
 * reviewed, and are left for the next plan. @throws TascError that lists what has changed since the
 * plan was saved
 */
export function asReviewed(
  saved: SavedPlan,
  planned: Planned,
  fingerprints: Fingerprinter,
  redactor: Redactor,
): Planned {
  const isStale = `The ${saved.digest === undefined ? "plan that was shown" : "saved plan"} is stale`;
  for (const [key, id] of Object.entries(saved.targets)) {
    const matched = planned.matched.get(key);
    const now = matched?.live?.id ?? null;
    if (matched !== undefined && now !== id)
      throw stale(
        "other-target",
        `${isStale}: it was created for another live target`,
        place(`target.${key}`, existence(id), existence(now), "the same"),
      );
  }
  const current = byAddress(planned.plan.changes);
  const reasons: string[] = [];
  const changes: Change[] = [];
  for (const reviewed of saved.plan.changes) {
    const change = current.get(reviewed.address);
    const guard = saved.guards[reviewed.address];
    const whys: readonly Staleness[] =
      guard === undefined || !isAddress(reviewed.address)
        ? [{ kind: "manifest" }]
        : compareGuards(
            guard,
            guardOf(reviewed.address, changedFields(reviewed), planned, fingerprints),
          );
    reasons.push(...whys.map((why) => explainStale(why, reviewed, change)));
    if (whys.length === 0) reasons.push(...heldSince(reviewed, guard, change));
    if (change === undefined) continue;
    const fields = change.fields.filter(({ path }) =>
      reviewed.fields.some((one) => one.path[0] === path[0]),
    );
    changes.push({ ...onlyReviewed(change, reviewed.calls), fields });
  }
  if (reasons.length > 0)
    throw stale(
      "plan-stale",
      `${isStale}: the service has changed since ${saved.plan.createdAt}`,
      reasons.join("\n"),
    );
  const isLeft = ({ calls, action }: Change): boolean =>
    calls.length > 0 || action === "create" || action === "forget";
  const kept = changes.filter(isLeft);
  const left = { ...planned.plan, changes: kept };
  refuseOtherContent(saved.plan, redactPlan(planJson(left, { tool: "", createdAt: "" }), redactor));
  return { ...planned, plan: left };
}

/**
 * Refuses changes that were not shown: fields must have the same values as before, and there must
 * be no other calls.
 */
function refuseOtherContent(reviewed: PlanJson, left: PlanJson): void {
  const shownBy = byAddress(reviewed.changes);
  const other = left.changes.flatMap((change) => {
    const { address, action, fields } = change;
    const before = shownBy.get(address);
    if (before !== undefined && isWithin(change, before)) return [];
    return [place(address, wanted(before?.fields ?? []), action, wanted(fields))];
  });
  if (other.length > 0)
    throw stale("plan-differs", "The saved plan does not match its own requests", other.join("\n"));
}

function isWithin(change: ChangeJson, shownChange: ChangeJson): boolean {
  // Each key of an object is a field, and a live object may have any number of keys, so a set is
  // used.
  const textOf = ({ path, sensitive, after }: Shown) => canonicalJson({ path, sensitive, after });
  const known = new Set(shownChange.fields.map(textOf));
  const fields = change.fields.every((field) => known.has(textOf(field)));
  // An id that was unknown when the plan was made may be known now, and a part of a call may not be
  // needed any more.
  const calls = [...change.calls, ...change.followUps].every((call) =>
    [...shownChange.calls, ...shownChange.followUps].some(
      ({ method, path, body }) =>
        call.method === method &&
        (call.path === path || path.includes(KNOWN_AFTER_APPLY)) &&
        contains(body, call.body),
    ),
  );
  return change.action === shownChange.action && fields && calls;
}

function contains(whole: Json | undefined, part: Json | undefined): boolean {
  if (whole === KNOWN_AFTER_APPLY) return true;
  if (isObject(whole) && isObject(part))
    return Object.entries(part).every(([key, value]) => contains(whole[key], value));
  return sameJson(whole, part);
}

type ReviewedChange = SavedPlan["plan"]["changes"][number];

function explainStale(why: Staleness, reviewed: ReviewedChange, now: Change | undefined): string {
  const { address } = reviewed;
  switch (why.kind) {
    case "existence":
      return place(
        address,
        reviewed.action === "forget"
          ? `state forgets ${why.reviewed ?? "it"}`
          : why.reviewed === null
            ? "to be created"
            : existence(why.reviewed, address),
        reviewed.action === "forget"
          ? (why.now ?? "nothing to forget")
          : existence(why.now, address),
        reviewed.action,
      );
    case "manifest":
      return place(
        `${address}, whose manifest has changed, or a variable or secret in it`,
        wanted(reviewed.fields),
        reviewed.fields
          .map((field) => `${field.path.join(".")} is ${shown(field, field.before)}`)
          .join("; "),
        now === undefined ? "nothing: it matches the manifest now" : wanted(now.fields),
      );
    case "value": {
      const isIt = ({ path }: Shown): boolean => path.join(".").startsWith(why.field);
      const before = reviewed.fields.find(isIt);
      const after = now?.fields.find(isIt);
      return place(
        `${address}, ${why.field}`,
        shown(before, before?.before),
        after === undefined ? "as wanted" : shown(after, after.before),
        shown(before, before?.after),
      );
    }
  }
}

/**
 * Explains the fields that would have switched a test case on, and that the current plan holds back
 * although neither their manifest nor their live value has changed.
 */
function heldSince(
  reviewed: ReviewedChange,
  guard: Guard | undefined,
  now: Change | undefined,
): readonly string[] {
  const isPlanned = (name: string): boolean =>
    now?.fields.some(({ path }) => path[0] === name) === true;
  return reviewed.fields.flatMap((field) => {
    const name = String(field.path[0]);
    const isSwitch = name === "status" || name === "runStatus";
    // A value that the service does not show may have been written by another apply.
    if (!isSwitch || guard?.live[name] === undefined || isPlanned(name)) return [];
    const before = shown(field, field.before);
    const why = "its generation has failed since, or its steps are not accepted";
    return [
      place(
        `${reviewed.address}, ${name}`,
        before,
        `${before}, but it stays off: ${why}`,
        shown(field, field.after),
      ),
    ];
  });
}

function existence(id: string | null, address?: Address): string {
  if (address !== undefined && parseAddress(address)?.kind === "batchGeneration")
    return id === null ? "has not run" : `has run (${id})`;
  return id === null ? "does not exist" : `exists as ${id}`;
}

type Shown = Pick<ReviewedChange["fields"][number], "path" | "sensitive" | "after">;

function wanted(fields: readonly Shown[]): string {
  return fields
    .map((field) => `${field.path.join(".")} to be ${shown(field, field.after)}`)
    .join("; ");
}

function shown(field: Pick<Shown, "sensitive"> | undefined, value: unknown): string {
  if (field?.sensitive) return SENSITIVE;
  return value === undefined ? "(not shown)" : JSON.stringify(value);
}

function place(where: string, reviewed: string, now: string, want: string): string {
  return `  ${where}\n    as reviewed: ${reviewed}\n    live now:    ${now}\n    wanted:      ${want}`;
}
