import type { FaultPlan } from "../exchange/faultPlan.ts";
import type { RequestLog } from "../exchange/requestLog.ts";
import type { Runner } from "../generation/runner.ts";
import type { Call } from "../interface/operation.ts";
import type { Reply } from "../http/reply.ts";
import type { Service } from "../service.ts";
import type { Settings } from "../settings.ts";

/** What the control interface can reach: the service, and the machinery around it. */
export type Control = {
  readonly service: Service;
  readonly runner: Runner;
  readonly log: RequestLog;
  readonly faults: FaultPlan;
  /** The settings the server was started with. */
  readonly startSettings: Settings;
  readonly setSettings: (settings: Settings) => void;
};

export type ControlOperation = (control: Control, call: Call) => Reply;

export const done: Reply = { kind: "empty", status: 204 };
