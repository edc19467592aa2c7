import type { Block, View } from "../render/view.ts";
import { count } from "../render/words.ts";

/** What `tasc doctor` looks at, in the order in which it tells. */
export const CHECKS = ["config", "stage", "key", "service", "clock", "version", "state", "lock"] as const;
export type CheckName = (typeof CHECKS)[number];

/** `skipped`: an earlier check failed, or there is nothing to look at. */
type CheckStatus = "ok" | "warn" | "fail" | "skipped";

export interface Check {
  readonly name: CheckName;
  readonly status: CheckStatus;
  /** What was found. */
  readonly summary: string;
  /** What follows from it and what to do; nothing where all is well. */
  readonly detail: string;
}

export function check(name: CheckName, status: CheckStatus, summary: string, detail = ""): Check {
  return { name, status, summary, detail };
}

/** A check that cannot be made since another one failed. */
export function skipped(name: CheckName, because: CheckName): Check {
  return check(name, "skipped", `not checked, since ${because} failed`);
}

export function hasFailed(checks: readonly Check[]): boolean {
  return checks.some(({ status }) => status === "fail");
}

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
    "Dates of reports, notifications and locks may be wrong. Synchronise the machine's clock with NTP.",
  );
}

function inWords(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 1 ? `${Math.round(ms / 1000)} s` : `${minutes} min`;
}

const SIGNS: Readonly<Record<CheckStatus, string>> = { ok: "✓", warn: "!", fail: "✗", skipped: "-" };
const PAINT = { ok: "added", warn: "warning", fail: "error", skipped: "faint" } as const;

/** Columns of a check's name, the longest of which is `version`. */
const NAME_WIDTH = 9;
const INDENT = 2 + NAME_WIDTH + 6;

/** The checks, one a line, with what to do below those that need it, and a line that sums them up. */
export function checksView(checks: readonly Check[]): View {
  return {
    json: {
      formatVersion: "1.0",
      ok: !hasFailed(checks),
      checks: checks.map(({ name, status, summary, detail }) => ({ name, status, summary, detail })),
    },
    text: [checks.flatMap(checkBlocks), [summaryLine(checks)]],
  };
}

function checkBlocks({ name, status, summary, detail }: Check): readonly Block[] {
  const style = PAINT[status];
  const word = status === "skipped" ? "" : status;
  return [
    [
      { style, text: SIGNS[status] },
      ` ${name.padEnd(NAME_WIDTH)} `,
      { style, text: word.padEnd(4) },
      ` ${summary}`,
    ],
    ...(detail.trim() === "" ? [] : [{ label: "", column: INDENT, beside: detail }]),
  ];
}

function summaryLine(checks: readonly Check[]): string {
  const amount = (status: CheckStatus): number => checks.filter((one) => one.status === status).length;
  const [failed, warned, skipped] = [amount("fail"), amount("warn"), amount("skipped")];
  if (failed + warned + skipped === 0) return "All checks passed.";
  return [
    ...(failed === 0 ? [] : [`${count(failed, "check")} failed`]),
    ...(warned === 0 ? [] : [count(warned, "warning")]),
    ...(skipped === 0 ? [] : [`${skipped} not checked`]),
  ].join(", ");
}

/** As `engines` of package.json has it. */
export const LEAST_NODE = "20.19";

export interface Versions {
  readonly tasc: string;
  /** Without a `v`. */
  readonly node: string;
  /** Operating system and processor. */
  readonly platform: string;
}

export function checkVersion({ tasc, node, platform }: Versions): Check {
  const summary = `tasc ${tasc} on Node ${node}, ${platform}`;
  return isAtLeast(node, LEAST_NODE)
    ? check("version", "ok", summary)
    : check("version", "fail", summary, `tasc needs Node ${LEAST_NODE} or later. Install a current one.`);
}

function isAtLeast(version: string, least: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = least.split(".").map(Number);
  return major > leastMajor || (major === leastMajor && minor >= leastMinor);
}
