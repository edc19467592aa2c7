import type { CommandSpec } from "./command.ts";
import { LOOK_COMMANDS } from "./specs/look.ts";
import { ADOPT_COMMANDS } from "./specs/adopt.ts";
import { HELP_COMMANDS } from "./specs/help.ts";
import { PLAN_COMMANDS } from "./specs/plan.ts";
import { PROJECT_COMMANDS } from "./specs/project.ts";
import { SERVICE_COMMANDS } from "./specs/service.ts";
import { STATE_COMMANDS } from "./specs/state.ts";

/** The table of the product, in the order in which help lists it. */
export const COMMANDS: readonly CommandSpec[] = [
  ...PROJECT_COMMANDS,
  ...PLAN_COMMANDS,
  ...ADOPT_COMMANDS,
  ...LOOK_COMMANDS,
  ...STATE_COMMANDS,
  ...SERVICE_COMMANDS,
  ...HELP_COMMANDS,
];
