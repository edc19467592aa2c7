import { KINDS } from "../model/address.ts";
import { PLAN_FORMATS } from "../render/formats.ts";
import {
  argument,
  choice,
  command,
  type CommandSpec,
  duration,
  flag,
  type GlobalOptions,
  links,
  list,
  INSECURE,
  LOCK_TIMEOUT,
  MISSING_SECRETS,
  ON_DEMAND,
  type Options,
  type OptionSpec,
  OVERRIDE_POLICY,
  rest,
  SCOPE,
  SERVICE,
  SHARD,
  text,
  TEXT_OR_JSON,
  TWO_STAGES,
  VERBOSE,
  whole,
} from "./options.ts";

/** The shells that `tasc completion` writes a script for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

const PLAN_VIEW = {
  budget: whole("--budget <characters>", "maximum length of a Markdown comment; default: 65536", 1000),
  link: links("--link <text=url>", "add a link to HTML and Markdown output, e.g. to the pull request"),
};

const TARGET = { target: text("--target <key>", "key of a target; default: all managed targets") };

const init = {};
export type InitOptions = Options<typeof init> & GlobalOptions;

const validate = {
  ...MISSING_SECRETS,
  format: choice("--format <format>", "output format", ["text", "json", "github", "sarif", "junit"]),
};
export type ValidateOptions = Options<typeof validate> & GlobalOptions;

const schema = {
  which: choice("[which]", "which schema to print", ["project", "target", "plan"]),
  install: choice(
    "--install <editor>",
    "add the schemas to the project and the editor's settings instead of printing one",
    ["vscode"],
  ),
};
export type SchemaOptions = Options<typeof schema> & GlobalOptions;

const fmt = {
  check: flag("--check", "change nothing; exit with 1 if a file would change"),
  ...TEXT_OR_JSON,
};
export type FmtOptions = Options<typeof fmt> & GlobalOptions;

const created = {
  kind: argument("<kind>", "kind of resource to add", KINDS),
  address: argument(
    "<address>",
    "address: `shop` for a target, `shop.checkout` for a resource of that target",
  ),
  ...TEXT_OR_JSON,
};
export type NewOptions = Options<typeof created> & GlobalOptions;

const stages = { ...TEXT_OR_JSON };
export type StagesOptions = Options<typeof stages> & GlobalOptions;

const plan = {
  format: choice("--format <format>", "output format", PLAN_FORMATS),
  ...PLAN_VIEW,
  out: text("--out <file>", "save the plan, for `tasc apply FILE`"),
  expires: duration("--expires <duration>", "how long the saved plan can be applied, e.g. 24h"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when there are changes"),
  base: text(
    "--base <ref>",
    "separate the changes of this branch from those pending at this commit and from drift",
  ),
  allStages: flag("--all-stages", "plan all stages and exit with the most severe exit code"),
  ...SCOPE,
  ...SHARD,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  ...MISSING_SECRETS,
  snapshot: text(
    "--snapshot <file>",
    "plan offline from a file written by `tasc snapshot`; no API key needed",
  ),
  ...VERBOSE,
  ...SERVICE,
};
export type PlanOptions = Options<typeof plan> & GlobalOptions;

const show = {
  file: argument("<file>", "a plan saved by `tasc plan --out`"),
  format: choice("--format <format>", "output format", PLAN_FORMATS),
  ...PLAN_VIEW,
  ...VERBOSE,
};
export type ShowOptions = Options<typeof show> & GlobalOptions;

const mergePlans = {
  files: rest("<file...>", "plans of one stage, saved by `tasc plan --out`"),
  format: choice("--format <format>", "output format", PLAN_FORMATS),
  ...PLAN_VIEW,
  ...VERBOSE,
};
export type MergePlansOptions = Options<typeof mergePlans> & GlobalOptions;

const apply = {
  file: text("[file]", "a plan saved by `tasc plan --out`; applied without confirmation"),
  autoApprove: flag("--auto-approve", "skip the confirmation"),
  ...SCOPE,
  ...SHARD,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  wait: duration("--wait [duration]", "wait for discoveries to finish; default time limit: 15m", {
    always: 15 * 60_000,
  }),
  ...LOCK_TIMEOUT,
  format: choice("--format <format>", "output format; json prints one event per line", ["text", "json"]),
  ...VERBOSE,
  ...SERVICE,
};
export type ApplyOptions = Options<typeof apply> & GlobalOptions;

const imports = {
  target: list("--target <app-or-id>", "import only this live target; default: all"),
  dir: text("--dir <dir>", "folder to write the manifests to; default: targets"),
  split: choice("--split <by>", "one file per target (default), or additionally one per folder", [
    "target",
    "folder",
  ]),
  into: list("--into <key=app-or-id>", "use this declared target for a live target in this stage"),
  elements: flag("--elements", "also import the elements of test cases"),
  folder: list("--folder <id=name>", "name of a folder; the API returns only its id"),
  dryRun: flag("--dry-run", "print the manifests and write nothing"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};
export type ImportOptions = Options<typeof imports> & GlobalOptions;

const pull = {
  ...SCOPE,
  fields: list("--fields <name>", "pull only this field, e.g. status or discovery.prompt"),
  ...TEXT_OR_JSON,
  dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type PullOptions = Options<typeof pull> & GlobalOptions;

const promote = {
  ...TWO_STAGES,
  ...SCOPE,
  ...TEXT_OR_JSON,
  dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
  gate: flag("--gate", "require every affected test case to have passed since its last apply"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type PromoteOptions = Options<typeof promote> & GlobalOptions;

const drift = { ...TEXT_OR_JSON, ...SCOPE, ...MISSING_SECRETS, ...VERBOSE, ...SERVICE };
export type DriftOptions = Options<typeof drift> & GlobalOptions;

const diff = {
  ...TWO_STAGES,
  all: flag("--all", "compare all fields, not only those that promote copies"),
  ...TEXT_OR_JSON,
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when the stages differ"),
  ...SCOPE,
};
export type DiffOptions = Options<typeof diff> & GlobalOptions;

const explain = {
  address: argument(
    "<address>",
    "address of a resource, e.g. testCase.shop.login, or a code, e.g. unknown-key",
  ),
  field: text("[field]", "field, e.g. status or discovery.prompt; default: all declared fields"),
  ...TEXT_OR_JSON,
  offline: flag("--offline", "use manifests and state only; do not call the service"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ExplainOptions = Options<typeof explain> & GlobalOptions;

const snapshot = {
  out: text("--out <file>", "write to this file instead of stdout, readable only by you"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type SnapshotOptions = Options<typeof snapshot> & GlobalOptions;

const graph = {
  target: text("[target]", "key of a target; default: all"),
  format: choice("--format <format>", "output format; default: mermaid", ["mermaid", "dot", "json"]),
};
export type GraphOptions = Options<typeof graph> & GlobalOptions;

const reportsList = {
  ...TARGET,
  limit: whole("--limit <n>", "maximum number of reports per target; default: all", 1),
  ...TEXT_OR_JSON,
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ReportsListOptions = Options<typeof reportsList> & GlobalOptions;

const reportsShow = {
  id: argument("<id>", "id of the report"),
  ...TARGET,
  ...TEXT_OR_JSON,
  junit: flag("--junit", "print the report in JUnit format"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ReportsShowOptions = Options<typeof reportsShow> & GlobalOptions;

const notifications = {
  ...TARGET,
  follow: flag("--follow", "keep running and print new notifications as they arrive"),
  interval: duration("--interval <duration>", "polling interval for --follow; default: 5s", {
    examples: "5s or 1m",
    least: 1,
  }),
  ...TEXT_OR_JSON,
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type NotificationsOptions = Options<typeof notifications> & GlobalOptions;

const stateList = { ...TEXT_OR_JSON, ...INSECURE };
export type StateListOptions = Options<typeof stateList> & GlobalOptions;

const stateShow = {
  address: argument("<address>", "address of a resource, e.g. testCase.shop.login"),
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type StateShowOptions = Options<typeof stateShow> & GlobalOptions;

const stateMv = {
  from: argument("<from>", "current address"),
  to: argument("<to>", "new address"),
  ...LOCK_TIMEOUT,
  ...INSECURE,
};
export type StateMvOptions = Options<typeof stateMv> & GlobalOptions;

const stateRm = {
  address: argument("<address>", "address to forget; a target includes everything in it"),
  ...LOCK_TIMEOUT,
  ...INSECURE,
};
export type StateRmOptions = Options<typeof stateRm> & GlobalOptions;

const stateBind = {
  address: argument("<address>", "a target, an environment or a test case"),
  id: argument("<id>", "id of the resource on the service"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};
export type StateBindOptions = Options<typeof stateBind> & GlobalOptions;

const stateMark = {
  address: argument("<address>", "address of a batch generation"),
  what: argument("<what>", "whether the batch generation ran", ["done", "undone"]),
  ...LOCK_TIMEOUT,
  ...INSECURE,
};
export type StateMarkOptions = Options<typeof stateMark> & GlobalOptions;

const stateUnlock = {
  target: argument("<target>", "key of the target, e.g. shop"),
  id: text("[id]", "id of the lock, from the error message; a lock with another id is not released"),
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type StateUnlockOptions = Options<typeof stateUnlock> & GlobalOptions;

const statePull = {
  target: text("--target <key>", "key of a target; default: all targets of the stage"),
  format: choice("--format <format>", "output format", ["json"]),
  ...INSECURE,
};
export type StatePullOptions = Options<typeof statePull> & GlobalOptions;

const statePush = {
  file: argument("<file>", "a backup from `tasc state pull`; - reads standard input"),
  force: flag("--force", "overwrite state of another lineage or a higher serial"),
  ...LOCK_TIMEOUT,
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type StatePushOptions = Options<typeof statePush> & GlobalOptions;

const stateMigrate = {
  fromConfig: text(
    "--from-config <file>",
    "file with the old `state:` section as YAML; - reads standard input",
  ),
  ...LOCK_TIMEOUT,
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type StateMigrateOptions = Options<typeof stateMigrate> & GlobalOptions;

const stateHistory = {
  target: argument("<target>", "key of the target, e.g. shop"),
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type StateHistoryOptions = Options<typeof stateHistory> & GlobalOptions;

const history = {
  address: text("[address]", "list only applies that changed this address"),
  ...TEXT_OR_JSON,
  ...INSECURE,
};
export type HistoryOptions = Options<typeof history> & GlobalOptions;

const serve = {
  port: text("--port <port>", "port on 127.0.0.1; default: 4010"),
  data: text("--data <dir>", "data folder; default: .tasc/service"),
  apiKey: text(
    "--api-key <key>",
    "API key to accept (or TASC_SERVE_API_KEY); default: a random key, kept in the data folder",
  ),
  from: text("--from <file>", "fill an empty data folder with a file from `tasc snapshot`"),
  discoveryTime: duration("--discovery-time <duration>", "how long a discovery takes, e.g. 2s", {
    examples: "500ms or 2s",
  }),
};
export type ServeOptions = Options<typeof serve> & GlobalOptions;

const rehearse = {
  file: text("[plan]", "a plan saved by `tasc plan --out`; default: a new plan"),
  format: choice("--format <format>", "output format", ["text", "json", "markdown"]),
  ...SCOPE,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  ...SERVICE,
};
export type RehearseOptions = Options<typeof rehearse> & GlobalOptions;

const doctor = { ...TEXT_OR_JSON, ...MISSING_SECRETS, ...SERVICE };
export type DoctorOptions = Options<typeof doctor> & GlobalOptions;

const commands = { ...TEXT_OR_JSON };
export type CommandsOptions = Options<typeof commands> & GlobalOptions;

const completion = { shell: argument("<shell>", "shell to complete for", SHELLS) };
export type CompletionOptions = Options<typeof completion> & GlobalOptions;

const PROJECT_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "init",
    summary: "create a project that is ready to validate and plan",
    options: init,
    examples: [
      { command: "tasc init", does: "create a project in the current folder" },
      { command: "tasc init --chdir e2e", does: "create a project in the folder e2e" },
    ],
    load: () => import("./init.ts"),
  }),
  command({
    name: "validate",
    summary: "check the manifests without calling the service",
    options: validate,
    examples: [
      { command: "tasc validate", does: "check the project in the current folder" },
      {
        command: "tasc validate --stage production --allow-missing-secrets",
        does: "check production without its secrets",
      },
      { command: "tasc validate --format github", does: "annotate a pull request" },
    ],
    load: () => import("./validate.ts"),
  }),
  command({
    name: "schema",
    summary: "print a JSON Schema, or install all schemas for an editor",
    options: schema,
    examples: [
      { command: "tasc schema target > target.schema.json", does: "save the schema for other tools" },
      {
        command: "tasc schema --install vscode",
        does: "get completion and checks in VS Code's YAML extension",
      },
    ],
    load: () => import("./schema.ts"),
  }),
  command({
    name: "fmt",
    summary: "format the manifests",
    options: fmt,
    examples: [
      { command: "tasc fmt", does: "put keys in their usual order; comments are kept" },
      { command: "tasc fmt --check", does: "list the files that would change, e.g. in a pull request" },
    ],
    load: () => import("./fmt.ts"),
  }),
  command({
    name: "new",
    summary: "add a commented skeleton of a resource to the right file",
    options: created,
    examples: [
      { command: "tasc new target shop", does: "add a target in a new file" },
      { command: "tasc new testCase shop.checkout", does: "add a test case to the target shop" },
    ],
    load: () => import("./new.ts"),
  }),
];

const PLAN_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "plan",
    summary: "show what an apply would change",
    options: plan,
    examples: [
      { command: "tasc plan", does: "compare the manifests with the live service" },
      { command: "tasc plan --stage production --out plan.json", does: "save a plan for review" },
      {
        command: "tasc plan --only 'testCase.shop.*' --detailed-exitcode",
        does: "plan one target's test cases; exit with 2 if any changes",
      },
      { command: "tasc plan --override-policy maxChanges", does: "allow an intended large change" },
    ],
    load: () => import("./plan.ts"),
  }),
  command({
    name: "stages",
    summary: "list the stages and their contents without calling the service",
    options: stages,
    examples: [{ command: "tasc stages", does: "list the stages; * marks the default" }],
    load: () => import("./stages.ts"),
  }),
  command({
    name: "show",
    summary: "print a saved plan again",
    options: show,
    examples: [{ command: "tasc show plan.json", does: "print the saved plan again" }],
    load: () => import("./show.ts"),
  }),
  command({
    name: "merge-plans",
    summary: "print several saved plans as one, e.g. the plans of shards",
    options: mergePlans,
    examples: [
      {
        command: "tasc merge-plans plans/*.json --format markdown",
        does: "print one comment for all shards",
      },
    ],
    load: () => import("./show.ts"),
  }),
  command({
    name: "apply",
    summary: "apply the manifests to the service",
    options: apply,
    examples: [
      { command: "tasc apply", does: "plan, confirm, apply" },
      {
        command: "tasc apply --auto-approve --stage staging",
        does: "apply in a pipeline, without confirmation",
      },
      { command: "tasc apply plan.json", does: "apply exactly the reviewed plan" },
    ],
    load: () => import("./apply.ts"),
  }),
];

const ADOPT_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "import",
    summary: "write manifests for live resources that are not declared",
    options: imports,
    examples: [
      { command: "tasc import", does: "write a manifest for each live target" },
      { command: "tasc import --target 'Web Shop' --elements", does: "import one target with its elements" },
      { command: "tasc import --stage production", does: "merge another stage into the manifests" },
      { command: "tasc import --split folder --dry-run", does: "preview one file per folder" },
    ],
    load: () => import("./import.ts"),
  }),
  command({
    name: "pull",
    summary: "update the manifests with live values from the service",
    options: pull,
    examples: [
      { command: "tasc pull --dry-run", does: "preview the changes to the manifests" },
      {
        command: "tasc pull --only 'testCase.shop.*' --fields tags",
        does: "pull the tags of one target's test cases; then review the git diff",
      },
    ],
    load: () => import("./pull.ts"),
  }),
  command({
    name: "promote",
    summary: "copy configuration from one stage to another in the manifests",
    options: promote,
    examples: [
      {
        command: "tasc promote --from staging --to production --dry-run",
        does: "preview the changes to the manifests",
      },
      {
        command: "tasc promote --from staging --to production --only testCase.shop.login",
        does: "promote one test case; then review the git diff",
      },
      {
        command: "tasc promote --from staging --to production --gate",
        does: "promote only if the affected test cases have passed in staging",
      },
    ],
    load: () => import("./promote.ts"),
  }),
];

/** Commands that look and change nothing. */
const LOOK_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "drift",
    summary: "show changes made on the service since the last apply",
    options: drift,
    examples: [
      { command: "tasc drift --stage production", does: "exit with 2 on drift, e.g. in a nightly job" },
      { command: "tasc drift --only 'testCase.shop.*' --format json", does: "print drift as JSON" },
    ],
    load: () => import("./drift.ts"),
  }),
  command({
    name: "diff",
    summary: "show how two stages differ, without calling the service",
    options: diff,
    examples: [
      { command: "tasc diff --from staging --to production", does: "show what promote would copy" },
      {
        command: "tasc diff --from staging --to production --all --format json",
        does: "print the differences in all fields as JSON",
      },
    ],
    load: () => import("./diff.ts"),
  }),
  command({
    name: "explain",
    summary: "show where a value comes from and how it is used, or what a code means",
    options: explain,
    examples: [
      { command: "tasc explain testCase.shop.login status", does: "explain the value of one field" },
      {
        command: "tasc explain environment.shop.default --offline",
        does: "explain without calling the service",
      },
      { command: "tasc explain unknown-key", does: "explain the code of a message" },
    ],
    load: () => import("./explain.ts"),
  }),
  command({
    name: "snapshot",
    summary: "save the service's data for planning offline",
    options: snapshot,
    examples: [
      {
        command: "tasc snapshot --out snapshot.json",
        does: "save a snapshot for tasc plan --snapshot snapshot.json",
      },
      { command: "tasc serve --from snapshot.json", does: "run a local copy of the service" },
    ],
    load: () => import("./snapshot.ts"),
  }),
  command({
    name: "graph",
    summary: "draw prerequisites as Mermaid or DOT",
    options: graph,
    examples: [
      { command: "tasc graph shop", does: "print Mermaid for use in Markdown" },
      { command: "tasc graph --format dot | dot -Tsvg > graph.svg", does: "create an image" },
    ],
    load: () => import("./graph.ts"),
  }),
  {
    name: "reports",
    summary: "read test reports",
    examples: [{ command: "tasc reports list --target shop", does: "list the reports of one target" }],
    commands: [
      command({
        name: "list",
        summary: "list test reports, newest first",
        options: reportsList,
        examples: [
          {
            command: "tasc reports list --limit 10",
            does: "list the ten newest reports of each managed target",
          },
          { command: "tasc reports list --format json", does: "print reports as JSON" },
        ],
        load: () => import("./reports-list.ts"),
      }),
      command({
        name: "show",
        summary: "show one report with its results",
        options: reportsShow,
        examples: [
          {
            command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10",
            does: "show results by address",
          },
          {
            command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10 --junit > report.xml",
            does: "save the report for CI",
          },
        ],
        load: () => import("./reports-show.ts"),
      }),
    ],
  },
  command({
    name: "notifications",
    summary: "read the service's notifications, oldest first",
    options: notifications,
    examples: [
      { command: "tasc notifications --target shop", does: "show the notifications of one target" },
      { command: "tasc notifications --follow", does: "keep printing until Ctrl-C" },
    ],
    load: () => import("./notifications.ts"),
  }),
];

