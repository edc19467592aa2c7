import type { Origin, Place } from "../model/diagnostic.ts";
import type { FieldChange } from "../model/plan.ts";
import { diagnosticJson } from "../render/json.ts";
import type { ExplainedField, Explanation, Placeholder, Source } from "./explanation.ts";

export type PlaceOf = (origin: Origin) => Place | undefined;

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
