import type { Answered } from "../http/answered.ts";
import type { Received } from "../http/received.ts";
import type { Fault, FaultRule } from "./fault.ts";

/** The rules in force, and how many requests each has matched so far. */
export type FaultPlan = {
  add(rule: FaultRule): void;
  /** Counts the request on every rule it matches; the first rule that applies decides. */
  next(request: Pick<Received, "method" | "path">): Fault | undefined;
  rules(): Answered[];
  clear(): void;
};

export function createFaultPlan(): FaultPlan {
  const counted = new Map<FaultRule, number>();
  return {
    add: (rule) => void counted.set(rule, 0),
    next(request) {
      const applying: Fault[] = [];
      for (const [rule, before] of counted) {
        if (!matches(rule, request)) continue;
        counted.set(rule, before + 1);
        if (applies(rule, before + 1)) applying.push(rule.fault);
      }
      return applying[0];
    },
    rules: () => Array.from(counted, ([rule, matched]) => ({ ...rule, matched })),
    clear: () => counted.clear(),
  };
}

function matches({ method, path }: FaultRule, request: Pick<Received, "method" | "path">): boolean {
  return (
    (method === undefined || method === request.method) &&
    (path === undefined || new RegExp(path).test(request.path))
  );
}

function applies({ nth, times }: FaultRule, count: number): boolean {
  const first = nth ?? 1;
  const most = times ?? (nth === undefined ? Infinity : 1);
  return count >= first && count < first + most;
}
