import { check } from "./check.ts";
import type { Check } from "./check.ts";

/** Milliseconds. An HTTP date knows whole seconds, and an answer takes a while. */
const TOLERANCE = 30_000;

export interface Clocks {
  /** The service's, as it answered. */
  readonly service: number;
  /** This machine's, when the answer was there. */
  readonly local: number;
}

export function checkClock({ service, local }: Clocks): Check {
  const difference = local - service;
  if (Math.abs(difference) <= TOLERANCE) return check("clock", "ok", "this machine and the service agree");
  const way = difference > 0 ? "ahead of" : "behind";
  return check(
    "clock",
    "warn",
    `this machine is ${inWords(Math.abs(difference))} ${way} the service`,
    "Dates of reports and notifications, and since when a lock is held, then mislead. Let the machine keep its time by NTP.",
  );
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 1 ? `${Math.round(ms / 1000)} s` : `${minutes} min`;
}
