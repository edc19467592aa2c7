import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { validate } from "../manifest/schema/generated/plan.js";
import { type Address, isAddress } from "../model/address.ts";
import { TascError, stop } from "../model/error.ts";
import { type Json, type JsonObject, isArray, isObject, parseJson } from "../model/json.ts";
import type { Change, PlanJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import type { Fingerprinter } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import {
  type Guard,
  type Staleness,
  changedFields,
  compareGuards,
  guardOf,
  guardsOf,
  onlyReviewed,
} from "../plan/staleness.ts";
import { type PlanExtras, planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { destinationOf } from "../render/terminal.ts";
import { type PlanOptions, type PlanRequest, type Review, placedExtras, planMeta } from "./plan.ts";
import type { Host, Session } from "./session.ts";

/** A plan in a file: the public form, and what an apply of it needs (design contract, section 3). */
export interface SavedPlan {
  readonly plan: PlanJson;
  readonly request: PlanRequest;
  readonly guards: Readonly<Record<string, Guard>>;
  readonly extras: PlanExtras;
}

/** A plan with all that an apply of it needs. */
export async function toSavedPlan({ plan, survey }: Review, session: Session): Promise<SavedPlan> {
  const { fingerprints } = session;
  return {
    plan: redactPlan(planJson(plan, planMeta(session.host)), session.redactor),
    request: survey.request,
    guards: fingerprints === undefined ? {} : guardsOf({ ...survey.planned, plan }, fingerprints),
    extras: await placedExtras(plan, session),
  };
}

/** Saves a plan, readable for its owner alone: whole or not at all. */
export function savePlan(file: string, saved: SavedPlan, { redactor, host }: Session): void {
  const { plan, request, guards, extras } = saved;
  const text = writeJson({
    ...plan,
    apply: {
      only: request.scope.only,
      exclude: request.scope.exclude,
      run: [...request.run],
      rediscover: [...request.rediscover],
      extras,
      guards,
    },
  });
  const path = resolve(host.cwd, file);
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const destination = destinationOf(path);
    writeFileSync(temporary, redactor.document(text), { mode: 0o600, flag: "wx" });
    renameSync(temporary, destination);
  } catch {
    rmSync(temporary, { force: true });
    throw stop(
      "failed",
      "plan-unwritable",
      `Cannot write ${file}`,
      "Check that it is a file or nothing yet, and that its folder exists, may be written, and has room.",
    );
  }
}

/** Reads a saved plan. @throws TascError for what is none, or not whole */
export function readSavedPlan(file: string, { cwd }: Pick<Host, "cwd">): SavedPlan {
  let value: Json;
  try {
    value = parseJson(readFileSync(resolve(cwd, file), "utf8"));
  } catch (error) {
    const missing = error instanceof Error && "code" in error;
    throw notSaved(file, missing ? "it cannot be read" : "it is not JSON");
  }
  if (!isPlan(value)) throw notSaved(file, "it is not a plan, or of a version that this tasc does not know");
  const apply = isObject(value) ? readApply(value["apply"]) : undefined;
  if (apply === undefined) throw notSaved(file, "it was printed by `--format json` and not saved by `--out`");
  return { plan: publicPart(value), ...apply };
}

/** The advice names another file: this one may be anything, tasc.yaml itself for one. */
function notSaved(file: string, why: string): TascError {
  return stop(
    "invalid",
    "not-a-plan",
    `${file} is no saved plan: ${why}`,
    "Save one:\ntasc plan --out plan.json",
  );
}

/** Without what an apply needs: the plan as it was printed. */
function publicPart(saved: PlanJson): PlanJson {
  const { formatVersion, tool, stage, baseUrl, createdAt, summary, changes, orphaned, diagnostics } = saved;
  return { formatVersion, tool, stage, baseUrl, createdAt, summary, changes, orphaned, diagnostics };
}

function isPlan(value: Json): value is Json & PlanJson {
  return validate(value);
}

function readApply(value: Json | undefined): Omit<SavedPlan, "plan"> | undefined {
  if (!isObject(value)) return undefined;
  const guards: Record<string, Guard> = {};
  for (const [address, guard] of Object.entries(isObject(value["guards"]) ? value["guards"] : {})) {
    const read = isObject(guard) ? readGuard(guard) : undefined;
    if (read === undefined) return undefined;
    guards[address] = read;
  }
  return {
    request: {
      scope: { only: texts(value["only"]), exclude: texts(value["exclude"]) },
      run: addresses(value["run"]),
      rediscover: addresses(value["rediscover"]),
    },
    guards,
    extras: isExtras(value["extras"]) ? value["extras"] : {},
  };
}

/** For display only: what does not fit shows nothing. */
function isExtras(value: Json | undefined): value is Json & PlanExtras {
  return isObject(value) && Object.values(value).every((part) => typeof part === "object" && part !== null);
}

function readGuard(guard: JsonObject): Guard | undefined {
  const { id, declared, live } = guard;
  if ((typeof id !== "string" && id !== null) || typeof declared !== "string" || !isObject(live))
    return undefined;
  const digests: Record<string, string> = {};
  for (const [field, digest] of Object.entries(live)) if (typeof digest === "string") digests[field] = digest;
  return { id, declared, live: digests };
}

function texts(value: Json | undefined): readonly string[] {
  return isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function addresses(value: Json | undefined): ReadonlySet<Address> {
  return new Set(texts(value).filter(isAddress));
}

/** A saved plan carries its stage and its narrowing: an option that says otherwise is refused, not ignored. */
export function refuseContradiction(
  options: PlanOptions & { readonly stage?: string | undefined },
  { plan, request }: SavedPlan,
): void {
  const carried: readonly (readonly [string, readonly string[] | undefined, Iterable<string>])[] = [
    ["stage", options.stage === undefined ? undefined : [options.stage], [plan.stage]],
    ["only", options.only, request.scope.only],
    ["exclude", options.exclude, request.scope.exclude],
    ["run", options.run, request.run],
    ["rediscover", options.rediscover, request.rediscover],
  ];
  const found = carried.filter(
    ([, asked = [], has]) => asked.length > 0 && !sameTexts(new Set(asked), new Set(has)),
  );
  if (found.length === 0) return;
  throw new TascError(
    "invalid",
    found.map(([name]) => ({
      severity: "error",
      code: "contradicts-plan",
      summary: `--${name} says otherwise than the saved plan`,
      detail: `A saved plan is applied as it was reviewed, on its stage and with its narrowing. Leave the option out, or make a plan with it:\ntasc plan --${name} … --out FILE`,
    })),
  );
}

function sameTexts(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === b.size && [...a].every((text) => b.has(text));
}

/** What is reviewed for one service is not done to another. */
export function refuseOtherService({ plan }: SavedPlan, { redactor, settings }: Session): void {
  const now = redactor.text(settings.baseUrl);
  if (plan.baseUrl === now) return;
  throw stop(
    "stale",
    "other-service",
    "The saved plan is stale: it was made for another service",
    `  service.baseUrl\n    as reviewed: ${plan.baseUrl}\n    now:         ${now}\nNothing was applied. ${PLAN_AGAIN}`,
  );
}

const PLAN_AGAIN = "Plan again and review that:\ntasc plan --out FILE";

/**
 * The plan of now, cut down to what a saved plan shows. What else differs by now was not reviewed and is left for the
 * next plan.
 *
 * @throws TascError with the places where what the saved plan saw has changed
 */
export function asReviewed(
  saved: SavedPlan,
  planned: Planned,
  fingerprints: Fingerprinter | undefined,
): Planned {
  // Without the key there is nothing to compare with, and write-only fields and secrets were not reviewed at all.
  if (fingerprints === undefined || (saved.plan.changes.length > 0 && Object.keys(saved.guards).length === 0))
    throw stop(
      "stale",
      "plan-without-key",
      "The saved plan cannot be applied: it was made without the API key",
      "Nothing was applied. A plan from a snapshot is for review alone. Plan again with the key, and review that:\ntasc plan --out FILE",
    );
  const current = new Map(planned.plan.changes.map((change) => [change.address, change]));
  const stale: string[] = [];
  const changes: Change[] = [];
  for (const reviewed of saved.plan.changes) {
    const change = current.get(reviewed.address);
    const guard = saved.guards[reviewed.address];
    const now = isAddress(reviewed.address)
      ? guardOf(reviewed.address, changedFields(reviewed), planned, fingerprints)
      : undefined;
    const whys: readonly Staleness[] =
      guard === undefined || now === undefined
        ? [{ kind: "manifest", address: reviewed.address }]
        : compareGuards(reviewed.address, guard, now);
    stale.push(...whys.map((why) => explainStale(why, reviewed, change)));
    if (change === undefined) continue;
    const fields = change.fields.filter(({ path }) => reviewed.fields.some((one) => one.path[0] === path[0]));
    changes.push({ ...onlyReviewed(change, reviewed.calls), fields });
  }
  if (stale.length > 0)
    throw stop(
      "stale",
      "plan-stale",
      `The saved plan is stale: what it saw at ${saved.plan.createdAt} has changed`,
      `${stale.join("\n")}\nNothing was applied. ${PLAN_AGAIN}`,
    );
  const kept = changes.filter((change) => change.calls.length > 0 || change.action === "create");
  return { ...planned, plan: { ...planned.plan, changes: kept } };
}

type ReviewedChange = SavedPlan["plan"]["changes"][number];

/** A reason with the three values that a person compares. */
function explainStale(why: Staleness, reviewed: ReviewedChange, now: Change | undefined): string {
  switch (why.kind) {
    case "existence":
      return place(
        why.address,
        why.reviewed === null ? "to be created" : `exists as ${why.reviewed}`,
        why.now === null ? "does not exist" : `exists as ${why.now}`,
        reviewed.action,
      );
    case "manifest":
      return place(
        `${why.address}, whose manifest has changed, or a variable or secret in it`,
        wanted(reviewed.fields),
        reviewed.fields.map((field) => `${field.path.join(".")} is ${shown(field, field.before)}`).join("; "),
        now === undefined ? "nothing: it is as the manifest says by now" : wanted(now.fields),
      );
    case "value": {
      const isIt = ({ path }: Shown): boolean => path.join(".").startsWith(why.field);
      const before = reviewed.fields.find(isIt);
      const after = now?.fields.find(isIt);
      return place(
        `${why.address}, ${why.field}`,
        shown(before, before?.before),
        after === undefined ? "as wanted" : shown(after, after.before),
        shown(before, before?.after),
      );
    }
  }
}

type Shown = Pick<ReviewedChange["fields"][number], "path" | "sensitive" | "after">;

function wanted(fields: readonly Shown[]): string {
  return fields.map((field) => `${field.path.join(".")} to be ${shown(field, field.after)}`).join("; ");
}

function shown(field: Pick<Shown, "sensitive"> | undefined, value: unknown): string {
  if (field?.sensitive) return SENSITIVE;
  return value === undefined ? "(not shown)" : JSON.stringify(value);
}

function place(where: string, reviewed: string, now: string, want: string): string {
  return `  ${where}\n    as reviewed: ${reviewed}\n    live now:    ${now}\n    wanted:      ${want}`;
}
