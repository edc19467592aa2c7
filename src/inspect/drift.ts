import { type Address, compareAddresses } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json, Path } from "../model/json.ts";
import type { ChangeJson, ChangedBy, FieldChange, FieldJson } from "../model/plan.ts";
import type { Seen } from "../plan/compare.ts";
import { type Scope, scopeTest } from "../plan/input.ts";
import type { Planned } from "../plan/plan.ts";
import { safeLine, withoutWorkflowCommands } from "../render/escape.ts";
import { foldAlike } from "../render/fields.ts";
import { type PlanExtras, diagnosticJson } from "../render/json.ts";
import type { Redactor } from "../render/redact.ts";
import type { Style } from "../render/style.ts";
import { changeLines } from "../render/text.ts";
import { groupBy, placeOf } from "../render/words.ts";

/**
 * What the service changed since the last apply. A plan tells it already, field by field, wherever state holds a
 * record of what was applied; here is what is left of a plan when everything the manifests changed is taken away.
 */
export interface Drift {
  /** Sorted by address, as are those removed. */
  readonly changes: readonly DriftedResource[];
  readonly removed: readonly Removed[];
  /** Errors of the plan, and reasons for which drift cannot be told. */
  readonly problems: readonly Diagnostic[];
}

type DriftedResource = {
  readonly address: Address;
  readonly id: string;
  readonly fields: readonly DriftedField[];
};

type DriftedField = {
  readonly path: Path;
  /** As the manifests say; unless they changed too, it is what was last applied. */
  readonly declared?: Json;
  /** Absent where the service does not show it. */
  readonly live?: Json;
  readonly sensitive?: true;
  readonly changedBy: Exclude<ChangedBy, "manifest">;
};

/** A bound resource that the service no longer lists. */
type Removed = {
  readonly address: Address;
  readonly id: string;
  /** What is found by the same name now. */
  readonly replacedBy?: string;
};

export function driftOf({ plan, seen }: Planned, scope: Scope): Drift {
  const inScope = scopeTest(scope);
  const removed = [...seen.values()].flatMap(removedFrom).filter(({ address }) => inScope(address));
  return {
    changes: plan.changes.flatMap(({ address, id, fields }) => {
      const drifted = fields.flatMap(driftedField);
      return id === undefined || drifted.length === 0 ? [] : [{ address, id, fields: drifted }];
    }),
    removed: removed.toSorted((a, b) => compareAddresses(a.address, b.address)),
    problems: problemsOf(plan.diagnostics, new Set(removed.map(({ address }) => address))),
  };
}

export function hasDrifted({ changes, removed }: Drift): boolean {
  return changes.length > 0 || removed.length > 0;
}

/** A plan goes from what is live to what is declared; drift went the other way. */
function driftedField({ path, before, after, sensitive, changedBy }: FieldChange): readonly DriftedField[] {
  if (changedBy === undefined || changedBy === "manifest") return [];
  if (sensitive) return [{ path, sensitive, changedBy }];
  return [
    {
      path,
      ...(after === undefined ? {} : { declared: after }),
      ...(before === undefined ? {} : { live: before }),
      changedBy,
    },
  ];
}

function removedFrom(seen: Seen): readonly Removed[] {
  const { target, live, environmentMatches, testCaseMatches } = seen;
  const parts: readonly DesiredResource[] = [...target.environments, ...target.testCases];
  return [
    ...removedResource(seen, target, live?.id),
    ...parts.flatMap((resource) => {
      const match = environmentMatches.get(resource.address) ?? testCaseMatches.get(resource.address);
      return match === undefined ? [] : removedResource(seen, resource, match.found ? match.id : undefined);
    }),
  ];
}

/** Another id by the manifest's own word is a correction, and not the service's doing. */
function removedResource(
  { state }: Seen,
  { address, id: byHand }: DesiredResource,
  now: string | undefined,
): readonly Removed[] {
  const id = state?.bindings.get(address)?.id;
  if (id === undefined || id === now || byHand !== undefined) return [];
  return [{ address, id, ...(now === undefined ? {} : { replacedBy: now }) }];
}

/** Without records made with the key at hand nothing can be said, and silence would pass for "no drift". */
function problemsOf(
  diagnostics: readonly Diagnostic[],
  removed: ReadonlySet<Address>,
): readonly Diagnostic[] {
  return diagnostics.flatMap((diagnostic): readonly Diagnostic[] => {
    // What was removed is drift, also where a plan could not make it again.
    if (diagnostic.address !== undefined && removed.has(diagnostic.address)) return [];
    if (diagnostic.severity === "error") return [diagnostic];
    if (diagnostic.code !== "key-changed") return [];
    const detail =
      "What was last applied is recorded under another API key or `state.fingerprintKey`, so nobody can tell who changed a field since. Apply once with the key at hand, or use the one that applied last.";
    return [{ ...diagnostic, severity: "error", summary: "Drift cannot be told", detail }];
  });
}

