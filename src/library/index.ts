/**
 * tasc as a library: what the commands `validate`, `plan`, `show` and `apply` do, without printing or asking anything.
 * No secret is in what these functions return, throw or tell.
 */
export { loadProject } from "./project.ts";
export type { LoadOptions, LoadResult, Project } from "./project.ts";
export { plan } from "./plan.ts";
export type { PlanOptions } from "./plan.ts";
export { apply } from "./apply.ts";
export type { ApplyOptions, ApplyOutcome } from "./apply.ts";
export { render, RENDER_FORMATS } from "./render.ts";
export type { RenderFormat, RenderOptions } from "./render.ts";
export { TascError } from "./error.ts";
export type { TascErrorReason } from "./error.ts";
export type { CallOptions } from "./calls.ts";
export type { ApplyEvent } from "../apply/context.ts";
export type { Address } from "../model/address.ts";
export type { Json, Path } from "../model/json.ts";
export type { PolicyRule } from "../model/settings.ts";
export type {
  Action,
  CallJson as PlannedCall,
  ChangeJson as PlannedChange,
  DiagnosticJson as Diagnostic,
  FieldJson as FieldChange,
  Orphan,
  PlanJson as Plan,
  Summary,
} from "../model/plan.ts";
