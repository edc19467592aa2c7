import { type DesiredResource, originOf } from "../model/desired.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import { type Path, defined } from "../model/json.ts";

/** A violation of a rule of the policy, with the place of the cause if there is one. */
export interface Breach extends Pick<Diagnostic, "summary" | "detail" | "address"> {
  readonly origin: Origin | undefined;
}

/** Makes an error of a plan, at the place that declares the resource or one of its fields. */
export function problem(
  code: string,
  resource: DesiredResource,
  summary: string,
  detail: string,
  field: Path = [],
): Diagnostic {
  const { address } = resource;
  return {
    severity: "error",
    code,
    summary,
    detail,
    address,
    ...defined({ origin: originOf(resource, field) }),
  };
}

/** Makes a warning of a plan, from the same arguments as `problem`. */
export function caution(...warning: Parameters<typeof problem>): Diagnostic {
  return { ...problem(...warning), severity: "warning" };
}

/**
 * Maximum number of addresses or ids in one message: each of thousands may get a message that lists
 * all others.
 */
const MOST_NAMED = 20;

export function fewOf(all: readonly string[], joint = ", "): string {
  const more = all.length - MOST_NAMED;
  return `${all.slice(0, MOST_NAMED).join(joint)}${more > 0 ? ` and ${more} more` : ""}`;
}
