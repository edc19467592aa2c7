import { flagOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { Client } from "../client/index.ts";
import { readerOf } from "../look/service.ts";
import { look } from "../look/look.ts";
import type { Look } from "../look/look.ts";
import type { Settings } from "../model/settings.ts";
import type { State } from "../model/state.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import { createFingerprinter } from "../state/fingerprint.ts";
import { refusedByService } from "./connect.ts";
import type { Opened } from "./opening.ts";
import type { PlanRequest } from "./request.ts";
import type { OrCode } from "./states.ts";

/** The stage's fingerprints: under its API key, or a key of their own. */
export function fingerprinterOf(settings: Settings): Fingerprinter | undefined {
  if (settings.state.fingerprintKeyUnknown) return undefined;
  const key = settings.state.fingerprintKey ?? settings.apiKey;
  return key === undefined ? undefined : createFingerprinter(key);
}

/** Reads the service and plans. */
export async function lookAround(
  { project, console }: Opened,
  client: Client,
  states: ReadonlyMap<string, State>,
  strays: readonly State[],
  request: PlanRequest,
): Promise<OrCode<Look>> {
  const { settings, desired } = project;
  const found = await look(readerOf(client), {
    ...request,
    desired,
    states,
    strays,
    fingerprints: fingerprinterOf(settings),
    baseUrl: settings.baseUrl,
    disableRemoved: settings.policy.onRemove === "disable",
  });
  return found.ok ? found : { ok: false, code: refusedByService(console, found.failure) };
}

export function isVerbose(given: Given): boolean {
  return flagOption(given, "verbose");
}
