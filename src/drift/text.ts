import { type Address, compareAddresses } from "../model/address.ts";
import type { ChangeJson, FieldJson } from "../model/plan.ts";
import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import { foldAlike } from "../render/fields.ts";
import type { PlanExtras } from "../render/json.ts";
import type { Style } from "../render/style.ts";
import { changeLines } from "../render/text.ts";
import { groupBy, placeOf } from "../render/words.ts";
import type { Drift, DriftedField, DriftedResource, Removed } from "./drift.ts";
import type { DriftMeta } from "./json.ts";

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
