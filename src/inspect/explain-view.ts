import type { Origin, Place } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import type { FieldChange } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";
import { safeLine, withoutWorkflowCommands } from "../render/escape.ts";
import { clip, valueText } from "../render/fields.ts";
import { diagnosticJson } from "../render/json.ts";
import type { Redactor } from "../render/redact.ts";
import { type Style, wrap } from "../render/style.ts";
import { PROBLEM_SIGN, SIGNS } from "../render/words.ts";
import type { ExplainedField, Explanation, Placeholder, Source } from "./explain.ts";

type PlaceOf = (origin: Origin) => Place | undefined;

/** The explanation for programs; keys in a fixed order. */
export function explanationJson(explanation: Explanation, placeOf: PlaceOf) {
  const { address, stage, id, found, action, why, calls, fields, diagnostics } = explanation;
  return {
    formatVersion: "1.0",
    address,
    stage,
    ...(id === undefined ? {} : { id }),
    found,
    action,
    why,
    calls: calls.map(({ method, path, body }) => ({ method, path, body })),
    fields: fields.map((field) => fieldJson(field, placeOf)),
    diagnostics: diagnostics.map((diagnostic) => ({ ...diagnosticJson(diagnostic) })),
  };
}

function fieldJson(field: ExplainedField, placeOf: PlaceOf) {
  const { name, sources, placeholders, value, live, liveNote, remembered, changes, why } = field;
  return {
    name,
    sources: sources.map((source) => sourceJson(source, placeOf)),
    placeholders: placeholders.map((placeholder) => placeholderJson(placeholder, placeOf)),
    ...(value === undefined ? {} : { value }),
    ...(live === undefined ? {} : { live }),
    ...(liveNote === undefined ? {} : { liveNote }),
    remembered,
    changes: changes.map(changeJson),
    why,
  };
}

function sourceJson({ layer, origin, written, role }: Source, placeOf: PlaceOf) {
  return { layer, ...placeJson(origin, placeOf), written, role };
}

function placeholderJson({ source, origin, means }: Placeholder, placeOf: PlaceOf) {
  return { source, ...(origin === undefined ? {} : placeJson(origin, placeOf)), means };
}

function placeJson(origin: Origin, placeOf: PlaceOf) {
  const place = placeOf(origin);
  return place === undefined
    ? { file: origin.file }
    : { file: place.file, line: place.line, column: place.column };
}

function changeJson({ path, before, after, sensitive, changedBy }: FieldChange) {
  return {
    path,
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    ...(sensitive === undefined ? {} : { sensitive }),
    ...(changedBy === undefined ? {} : { changedBy }),
  };
}

/** Takes secrets out of what came from outside, before a renderer cuts or wraps it. */
export function redactExplanation(explanation: Explanation, redactor: Redactor): Explanation {
  return {
    ...explanation,
    calls: explanation.calls.map((call) => ({ ...call, body: redactor.json(call.body) })),
    fields: explanation.fields.map((field) => redactField(field, redactor)),
  };
}

function redactField(field: ExplainedField, redactor: Redactor): ExplainedField {
  const redact = (value: Json): Json => redactor.json(value);
  return {
    ...field,
    sources: field.sources.map((source) => ({ ...source, written: redact(source.written) })),
    placeholders: field.placeholders.map(({ means, ...rest }) => ({ ...rest, means: redactor.text(means) })),
    ...(field.value === undefined ? {} : { value: redact(field.value) }),
    ...(field.live === undefined ? {} : { live: redact(field.live) }),
    ...(field.liveNote === undefined ? {} : { liveNote: redactor.text(field.liveNote) }),
    changes: field.changes.map((change) => redactChange(change, redact)),
  };
}

function redactChange(change: FieldChange, redact: (value: Json) => Json): FieldChange {
  return {
    ...change,
    ...(change.before === undefined ? {} : { before: redact(change.before) }),
    ...(change.after === undefined ? {} : { after: redact(change.after) }),
  };
}

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
