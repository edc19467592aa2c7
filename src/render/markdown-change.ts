import type { ChangeJson, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { html, markdownBlock, markdownCellCode } from "../output/escape.ts";
import { changedByText, whoChanged } from "./extras.ts";
import type { PlanExtras } from "./extras.ts";
import { fieldLine, isLongText, isText, missingText } from "./field-line.ts";
import { fieldName } from "./field-name.ts";
import type { Fold } from "./fold.ts";
import { SIGNS } from "./signs.ts";
import { excerpts, lineDiff } from "./text-diff.ts";
import type { Excerpt } from "./text-diff.ts";
import { clip, valueText } from "./value-text.ts";
import { count } from "./words.ts";

/** Fields that a row of the table names, and characters of each side. */
const FIELDS_IN_ROW = 3;
const SIDE_IN_ROW = 40;

/** A row of the table: sign and action, address, the first fields. */
export function changeRow(fold: Fold): string {
  const { action, address, fields } = fold.first;
  const more = fold.changes.length - 1;
  const shown = fields
    .slice(0, FIELDS_IN_ROW)
    .map((field) => markdownCellCode(fieldLine(field, action, SIDE_IN_ROW)));
  const left = fields.length - shown.length;
  const cells = [
    `${SIGNS[action]}\u00a0${action}`,
    more === 0 ? markdownCellCode(address) : `${markdownCellCode(address)} and ${more} more alike`,
    [...shown, ...(left === 0 ? [] : [`and ${count(left, "more field")}`])].join("<br>"),
  ];
  return `| ${cells.join(" | ")} |\n`;
}

/** Details that only repeat the row are left out: a reviewer would open them for nothing. */
export function rowSaysAll({ first, changes }: Fold, extras: PlanExtras): boolean {
  const { action, address, fields } = first;
  const full = (field: FieldJson): boolean =>
    whoChanged(extras, address, field.path) === undefined &&
    ![field.before, field.after].some((value) => isText(value) && isLongText(value)) &&
    fieldLine(field, action, SIDE_IN_ROW) === fieldLine(field, action, MOST);
  return changes.length === 1 && fields.length <= FIELDS_IN_ROW && fields.every(full);
}

/** Alike changes that are named in the details. */
const MOST_NAMES = 50;

/** What a row says in full, folded away. */
export function changeDetails(fold: Fold, extras: PlanExtras): string {
  const { action, address } = fold.first;
  const more = fold.changes.length - 1;
  const alike = more === 0 ? "" : ` and ${more} more alike`;
  const names = more === 0 ? "" : markdownBlock(namesText(fold), "text");
  return (
    `<details><summary>${SIGNS[action]} ${action} <code>${html(address)}</code>${alike}</summary>\n\n` +
    `${markdownBlock(fieldLines(fold.first, extras).join("\n"), "diff")}${names}\n</details>\n`
  );
}

function namesText({ changes }: Fold): string {
  const names = changes.slice(0, MOST_NAMES).map((change) => change.address);
  const left = changes.length - names.length;
  return [...names, ...(left === 0 ? [] : [`and ${left} more`])].join("\n");
}

function fieldLines({ address, action, fields }: ChangeJson, extras: PlanExtras): readonly string[] {
  return fields.flatMap((field) => {
    const who = whoChanged(extras, address, field.path);
    const note = who === undefined ? [] : [`  # ${changedByText(who)}`];
    return [...note, ...diffLines(field, action)];
  });
}

/** Characters of one side of a field. */
const MOST = 2000;

/** A field as a diff: what goes, what comes; long text line by line. */
function diffLines(field: FieldJson, action: ChangeJson["action"]): readonly string[] {
  const { path, before, after, sensitive } = field;
  const name = fieldName(path);
  if (sensitive) return [`! ${name}: ${SENSITIVE}`];
  if (isText(before) && isText(after) && (isLongText(before) || isLongText(after)))
    return [`  ${name}:`, ...excerpts(lineDiff(before, after)).map(excerptLine)];
  if (isText(after) && isLongText(after))
    return [
      ...side("-", name, before, field, action),
      `+ ${name}:`,
      ...after.split("\n").map((line) => `+   ${clip(line, MOST)}`),
    ];
  return [...side("-", name, before, field, action), ...side("+", name, after, field, action)];
}

function side(
  sign: "+" | "-",
  name: string,
  value: FieldJson["before"],
  field: FieldJson,
  action: ChangeJson["action"],
): readonly string[] {
  if (value !== undefined) return [`${sign} ${name}: ${clip(valueText(value), MOST)}`];
  return action === "create" || typeof field.path.at(-1) === "number"
    ? []
    : [`${sign} ${name}: ${missingText(field)}`];
}

function excerptLine(piece: Excerpt): string {
  if (piece.kind === "skipped") return `    (${count(piece.lines, "unchanged line")})`;
  const sign = piece.kind === "added" ? "+" : piece.kind === "removed" ? "-" : " ";
  return `${sign}   ${clip(piece.text, MOST)}`;
}
