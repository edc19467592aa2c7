import { PLAN_FORMATS } from "../render/formats.ts";
import {
  type ExitCode,
  type Given,
  LOCK_TIMEOUT,
  MISSING_SECRETS,
  OVERRIDE_POLICY,
  type OptionSpec,
  REDISCOVER,
  RUN,
  SCOPE_OPTIONS,
  SERVICE_OPTIONS,
  TWO_STAGES,
} from "./options.ts";
import type { World } from "./world.ts";

/** The shells that `tasc completion` writes a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const PROJECT_COMMANDS: readonly CommandSpec[] = [
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
      {
        flags: "--format <format>",
        description: "how to print what was found",
        choices: ["text", "json", "github", "sarif", "junit"],
      },
    ],
    examples: [
      { command: "tasc validate", does: "check the project in the current folder" },
      {
        command: "tasc validate --stage production --allow-missing-secrets",
        does: "without the secrets of production",
      },
      { command: "tasc validate --format github", does: "annotations in a pull request" },
    ],
    load: () => import("../commands/validate.ts"),
  },
  {
    name: "schema",
    summary: "print a JSON Schema, or install them for an editor",
    args: [{ name: "[which]", description: "of which document", choices: ["project", "target", "plan"] }],
    options: [
      {
        flags: "--install <editor>",
        description: "put the schemas into the project and into the editor's settings instead",
        choices: ["vscode"],
      },
    ],
    examples: [
      { command: "tasc schema target > target.schema.json", does: "for a program" },
      { command: "tasc schema --install vscode", does: "completion and checks in VS Code's YAML extension" },
    ],
    load: () => import("../commands/schema.ts"),
  },
];

const FORMATS = Object.keys(PLAN_FORMATS);

const BUDGET: OptionSpec = {
  flags: "--budget <characters>",
  description: "length that a markdown comment may have; 65536 unless given",
  least: 1000,
};

const PLAN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "plan",
    summary: "show what an apply would change",
    options: [
      { flags: "--format <format>", description: "how to print the plan", choices: FORMATS },
      BUDGET,
      { flags: "--out <file>", description: "save the plan, for `tasc apply FILE`" },
      { flags: "--detailed-exitcode", description: "exit with 2 when there are changes" },
      ...SCOPE_OPTIONS,
      REDISCOVER,
      RUN,
      OVERRIDE_POLICY,
      MISSING_SECRETS,
      {
        flags: "--snapshot <file>",
        description: "plan offline, from what `tasc snapshot` wrote; needs no key",
      },
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
      { command: "tasc plan --override-policy maxChanges", does: "a large change that is meant to be one" },
    ],
    load: () => import("../commands/plan.ts"),
  },
  {
    name: "show",
    summary: "print a saved plan again",
    args: [{ name: "<file>", description: "a plan saved by `tasc plan --out`" }],
    options: [
      { flags: "--format <format>", description: "how to print it", choices: FORMATS },
      BUDGET,
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
      OVERRIDE_POLICY,
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
];

const FORMAT: OptionSpec = {
  flags: "--format <format>",
  description: "how to print it",
  choices: ["text", "json"],
};

const ADOPT_COMMANDS: readonly CommandSpec[] = [
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
    load: () => import("../commands/import.ts"),
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
    load: () => import("../commands/pull.ts"),
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
    load: () => import("../commands/promote.ts"),
  },
];

const VIEW_FORMAT: OptionSpec = {
  flags: "--format <format>",
  description: "how to print it",
  choices: ["text", "json"],
};

const TARGET: OptionSpec = {
  flags: "--target <key>",
  description: "key of a target; all managed ones unless given",
};

/** Commands that look and change nothing. */
const LOOK_COMMANDS: readonly CommandSpec[] = [
  {
    name: "drift",
    summary: "show what the service changed since the last apply",
    options: [
      VIEW_FORMAT,
      ...SCOPE_OPTIONS,
      MISSING_SECRETS,
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc drift --stage production", does: "2 if anything drifted; made for a nightly job" },
      { command: "tasc drift --only 'testCase.shop.*' --format json", does: "for a program" },
    ],
    load: () => import("../commands/drift.ts"),
  },
  {
    name: "diff",
    summary: "show what two stages resolve differently, without calling the service",
    options: [
      ...TWO_STAGES,
      { flags: "--all", description: "all fields, not only those that promote carries" },
      VIEW_FORMAT,
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
    load: () => import("../commands/diff.ts"),
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
      VIEW_FORMAT,
      { flags: "--offline", description: "manifests and state only, without the service" },
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc explain testCase.shop.login status", does: "why it is what it is" },
      { command: "tasc explain environment.shop.default --offline", does: "without asking the service" },
    ],
    load: () => import("../commands/explain.ts"),
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
    load: () => import("../commands/snapshot.ts"),
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
    load: () => import("../commands/graph.ts"),
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
          VIEW_FORMAT,
          MISSING_SECRETS,
          ...SERVICE_OPTIONS,
        ],
        examples: [
          { command: "tasc reports list --limit 10", does: "the ten newest of each managed target" },
          { command: "tasc reports list --format json", does: "for a program" },
        ],
        load: () => import("../commands/reports-list.ts"),
      },
      {
        name: "show",
        summary: "show one report with its results",
        args: [{ name: "<id>", description: "the report's id" }],
        options: [
          TARGET,
          VIEW_FORMAT,
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
        load: () => import("../commands/reports-show.ts"),
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
      VIEW_FORMAT,
      MISSING_SECRETS,
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc notifications --target shop", does: "what happened in one target" },
      { command: "tasc notifications --follow", does: "until Ctrl-C" },
    ],
    load: () => import("../commands/notifications.ts"),
  },
];

