import type { CommandSpec } from "../../cli/command-table.ts";
import { LOCK_TIMEOUT, type OptionSpec, SERVICE_OPTIONS } from "../../cli/options.ts";

const FORMAT: OptionSpec = {
  flags: "--format <format>",
  description: "how to print it",
  choices: ["text", "json"],
};

export const STATE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "state",
    summary: "look at what tasc remembers, and correct it",
    examples: [{ command: "tasc state list", does: "all bindings of the stage" }],
    commands: [
      {
        name: "list",
        summary: "list addresses and the ids they are bound to",
        options: [FORMAT],
        examples: [{ command: "tasc state list --stage staging", does: "all bindings of staging" }],
        load: () => import("../state-list.ts"),
      },
      {
        name: "show",
        summary: "show what is remembered of one address",
        args: [{ name: "<address>", description: "such as testCase.shop.login" }],
        options: [FORMAT],
        examples: [
          { command: "tasc state show testCase.shop.login", does: "its id, and which fields have a record" },
          { command: "tasc state show target.shop", does: "also the ids of the target's folders" },
        ],
        load: () => import("../state-show.ts"),
      },
      {
        name: "mv",
        summary: "carry what is remembered over to another address",
        args: [
          { name: "<from>", description: "the address as it was" },
          { name: "<to>", description: "the address as it is to be" },
        ],
        options: [LOCK_TIMEOUT],
        examples: [
          { command: "tasc state mv testCase.shop.login testCase.shop.sign-in", does: "a new key" },
          { command: "tasc state mv target.shop target.web", does: "a target, with all that is in it" },
        ],
        load: () => import("../state-mv.ts"),
      },
      {
        name: "rm",
        summary: "forget an address; the service is not called",
        args: [{ name: "<address>", description: "what to forget; a target goes with all that is in it" }],
        options: [LOCK_TIMEOUT],
        examples: [
          { command: "tasc state rm testCase.shop.old", does: "no longer listed as orphaned" },
          { command: "tasc state rm target.shop", does: "the next plan finds everything by name again" },
        ],
        load: () => import("../state-rm.ts"),
      },
      {
        name: "bind",
        summary: "say which live resource an address means",
        args: [
          { name: "<address>", description: "a target, an environment or a test case" },
          { name: "<id>", description: "the service's id" },
        ],
        options: [LOCK_TIMEOUT, ...SERVICE_OPTIONS],
        examples: [
          {
            command: "tasc state bind testCase.shop.login 4b7c1d9e-5f3a-4c0e-9d6b-8a2f1e0c7b54",
            does: "write-only fields are sent once more",
          },
        ],
        load: () => import("../state-bind.ts"),
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
        load: () => import("../state-mark.ts"),
      },
      {
        name: "unlock",
        summary: "take a lock away from whoever holds it",
        args: [{ name: "<target>", description: "key of the target, such as shop" }],
        options: [FORMAT],
        examples: [{ command: "tasc state unlock shop --stage staging", does: "says whose lock it was" }],
        load: () => import("../state-unlock.ts"),
      },
    ],
  },
];
