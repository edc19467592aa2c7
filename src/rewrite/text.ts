import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import { fieldName } from "../render/fields.ts";
import type { Style } from "../render/style.ts";
import { count, groupBy, list, placeOf as partsOf } from "../render/words.ts";
import type { PlaceOf } from "../stages/json.ts";
import { placeText } from "../stages/place-text.ts";
import { valueLines } from "../stages/value-lines.ts";
import { patchOf } from "./patch.ts";
import type { Left, Rewriting, Rewritten } from "./rewriting.ts";
import type { NewText } from "./texts.ts";

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
  const also = alsoStages.length === 0 ? "" : `; ${list(alsoStages.map(safeLine))} resolve it, too`;
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
