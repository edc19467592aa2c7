import type { Origin } from "../model/diagnostic.ts";
import type { FieldChange } from "../model/plan.ts";
import { diagnosticJson } from "../render/json.ts";
import { type Block, type Line, Outside, type Section, type View, type ViewJson } from "../render/view.ts";
import { PROBLEM_SIGN, SIGNS } from "../render/words.ts";
import type { ExplainedField, Explanation, Placeholder, LayerSource } from "./explain.ts";
import { type PlaceOf, placeText } from "./stages.ts";

/** The resource, then each field from its source to its consequence. */
export function explanationView(explanation: Explanation, placeOf: PlaceOf): View {
  const { address, stage, id, found, action, why, calls, fields, diagnostics } = explanation;
  return {
    json: {
      formatVersion: "1.0",
      address,
      stage,
      id,
      found,
      action,
      why,
      calls: calls.map(({ method, path, body }) => ({ method, path, body: new Outside(body) })),
      fields: fields.map((field) => fieldJson(field, placeOf)),
      diagnostics: diagnostics.map((diagnostic) => ({ ...diagnosticJson(diagnostic) })),
    },
    text: [headSection(explanation), ...fields.map((field) => fieldSection(field, placeOf))],
  };
}

function fieldJson(field: ExplainedField, placeOf: PlaceOf): ViewJson {
  const { name, sources, placeholders, value, live, liveNote, remembered, changes, why } = field;
  return {
    name,
    sources: sources.map(({ layer, origin, written, role }) => ({
      layer,
      ...placeJson(origin, placeOf),
      written: new Outside(written),
      role,
    })),
    placeholders: placeholders.map(({ source, origin, means }) => ({
      source,
      ...(origin === undefined ? {} : placeJson(origin, placeOf)),
      means,
    })),
    value: value === undefined ? undefined : new Outside(value),
    live: live === undefined ? undefined : new Outside(live),
    liveNote,
    remembered,
    changes: changes.map(changeJson),
    why,
  };
}

function placeJson(origin: Origin, placeOf: PlaceOf): { readonly [key: string]: string | number } {
  const place = placeOf(origin);
  if (place === undefined) return { file: origin.file };
  return { file: place.file, line: place.line, column: place.column };
}

function changeJson({ path, before, after, sensitive, changedBy }: FieldChange): ViewJson {
  return {
    path,
    before: before === undefined ? undefined : new Outside(before),
    after: after === undefined ? undefined : new Outside(after),
    sensitive,
    changedBy,
  };
}

function headSection({ address, stage, id, found, action, why, calls }: Explanation): Section {
  const title = [
    { style: "strong" as const, text: address },
    "  ",
    { style: "faint" as const, text: `stage ${stage}` },
  ];
  return [
    [...signOf(action), ...title],
    row("live", id === undefined ? found : `${id}, ${found}`),
    row("action", action),
    row("why", why),
    ...calls.map(({ method, path }) => ["  ", { style: "faint" as const, text: `${method} ${path}` }]),
  ];
}

function signOf(action: Explanation["action"]): Exclude<Line, string> {
  if (action === "none" || action === "unknown") return [];
  if (action === "problem") return [{ style: "error", text: PROBLEM_SIGN }, " "];
  return [{ style: action, text: SIGNS[action] }, " "];
}

function fieldSection(field: ExplainedField, placeOf: PlaceOf): Section {
  const { name, sources, placeholders, value, live, liveNote, remembered, why } = field;
  return [
    [{ style: "strong", text: name }],
    ...sources.map((source) => sourceRow(source, placeOf)),
    ...placeholders.map((placeholder) => placeholderRow(placeholder, placeOf)),
    row("value", value === undefined ? "not declared" : [{ value }]),
    row("live", live === undefined ? (liveNote ?? "") : [{ value: live }]),
    row("state", remembered),
    row("why", why),
  ];
}

const ROLES: Readonly<Record<LayerSource["role"], string>> = {
  counts: "",
  merged: "  (merged with what follows)",
  replaced: "  (replaced by what follows)",
};

function sourceRow({ layer, origin, written, role }: LayerSource, placeOf: PlaceOf): Block {
  const place = { style: "faint", text: placeText(origin, placeOf) } as const;
  return row("from", [place, `  ${layer}: `, { value: written }, { style: "faint", text: ROLES[role] }]);
}

function placeholderRow({ source, origin, means }: Placeholder, placeOf: PlaceOf): Block {
  const place = origin === undefined ? "" : `  ${placeText(origin, placeOf)}`;
  return row("with", [`${source} = ${means}`, { style: "faint", text: place }]);
}

function row(label: string, line: Line): Block {
  return { label: ["  ", { style: "faint", text: label }], column: 10, beside: line };
}