const STATE_FORMAT: OptionSpec = {
  flags: "--format <format>",
  description: "how to print it",
  choices: ["text", "json"],
};

const STATE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "state",
    summary: "look at what tasc remembers, and correct it",
    examples: [{ command: "tasc state list", does: "all bindings of the stage" }],
    commands: [
      {
        name: "list",
        summary: "list addresses and the ids they are bound to",
        options: [STATE_FORMAT],
        examples: [{ command: "tasc state list --stage staging", does: "all bindings of staging" }],
        load: () => import("../commands/state-list.ts"),
      },
      {
        name: "show",
        summary: "show what is remembered of one address",
        args: [{ name: "<address>", description: "such as testCase.shop.login" }],
        options: [STATE_FORMAT],
        examples: [
          { command: "tasc state show testCase.shop.login", does: "its id, and which fields have a record" },
          { command: "tasc state show target.shop", does: "also the ids of the target's folders" },
        ],
        load: () => import("../commands/state-show.ts"),
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
        load: () => import("../commands/state-mv.ts"),
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
        load: () => import("../commands/state-rm.ts"),
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
        load: () => import("../commands/state-bind.ts"),
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
      {
        name: "unlock",
        summary: "take a lock away from whoever holds it",
        args: [{ name: "<target>", description: "key of the target, such as shop" }],
        options: [STATE_FORMAT],
        examples: [{ command: "tasc state unlock shop --stage staging", does: "says whose lock it was" }],
        load: () => import("../commands/state-unlock.ts"),
      },
    ],
  },
];

const SERVICE_COMMANDS: readonly CommandSpec[] = [
  {
    name: "serve",
    summary: "run a local service that speaks the whole interface",
    options: [
      { flags: "--port <port>", description: "port on 127.0.0.1; 4010 unless given" },
      { flags: "--data <dir>", description: "folder of its data; .tasc/service unless given" },
      { flags: "--api-key <key>", description: "key that it accepts; local-key unless given" },
      { flags: "--from <file>", description: "fill an empty data folder with what `tasc snapshot` wrote" },
      { flags: "--discovery-time <duration>", description: "how long a discovery takes, such as 2s" },
    ],
    examples: [
      { command: "tasc serve", does: "on http://127.0.0.1:4010 with the key local-key" },
      {
        command: "tasc serve --from snapshot.json --data .tasc/rehearsal",
        does: "rehearse a change on a copy of the real service: docs/local-service.md",
      },
      { command: "tasc serve --port 0 --data /tmp/service", does: "on any free port, which it prints" },
    ],
    load: () => import("../commands/serve.ts"),
  },
];

/** Commands that help with tasc itself. */
const HELP_COMMANDS: readonly CommandSpec[] = [
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
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "completion",
    summary: "print a script that lets your shell complete tasc",
    args: [{ name: "<shell>", description: "which shell", choices: SHELLS }],
    examples: [
      { command: 'eval "$(tasc completion bash)"', does: "in ~/.bashrc" },
      { command: 'eval "$(tasc completion zsh)"', does: "in ~/.zshrc, after compinit" },
      { command: "tasc completion fish > ~/.config/fish/completions/tasc.fish", does: "once" },
    ],
    load: () => import("../commands/completion.ts"),
  },
];

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
