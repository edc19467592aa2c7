import type { Json } from "../model/json.ts";
import type { Action, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { fieldName } from "./field-name.ts";
import { lineDiff } from "./text-diff.ts";
import { clip, valueText } from "./value-text.ts";
import { textWidth } from "./width.ts";

/** A field's change on one line: `status: DRAFT → ENABLED`. Of long text it says how much of it changes. */
export function fieldLine(field: FieldJson, action: Action, most: number): string {
  const { path, before, after, sensitive } = field;
  const name = fieldName(path);
  if (sensitive) return `${name}: ${SENSITIVE}`;
  if (isText(before) && isText(after) && (isLongText(before) || isLongText(after)))
    return `${name}: ${diffSize(before, after)}`;
  if (action === "create" && after !== undefined) return `${name}: ${clip(valueText(after), most)}`;
  const sides = [before, after].map((side) =>
    side === undefined ? missingText(field) : clip(valueText(side), most),
  );
  return `${name}: ${sides.join(" → ")}`;
}

/** A side that is missing is a value that never shows, or an item of a list that comes or goes. */
export function missingText({ path }: FieldJson): string {
  return typeof path.at(-1) === "number" ? "(none)" : "(not shown)";
}

export function isText(value: Json | undefined): value is string {
  return typeof value === "string";
}

/** Texts from this width on read better as a block. */
const LONG = 60;

export function isLongText(text: string): boolean {
  return text.includes("\n") || textWidth(text) > LONG;
}

function diffSize(before: string, after: string): string {
  const pieces = lineDiff(before, after);
  const [removed, added] = (["removed", "added"] as const).map(
    (kind) => pieces.filter((piece) => piece.kind === kind).length,
  );
  return `${removed} lines removed, ${added} added`.replace(/\b1 lines/, "1 line");
}
