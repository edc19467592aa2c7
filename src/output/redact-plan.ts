import type { CallJson, ChangeJson, DiagnosticJson, FieldJson, PlanJson } from "../model/plan.ts";
import type { Redactor } from "./redact.ts";

/**
 * Takes secrets out of what came from outside into a plan: live values, bodies, messages. It comes before every
 * renderer, because they cut, wrap and escape. What tasc itself put there stays as it is, the more since hiding it
 * would tell what the secret is: addresses, actions, field names, counts.
 */
export function redactPlan(plan: PlanJson, redactor: Redactor): PlanJson {
  return {
    ...plan,
    baseUrl: redactor.text(plan.baseUrl),
    changes: plan.changes.map((change) => redactChange(change, redactor)),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id: redactor.text(id) })),
    diagnostics: plan.diagnostics.map((diagnostic) => redactDiagnostic(diagnostic, redactor)),
  };
}

function redactChange(change: ChangeJson, redactor: Redactor): ChangeJson {
  return {
    ...change,
    id: redactor.text(change.id),
    fields: change.fields.map((field) => redactField(field, redactor)),
    calls: change.calls.map((call) => redactCall(call, redactor)),
    followUps: change.followUps.map((call) => redactCall(call, redactor)),
  };
}

function redactField(field: FieldJson, redactor: Redactor): FieldJson {
  return {
    ...field,
    path: field.path.map((step) => (typeof step === "string" ? redactor.document(step) : step)),
    ...(field.before === undefined ? {} : { before: redactor.json(field.before) }),
    ...(field.after === undefined ? {} : { after: redactor.json(field.after) }),
  };
}

function redactCall(call: CallJson, redactor: Redactor): CallJson {
  return { ...call, path: redactor.document(call.path), body: redactor.json(call.body) };
}

/** Likewise for a diagnostic, in a plan or by itself. */
export function redactDiagnostic<D extends DiagnosticJson>(diagnostic: D, redactor: Redactor): D {
  return {
    ...diagnostic,
    summary: redactor.text(diagnostic.summary),
    detail: redactor.text(diagnostic.detail),
  };
}
