import { check } from "./check.ts";
import type { Check } from "./check.ts";

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
