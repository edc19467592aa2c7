import { type PlaceOf, placeText, valueLines } from "../inspect/stages.ts";
import type { JsonObject } from "../model/json.ts";
import { safeLine, withoutWorkflowCommands } from "../render/escape.ts";
import { fieldName } from "../render/fields.ts";
import type { Redactor } from "../render/redact.ts";
import type { Style } from "../render/style.ts";
import { count, groupBy, placeOf as partsOf } from "../render/words.ts";
import { type NewText, patchOf } from "./edit-files.ts";
import type { Left, Rewriting, Rewritten } from "./rewrite.ts";

export interface RewritingMeta {
  /** What it is about: stages, the service. */
  readonly head: JsonObject;
  readonly written: boolean;
  readonly texts: readonly NewText[];
  readonly placeOf: PlaceOf;
}

/** A rewriting for programs; keys in a fixed order. */
export function rewritingJson(
  { changes, left }: Rewriting,
  { head, written, texts, placeOf }: RewritingMeta,
) {
  return {
    formatVersion: "1.0",
    ...head,
    written,
    summary: { changed: changes.length, left: left.length, files: texts.length },
    changes: changes.map((change) => changeJson(change, placeOf)),
    left: left.map((one) => leftJson(one, placeOf)),
    files: texts.map((text) => ({ file: text.file, diff: patchOf(text) })),
  };
}

function changeJson(
  { address, path, sensitive, before, after, layer, origin, alsoStages = [] }: Rewritten,
  placeOf: PlaceOf,
) {
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    layer,
    ...(placeOf(origin) ?? { file: origin.file }),
    ...(alsoStages.length === 0 ? {} : { alsoStages }),
  };
}

function leftJson({ address, path, reason, origin }: Left, placeOf: PlaceOf) {
  return {
    address,
    ...(path === undefined ? {} : { path }),
    reason,
    ...(origin === undefined ? {} : placeOf(origin)),
  };
}

/** Takes secrets out of values before a renderer cuts or escapes them. */
export function redactRewriting({ changes, left }: Rewriting, redactor: Redactor): Rewriting {
  const change = ({ before, after, ...rest }: Rewritten): Rewritten => ({
    ...rest,
    ...(before === undefined ? {} : { before: redactor.json(before) }),
    ...(after === undefined ? {} : { after: redactor.json(after) }),
  });
  const leave = (one: Left): Left => ({ ...one, reason: redactor.text(one.reason) });
  return { changes: changes.map(change), left: left.map(leave) };
}

export interface RewritingTextOptions {
  readonly style: Style;
  readonly width: number;
  readonly placeOf: PlaceOf;
  readonly texts: readonly NewText[];
  readonly dryRun: boolean;
  /** The first line: what it is about. */
  readonly title: string;
  /** In place of the summary where there is nothing to do and nothing is left. */
  readonly nothing: string;
}

/** A rewriting for people: the fields by target, what was left and why, and in a rehearsal the change of the files. */
export function renderRewriting({ changes, left }: Rewriting, options: RewritingTextOptions): string {
  const { style, texts, dryRun } = options;
  const sections = [
    [style.strong(safeLine(options.title))],
    ...[...groupBy(changes, ({ address }) => partsOf(address).target)].map(([target, own]) => [
      style.strong(target),
      ...[...groupBy(own, ({ address }) => address)].flatMap(([address, fields]) => [
        `  ${style.action("update", "~")} ${style.strong(address)}`,
        ...fields.flatMap((one) => changeLines(one, options)).map((line) => `      ${line}`),
      ]),
    ]),
    leftLines(left, options),
    ...(dryRun ? texts.map((text) => patchLines(text, style)) : []),
    [summaryLine(changes, left, options)],
  ];
  const text = sections.filter((lines) => lines.length > 0).map((lines) => `${lines.join("\n")}\n`);
  return withoutWorkflowCommands(text.join("\n"));
}

function changeLines(change: Rewritten, options: RewritingTextOptions): readonly string[] {
  const { layer, origin, alsoStages = [] } = change;
  const also = alsoStages.length === 0 ? "" : ` (also used by: ${alsoStages.map(safeLine).join(", ")})`;
  return [
    ...valueLines(change, { ...options, width: options.width - 6 }),
    `  ${options.style.faint(`${placeText(origin, options.placeOf)}  ${layer}${also}`)}`,
  ];
}

function leftLines(left: readonly Left[], { style, placeOf }: RewritingTextOptions): readonly string[] {
  if (left.length === 0) return [];
  return [
    style.strong("Left as it is"),
    ...left.flatMap(({ address, path, reason, origin }) => {
      const place = origin === undefined ? "" : `  ${style.faint(placeText(origin, placeOf))}`;
      const name = path === undefined ? "" : ` ${fieldName(path)}`;
      return [`  ${address}${name}${place}`, `      ${safeLine(reason)}`];
    }),
  ];
}

function patchLines(text: NewText, style: Style): readonly string[] {
  return patchOf(text)
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => {
      if (/^(?:---|\+\+\+) [ab]\//.test(line)) return style.strong(safeLine(line));
      if (line.startsWith("+")) return style.added(safeLine(line));
      if (line.startsWith("-")) return style.removed(safeLine(line));
      return line.startsWith("@") ? style.faint(safeLine(line)) : safeLine(line);
    });
}

function summaryLine(
  changes: readonly Rewritten[],
  left: readonly Left[],
  { style, texts, dryRun, nothing }: RewritingTextOptions,
): string {
  if (changes.length + left.length === 0) return nothing;
  const rest =
    left.length === 0 ? "" : `, ${left.length} left as ${left.length === 1 ? "it is" : "they are"}`;
  if (changes.length === 0) return style.strong(`Nothing can be changed${rest}`);
  const what = `${count(changes.length, "field")} in ${count(texts.length, "file")}${rest}`;
  return style.strong(dryRun ? `Would change ${what}; nothing was written` : `Changed ${what}`);
}
