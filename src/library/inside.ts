import type { Opened } from "../commands/opening.ts";
import type { SavedPlan } from "../commands/saved-plan.ts";
import type { CallOptions } from "./calls.ts";

/** What a project has that its public form does not show. */
export interface ProjectInside {
  readonly opened: Opened;
  /** Whether no secret was allowed to be missing. */
  readonly complete: boolean;
}

/** What a plan has that its public form does not show. */
export interface PlanInside extends ProjectInside {
  readonly saved: SavedPlan;
  readonly calls: CallOptions;
}

/** By the object that the caller holds; so the inside is no part of the types, and goes with it. */
export const projectInsides = new WeakMap<object, ProjectInside>();
export const planInsides = new WeakMap<object, PlanInside>();
