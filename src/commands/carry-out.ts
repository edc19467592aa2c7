import { setTimeout as delay } from "node:timers/promises";
import { apply } from "../apply/apply.ts";
import type { Outcome } from "../apply/context.ts";
import { EXIT, type ExitCode, flagOption } from "../cli/options.ts";
import type { Look } from "../look/look.ts";
import { serviceOf } from "../look/service.ts";
import type { Address } from "../model/address.ts";
import type { Desired } from "../model/desired.ts";
import type { Fingerprinter } from "../plan/input.ts";
import { batchContent } from "../plan/resources.ts";
import type { Client } from "../service/client.ts";
import type { Session } from "../state/session.ts";
import type { Job } from "./apply-job.ts";
import type { CallSettings } from "./connect.ts";
import { optimiseLate } from "./engine.ts";
import { sayOutcome } from "./say-apply.ts";

/** Carries out what a look has planned, and says what came of it. */
export async function carryOut(
  { opened, given, world, stop, wait, display, ended }: Job,
  look: Look,
  client: Client,
  calls: CallSettings,
  sessions: ReadonlyMap<string, Session>,
): Promise<ExitCode> {
  const { fingerprints } = look.input;
  if (fingerprints === undefined) throw new TypeError("an apply without a key");
  optimiseLate();
  const startedAt = world.now();
  const outcome = await apply({
    service: serviceOf(client),
    sessions,
    fingerprints,
    input: look.input,
    planned: look.planned,
    concurrency: calls.concurrency,
    retries: calls.retries,
    wait,
    now: world.now,
    sleep: (ms) => delay(ms, undefined, { signal: stop.signal }).catch(() => undefined),
    stopping: stop.stopping,
    emit: display.heard,
  });
  display.end();
  ended?.(outcome);
  sayOutcome(opened.console, outcome, look.planned.plan, {
    milliseconds: world.now() - startedAt,
    verbose: flagOption(given, "verbose"),
    command: ["tasc apply", ...given.args].join(" "),
    uncertain: uncertainBatches(outcome, look.input.desired, sessions, fingerprints),
  });
  return exitCodeOf(outcome);
}

/** What failed and may have run all the same: as it is declared now, and not as it was when that came to be unknown. */
function uncertainBatches(
  outcome: Outcome,
  { targets }: Desired,
  sessions: ReadonlyMap<string, Session>,
  fingerprints: Fingerprinter,
): readonly Address[] {
  const failed = new Set(outcome.failed.map(({ address }) => address));
  return targets.flatMap(({ key, batchGenerations }) =>
    batchGenerations.flatMap((resource) => {
      const record = sessions.get(key)?.state.batchGenerations.get(resource.address);
      const isOpen =
        record?.status === "uncertain" && record.content === batchContent(fingerprints, resource);
      return isOpen && failed.has(resource.address) ? [resource.address] : [];
    }),
  );
}

function exitCodeOf(outcome: Outcome): ExitCode {
  if (outcome.interrupted) return EXIT.interrupted;
  if (outcome.fatal !== undefined && outcome.fatal.fatal) return EXIT.unreachable;
  const clean =
    outcome.fatal === undefined &&
    outcome.failed.length + outcome.skipped.length + outcome.notTaken.length + outcome.unfinished.length ===
      0;
  return clean ? EXIT.done : EXIT.failed;
}
