import { diffLines, diffWordsWithSpace } from "diff";
import { fieldsOf } from "../model/fields.ts";
import { type Json, type Path, isArray, isObject } from "../model/json.ts";
import type { Action, ChangeJson, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine } from "./escape.ts";
import type { PlanExtras } from "./json.ts";
import { textWidth } from "./style.ts";
import { HARMS, groupBy, placeOf } from "./words.ts";

/** A field's path as people write it: `discovery.prompt`, `elements[2].locatorLine`, `headers["X.Y"]`. */
export function fieldName(path: Path): string {
  return path.map(step).join("");
}

function step(key: string | number, at: number): string {
  if (typeof key === "number") return `[${key}]`;
  if (!/^[A-Za-z0-9_][A-Za-z0-9_-]*$/.test(key)) return `[${safeLine(JSON.stringify(key))}]`;
  return at === 0 ? key : `.${key}`;
}

/** A field's change on one line: `status: DRAFT → ENABLED`. Of long text it says how much of it changes. */
export function fieldLine(field: FieldJson, action: Action, most: number): string {
  return `${[fieldName(field.path), ...changeMeaning(field)].join(": ")}: ${fieldValues(field, action, most)}`;
}

/** What follows the name of a field on one line. */
export function fieldValues(field: FieldJson, action: Action, most: number): string {
  const { before, after, sensitive } = field;
  if (sensitive) return SENSITIVE;
  const texts = longTexts(before, after);
  if (texts !== undefined) return diffSize(...texts);
  const only = onlySide(field, action);
  if (only !== undefined) return clip(valueText(only), most);
  return [before, after]
    .map((side) => (side === undefined ? NOT_SHOWN : clip(valueText(side), most)))
    .join(" → ");
}

/**
 * What the change of an element means, where its values alone would not say it at a glance: `step removed, assertion
 * removed`. Nothing for any other field.
 */
export function changeMeaning({ path, before, after, movedFrom, harmful }: FieldJson): readonly string[] {
  const harm = harmful === undefined ? [] : [HARMS[harmful]];
  if (!isListItem(path)) return harm;
  const noun = path.at(-2) === "elements" ? "step" : "item";
  const what =
    movedFrom !== undefined
      ? `moved from ${fieldName([...path.slice(0, -1), movedFrom])}`
      : before === undefined
        ? "inserted"
        : after === undefined
          ? "removed"
          : "replaced";
  return [harmful === undefined ? `${noun} ${what}` : `${noun} ${what}, ${harmful}`];
}

/** The value to show where a change has no two sides: of what is made, or of an item that comes or goes. */
export function onlySide({ path, before, after }: FieldJson, action: Action): Json | undefined {
  if (isListItem(path)) return before === undefined ? after : after === undefined ? before : undefined;
  return action === "create" ? after : undefined;
}

function isListItem(path: Path): boolean {
  return typeof path.at(-1) === "number";
}

/** Whether this field is what makes its change harmful. */
export function isHarmful({ path, after, harmful }: FieldJson, action: Action): boolean {
  if (harmful !== undefined) return true;
  const [name] = path;
  return (
    action === "disable" &&
    ((name === "status" && after === "DISABLED") || (name === "runStatus" && after === "OFF"))
  );
}

/**
 * The fields of a change that a line names: those that make it harmful, then as many of the others as there is room, the
 * prompt that regenerates a test case before the rest.
 */
export function leadingFields({ fields, action }: Pick<ChangeJson, "fields" | "action">, most: number) {
  const harmful = fields.filter((field) => isHarmful(field, action));
  const harmless = fields.filter((field) => !isHarmful(field, action));
  const others =
    action === "rediscover"
      ? harmless.toSorted((a, b) => Number(generates(b)) - Number(generates(a)))
      : harmless;
  const shown = [...harmful, ...others].slice(0, Math.max(most, harmful.length));
  return { shown, left: fields.length - shown.length };
}

function generates({ path }: FieldJson): boolean {
  return fieldsOf("testCase").some((field) => field.generates === true && field.name === path.join("."));
}

/** All fields of a change, a line each. */
export function fieldsText({ fields, action }: ChangeJson, most: number): string {
  return fields.map((field) => fieldLine(field, action, most)).join("\n");
}

/** In place of a value that never shows. */
export const NOT_SHOWN = "(not shown)";

