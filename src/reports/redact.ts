import type { LiveNotification, LiveReport, LiveResult } from "../client/index.ts";
import { isObject } from "../model/json.ts";
import type { JsonObject } from "../model/json.ts";
import type { Redactor } from "../output/redact.ts";

/** Takes secrets out of what the service says in its own words, before a renderer cuts or escapes it. */
export function redactReport(report: LiveReport, redactor: Redactor): LiveReport {
  return {
    ...report,
    executionUrl: redacted(report.executionUrl, redactor),
    context: report.context && redactedObject(report.context, redactor),
    results: report.results.map((result) => redactResult(result, redactor)),
  };
}

function redactResult(result: LiveResult, redactor: Redactor): LiveResult {
  return {
    ...result,
    name: redacted(result.name, redactor),
    errorMessage: redacted(result.errorMessage, redactor),
    traceUrl: redacted(result.traceUrl, redactor),
  };
}

export function redactNotification(notification: LiveNotification, redactor: Redactor): LiveNotification {
  return { ...notification, payload: redactedObject(notification.payload, redactor) };
}

function redacted(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.text(text);
}

function redactedObject(value: JsonObject, redactor: Redactor): JsonObject {
  const json = redactor.json(value);
  return isObject(json) ? json : {};
}
