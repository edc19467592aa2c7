import { EXIT, type Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { type Refused, refusedBy } from "../edit/promote.ts";
import { newestFinished } from "../inspect/reports.ts";
import type { Address } from "../model/address.ts";
import type { Seen } from "../plan/compare.ts";
import { targetOf } from "../plan/input.ts";
import type { LiveReport } from "../service/answers.ts";
import type { Client } from "../service/client.ts";
import { connect, refusedByService } from "./connect.ts";
import type { Console } from "./console.ts";
import { sayError } from "./diagnostics.ts";
import type { OrCode } from "./states.ts";
import { survey } from "./survey.ts";

/** What the gate found, for each target the report that it asked. */
export interface GateResult {
  readonly refused: readonly Refused[];
  readonly reports: readonly { readonly target: string; readonly report: string | null }[];
}

/** Asks the newest finished report of each target, in one stage's service, whether the test cases have passed. */
export async function askGate(
  given: Given,
  world: World,
  stage: string,
  addresses: readonly Address[],
): Promise<OrCode<GateResult>> {
  const narrow = (one: Given): Given => ({
    ...one,
    options: { ...one.options, only: addresses, exclude: [] },
  });
  const looked = await survey({ ...given, options: { ...given.options, stage } }, world, narrow);
  if (!looked.ok) return looked;
  const { opened, planned } = looked.value;
  const { console, project } = opened;
  const connected = connect(given, world, project.settings, console);
  if (!connected.ok) return connected;
  try {
    const refused: Refused[] = [];
    const reports: { target: string; report: string | null }[] = [];
    for (const target of new Set(addresses.map(targetOf))) {
      const seen = planned.seen.get(target);
      const read = await reportOf(connected.client, target, seen, console);
      if (!read.ok) return read;
      reports.push({ target, report: read.value?.id ?? null });
      const idOf = (address: Address): string | undefined => liveId(address, seen);
      const own = addresses.filter((address) => targetOf(address) === target);
      refused.push(...refusedBy({ addresses: own, idOf, report: read.value }));
    }
    return { ok: true, value: { refused, reports } };
  } finally {
    await connected.client.close();
  }
}

function liveId(address: Address, seen: Seen | undefined): string | undefined {
  const match = seen?.testCaseMatches.get(address);
  return match?.found === true ? match.id : undefined;
}

/** The list tells which report is the newest; its plain results are for the report itself to tell. */
async function reportOf(
  client: Client,
  target: string,
  seen: Seen | undefined,
  console: Console,
): Promise<OrCode<LiveReport | undefined>> {
  if (seen?.live === undefined) return { ok: true, value: undefined };
  const { id } = seen.live;
  const newest = await newestFinished(client.allReports(id));
  if (!newest.ok) return { ok: false, code: refusedByService(console, newest.failure) };
  const { report, unsure } = newest.value;
  if (unsure) {
    sayError(
      console,
      `Which report of target ${target} is the newest cannot be told`,
      "The service says that there are more reports than it gives, and those that it gives are in no order. Nothing was written.",
    );
    return { ok: false, code: EXIT.failed };
  }
  if (report === undefined) return { ok: true, value: undefined };
  const whole = await client.getReport(id, report.id);
  return whole.ok ? whole : { ok: false, code: refusedByService(console, whole.failure) };
}
