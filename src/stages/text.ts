import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import type { Style } from "../render/style.ts";
import { count, groupBy, placeOf as partsOf } from "../render/words.ts";
import type { DiffSide, Difference, Lone, StageDiff } from "./difference.ts";
import type { PlaceOf } from "./json.ts";
import { placeText } from "./place-text.ts";
import { valueLines } from "./value-lines.ts";

export interface StageTextOptions {
  readonly style: Style;
  readonly width: number;
  readonly placeOf: PlaceOf;
  /** Whether every field was compared, or those that promotion carries. */
  readonly all: boolean;
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
    [summaryLine(diff, options)],
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
    ...valueLines(
      {
        path,
        ...(sensitive ? { sensitive } : {}),
        ...(from?.value === undefined ? {} : { before: from.value }),
        ...(to?.value === undefined ? {} : { after: to.value }),
      },
      { ...options, width: options.width - 6 },
    ),
    sideLine(stages.from, from),
    sideLine(stages.to, to),
  ];
}

function loneLines(stage: string, lone: readonly Lone[], { style, placeOf }: StageTextOptions) {
  if (lone.length === 0) return [];
  return [
    style.strong(`Only in ${safeLine(stage)}`),
    ...lone.map(({ address, origin }) => `  ${address}  ${style.faint(placeText(origin, placeOf))}`),
  ];
}

function summaryLine({ differences, onlyFrom, onlyTo }: StageDiff, { style, all }: StageTextOptions): string {
  const alone = onlyFrom.length + onlyTo.length;
  if (differences.length + alone === 0)
    return all ? "No difference." : "No difference in what promotion carries; `--all` compares every field.";
  const parts = [
    `${count(differences.length, "field")} ${differences.length === 1 ? "differs" : "differ"}`,
    ...(alone === 0 ? [] : [`${count(alone, "resource")} only in one stage`]),
  ];
  return style.strong(parts.join(", "));
}
