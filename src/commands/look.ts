import { type Given, flagOption } from "../cli/options.ts";
import { type Look, look } from "../look/look.ts";
import { readerOf } from "../look/service.ts";
import type { Settings } from "../model/settings.ts";
import type { Fingerprinter } from "../plan/input.ts";
import type { Remembered } from "../plan/orphans.ts";
import type { Client } from "../service/client.ts";
import { createFingerprinter } from "../state/fingerprint.ts";
import { refusedByService } from "./connect.ts";
import type { Opened } from "./opening.ts";
import type { PlanRequest } from "./request.ts";
import type { OrCode } from "./states.ts";

/** The stage's fingerprints: under its API key, or a key of their own. */
export function fingerprinterOf(settings: Settings): Fingerprinter | undefined {
  if (settings.state.fingerprintKeyUnknown) return undefined;
  const key = settings.state.fingerprintKey ?? settings.apiKey;
  return key === undefined ? undefined : createFingerprinter(key, settings.stage);
}

/** Reads the service and plans. */
export async function lookAround(
  { project: { settings }, console }: Opened,
  client: Client,
  remembered: Remembered,
  request: PlanRequest,
): Promise<OrCode<Look>> {
  const found = await look(readerOf(client), {
    ...request,
    ...remembered,
    fingerprints: fingerprinterOf(settings),
    baseUrl: settings.baseUrl,
    disableRemoved: disablesRemoved(settings),
  });
  return found.ok ? found : { ok: false, code: refusedByService(console, found.failure) };
}

export function disablesRemoved({ policy }: Settings): boolean {
  return policy.onRemove === "disable";
}

export function isVerbose(given: Given): boolean {
  return flagOption(given, "verbose");
}
