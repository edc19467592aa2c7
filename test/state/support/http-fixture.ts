import type { StateKey } from "../../../src/state/backend.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StateSettings } from "../../../src/model/settings.ts";
import { readConfig } from "../../../src/state/config.ts";
import { openBackend } from "../../../src/state/locked.ts";
import type { Fixture } from "./fixture.ts";
import { type HttpServer, type LockMethods, startHttpServer } from "./http-server.ts";
import { realWorld, steppedClock } from "./world.ts";

export interface HttpFixture extends Fixture {
  readonly folder: string;
  readonly server: HttpServer;
  readonly settings: StateSettings;
}

function path({ stage, target }: StateKey): string {
  return `/base/${stage}/${target}`;
}

/**
 * Starts a server for one test.
 * @param options further options, which may contain the address as `{address}`
 */
export async function httpFixture(
  options: Readonly<Record<string, string>> = {},
  methods?: LockMethods,
): Promise<HttpFixture> {
  const folder = await mkdtemp(join(tmpdir(), "tasc-state-"));
  const server = await startHttpServer(methods);
  const filled = Object.entries({ address: "{address}", ...options }).map(
    ([name, text]): [string, string] => [name, text.replace("{address}", server.address)],
  );
  const settings: StateSettings = { backend: "http", options: Object.fromEntries<string>(filled) };
  // Pauses between retries take no real time.
  const world: Fixture["world"] = (over) => realWorld(folder, { clock: steppedClock(), ...over });
  return {
    folder,
    server,
    settings,
    world,
    open: async (over) => await openBackend(readConfig(settings), await world(over)),
    text: (key) => Promise.resolve(server.documents.get(path(key))),
    put: (key, text) => {
      server.documents.set(path(key), text);
      return Promise.resolve();
    },
    dispose: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
