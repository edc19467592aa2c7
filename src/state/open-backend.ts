import type { Backend } from "./backend.ts";
import type { BackendConfig } from "./config.ts";
import type { StateWorld } from "./world.ts";

/** The backend that is configured. The others, and what they depend on, are not even loaded. */
export async function openBackend(config: BackendConfig, world: StateWorld): Promise<Backend> {
  if (config.backend === "postgres") {
    const { openPostgresBackend } = await import("./postgres/backend.ts");
    return await openPostgresBackend(config);
  }
  if (config.backend === "http") {
    const { openHttpBackend } = await import("./http/backend.ts");
    return await openHttpBackend(config, world);
  }
  const { openLocalBackend } = await import("./local/backend.ts");
  return openLocalBackend(config, world);
}
