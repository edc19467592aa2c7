import type { World } from "../cli/world.ts";
import type { PlanMeta } from "../render/json.ts";

/** Who made a plan, and when. */
export function planMeta(world: World): PlanMeta {
  return { tool: `tasc ${world.version}`, createdAt: new Date(world.now()).toISOString() };
}
