import type { CommandSpec } from "../../cli/command-table.ts";
import {
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

const TARGET: OptionSpec = {
  flags: "--target <key>",
  description: "key of a target; all managed ones unless given",
};

/** Commands that look and change nothing. */
export const LOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "drift",
    summary: "show what the service changed since the last apply",
    options: [
      FORMAT,
      ...SCOPE_OPTIONS,
      MISSING_SECRETS,
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc drift --stage production", does: "2 if anything drifted; made for a nightly job" },
      { command: "tasc drift --only 'testCase.shop.*' --format json", does: "for a program" },
    ],
    load: () => import("../drift.ts"),
  },
  {
    name: "diff",
    summary: "show what two stages resolve differently, without calling the service",
    options: [
      ...TWO_STAGES,
      { flags: "--all", description: "all fields, not only those that promote carries" },
      FORMAT,
      { flags: "--detailed-exitcode", description: "exit with 2 when the stages differ" },
      ...SCOPE_OPTIONS,
    ],
    examples: [
      { command: "tasc diff --from staging --to production", does: "what a promotion would carry" },
      {
        command: "tasc diff --from staging --to production --all --format json",
        does: "every field, for a program",
      },
    ],
    load: () => import("../diff.ts"),
  },
  {
    name: "explain",
    summary: "show where a value comes from and what follows from it",
    args: [
      { name: "<address>", description: "such as testCase.shop.login" },
      {
        name: "[field]",
        description: "such as status or discovery.prompt; all that are declared unless given",
      },
    ],
    options: [
      FORMAT,
      { flags: "--offline", description: "manifests and state only, without the service" },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc explain testCase.shop.login status", does: "why it is what it is" },
      { command: "tasc explain environment.shop.default --offline", does: "without asking the service" },
    ],
    load: () => import("../explain.ts"),
  },
  {
    name: "snapshot",
    summary: "write what a plan reads, for plans without network and key",
    options: [
      { flags: "--out <file>", description: "write it here, readable for you alone, instead of to stdout" },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc snapshot --out snapshot.json", does: "then: tasc plan --snapshot snapshot.json" },
      { command: "tasc serve --from snapshot.json", does: "a copy of the service to rehearse on" },
    ],
    load: () => import("../snapshot.ts"),
  },
  {
    name: "graph",
    summary: "draw prerequisites as Mermaid or DOT",
    args: [{ name: "[target]", description: "key of a target; all unless given" }],
    options: [{ flags: "--format <format>", description: "how to write it", choices: ["mermaid", "dot"] }],
    examples: [
      { command: "tasc graph shop", does: "as Mermaid, for Markdown" },
      { command: "tasc graph --format dot | dot -Tsvg > graph.svg", does: "as a picture" },
    ],
    load: () => import("../graph.ts"),
  },
  {
    name: "reports",
    summary: "read test reports",
    examples: [{ command: "tasc reports list --target shop", does: "the reports of one target" }],
    commands: [
      {
        name: "list",
        summary: "list test reports, newest first",
        options: [
          TARGET,
          { flags: "--limit <n>", description: "at most so many of each target; all unless given" },
          FORMAT,
          MISSING_SECRETS,
          ...SERVICE_OPTIONS,
        ],
        examples: [
          { command: "tasc reports list --limit 10", does: "the ten newest of each managed target" },
          { command: "tasc reports list --format json", does: "for a program" },
        ],
        load: () => import("../reports-list.ts"),
      },
      {
        name: "show",
        summary: "show one report with its results",
        args: [{ name: "<id>", description: "the report's id" }],
        options: [
          TARGET,
          FORMAT,
          { flags: "--junit", description: "print it as a JUnit report" },
          MISSING_SECRETS,
          ...SERVICE_OPTIONS,
        ],
        examples: [
          { command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10", does: "results by address" },
          {
            command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10 --junit > report.xml",
            does: "for CI",
          },
        ],
        load: () => import("../reports-show.ts"),
      },
    ],
  },
  {
    name: "notifications",
    summary: "read the service's notifications, oldest first",
    options: [
      TARGET,
      { flags: "--follow", description: "go on and print new ones as they come" },
      {
        flags: "--interval <duration>",
        description: "time between two looks with --follow; 5s unless given",
      },
      FORMAT,
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc notifications --target shop", does: "what happened in one target" },
      { command: "tasc notifications --follow", does: "until Ctrl-C" },
    ],
    load: () => import("../notifications.ts"),
  },
];
