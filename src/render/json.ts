import type { Address } from "../model/address.ts";
import { type Diagnostic, type Place, inStage } from "../model/diagnostic.ts";
import type { FailureReason, TascError } from "../model/error.ts";
import { type JsonObject, type Path, defined } from "../model/json.ts";
import {
  type CallJson,
  type Change,
  type ChangeJson,
  type ChangedBy,
  type DiagnosticJson,
  type FieldJson,
  type Plan,
  type PlanJson,
  type PlannedCall,
  plainBody,
} from "../model/plan.ts";
import { IdOf, KNOWN_AFTER_APPLY, SENSITIVE } from "../model/value.ts";
import { printedJson, uriPart } from "./escape.ts";

/** Version of the plan format; it rises when programs that read plans would have to change. */
export const PLAN_FORMAT = "1.2";

/** In place of the id of a batch generation that state forgets: it has none. */
const NOT_RECORDED = "(not recorded)";

export interface PlanMeta {
  /** Name and version, `tasc 1.0.0`. */
  readonly tool: string;
  readonly createdAt: string;
}

/**
 * Returns the public form of a plan (design contract, section 3), without secrets. The same plan
 * gives the same bytes.
 * @param withCalls false for a format that shows no calls: they are half of a change
 */
export function planJson(plan: Plan, { tool, createdAt }: PlanMeta, withCalls = true): PlanJson {
  const { stage, baseUrl } = plan;
  const { calls: sent, followUps: later, ...counts } = plan.summary;
  return {
    formatVersion: PLAN_FORMAT,
    tool,
    stage,
    baseUrl,
    createdAt,
    summary: { ...counts, calls: sent, followUps: later },
    changes: plan.changes.map((change) => changeJson(change, withCalls)),
    attention: plan.attention.map(({ code, severity, addresses, count, text }) => ({
      code,
      severity,
      addresses,
      count,
      text,
    })),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id })),
    diagnostics: plan.diagnostics.map(diagnosticJson),
  };
}

/** Returns the public form of a change. @param withCalls as for a plan */
export function changeJson(
  { address, action, cause, id, fields, calls, followUps }: Change,
  withCalls = true,
): ChangeJson {
  const shown = (all: readonly PlannedCall[]) => (withCalls ? all.map(callJson) : []);
  return defined({
    address,
    action,
    cause,
    id: id ?? (action === "forget" ? NOT_RECORDED : KNOWN_AFTER_APPLY),
    fields: fields.map(({ path, before, after, sensitive, movedFrom, harmful }) =>
      defined({ path, ...(sensitive ? { sensitive } : { before, after }), movedFrom, harmful }),
    ),
    calls: shown(calls),
    followUps: shown(followUps),
  });
}

/**
 * Writes a plan like `writeJson`, a change at a time: thousands of changes as one text take as much
 * memory as the rest of a plan.
 * @param around the plan without its changes
 */
export function* writePlan<C>(
  around: object,
  changes: readonly C[],
  shown: (change: C) => ChangeJson,
): Generator<string> {
  const text = writeJson({ ...around, changes: [] });
  // Strings in JSON have no line breaks, so nothing else is this line.
  const line = '\n  "changes": [';
  const at = text.indexOf(line) + line.length;
  yield text.slice(0, at);
  for (const [nth, change] of changes.entries())
    yield `${nth === 0 ? "" : ","}\n    ${writeInner(shown(change))}`;
  yield (changes.length === 0 ? "" : "\n  ") + text.slice(at);
}

/** Writes plain data as JSON as it stands in a list of an object. */
function writeInner(value: unknown): string {
  return printedJson(
    JSON.stringify([[value]], null, 2).slice("[\n  [\n    ".length, -"\n  ]\n]".length),
  );
}

/** Writes plain data as JSON: two spaces of indentation, a line break at the end, safe to print. */
export function writeJson(value: unknown): string {
  return `${printedJson(JSON.stringify(value, null, 2))}\n`;
}

/** Returns a planned call for output, with placeholders for secrets and unknown ids. */
export function callJson({ method, path, body }: PlannedCall): CallJson {
  const segments = path.map((segment) =>
    typeof segment === "string" ? uriPart(segment) : KNOWN_AFTER_APPLY,
  );
  const shown = plainBody(body, (leaf) => (leaf instanceof IdOf ? KNOWN_AFTER_APPLY : SENSITIVE));
  return { method, path: segments.map((segment) => `/${segment}`).join(""), body: shown };
}

export function diagnosticJson(diagnostic: Diagnostic): DiagnosticJson {
  const { severity, address, summary, detail, origin, place } = diagnostic;
  const { file = origin?.file, line, column }: Partial<Place> = place ?? {};
  return defined({ severity, address, summary, detail, file, line, column });
}

/** Returns a diagnostic with its code, which the public form of a plan leaves out. */
export function codedDiagnosticJson(diagnostic: Diagnostic): JsonObject {
  const { severity, ...rest } = diagnosticJson(diagnostic);
  return { severity, code: diagnostic.code, ...rest };
}

