import type { CommandSpec } from "../command.ts";
import { LOCK_TIMEOUT } from "../options.ts";

export const STATE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "state",
    summary: "look at what tasc remembers, and correct it",
    examples: [{ command: "tasc state list", does: "all bindings of the stage" }],
    commands: [
      {
        name: "list",
        summary: "list addresses and the ids they are bound to",
        options: [{ flags: "--format <format>", description: "how to print it", choices: ["text", "json"] }],
        examples: [{ command: "tasc state list --stage staging", does: "all bindings of staging" }],
        load: () => import("../../commands/state-list.ts"),
      },
      {
        name: "mark",
        summary: "say whether a batch generation ran",
        args: [
          { name: "<address>", description: "a batch generation" },
          { name: "<what>", description: "whether it ran", choices: ["done", "undone"] },
        ],
        options: [LOCK_TIMEOUT],
        examples: [
          {
            command: "tasc state mark batchGeneration.shop.spring done",
            does: "it ran; do not run it again",
          },
        ],
        load: () => import("../../commands/state-mark.ts"),
      },
    ],
  },
];
