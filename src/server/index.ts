import { randomUUID } from "node:crypto";
import { putData } from "./control/data.ts";
import { worldOf } from "./data/world.ts";
import { createFaultPlan } from "./exchange/faultPlan.ts";
import { createRequestLog } from "./exchange/requestLog.ts";
import { createRunner } from "./generation/runner.ts";
import { answerOf } from "./http/answer.ts";
import { perform } from "./interface/perform.ts";
import { listen } from "./listen.ts";
import { type Wiring, createListener } from "./listener.ts";
import { type RunningServer, type ServerOptions, checkedBasePath, checkedHost } from "./options.ts";
import type { Service } from "./service.ts";
import { DEFAULT_SETTINGS, type Settings } from "./settings.ts";
import { type Store, openStore } from "./store/store.ts";

export type { RunningServer, ServerOptions } from "./options.ts";
export type { Settings } from "./settings.ts";
export { DataDirInUseError } from "./store/database.ts";

/**
 * Starts the service of service-api.md on this machine: all 14 operations, and `/control` beside them.
 * Rejects with DataDirInUseError while another process serves the same data.
 */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  const basePath = checkedBasePath(options.basePath ?? "");
  const host = checkedHost(options.host ?? "127.0.0.1");
  const world = worldOf(options.clock ?? Date.now, options.ids ?? randomUUID);
  const store = openStore(options.dataDir);
  const closing = new AbortController();
  try {
    fill(store, world, options.seed);
    const wiring = wire({ store, world }, options, basePath, closing.signal);
    const { origin, stop } = await listen(createListener(wiring), host, options.port ?? 0);
    const { runner } = wiring.control;
    runner.schedule();
    const close = async () => {
      closing.abort();
      await stop();
      runner.stop();
      store.close();
    };
    return { url: origin + basePath, controlUrl: `${origin}/control`, close };
  } catch (error) {
    store.close();
    throw error;
  }
}

/** A seed is for an empty data directory: on a restart, what was written since counts. */
function fill(store: Store, world: Service["world"], seed: ServerOptions["seed"]): void {
  if (seed !== undefined && store.testTargets.documents().length === 0) putData({ store, world }, seed);
}

function wire(
  parts: Omit<Service, "settings">,
  options: ServerOptions,
  basePath: string,
  closing: AbortSignal,
): Wiring {
  const startSettings = settingsAtStart(options);
  let settings = startSettings;
  const service: Service = { ...parts, settings: () => settings };
  const runner = createRunner(service);
  const log = createRequestLog();
  const faults = createFaultPlan();
  const setSettings = (wanted: Settings) => {
    settings = wanted;
  };
  return {
    basePath,
    control: { service, runner, log, faults, startSettings, setSettings },
    interface: {
      log,
      faults,
      closing,
      errorBody: () => settings.errorBody,
      act: (received) => {
        const answer = answerOf(() => perform(service, options.apiKey, received), settings.errorBody);
        runner.schedule();
        return answer;
      },
    },
  };
}

function settingsAtStart({ settings, discoveryTime }: ServerOptions): Settings {
  const time = discoveryTime === undefined ? {} : { discoveryTime };
  return { ...DEFAULT_SETTINGS, ...settings, ...time };
}
