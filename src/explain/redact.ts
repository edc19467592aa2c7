import type { Json } from "../model/json.ts";
import type { FieldChange } from "../model/plan.ts";
import type { Redactor } from "../output/redact.ts";
import type { ExplainedField, Explanation } from "./explanation.ts";

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