/**
 * Returns a failure as data for programs: what was wrong, all diagnostics, and the commands that
 * help.
 */
export function failureJson(failure: TascError, diagnostics = failure.diagnostics): JsonObject {
  const { reason, stage } = failure;
  const first = diagnostics.find(({ severity }) => severity === "error");
  const { code = "", summary = reason } = first ?? {};
  // Diagnostics put commands on lines of their own.
  const lines = diagnostics.flatMap(({ detail }) => detail.split("\n")).map((line) => line.trim());
  const commands = [...new Set(lines.filter((line) => COMMAND.test(line)))];
  return {
    error: { code: code === "" ? reason : code, message: summary },
    diagnostics: diagnostics.map(codedDiagnosticJson),
    next: commands.length > 0 ? commands : NEXT[reason].map((command) => inStage(command, stage)),
  };
}

/**
 * A tasc command without characters that are special in a shell: it may contain an id that the
 * service made up.
 */
const COMMAND = /^tasc [^;&|<>()$`\\"'{}!#~]+$/;

/** Commands that help if no diagnostic names one. */
const NEXT: Readonly<Record<FailureReason, readonly string[]>> = {
  failed: ["tasc doctor"],
  invalid: ["tasc validate"],
  stale: ["tasc plan --out FILE"],
  locked: ["tasc apply --lock-timeout 10m"],
  unreachable: ["tasc doctor"],
  interrupted: ["tasc plan"],
};

/**
 * Display data of a plan beyond its public form, stored in a saved plan. No decision depends on it.
 */
export interface PlanExtras {
  /** Who changed a field, by address and by path as JSON. */
  readonly changedBy?: Readonly<Record<string, Readonly<Record<string, ChangedBy>>>>;
  /** Addresses that must be done first. */
  readonly dependsOn?: Readonly<Record<string, readonly Address[]>>;
  /** The place in the manifest that causes each change. */
  readonly places?: Readonly<Record<string, Place>>;
  /**
   * Parts of the plan's diagnostics that the public form leaves out, in the order of the
   * diagnostics.
   */
  readonly diagnostics?: readonly { readonly code: string; readonly path?: Path }[];
}

/** Returns the extras that the plan itself knows; a caller with the documents adds the places. */
export function planExtras(plan: Plan): PlanExtras {
  return {
    changedBy: Object.fromEntries(
      plan.changes.flatMap(({ address, fields }) => {
        const known = fields.flatMap(({ path, changedBy }) =>
          changedBy === undefined ? [] : [[JSON.stringify(path), changedBy] as const],
        );
        return known.length === 0 ? [] : [[address, Object.fromEntries(known)]];
      }),
    ),
    dependsOn: Object.fromEntries(
      plan.changes.flatMap(({ address, dependsOn }) =>
        dependsOn.length === 0 ? [] : [[address, dependsOn]],
      ),
    ),
    diagnostics: plan.diagnostics.map(({ code, origin }) => defined({ code, path: origin?.path })),
  };
}

/** A plan with everything that can be shown of it: the input of all renderers except JSON. */
export interface PlanView extends Omit<PlanJson, "changes" | "diagnostics"> {
  readonly changes: readonly ChangeView[];
  readonly diagnostics: readonly DiagnosticView[];
}

export interface ChangeView extends Omit<ChangeJson, "fields"> {
  readonly fields: readonly FieldView[];
  /** Addresses that must be done first. */
  readonly needs?: readonly Address[] | undefined;
  readonly place?: Place | undefined;
}

export interface FieldView extends FieldJson {
  /** Who changed the field, in words, if known. */
  readonly who?: string | undefined;
}

export interface DiagnosticView extends DiagnosticJson {
  readonly code?: string;
  readonly path?: Path;
}

export function diagnosticView(diagnostic: Diagnostic): DiagnosticView {
  const { code, origin } = diagnostic;
  return { ...diagnosticJson(diagnostic), ...defined({ code, path: origin?.path }) };
}

export function planView(plan: PlanJson, extras: PlanExtras): PlanView {
  return {
    ...plan,
    changes: plan.changes.map((change) => {
      const changedBy = extras.changedBy?.[change.address];
      const [needs, place] = [extras.dependsOn?.[change.address], extras.places?.[change.address]];
      if ((changedBy ?? needs ?? place) === undefined) return change;
      const fields = change.fields.map((field) => {
        const by = changedBy?.[JSON.stringify(field.path)];
        return by === undefined ? field : { ...field, who: CHANGED_BY[by] };
      });
      return { ...change, fields, needs, place };
    }),
    diagnostics: plan.diagnostics.map((diagnostic, at) => ({
      ...diagnostic,
      ...extras.diagnostics?.[at],
    })),
  };
}

export const CHANGED_BY: Readonly<Record<ChangedBy, string>> = {
  manifest: "changed in the manifest",
  service: "changed on the service",
  both: "changed in the manifest and on the service",
};
