import type { Address } from "../model/address.ts";
import type { Action } from "../model/plan.ts";
import type { Failure } from "./service.ts";
import type { SkipReason } from "./outcome.ts";

/** What an apply tells while it runs. It prints nothing itself. */
export type ApplyEvent =
  | { readonly type: "started"; readonly changes: number }
  | { readonly type: "changeStarted"; readonly address: Address; readonly action: Action }
  | { readonly type: "changeDone"; readonly address: Address; readonly action: Action }
  | {
      readonly type: "changeFailed";
      readonly address: Address;
      readonly failure: Pick<Failure, "summary" | "detail">;
    }
  | { readonly type: "changeSkipped"; readonly address: Address; readonly reason: SkipReason }
  /** A creation had no readable answer, so the service is looked at before anything is repeated. */
  | { readonly type: "lookingUp"; readonly address: Address; readonly why: string }
  | { readonly type: "adopted"; readonly address: Address; readonly id: string }
  | { readonly type: "reading"; readonly why: "after creations" | "after generations" | "final check" }
  | { readonly type: "waiting"; readonly unfinished: number };
