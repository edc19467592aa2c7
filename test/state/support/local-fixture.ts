import type { StateKey } from "../../../src/state/backend.ts";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { StateSettings } from "../../../src/model/settings.ts";
import { readConfig } from "../../../src/state/config.ts";
import { openBackend } from "../../../src/state/locked.ts";
import type { Fixture } from "./fixture.ts";
import { realWorld } from "./world.ts";

export const LOCAL_SETTINGS: StateSettings = { backend: "local", options: {} };

export interface LocalFixture extends Fixture {
  readonly folder: string;
  /** A file of a document; `ending` is `.json`, `.journal` or `.lock`. */
  path(key: StateKey, ending: string): string;
}

/** Creates a project folder for one test. */
export async function localFixture(): Promise<LocalFixture> {
  const folder = await mkdtemp(join(tmpdir(), "tasc-state-"));
  const path = ({ stage, target }: StateKey, ending: string) =>
    join(folder, ".tasc", "state", stage, `${target}${ending}`);
  return {
    folder,
    path,
    world: (over) => realWorld(folder, over),
    open: async (over) =>
      await openBackend(readConfig(LOCAL_SETTINGS), await realWorld(folder, over)),
    text: async (key) => await readFile(path(key, ".json"), "utf8").catch(() => undefined),
    put: async (key, text) => {
      await mkdir(dirname(path(key, ".json")), { recursive: true });
      await writeFile(path(key, ".json"), text);
    },
    dispose: async () => await rm(folder, { recursive: true, force: true }),
  };
}
