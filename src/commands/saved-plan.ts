import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { World } from "../cli/world.ts";
import type { Look } from "../look/look.ts";
import { validate } from "../manifest/schema/generated/plan.js";
import { type Address, isAddress } from "../model/address.ts";
import { type Json, type JsonObject, isArray, isObject, parseJson } from "../model/json.ts";
import type { PlanJson } from "../model/plan.ts";
import type { PolicyRule } from "../model/settings.ts";
import { type Guard, guardsOf } from "../plan/staleness.ts";
import { type PlanExtras, planJson, writeJson } from "../render/json.ts";
import { redactPlan } from "../render/redact.ts";
import { destinationOf } from "../render/terminal.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import { fingerprinterOf } from "./look.ts";
import type { Opened } from "./opening.ts";
import { planMeta } from "./plan-meta.ts";
import { isPolicyRule } from "./policy.ts";
import { placedExtras } from "./print-plan.ts";
import type { PlanRequest } from "./request.ts";

/** A plan in a file: the public form, and what an apply of it needs (design contract, section 3). */
export interface SavedPlan {
  readonly plan: PlanJson;
  readonly request: PlanRequest;
  readonly guards: Readonly<Record<string, Guard>>;
  readonly extras: PlanExtras;
  readonly verdict: PlanVerdict;
}

/** What was to be said against a plan when it was made. */
export interface PlanVerdict {
  /** It has errors that nothing overrides. */
  readonly faulty: boolean;
  /** The rules of the project's policy that it breaks. */
  readonly violated: ReadonlySet<PolicyRule>;
  /** `--override-policy`. */
  readonly overridden: ReadonlySet<PolicyRule>;
}

/** A plan with all that an apply of it needs. */
export async function toSavedPlan(
  { planned }: Pick<Look, "planned">,
  request: PlanRequest,
  verdict: PlanVerdict,
  opened: Opened,
  world: World,
): Promise<SavedPlan> {
  const fingerprints = fingerprinterOf(opened.project.settings);
  return {
    plan: redactPlan(planJson(planned.plan, planMeta(world)), opened.console.redactor),
    request,
    guards: fingerprints === undefined ? {} : guardsOf(planned, fingerprints),
    extras: await placedExtras(planned.plan, opened),
    verdict,
  };
}

/** Saves a plan, readable for its owner alone. Whether it could be is said, and returned. */
export function savePlan(file: string, saved: SavedPlan, { console }: Opened, world: World): boolean {
  const { plan, request, guards, extras, verdict } = saved;
  const { faulty, violated, overridden } = verdict;
  const text = writeJson({
    ...plan,
    apply: {
      only: request.scope.only,
      exclude: request.scope.exclude,
      run: [...request.run],
      rediscover: [...request.rediscover],
      verdict: { faulty, violated: [...violated], overridden: [...overridden] },
      extras,
      guards,
    },
  });
  return writeOwn(resolve(world.cwd, file), console.redactor.document(text), file, console);
}

/** Whole or not at all, and never readable for others, not even for a moment. */
function writeOwn(path: string, text: string, shown: string, console: Console): boolean {
  const temporary = `${path}.${process.pid}.tmp`;
  try {
    const destination = destinationOf(path);
    writeFileSync(temporary, text, { mode: 0o600, flag: "wx" });
    renameSync(temporary, destination);
    return true;
  } catch {
    rmSync(temporary, { force: true });
    sayError(
      console,
      `Cannot write ${shown}`,
      "Check that it is a file or nothing yet, and that its folder exists, may be written, and has room.",
    );
    return false;
  }
}

export type ReadPlan =
  | { readonly ok: true; readonly saved: SavedPlan }
  | { readonly ok: false; readonly summary: string; readonly detail: string };

/** Reads a saved plan; what is none, or not whole, is a problem. */
export function readSavedPlan(file: string, world: World): ReadPlan {
  let value: Json;
  try {
    value = parseJson(readFileSync(resolve(world.cwd, file), "utf8"));
  } catch (error) {
    const missing = error instanceof Error && "code" in error;
    return refused(file, missing ? "it cannot be read" : "it is not JSON");
  }
  if (!isPlan(value)) return refused(file, "it is not a plan, or of a version that this tasc does not know");
  const apply = isObject(value) ? readApply(value["apply"]) : undefined;
  if (apply === undefined) return refused(file, "it was printed by `--format json` and not saved by `--out`");
  return { ok: true, saved: { plan: publicPart(value), ...apply } };
}

/** The advice names another file: this one may be anything, tasc.yaml itself for one. */
function refused(file: string, why: string): ReadPlan {
  return {
    ok: false,
    summary: `${file} is no saved plan: ${why}`,
    detail: "Save one:\ntasc plan --out plan.json",
  };
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
    verdict: readVerdict(value["verdict"]),
  };
}

/** For display only: what does not fit shows nothing. */
function isExtras(value: Json | undefined): value is Json & PlanExtras {
  return isObject(value) && Object.values(value).every((part) => typeof part === "object" && part !== null);
}

function readVerdict(value: Json | undefined): PlanVerdict {
  const verdict = isObject(value) ? value : {};
  const rules = (name: string): ReadonlySet<PolicyRule> => new Set(texts(verdict[name]).filter(isPolicyRule));
  return {
    faulty: verdict["faulty"] === true,
    violated: rules("violated"),
    overridden: rules("overridden"),
  };
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
