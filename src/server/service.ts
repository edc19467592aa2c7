import type { World } from "./data/world.ts";
import type { Settings } from "./settings.ts";
import type { Store } from "./store/store.ts";

/** What every operation works with. */
export type Service = {
  readonly store: Store;
  readonly world: World;
  readonly settings: () => Settings;
};
