import type { CommandSpec } from "../../cli/command-table.ts";
import {
  LOCK_TIMEOUT,
  MISSING_SECRETS,
  type OptionSpec,
  SCOPE_OPTIONS,
  SERVICE_OPTIONS,
  TWO_STAGES,
} from "../../cli/options.ts";

const FORMAT: OptionSpec = {
  flags: "--format <format>",
  description: "how to print it",
  choices: ["text", "json"],
};

export const ADOPT_COMMANDS: readonly CommandSpec[] = [
  {
    name: "import",
    summary: "write manifests for what is live and not declared yet",
    options: [
      {
        flags: "--target <app-or-id>",
        description: "import this live target; all unless given",
        repeatable: true,
      },
      { flags: "--dir <dir>", description: "folder of the project to write to; targets unless given" },
      {
        flags: "--split <by>",
        description: "one file per target, or one per folder of test cases besides",
        choices: ["target", "folder"],
      },
      { flags: "--elements", description: "declare the steps of test cases, too" },
      {
        flags: "--folder <id=name>",
        description: "the name of a folder, which the service shows by id alone",
        repeatable: true,
      },
      { flags: "--dry-run", description: "print the manifests and write nothing" },
      LOCK_TIMEOUT,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc import", does: "a manifest for each live target" },
      { command: "tasc import --target 'Web Shop' --elements", does: "one target, with its steps" },
      { command: "tasc import --split folder --dry-run", does: "see what a file per folder would hold" },
    ],
    load: () => import("../import.ts"),
  },
  {
    name: "pull",
    summary: "write live values into the manifests that declare something else",
    options: [
      ...SCOPE_OPTIONS,
      {
        flags: "--fields <name>",
        description: "pull this field alone, such as status or discovery.prompt",
        repeatable: true,
      },
      FORMAT,
      { flags: "--dry-run", description: "show the change of the files and write nothing" },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc pull --dry-run", does: "see what the manifests would take over" },
      {
        command: "tasc pull --only 'testCase.shop.*' --fields tags",
        does: "the tags of one target's test cases; then review it as a git diff",
      },
    ],
    load: () => import("../pull.ts"),
  },
  {
    name: "promote",
    summary: "edit the manifests so that one stage gets what another has",
    options: [
      ...TWO_STAGES,
      ...SCOPE_OPTIONS,
      FORMAT,
      { flags: "--dry-run", description: "show the change of the files and write nothing" },
      {
        flags: "--gate",
        description: "first ask that all test cases to change have passed in the newest finished report",
      },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc promote --from staging --to production --dry-run", does: "see what it would change" },
      {
        command: "tasc promote --from staging --to production --only testCase.shop.login",
        does: "carry one test case on; then review it as a git diff",
      },
      {
        command: "tasc promote --from staging --to production --gate",
        does: "only if what would change has passed in staging",
      },
    ],
    load: () => import("../promote.ts"),
  },
];