const STATE_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "history",
    summary: "list the applies of a stage, newest first",
    options: history,
    examples: [
      { command: "tasc history --stage production", does: "show who changed what, when and from where" },
      { command: "tasc history testCase.shop.login", does: "list the applies that changed one test case" },
    ],
    load: async () => ({ run: (await import("./state.ts")).applies }),
  }),
  {
    name: "state",
    summary: "inspect and modify state",
    examples: [{ command: "tasc state list", does: "list all bindings of the stage" }],
    commands: [
      command({
        name: "list",
        summary: "list addresses and the ids they are bound to",
        options: stateList,
        examples: [{ command: "tasc state list --stage staging", does: "list all bindings of staging" }],
        load: async () => ({ run: (await import("./state.ts")).list }),
      }),
      command({
        name: "show",
        summary: "show the state of one address",
        options: stateShow,
        examples: [
          { command: "tasc state show testCase.shop.login", does: "show its id and its recorded fields" },
          { command: "tasc state show target.shop", does: "also show the ids of the target's folders" },
        ],
        load: () => import("./state-show.ts"),
      }),
      command({
        name: "mv",
        summary: "move state to another address",
        options: stateMv,
        examples: [
          { command: "tasc state mv testCase.shop.login testCase.shop.sign-in", does: "rename a test case" },
          { command: "tasc state mv target.shop target.web", does: "rename a target and everything in it" },
        ],
        load: async () => ({ run: (await import("./state.ts")).mv }),
      }),
      command({
        name: "rm",
        summary: "remove an address from state without calling the service",
        options: stateRm,
        examples: [
          { command: "tasc state rm testCase.shop.old", does: "stop listing a test case as orphaned" },
          {
            command: "tasc state rm target.shop",
            does: "forget a target; the next plan matches everything by name",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).rm }),
      }),
      command({
        name: "bind",
        summary: "bind an address to a live resource",
        options: stateBind,
        examples: [
          {
            command: "tasc state bind testCase.shop.login 4b7c1d9e-5f3a-4c0e-9d6b-8a2f1e0c7b54",
            does: "bind a test case; its write-only fields are sent again",
          },
        ],
        load: () => import("./state-bind.ts"),
      }),
      command({
        name: "mark",
        summary: "record whether a batch generation ran",
        options: stateMark,
        examples: [
          {
            command: "tasc state mark batchGeneration.shop.spring done",
            does: "record that it ran, so that it does not run again",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).mark }),
      }),
      command({
        name: "unlock",
        summary: "release a stuck lock",
        options: stateUnlock,
        examples: [
          {
            command: "tasc state unlock shop --stage staging",
            does: "release the lock and print who held it",
          },
          {
            command: "tasc state unlock shop 5f0c3f8e-3c1d-4a57-9d0e-0a6b8b1d2c3f",
            does: "release only the lock with this id",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).unlock }),
      }),
      command({
        name: "pull",
        summary: "print the state of a stage as one JSON object",
        options: statePull,
        examples: [{ command: "tasc state pull --stage staging > backup.json", does: "save a backup" }],
        load: async () => ({ run: (await import("./state.ts")).pull }),
      }),
      command({
        name: "push",
        summary: "restore state from a backup",
        options: statePush,
        examples: [
          { command: "tasc state push backup.json", does: "restore a backup that matches the current state" },
          { command: "tasc state push backup.json --force", does: "overwrite newer state" },
        ],
        load: async () => ({ run: (await import("./state.ts")).push }),
      }),
      command({
        name: "migrate",
        summary: "copy state from another backend to the one in tasc.yaml, and verify it",
        options: stateMigrate,
        examples: [
          {
            command: "tasc state migrate --from-config old-state.yaml",
            does: "copy the state; run once per stage",
          },
          {
            command: "echo 'backend: local' | tasc state migrate --from-config -",
            does: "copy state from local files",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).migrate }),
      }),
      command({
        name: "history",
        summary: "list earlier versions of a target's state (postgres)",
        options: stateHistory,
        examples: [{ command: "tasc state history shop", does: "show the serial and date of each version" }],
        load: async () => ({ run: (await import("./state.ts")).history }),
      }),
    ],
  },
];

