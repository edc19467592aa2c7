import type { Origin } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine, withoutWorkflowCommands } from "../output/safe.ts";
import { clip, valueText } from "../render/fields.ts";
import { type Style, wrap } from "../render/style.ts";
import { PROBLEM_SIGN, SIGNS } from "../render/words.ts";
import type { ExplainedField, Explanation, Placeholder, Source } from "./explanation.ts";
import type { PlaceOf } from "./json.ts";

export interface ExplainTextOptions {
  readonly style: Style;
  readonly width: number;
  readonly placeOf: PlaceOf;
}

/** The explanation for people: the resource, then each field from its source to its consequence. */
export function renderExplanation(explanation: Explanation, options: ExplainTextOptions): string {
  const sections = [
    headLines(explanation, options),
    ...explanation.fields.map((field) => fieldLines(field, options)),
  ];
  return withoutWorkflowCommands(
    sections.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n"),
  );
}

function headLines(
  { address, stage, id, found, action, why, calls }: Explanation,
  options: ExplainTextOptions,
) {
  const { style } = options;
  return [
    `${signOf(action, style)}${style.strong(address)}  ${style.faint(`stage ${safeLine(stage)}`)}`,
    ...row("live", id === undefined ? found : `${safeLine(id)}, ${found}`, options),
    ...row("action", action, options),
    ...row("why", why, options),
    ...calls.map(({ method, path }) => `  ${style.faint(`${method} ${safeLine(path)}`)}`),
  ];
}

function signOf(action: Explanation["action"], style: Style): string {
  if (action === "problem") return `${style.error(PROBLEM_SIGN)} `;
  return action === "none" || action === "unknown" ? "" : `${style.action(action, SIGNS[action])} `;
}

function fieldLines(field: ExplainedField, options: ExplainTextOptions): readonly string[] {
  const { name, sources, placeholders, value, live, liveNote, remembered, why } = field;
  return [
    options.style.strong(name),
    ...sources.flatMap((source) => sourceLines(source, options)),
    ...placeholders.flatMap((placeholder) => placeholderLines(placeholder, options)),
    ...row("value", value === undefined ? "not declared" : shortText(value), options),
    ...row("live", live === undefined ? (liveNote ?? "") : shortText(live), options),
    ...row("state", remembered, options),
    ...row("why", why, options),
  ];
}

const ROLES: Readonly<Record<Source["role"], string>> = {
  counts: "",
  merged: "  (merged with what follows)",
  replaced: "  (replaced by what follows)",
};

function sourceLines(
  { layer, origin, written, role }: Source,
  options: ExplainTextOptions,
): readonly string[] {
  const place = options.style.faint(placeText(origin, options.placeOf));
  return row("from", `${place}  ${layer}: ${shortText(written)}${options.style.faint(ROLES[role])}`, options);
}

function placeholderLines(
  { source, origin, means }: Placeholder,
  options: ExplainTextOptions,
): readonly string[] {
  const place = origin === undefined ? "" : `  ${options.style.faint(placeText(origin, options.placeOf))}`;
  return row("with", `${safeLine(source)} = ${safeLine(means)}${place}`, options);
}

function placeText(origin: Origin, placeOf: PlaceOf): string {
  const place = placeOf(origin);
  return safeLine(place === undefined ? origin.file : `${place.file}:${place.line}:${place.column}`);
}

/** What fills a few lines of a terminal; `--format json` has it whole. */
const MOST = 400;

function shortText(value: Json): string {
  return value === SENSITIVE ? value : clip(valueText(value), MOST);
}

const LABEL = 8;

/** A label, and a text that wraps beside it. */
function row(label: string, text: string, { style, width }: ExplainTextOptions): readonly string[] {
  return wrap(text, Math.max(20, width - LABEL - 2)).map((line, at) =>
    at === 0 ? `  ${style.faint(label.padEnd(LABEL))}${line}` : `  ${" ".repeat(LABEL)}${line}`,
  );
}
