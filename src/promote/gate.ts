import type { LiveReport } from "../client/index.ts";
import type { Address } from "../model/address.ts";

/** A test case that keeps a promotion from being made. */
export interface Refused {
  readonly address: Address;
  readonly outcome: "failed" | "missing" | "otherwise";
  /** What the report says of it, or why it says nothing. */
  readonly why: string;
}

/** What a target's newest finished report is asked about. */
export interface GateQuestion {
  readonly addresses: readonly Address[];
  /** The live test case of an address; nothing where there is none. */
  readonly idOf: (address: Address) => string | undefined;
  /** Nothing where no report has finished. */
  readonly report: LiveReport | undefined;
}

/** The test cases that have not passed. One that ran more than once has passed if it did each time. */
export function refusedBy({ addresses, idOf, report }: GateQuestion): readonly Refused[] {
  return addresses.flatMap((address) => {
    const id = idOf(address);
    if (id === undefined) return [missing(address, "it is not live there")];
    if (report === undefined) return [missing(address, "no test report of its target has finished")];
    const results = report.results.filter(({ testCaseId }) => testCaseId === id);
    if (results.length === 0) return [missing(address, `it is not in report ${report.id}`)];
    const open = results.map(({ status }) => status ?? "no status").filter((status) => status !== "PASSED");
    const [status] = open.includes("FAILED") ? ["FAILED"] : open;
    if (status === undefined) return [];
    const outcome = status === "FAILED" ? "failed" : "otherwise";
    return [{ address, outcome, why: `${status} in report ${report.id}` }];
  });
}

function missing(address: Address, why: string): Refused {
  return { address, outcome: "missing", why };
}