interface DriftMeta {
  readonly tool: string;
  /** ISO 8601. */
  readonly createdAt: string;
  readonly stage: string;
  readonly baseUrl: string;
}

/** The drift for programs; keys in a fixed order. */
export function driftJson(
  { changes, removed, problems }: Drift,
  { tool, createdAt, stage, baseUrl }: DriftMeta,
) {
  return {
    formatVersion: "1.0",
    tool,
    stage,
    baseUrl,
    createdAt,
    summary: { changed: changes.length, removed: removed.length },
    changes,
    removed,
    diagnostics: problems.map((problem) => ({ ...diagnosticJson(problem) })),
  };
}

/** Takes secrets out of live and declared values, before a renderer cuts or wraps them. */
export function redactDrift(drift: Drift, redactor: Redactor): Drift {
  return {
    ...drift,
    changes: drift.changes.map((change) => ({
      ...change,
      fields: change.fields.map((field) => redactField(field, redactor)),
    })),
  };
}

function redactField(field: DriftedField, redactor: Redactor): DriftedField {
  const redact = (value: Json): Json => redactor.json(value);
  return {
    ...field,
    ...(field.declared === undefined ? {} : { declared: redact(field.declared) }),
    ...(field.live === undefined ? {} : { live: redact(field.live) }),
  };
}

export interface DriftTextOptions {
  readonly style: Style;
  readonly width: number;
  readonly verbose: boolean;
  /** Whether there was ever an apply that the service could have drifted from. */
  readonly applied: boolean;
}

/**
 * The drift for people, as a tree per target like a plan's; each field as `declared → live`.
 * @param extras of the plan that it was found in: who changed which field
 */
export function renderDriftText(
  drift: Drift,
  extras: PlanExtras,
  meta: DriftMeta,
  options: DriftTextOptions,
): string {
  const sections = [
    [
      `${options.style.strong(`Stage ${safeLine(meta.stage)}`)} ${options.style.faint(`at ${safeLine(meta.baseUrl)}`)}`,
      ...(drift.changes.length === 0 ? [] : [options.style.faint("as declared → as the service has it now")]),
    ],
    ...targetSections(drift, extras, options),
    [summaryLine(drift, options)],
  ];
  return withoutWorkflowCommands(
    sections.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n"),
  );
}

interface Entry {
  readonly address: Address;
  readonly lines: readonly string[];
}

function targetSections(
  drift: Drift,
  extras: PlanExtras,
  options: DriftTextOptions,
): readonly (readonly string[])[] {
  const entries = [
    ...changeEntries(drift.changes, extras, options),
    ...removedEntries(drift.removed, options),
  ].toSorted((a, b) => compareAddresses(a.address, b.address));
  return [...groupBy(entries, ({ address }) => placeOf(address).target)].map(([target, own]) => [
    options.style.strong(target),
    ...own.flatMap(({ lines }) => lines).map((line) => `  ${line}`),
  ]);
}

/** Changes are drawn as a plan draws them: the declared value before, the live one after. */
function changeEntries(
  changes: readonly DriftedResource[],
  extras: PlanExtras,
  options: DriftTextOptions,
): readonly Entry[] {
  const drawn = changes.map(changeJson);
  const folds = options.verbose
    ? drawn.map((first) => ({ first, changes: [first] }))
    : foldAlike(drawn, extras);
  const lineOptions = { ...options, width: options.width - 6, brief: false };
  return folds.map((fold) => ({
    address: fold.first.address,
    lines: changeLines(fold, extras, lineOptions),
  }));
}

function changeJson({ address, id, fields }: DriftedResource): ChangeJson {
  return { address, action: "update", id, fields: fields.map(fieldJson), calls: [], followUps: [] };
}

function fieldJson({ path, declared, live, sensitive }: DriftedField): FieldJson {
  if (sensitive) return { path, sensitive };
  return {
    path,
    ...(declared === undefined ? {} : { before: declared }),
    ...(live === undefined ? {} : { after: live }),
  };
}

function removedEntries(removed: readonly Removed[], { style }: DriftTextOptions): readonly Entry[] {
  return removed.map(({ address, id, replacedBy }) => {
    const instead = replacedBy === undefined ? "" : `; ${safeLine(replacedBy)} has its name now`;
    const note = style.faint(`removed outside tasc (it was ${safeLine(id)}${instead})`);
    return { address, lines: [`${style.action("disable", "-")} ${style.strong(address)}  ${note}`] };
  });
}

function summaryLine(drift: Drift, { style, applied }: DriftTextOptions): string {
  const { changes, removed, problems } = drift;
  if (problems.length > 0) return style.error("Drift cannot be told for everything; see the errors.");
  if (!applied) return "Nothing was applied yet, so there is nothing to compare with.";
  if (changes.length + removed.length === 0)
    return "No drift: what is declared is on the service as it was last applied.";
  return style.strong(`Drift: ${changes.length} changed, ${removed.length} removed`);
}
