import type { CommandSpec } from "../command.ts";
import { MISSING_SECRETS, SERVICE_OPTIONS } from "../options.ts";

/** Commands that help with tasc itself. */
export const HELP_COMMANDS: readonly CommandSpec[] = [
  {
    name: "doctor",
    summary: "check all that a plan and an apply need",
    options: [
      { flags: "--format <format>", description: "how to print it", choices: ["text", "json"] },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc doctor --stage production", does: "one line a check; 1 if one fails" },
      { command: "tasc doctor --format json", does: "for a program" },
    ],
    load: () => import("../../commands/doctor.ts"),
  },
];