const SERVICE_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "rehearse",
    summary: "plan and apply on a local copy of the service, and check that nothing remains",
    options: rehearse,
    examples: [
      {
        command: "tasc rehearse",
        does: "rehearse the current changes; exit with 1 if something fails or remains",
      },
      {
        command: "tasc rehearse plan.json --format markdown",
        does: "rehearse a saved plan and print a pull request comment",
      },
    ],
    load: () => import("./rehearse.ts"),
  }),
  command({
    name: "serve",
    summary: "run a local service that implements the complete API",
    options: serve,
    examples: [
      { command: "tasc serve", does: "listen on http://127.0.0.1:4010 and print a random key" },
      {
        command: "tasc serve --from snapshot.json --data .tasc/rehearsal",
        does: "try a change on a copy of the real service; see docs/local-service.md",
      },
      { command: "tasc serve --port 0 --data /tmp/service", does: "listen on a free port and print it" },
    ],
    load: () => import("./serve.ts"),
  }),
];

/** Commands that help with tasc itself. */
const HELP_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "doctor",
    summary: "check configuration, credentials, service and state",
    options: doctor,
    examples: [
      {
        command: "tasc doctor --stage production",
        does: "print one line per check; exit with 1 if one fails",
      },
      { command: "tasc doctor --format json", does: "print the checks as JSON" },
    ],
    load: () => import("./doctor.ts"),
  }),
  command({
    name: "commands",
    summary: "list all commands and their options",
    options: commands,
    examples: [{ command: "tasc commands --json", does: "print commands and options as JSON" }],
    load: () => import("./commands.ts"),
  }),
  command({
    name: "completion",
    summary: "print a shell completion script",
    options: completion,
    examples: [
      { command: 'eval "$(tasc completion bash)"', does: "enable completion; add this to ~/.bashrc" },
      {
        command: 'eval "$(tasc completion zsh)"',
        does: "enable completion; add this to ~/.zshrc, after compinit",
      },
      {
        command: "tasc completion fish > ~/.config/fish/completions/tasc.fish",
        does: "enable completion; run once",
      },
    ],
    load: () => import("./completion.ts"),
  }),
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
].map(withJson);

/** `--json` goes with every `--format` that has it. */
function withJson(spec: CommandSpec): CommandSpec {
  return {
    ...spec,
    ...(spec.commands === undefined ? {} : { commands: spec.commands.map(withJson) }),
    ...(spec.options === undefined ? {} : { options: spec.options.flatMap(withShortForm) }),
  };
}

function withShortForm(option: OptionSpec): readonly OptionSpec[] {
  const isFormat = option.flags.startsWith("--format ") && option.choices?.includes("json") === true;
  return isFormat ? [option, { flags: "--json", description: "short for --format json" }] : [option];
}
