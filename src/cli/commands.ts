import type { ExitCode } from "./exit.ts";
import type { Given, OptionSpec } from "./options.ts";
import { SCOPE_OPTIONS, SERVICE_OPTIONS } from "./options.ts";
import type { World } from "./world.ts";

/** A command as the table of the product has it. Its code is loaded only when it is called. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments in the parser's form. */
  readonly args?: readonly {
    readonly name: string;
    readonly description: string;
    readonly choices?: readonly string[];
  }[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly Example[];
  readonly load?: () => Promise<CommandModule>;
  /** Commands below this one. */
  readonly commands?: readonly CommandSpec[];
}

export interface Example {
  readonly command: string;
  readonly does: string;
}

export interface CommandModule {
  readonly run: (given: Given, world: World) => Promise<ExitCode>;
}

const MISSING_SECRETS: OptionSpec = {
  flags: "--allow-missing-secrets",
  description: "take a missing secret as unknown and plan nothing from it",
};

const REDISCOVER: OptionSpec = {
  flags: "--rediscover <address>",
  description: "send the prompt of this test case, whatever state says",
  repeatable: true,
};

const RUN: OptionSpec = {
  flags: "--run <address>",
  description: "run this batch generation, whatever state says",
  repeatable: true,
};

const LOCK_TIMEOUT: OptionSpec = {
  flags: "--lock-timeout <duration>",
  description: "how long to wait for a lock that somebody holds, such as 2m",
};

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "init",
    summary: "write a project that validates and plans at once",
    examples: [
      { command: "tasc init", does: "in the current folder" },
      { command: "tasc init --chdir e2e", does: "in the folder e2e" },
    ],
    load: () => import("../commands/init.ts"),
  },
  {
    name: "validate",
    summary: "check the manifests, without the service",
    options: [
      MISSING_SECRETS,
      { flags: "--format <format>", description: "how to print what was found", choices: ["text", "json"] },
    ],
    examples: [
      { command: "tasc validate", does: "check the project in the current folder" },
      {
        command: "tasc validate --stage production --allow-missing-secrets",
        does: "without the secrets of production",
      },
    ],
    load: () => import("../commands/validate.ts"),
  },
  {
    name: "plan",
    summary: "show what an apply would change",
    options: [
      { flags: "--format <format>", description: "how to print the plan", choices: ["text", "json"] },
      { flags: "--out <file>", description: "save the plan, for `tasc apply FILE`" },
      { flags: "--detailed-exitcode", description: "exit with 2 when there are changes" },
      ...SCOPE_OPTIONS,
      REDISCOVER,
      RUN,
      MISSING_SECRETS,
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc plan", does: "compare the manifests with the live service" },
      { command: "tasc plan --stage production --out plan.json", does: "save a plan for review" },
      {
        command: "tasc plan --only 'testCase.shop.*' --detailed-exitcode",
        does: "one target's test cases; 2 if any changes",
      },
    ],
    load: () => import("../commands/plan.ts"),
  },
  {
    name: "show",
    summary: "print a saved plan again",
    args: [{ name: "<file>", description: "a plan saved by `tasc plan --out`" }],
    options: [
      { flags: "--format <format>", description: "how to print it", choices: ["text", "json"] },
      { flags: "--verbose", description: "show every change in full" },
    ],
    examples: [{ command: "tasc show plan.json", does: "print it as the plan did" }],
    load: () => import("../commands/show.ts"),
  },
  {
    name: "apply",
    summary: "make the service what the manifests say",
    args: [{ name: "[file]", description: "a plan saved by `tasc plan --out`; applied without a question" }],
    options: [
      { flags: "--auto-approve", description: "do not ask" },
      ...SCOPE_OPTIONS,
      REDISCOVER,
      RUN,
      {
        flags: "--wait [duration]",
        description: "wait until discoveries have finished, 15m at most unless another time is given",
      },
      LOCK_TIMEOUT,
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc apply", does: "plan, ask, apply" },
      { command: "tasc apply --auto-approve --stage staging", does: "in a pipeline" },
      { command: "tasc apply plan.json", does: "exactly what was reviewed, or nothing" },
    ],
    load: () => import("../commands/apply.ts"),
  },
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
        load: () => import("../commands/state-list.ts"),
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
        load: () => import("../commands/state-mark.ts"),
      },
    ],
  },
  {
    name: "schema",
    summary: "print a JSON Schema",
    args: [{ name: "<which>", description: "of which document", choices: ["project", "target", "plan"] }],
    examples: [{ command: "tasc schema target > target.schema.json", does: "for an editor" }],
    load: () => import("../commands/schema.ts"),
  },
  {
    name: "serve",
    summary: "run a local service that speaks the whole interface",
    options: [
      { flags: "--port <port>", description: "port on 127.0.0.1; 4010 unless given" },
      { flags: "--data <dir>", description: "folder of its data; .tasc/service unless given" },
      { flags: "--api-key <key>", description: "key that it accepts; local-key unless given" },
      { flags: "--discovery-time <duration>", description: "how long a discovery takes, such as 2s" },
    ],
    examples: [
      { command: "tasc serve", does: "on http://127.0.0.1:4010 with the key local-key" },
      { command: "tasc serve --port 0 --data /tmp/service", does: "on any free port, which it prints" },
    ],
    load: () => import("../commands/serve.ts"),
  },
];
