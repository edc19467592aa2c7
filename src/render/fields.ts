import { diffArrays, diffLines } from "diff";
import { fieldsOf } from "../model/fields.ts";
import { type Json, type Path, isArray, isObject } from "../model/json.ts";
import type { Action, FieldJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { count } from "../model/words.ts";
import { groupBy } from "../model/collections.ts";
import { placeOf } from "../model/address.ts";
import { safeLine } from "./escape.ts";
import type { ChangeView } from "./json.ts";
import { textWidth } from "./style.ts";
import { HARMS, fieldName } from "./words.ts";

/**
 * Returns a field's change on one line, `status: DRAFT → ENABLED`; for long text, the number of
 * changed lines.
 */
export function fieldLine(field: FieldJson, action: Action, most: number): string {
  return [fieldName(field.path), ...changeMeaning(field), fieldValues(field, action, most)].join(
    ": ",
  );
}

export function fieldValues(field: FieldJson, action: Action, most: number): string {
  if (field.sensitive) return SENSITIVE;
  const texts = longTexts(field);
  if (texts !== undefined) {
    const kinds = groupBy(lineDiff(...texts), ({ kind }) => kind);
    const amount = (kind: Piece["kind"]): number => kinds.get(kind)?.length ?? 0;
    return `${count(amount("removed"), "line")} removed, ${amount("added")} added`;
  }
  return sidesOf(field, action)
    .map(({ value }) => (value === undefined ? NOT_SHOWN : clip(valueText(value), most)))
    .join(" → ");
}

/**
 * Returns what the change of an element means: `step removed, assertion lost`. Empty for most other
 * fields.
 */
export function changeMeaning({
  path,
  before,
  after,
  movedFrom,
  harmful,
}: FieldJson): readonly string[] {
  if (!isListItem(path)) return harmful === undefined ? [] : [HARMS[harmful]];
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

/** Returns the sides of a change; a side without a value is not shown by the service. */
export function sidesOf({ path, before, after }: FieldJson, action: Action) {
  const sides = [
    { kind: "removed", value: before },
    { kind: "added", value: after },
  ] as const;
  return action !== "create" && !isListItem(path)
    ? sides
    : sides.filter(({ value }) => value !== undefined);
}

function isListItem(path: Path): boolean {
  return typeof path.at(-1) === "number";
}

export function isHarmful({ path: [name], after, harmful }: FieldJson, action: Action): boolean {
  const isOff =
    (name === "status" && after === "DISABLED") || (name === "runStatus" && after === "OFF");
  return harmful !== undefined || (action === "disable" && isOff);
}

/**
 * Returns the fields that a line names: all harmful ones, then, if there is room, the prompt that
 * regenerates, the rest.
 */
export function leadingFields(
  { fields, action }: Pick<ChangeView, "fields" | "action">,
  most: number,
) {
  const rank = (field: FieldJson): number =>
    isHarmful(field, action) ? 0 : action === "rediscover" && generates(field) ? 1 : 2;
  const harmful = fields.filter((field) => isHarmful(field, action)).length;
  const shown = fields.toSorted((a, b) => rank(a) - rank(b)).slice(0, Math.max(most, harmful));
  return { shown, left: fields.length - shown.length };
}

function generates({ path }: FieldJson): boolean {
  return fieldsOf("testCase").some(
    (field) => field.generates === true && field.name === path.join("."),
  );
}

export function fieldsText({ fields, action }: ChangeView, most: number): string {
  return fields.map((field) => fieldLine(field, action, most)).join("\n");
}

/** Placeholder for a value that is never shown. */
export const NOT_SHOWN = "(not shown)";

/**
 * Returns both values if they are texts and one of them is long: their difference then reads better
 * than the values.
 */
export function longTexts({ before, after }: FieldJson) {
  if (typeof before !== "string" || typeof after !== "string") return undefined;
  return isLongText(before) || isLongText(after) ? ([before, after] as const) : undefined;
}

/** Texts wider than this read better as a block. */
const LONG = 60;

export function isLongText(value: Json | undefined): value is string {
  if (typeof value !== "string") return false;
  // No character is wider than two columns.
  return value.includes("\n") || (value.length * 2 > LONG && textWidth(value) > LONG);
}

/**
 * Writes a value on one line as its author would in YAML, without quotes if it cannot be misread.
 */
export function valueText(value: Json): string {
  if (typeof value === "string") return isBare(value) ? value : safeLine(JSON.stringify(value));
  if (isArray(value)) return value.length === 0 ? "[]" : `[${value.map(inner).join(", ")}]`;
  if (!isObject(value)) return String(value);
  const parts = Object.entries(value).map(([key, part]) => `${inner(key)}: ${inner(part)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

/** Writes a value inside a list or an object, where a comma or a bracket would split it. */
function inner(value: Json): string {
  if (typeof value !== "string") return valueText(value);
  return isBare(value) && !/[,[\]{}]|: |:$/.test(value) ? value : safeLine(JSON.stringify(value));
}

/**
 * True if a text does not look like another type, has no white space at its edges, and needs no
 * escaping.
 */
function isBare(text: string): boolean {
  // The usual case: words.
  if (/^(?!(?:null|true|false)$)[A-Za-z](?:[\w .,/-]*[\w.,/-])?$/.test(text)) return true;
  return (
    text !== "" &&
    text === text.trim() &&
    text === safeLine(text) &&
    !/^(?:null|true|false|~|-?[\d.][\d.eE+-]*)$/.test(text) &&
    !/^["'[{(]|→|^[-+~!#]\s/.test(text)
  );
}

/** Returns the start of a text that is too long, and its length. */
export function clip(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, most).replace(/[\ud800-\udbff]$/, "")}… (${text.length} characters)`;
}

/**
 * Long lines are split at sentences: showing their beginning only, or all of them, would hide what
 * differs.
 */
const LONG_LINE = /(?<![^\n])[^\n]{501,}/g;
const SENTENCE = /(?:[^]{0,498}?[.!?] |[^]{500})(?=[^])/guy;
export const inLines = (text: string) =>
  text.length > 500 ? text.replace(LONG_LINE, (line) => line.replace(SENTENCE, "$&…\n")) : text;

export type Piece = { readonly kind: "same" | "added" | "removed"; readonly text: string };

/**
 * Compares two texts line by line, in reading order. A line break at the very end does not count as
 * a line.
 */
export function lineDiff(before: string, after: string): readonly Piece[] {
  const [old = "", wanted = ""] = [before, after].map((text) =>
    text === "" || text.endsWith("\n") ? inLines(text) : `${inLines(text)}\n`,
  );
  const { start, end, removed, added } = differing(old, wanted, "\n");
  const isShort = isOneLine(removed) && isOneLine(added);
  const parts = isShort ? undefined : diffLines(removed, added, { maxEditLength: MOST_LINES });
  const changed =
    parts === undefined
      ? [...lines("removed", removed), ...lines("added", added)]
      : parts.flatMap((part) => lines(kindOf(part), part.value));
  return [...lines("same", start), ...changed, ...lines("same", end)];
}

/** Whether a text, which ends with a line break if it is not empty, has at most one line. */
function isOneLine(text: string): boolean {
  return text.indexOf("\n") === text.length - 1;
}

/**
 * Compares two texts by words and the white space between them; neighbouring changed words are one
 * change.
 */
export function wordDiff(before: string, after: string): readonly Piece[] {
  const { start, end, removed, added } = differing(before, after, " ");
  const pieces: readonly Piece[] = [
    { kind: "same", text: start },
    ...changesByWord(removed, added),
    { kind: "same", text: end },
  ];
  return joined(pieces.filter(({ text }) => text !== ""));
}

function changesByWord(removed: string, added: string): readonly Piece[] {
  const shared = sharedMiddle(removed, added);
  if (shared !== undefined) {
    const [old, wanted] = [shared.removed, shared.added];
    return [
      ...changesByWord(removed.slice(0, old), added.slice(0, wanted)),
      { kind: "same", text: shared.text },
      ...changesByWord(
        removed.slice(old + shared.text.length),
        added.slice(wanted + shared.text.length),
      ),
    ];
  }
  const [old, wanted] = [removed.match(WORDS) ?? [], added.match(WORDS) ?? []];
  const isShort = old.length + wanted.length <= 2;
  const parts = isShort ? undefined : diffArrays(old, wanted, { maxEditLength: MOST_WORDS });
  return (
    parts?.map((part) => ({ kind: kindOf(part), text: part.value.join("") })) ?? [
      { kind: "removed", text: removed },
      { kind: "added", text: added },
    ]
  );
}

/** Length of the piece by which a shared middle is found. */
const PROBE = 32;
/** Maximum number of places with that piece, of which the right one shares most. */
const MOST_PLACES = 20;

/**
 * Returns the words around the middle that two texts share, if they are at least half of both, and
 * where they begin. A prompt that is edited at its start and its end is otherwise compared word by
 * word, which takes three times as long.
 */
function sharedMiddle(removed: string, added: string) {
  const longer = Math.max(removed.length, added.length);
  if (Math.min(removed.length, added.length) < 4 * PROBE) return undefined;
  const middle = (removed.length - PROBE) >> 1;
  const probe = removed.slice(middle, middle + PROBE);
  let best = { from: 0, length: 0, by: 0 };
  let places = 0;
  for (let at = added.indexOf(probe); at !== -1; at = added.indexOf(probe, at + 1)) {
    if (++places > MOST_PLACES) return undefined;
    const by = at - middle;
    let from = middle;
    while (from > 0 && removed.charCodeAt(from - 1) === added.charCodeAt(from - 1 + by)) from--;
    let end = middle + PROBE;
    while (end < removed.length && removed.charCodeAt(end) === added.charCodeAt(end + by)) end++;
    if (end - from > best.length) best = { from, length: end - from, by };
  }
  if (best.length * 2 < longer) return undefined;
  const text = removed.slice(best.from, best.from + best.length);
  const first = text.indexOf(" ");
  const last = text.lastIndexOf(" ");
  if (last <= first) return undefined;
  const start = best.from + first;
  return { text: text.slice(first, last), removed: start, added: start + best.by };
}

/**
 * Words, the white space between them, and other characters one by one, among them the letters of
 * scripts without spaces. The library's own words are Latin: it compares other scripts by letter.
 */
const WORDS =
  /(?:(?![\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}])[\p{L}\p{M}\p{N}_])+|[^\S\n]+|[^]/gu;

/**
 * Splits two texts into the start and the end that they share and what differs between them: whole
 * lines, or words. A prompt is mostly edited in one place, so the library has little to compare.
 */
function differing(before: string, after: string, separator: "\n" | " ") {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  start = before.slice(0, start).lastIndexOf(separator) + 1;
  let end = 0;
  while (end < shorter - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  // A line ends with its separator, and a space stands between two words.
  const first = before.slice(before.length - end).indexOf(separator);
  end = first === -1 ? 0 : end - first - (separator === "\n" ? 1 : 0);
  return {
    start: before.slice(0, start),
    removed: before.slice(start, before.length - end),
    added: after.slice(start, after.length - end),
    end: before.slice(before.length - end),
  };
}

/** Returns the first change of a text on one line, `one → exactly one`, and how many follow. */
export function changedWords(pieces: readonly Piece[], most: number): string {
  const first = pieces.findIndex(({ kind }) => kind !== "same");
  const parts = pieces.slice(first, first + 2).filter(({ kind }) => kind !== "same");
  const texts = parts.map(({ text }) => clip(text.trim() || text, most));
  const change =
    parts.length === 1
      ? `${safeLine(JSON.stringify(texts[0]))} ${parts[0]?.kind}`
      : texts.map(valueText).join(" → ");
  const starts = ({ kind }: Piece, at: number): boolean =>
    kind !== "same" && (pieces[at - 1]?.kind ?? "same") === "same";
  const more = pieces.filter(starts).length - 1;
  return more > 0 ? `${change}, ${more} more` : change;
}

/** Merges changes that are separated by spaces only, so that the result reads as sentences. */
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

/**
 * Maximum number of edits in a diff: time grows with the square, and above this the new text reads
 * better as a whole.
 */
const MOST_LINES = 80;
const MOST_WORDS = 100;

function lines(kind: Piece["kind"], text: string): readonly Piece[] {
  const all = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  return all.map((line) => ({ kind, text: line }));
}

function kindOf(part: { readonly added: boolean; readonly removed: boolean }): Piece["kind"] {
  return part.added ? "added" : part.removed ? "removed" : "same";
}

const CONTEXT = 2;

export type Excerpt = Piece | { readonly kind: "skipped"; readonly lines: number };

/**
 * Leaves out unchanged lines far from any change, except a single line, which would save nothing.
 */
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

/** Equal changes of one target, in the order of the plan. */
export type Fold = readonly [first: ChangeView, ...others: ChangeView[]];

/** Minimum number of equal changes to fold; fewer are quicker to read one by one. */
const FEWEST = 4;

/**
 * Folds equal changes (kind, action, fields, values, who changed them) into the first; with
 * `verbose`, folds nothing.
 */
export function foldAlike(changes: readonly ChangeView[], verbose = false): readonly Fold[] {
  const likeness = ({ address, action, fields }: ChangeView): string => {
    const { kind, target } = placeOf(address);
    return JSON.stringify([target, kind, action, fields]);
  };
  const groups = groupBy(changes, verbose ? ({ address }) => address : likeness);
  const large = [...groups.values()].filter(({ length }) => length >= FEWEST);
  const othersOf = new Map(large.map(([first, ...others]) => [first, others]));
  const folded = new Set([...othersOf.values()].flat());
  return changes.flatMap((change) => {
    return folded.has(change) ? [] : [[change, ...(othersOf.get(change) ?? [])] as const];
  });
}
