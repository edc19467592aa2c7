import type { Json } from "../model/json.ts";
import type { Redactor } from "../output/redact.ts";
import type { Drift, DriftedField } from "./drift.ts";

/** Takes secrets out of live and declared values, before a renderer cuts or wraps them. */
export function redactDrift(drift: Drift, redactor: Redactor): Drift {
  return {
    ...drift,
    changes: drift.changes.map((change) => ({
      ...change,
      fields: change.fields.map((field) => redactField(field, redactor)),
    })),
  };
}

function redactField(field: DriftedField, redactor: Redactor): DriftedField {
  const redact = (value: Json): Json => redactor.json(value);
  return {
    ...field,
    ...(field.declared === undefined ? {} : { declared: redact(field.declared) }),
    ...(field.live === undefined ? {} : { live: redact(field.live) }),
  };
}
