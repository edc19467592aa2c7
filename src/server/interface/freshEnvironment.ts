import type { Environment } from "../data/environment.ts";
import type { World } from "../data/world.ts";

/** An environment before anything is written to it; the service gives every one an address of its own. */
export function freshEnvironment(world: World, testTargetId: string, type: Environment["type"]): Environment {
  const id = world.newId();
  return {
    id,
    testTargetId,
    name: null,
    type,
    discoveryUrl: undefined,
    additionalHeaderFields: null,
    testAccount: null,
    basicAuth: null,
    emailDomain: "mail.example.com",
    emailPrefix: `env-${id.slice(0, 8)}`,
    enableCrossOriginIframes: false,
    privateLocation: undefined,
    updatedAt: world.now(),
  };
}
