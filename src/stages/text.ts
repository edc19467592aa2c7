import type { Json } from "../model/json.ts";
import type { FieldJson } from "../model/plan.ts";
import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import { fieldName } from "../render/field-name.ts";
import { groupBy } from "../render/group.ts";
import type { Style } from "../render/style.ts";
import { fieldLines } from "../render/text-field.ts";
import { clip, valueText } from "../render/value-text.ts";
import { count, placeOf as partsOf } from "../render/words.ts";
import type { Difference, DiffSide, Lone, StageDiff } from "./difference.ts";
import type { PlaceOf } from "./json.ts";

export interface StageTextOptions {
  readonly style: Style;
  readonly width: number;
  readonly placeOf: PlaceOf;
}

/** Two stages side by side, for people: a tree per target, each field with both places. */
export function renderStageDiff(diff: StageDiff, options: StageTextOptions): string {
  const { differences, onlyFrom, onlyTo } = diff;
  const { style } = options;
  const sections = [
    [style.strong(`Stage ${safeLine(diff.from)} → ${safeLine(diff.to)}`)],
    ...[...groupBy(differences, ({ address }) => partsOf(address).target)].map(([target, own]) => [
      style.strong(target),
      ...[...groupBy(own, ({ address }) => address)].flatMap(([address, fields]) => [
        `  ${style.action("update", "~")} ${style.strong(address)}`,
        ...fields.flatMap((one) => differenceLines(one, diff, options)).map((line) => `      ${line}`),
      ]),
    ]),
    loneLines(diff.from, onlyFrom, options),
    loneLines(diff.to, onlyTo, options),
    [summaryLine(diff, style)],
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n")}\n`);
  return withoutWorkflowCommands(text.join("\n"));
}

function differenceLines(
  { path, sensitive, from, to }: Difference,
  stages: StageDiff,
  options: StageTextOptions,
): readonly string[] {
  const width = Math.max(stages.from.length, stages.to.length);
  const sideLine = (stage: string, side: DiffSide | undefined): string => {
    const where = side === undefined ? "not declared" : placeText(side.origin, options.placeOf);
    return `  ${options.style.faint(`${safeLine(stage).padEnd(width)}  ${where}`)}`;
  };
  return [
    ...valueLines({ path, ...(sensitive ? { sensitive } : {}) }, from, to, options),
    sideLine(stages.from, from),
    sideLine(stages.to, to),
  ];
}

function valueLines(
  field: Pick<FieldJson, "path" | "sensitive">,
  from: DiffSide | undefined,
  to: DiffSide | undefined,
  options: StageTextOptions,
): readonly string[] {
  const [before, after] = [from?.value, to?.value];
  if (field.sensitive || (before !== undefined && after !== undefined)) {
    const both = before === undefined || after === undefined ? {} : { before, after };
    return fieldLines({ ...field, ...both }, "update", "", {
      ...options,
      width: options.width - 6,
      verbose: false,
    });
  }
  return [`${fieldName(field.path)}: ${oneSide(before)} → ${oneSide(after)}`];
}

/** What fills a few lines of a terminal; `--format json` has it whole. */
const MOST = 400;

function oneSide(value: Json | undefined): string {
  return value === undefined ? "(not declared)" : clip(valueText(value), MOST);
}

function loneLines(stage: string, lone: readonly Lone[], { style, placeOf }: StageTextOptions) {
  if (lone.length === 0) return [];
  return [
    style.strong(`Only in ${safeLine(stage)}`),
    ...lone.map(({ address, origin }) => `  ${address}  ${style.faint(placeText(origin, placeOf))}`),
  ];
}

export function placeText(origin: Lone["origin"], placeOf: PlaceOf): string {
  if (origin === undefined) return "";
  const place = placeOf(origin);
  return safeLine(place === undefined ? origin.file : `${place.file}:${place.line}:${place.column}`);
}

function summaryLine({ differences, onlyFrom, onlyTo }: StageDiff, style: Style): string {
  const alone = onlyFrom.length + onlyTo.length;
  if (differences.length + alone === 0) return "No difference.";
  const parts = [
    `${count(differences.length, "field")} ${differences.length === 1 ? "differs" : "differ"}`,
    ...(alone === 0 ? [] : [`${count(alone, "resource")} only in one stage`]),
  ];
  return style.strong(parts.join(", "));
}
