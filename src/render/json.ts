import type { Address } from "../model/address.ts";
import { type Diagnostic, type Place, inStage } from "../model/diagnostic.ts";
import type { FailureReason, TascError } from "../model/error.ts";
import { type JsonObject, type Path, defined } from "../model/json.ts";
import {
  type CallJson,
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

/** Rises when a program that reads plans would have to change. */
export const PLAN_FORMAT = "1.1";

export interface PlanMeta {
  /** Name and version, `tasc 1.0.0`. */
  readonly tool: string;
  readonly createdAt: string;
}

/** The public form of a plan (design contract, section 3): the same plan gives the same bytes, without any secret. */
export function planJson(plan: Plan, { tool, createdAt }: PlanMeta): PlanJson {
  const { stage, baseUrl } = plan;
  const { calls: sent, followUps: later, ...counts } = plan.summary;
  return {
    formatVersion: PLAN_FORMAT,
    tool,
    stage,
    baseUrl,
    createdAt,
    summary: { ...counts, calls: sent, followUps: later },
    changes: plan.changes.map(({ address, action, cause, id, fields, calls, followUps }) =>
      defined({
        address,
        action,
        cause,
        id: id ?? KNOWN_AFTER_APPLY,
        fields: fields.map(({ path, before, after, sensitive, movedFrom, harmful }) =>
          defined({ path, ...(sensitive ? { sensitive } : { before, after }), movedFrom, harmful }),
        ),
        calls: calls.map(callJson),
        followUps: followUps.map(callJson),
      }),
    ),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id })),
    diagnostics: plan.diagnostics.map(diagnosticJson),
  };
}

/** Plain data as text: two spaces of indentation, a line break at the end, safe to be printed. */
export function writeJson(value: unknown): string {
  return `${printedJson(JSON.stringify(value, null, 2))}\n`;
}

/** A planned call as it is shown: secrets and unknown ids by what stands for them. */
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

/** With its code, which the public form of a plan leaves out. */
export function codedDiagnosticJson(diagnostic: Diagnostic): JsonObject {
  const { severity, ...rest } = diagnosticJson(diagnostic);
  return { severity, code: diagnostic.code, ...rest };
}

/** What a program reads of a failure: what was wrong, all that was said of it, and the commands that help. */
export function failureJson({ reason, stage }: TascError, said: readonly Diagnostic[]): JsonObject {
  const first = said.find(({ severity }) => severity === "error");
  const { code = "", summary = reason } = first ?? {};
  // Diagnostics put commands on lines of their own.
  const lines = said.flatMap(({ detail }) => detail.split("\n")).map((line) => line.trim());
  const commands = [...new Set(lines.filter((line) => COMMAND.test(line)))];
  return {
    error: { code: code === "" ? reason : code, message: summary },
    diagnostics: said.map(codedDiagnosticJson),
    next: commands.length > 0 ? commands : NEXT[reason].map((command) => inStage(command, stage)),
  };
}

/** Of nothing that a shell would take for more than a word: an id that a service made up may stand in it. */
const COMMAND = /^tasc [^;&|<>()$`\\"'{}!#~]+$/;

/** What helps where no diagnostic names a command. */
const NEXT: Readonly<Record<FailureReason, readonly string[]>> = {
  failed: ["tasc doctor"],
  invalid: ["tasc validate"],
  stale: ["tasc plan --out FILE"],
  locked: ["tasc apply --lock-timeout 10m"],
  unreachable: ["tasc doctor"],
  interrupted: ["tasc plan"],
};

/** What a plan shows beyond its public form: plain data for a saved plan to carry. Nothing is decided by it. */
export interface PlanExtras {
  /** By address and path, as JSON. */
  readonly changedBy?: Readonly<Record<string, Readonly<Record<string, ChangedBy>>>>;
  /** What must be done first. */
  readonly dependsOn?: Readonly<Record<string, readonly Address[]>>;
  /** Where the manifest causes each change. */
  readonly places?: Readonly<Record<string, Place>>;
  /** What the public form leaves out of the plan's diagnostics, in their order. */
  readonly diagnostics?: readonly { readonly code: string; readonly path?: Path }[];
}

/** What the plan itself knows; places are looked up by whoever has the documents. */
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

/** A plan with all that there is to show of it: what every renderer but that of JSON reads. */
export interface PlanView extends Omit<PlanJson, "changes" | "diagnostics"> {
  readonly changes: readonly ChangeView[];
  readonly diagnostics: readonly DiagnosticView[];
}

export interface ChangeView extends Omit<ChangeJson, "fields"> {
  readonly fields: readonly FieldView[];
  /** What must be done first. */
  readonly needs?: readonly Address[] | undefined;
  readonly place?: Place | undefined;
}

export interface FieldView extends FieldJson {
  /** Who changed it, in words, where that is known. */
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
    diagnostics: plan.diagnostics.map((diagnostic, at) => ({ ...diagnostic, ...extras.diagnostics?.[at] })),
  };
}

export const CHANGED_BY: Readonly<Record<ChangedBy, string>> = {
  manifest: "changed in the manifest",
  service: "changed on the service",
  both: "changed in the manifest and on the service",
};