/** Both values, where they are long texts, whose difference reads better than they do. */
export function longTexts(
  before: Json | undefined,
  after: Json | undefined,
): readonly [before: string, after: string] | undefined {
  if (!isText(before) || !isText(after)) return undefined;
  return isLongText(before) || isLongText(after) ? [before, after] : undefined;
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

/** A value on one line, as its author would write it in YAML: bare where that cannot be misread. */
export function valueText(value: Json): string {
  if (typeof value === "string") return isBare(value) ? value : safeLine(JSON.stringify(value));
  if (isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inner).join(", ")}]`;
  if (!isObject(value)) return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${inner(key)}: ${inner(part)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** Inside a list or an object a comma or a bracket would part what belongs together. */
function inner(value: Json): string {
  if (typeof value !== "string") return valueText(value);
  return isBare(value) && !/[,[\]{}]|: |:$/.test(value) ? value : safeLine(JSON.stringify(value));
}

/** Nothing that looks like another kind of value, hides at the edges, or must be escaped. */
function isBare(text: string): boolean {
  return (
    text !== "" &&
    text === text.trim() &&
    text === safeLine(text) &&
    !/^(?:null|true|false|~|-?[\d.][\d.eE+-]*)$/.test(text) &&
    !/^["'[{(]|→|^[-+~!#]\s/.test(text)
  );
}

/** The start of a text that is too long, and how long it is. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}… (${text.length} characters)`;
}

/** A piece of a text that was kept, added or removed. */
export interface Piece {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Lines of both texts in reading order. A line break at the very end does not count as a line. */
export function lineDiff(before: string, after: string): readonly Piece[] {
  const parts = diffLines(ended(before), ended(after), BOUND);
  if (parts === undefined) return [...lines("removed", before), ...lines("added", after)];
  return parts.flatMap((part) => lines(kindOf(part), part.value));
}

/** Words and the white space between them; neighbouring words that changed are one change. */
export function wordDiff(before: string, after: string): readonly Piece[] {
  const parts = diffWordsWithSpace(before, after, BOUND);
  if (parts !== undefined) return joined(parts.map((part) => ({ kind: kindOf(part), text: part.value })));
  return [
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ];
}

/** Puts changes together between which nothing but spaces was kept: sentences, not a salad of words. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  let run: Piece[] = [];
  const flush = (): void => {
    for (const kind of ["removed", "added"] as const) {
      const text = run
        .map((piece) => (piece.kind === kind || piece.kind === "same" ? piece.text : ""))
        .join("");
      if (text !== "") result.push({ kind, text });
    }
    run = [];
  };
  for (const [at, piece] of pieces.entries()) {
    const between = run.length > 0 && at + 1 < pieces.length && /^[^\S\n]+$/.test(piece.text);
    if (piece.kind !== "same" || between) run.push(piece);
    else {
      flush();
      result.push(piece);
    }
  }
  flush();
  return result;
}

/** Two texts with nothing in common are not worth the time that it takes to find that out. */
const BOUND = { maxEditLength: 2000 };

function lines(kind: Piece["kind"], text: string): readonly Piece[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ kind, text: line }));
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function kindOf(part: { readonly added: boolean; readonly removed: boolean }): Piece["kind"] {
  return part.added ? "added" : part.removed ? "removed" : "same";
}

/** Kept lines that stay beside a change. */
const CONTEXT = 2;

export type Excerpt = Piece | { readonly kind: "skipped"; readonly lines: number };

/** The diff without kept lines far from any change; leaving out a single line would save nothing. */
export function excerpts(pieces: readonly Piece[]): readonly Excerpt[] {
  const near = pieces.map((_, at) =>
    pieces.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  );
  const result: Excerpt[] = [];
  for (let at = 0; at < pieces.length;) {
    const next = near.indexOf(true, at);
    const far = (next === -1 ? pieces.length : next) - at;
    if (far > 1) result.push({ kind: "skipped", lines: far });
    else result.push(...pieces.slice(at, at + 1));
    at += Math.max(1, far);
  }
  return result;
}

/** Changes of one target that say the same, in the order of the plan. */
export interface FoldedChanges {
  readonly first: ChangeJson;
  readonly changes: readonly ChangeJson[];
}

/** Fewer alike changes are quicker to read one by one. */
const FEWEST = 4;

/**
 * Puts alike changes together at the place of the first: same kind of resource, same action, same fields with the
 * same values, changed by the same hand. So a tag that is set on a thousand test cases is one thing to read.
 *
 * @param verbose each by itself
 */
export function foldAlike(
  changes: readonly ChangeJson[],
  extras: PlanExtras,
  verbose = false,
): readonly FoldedChanges[] {
  if (verbose) return changes.map((change) => ({ first: change, changes: [change] }));
  const groups = groupBy(changes, (change) => likeness(change, extras));
  return changes.flatMap((change) => {
    const group = groups.get(likeness(change, extras)) ?? [];
    if (group.length < FEWEST) return [{ first: change, changes: [change] }];
    return group[0] === change ? [{ first: change, changes: group }] : [];
  });
}

function likeness({ address, action, fields }: ChangeJson, extras: PlanExtras): string {
  const { kind, target } = placeOf(address);
  return JSON.stringify([target, kind, action, fields, extras.changedBy?.[address] ?? null]);
}
