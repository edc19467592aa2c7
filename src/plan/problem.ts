import type { DesiredResource } from "../model/desired.ts";
import { originOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Path } from "../model/json.ts";

/** An error of a plan at the place that declares the resource, or one of its fields. */
export function problem(
  code: string,
  resource: DesiredResource,
  summary: string,
  detail: string,
  field: Path = [],
): Diagnostic {
  return { severity: "error", ...about(code, resource, summary, detail, field) };
}

/** A warning of a plan, likewise. */
export function caution(
  code: string,
  resource: DesiredResource,
  summary: string,
  detail: string,
  field: Path = [],
): Diagnostic {
  return { severity: "warning", ...about(code, resource, summary, detail, field) };
}

function about(
  code: string,
  resource: DesiredResource,
  summary: string,
  detail: string,
  field: Path,
): Omit<Diagnostic, "severity"> {
  const origin = originOf(resource, field);
  return { code, summary, detail, address: resource.address, ...(origin === undefined ? {} : { origin }) };
}
