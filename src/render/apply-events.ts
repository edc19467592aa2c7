import type { ApplyEvent } from "../apply/events.ts";
import type { ClientEvent } from "../client/events.ts";

/** All that is told while an apply runs: by the apply, by its calls, and by whoever stops it. */
export type ProgressEvent = ApplyEvent | ClientEvent | Stopping;

/** Ctrl-C: what is in flight is finished, nothing new is begun. */
export interface Stopping {
  readonly type: "stopping";
}

/** Client events are told apart by `kind`, all others by `type`. */
export function isOfCalls(event: ProgressEvent): event is ClientEvent {
  return "kind" in event;
}
