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
  budget: whole("--budget <characters>", "length that a markdown comment may have; 65536 unless given", 1000),
  link: links("--link <text=url>", "a page to link to from HTML and Markdown, for instance the pull request"),
};

const TARGET = { target: text("--target <key>", "key of a target; all managed ones unless given") };

const init = {};
export type InitOptions = Options<typeof init> & GlobalOptions;

const validate = {
  ...MISSING_SECRETS,
  format: choice("--format <format>", "how to print what was found", [
    "text",
    "json",
    "github",
    "sarif",
    "junit",
  ]),
};
export type ValidateOptions = Options<typeof validate> & GlobalOptions;

const schema = {
  which: choice("[which]", "of which document", ["project", "target", "plan"]),
  install: choice(
    "--install <editor>",
    "put the schemas into the project and into the editor's settings instead",
    ["vscode"],
  ),
};
export type SchemaOptions = Options<typeof schema> & GlobalOptions;

const fmt = {
  check: flag("--check", "change nothing, and exit with 1 if a file would change"),
  ...TEXT_OR_JSON,
};
export type FmtOptions = Options<typeof fmt> & GlobalOptions;

const created = {
  kind: argument("<kind>", "what to add", KINDS),
  address: argument("<address>", "its address: `shop` for a target, `shop.checkout` for what belongs to one"),
  ...TEXT_OR_JSON,
};
export type NewOptions = Options<typeof created> & GlobalOptions;

const stages = { ...TEXT_OR_JSON };
export type StagesOptions = Options<typeof stages> & GlobalOptions;

const plan = {
  format: choice("--format <format>", "how to print the plan", PLAN_FORMATS),
  ...PLAN_VIEW,
  out: text("--out <file>", "save the plan, for `tasc apply FILE`"),
  expires: duration("--expires <duration>", "how long the saved plan can be applied, such as 24h"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when there are changes"),
  base: text(
    "--base <ref>",
    "tell what this branch changes from what is pending on this commit, and from drift",
  ),
  allStages: flag("--all-stages", "plan every stage, with the exit code of the worst"),
  ...SCOPE,
  ...SHARD,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  ...MISSING_SECRETS,
  snapshot: text("--snapshot <file>", "plan offline, from what `tasc snapshot` wrote; needs no key"),
  ...VERBOSE,
  ...SERVICE,
};
export type PlanOptions = Options<typeof plan> & GlobalOptions;

const show = {
  file: argument("<file>", "a plan saved by `tasc plan --out`"),
  format: choice("--format <format>", "how to print it", PLAN_FORMATS),
  ...PLAN_VIEW,
  ...VERBOSE,
};
export type ShowOptions = Options<typeof show> & GlobalOptions;

const mergePlans = {
  files: rest("<file...>", "plans saved by `tasc plan --out`, of one stage"),
  format: choice("--format <format>", "how to print them", PLAN_FORMATS),
  ...PLAN_VIEW,
  ...VERBOSE,
};
export type MergePlansOptions = Options<typeof mergePlans> & GlobalOptions;

const apply = {
  file: text("[file]", "a plan saved by `tasc plan --out`; applied without a question"),
  autoApprove: flag("--auto-approve", "do not ask"),
  ...SCOPE,
  ...SHARD,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  wait: duration(
    "--wait [duration]",
    "wait until discoveries have finished, 15m at most unless another time is given",
    { always: 15 * 60_000 },
  ),
  ...LOCK_TIMEOUT,
  format: choice("--format <format>", "json: print each event as one JSON object a line", ["text", "json"]),
  ...VERBOSE,
  ...SERVICE,
};
export type ApplyOptions = Options<typeof apply> & GlobalOptions;

const imports = {
  target: list("--target <app-or-id>", "import this live target; all unless given"),
  dir: text("--dir <dir>", "folder of the project to write to; targets unless given"),
  split: choice("--split <by>", "one file per target (default), or additionally one per folder", [
    "target",
    "folder",
  ]),
  into: list("--into <key=app-or-id>", "the declared target that a live target is in this stage"),
  elements: flag("--elements", "also declare the elements of test cases"),
  folder: list("--folder <id=name>", "the name of a folder, which the API returns by id only"),
  dryRun: flag("--dry-run", "print the manifests and write nothing"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};
export type ImportOptions = Options<typeof imports> & GlobalOptions;

const pull = {
  ...SCOPE,
  fields: list("--fields <name>", "pull this field alone, such as status or discovery.prompt"),
  ...TEXT_OR_JSON,
  dryRun: flag("--dry-run", "show the change of the files and write nothing"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type PullOptions = Options<typeof pull> & GlobalOptions;

const promote = {
  ...TWO_STAGES,
  ...SCOPE,
  ...TEXT_OR_JSON,
  dryRun: flag("--dry-run", "show the change of the files and write nothing"),
  gate: flag("--gate", "require that each test case to change has passed since it was last applied"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type PromoteOptions = Options<typeof promote> & GlobalOptions;

const drift = { ...TEXT_OR_JSON, ...SCOPE, ...MISSING_SECRETS, ...VERBOSE, ...SERVICE };
export type DriftOptions = Options<typeof drift> & GlobalOptions;

const diff = {
  ...TWO_STAGES,
  all: flag("--all", "all fields, not only those that promote carries"),
  ...TEXT_OR_JSON,
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when the stages differ"),
  ...SCOPE,
};
export type DiffOptions = Options<typeof diff> & GlobalOptions;

const explain = {
  address: argument("<address>", "such as testCase.shop.login, or the code of a message"),
  field: text("[field]", "such as status or discovery.prompt; all that are declared unless given"),
  ...TEXT_OR_JSON,
  offline: flag("--offline", "manifests and state only, without the service"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ExplainOptions = Options<typeof explain> & GlobalOptions;

const snapshot = {
  out: text("--out <file>", "write it here, readable for you alone, instead of to stdout"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type SnapshotOptions = Options<typeof snapshot> & GlobalOptions;

const graph = {
  target: text("[target]", "key of a target; all unless given"),
  format: choice("--format <format>", "how to write it; mermaid unless given", ["mermaid", "dot", "json"]),
};
export type GraphOptions = Options<typeof graph> & GlobalOptions;

const reportsList = {
  ...TARGET,
  limit: whole("--limit <n>", "at most so many of each target; all unless given", 1),
  ...TEXT_OR_JSON,
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ReportsListOptions = Options<typeof reportsList> & GlobalOptions;

const reportsShow = {
  id: argument("<id>", "the report's id"),
  ...TARGET,
  ...TEXT_OR_JSON,
  junit: flag("--junit", "print it as a JUnit report"),
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type ReportsShowOptions = Options<typeof reportsShow> & GlobalOptions;

const notifications = {
  ...TARGET,
  follow: flag("--follow", "go on and print new ones as they come"),
  interval: duration("--interval <duration>", "time between two looks with --follow; 5s unless given", {
    examples: "5s or 1m",
    least: 1,
  }),
  ...TEXT_OR_JSON,
  ...MISSING_SECRETS,
  ...SERVICE,
};
export type NotificationsOptions = Options<typeof notifications> & GlobalOptions;

const stateList = { ...TEXT_OR_JSON };
export type StateListOptions = Options<typeof stateList> & GlobalOptions;

const stateShow = { address: argument("<address>", "such as testCase.shop.login"), ...TEXT_OR_JSON };
export type StateShowOptions = Options<typeof stateShow> & GlobalOptions;

const stateMv = {
  from: argument("<from>", "the address as it was"),
  to: argument("<to>", "the address as it is to be"),
  ...LOCK_TIMEOUT,
};
export type StateMvOptions = Options<typeof stateMv> & GlobalOptions;

const stateRm = {
  address: argument("<address>", "what to forget; a target goes with all that is in it"),
  ...LOCK_TIMEOUT,
};
export type StateRmOptions = Options<typeof stateRm> & GlobalOptions;

const stateBind = {
  address: argument("<address>", "a target, an environment or a test case"),
  id: argument("<id>", "the service's id"),
  ...LOCK_TIMEOUT,
  ...SERVICE,
};
export type StateBindOptions = Options<typeof stateBind> & GlobalOptions;

const stateMark = {
  address: argument("<address>", "a batch generation"),
  what: argument("<what>", "whether it ran", ["done", "undone"]),
  ...LOCK_TIMEOUT,
};
export type StateMarkOptions = Options<typeof stateMark> & GlobalOptions;

const stateUnlock = {
  target: argument("<target>", "key of the target, such as shop"),
  id: text("[id]", "id of the lock, as the error about it shows it; another lock is then left alone"),
  ...TEXT_OR_JSON,
};
export type StateUnlockOptions = Options<typeof stateUnlock> & GlobalOptions;

const statePull = {
  target: text("--target <key>", "key of a target; all of the stage unless given"),
  format: choice("--format <format>", "how to print it", ["json"]),
};
export type StatePullOptions = Options<typeof statePull> & GlobalOptions;

const statePush = {
  file: argument("<file>", "a backup from `tasc state pull`; - reads standard input"),
  force: flag("--force", "overwrite state of another lineage or a higher serial"),
  ...LOCK_TIMEOUT,
  ...TEXT_OR_JSON,
};
export type StatePushOptions = Options<typeof statePush> & GlobalOptions;

const stateMigrate = {
  fromConfig: text(
    "--from-config <file>",
    "file with the old `state:` section as YAML; - reads standard input",
  ),
  ...LOCK_TIMEOUT,
  ...TEXT_OR_JSON,
};
export type StateMigrateOptions = Options<typeof stateMigrate> & GlobalOptions;

const stateHistory = { target: argument("<target>", "key of the target, such as shop"), ...TEXT_OR_JSON };
export type StateHistoryOptions = Options<typeof stateHistory> & GlobalOptions;

const history = {
  address: text("[address]", "only applies that changed this address"),
  ...TEXT_OR_JSON,
};
export type HistoryOptions = Options<typeof history> & GlobalOptions;

const serve = {
  port: text("--port <port>", "port on 127.0.0.1; default: 4010"),
  data: text("--data <dir>", "folder of its data; default: .tasc/service"),
  apiKey: text(
    "--api-key <key>",
    "key that it accepts (or TASC_SERVE_API_KEY); default: a random key, kept in the data folder",
  ),
  from: text("--from <file>", "fill an empty data folder with a file from `tasc snapshot`"),
  discoveryTime: duration("--discovery-time <duration>", "how long a discovery takes, e.g. 2s", {
    examples: "500ms or 2s",
  }),
};
export type ServeOptions = Options<typeof serve> & GlobalOptions;

const rehearse = {
  file: text("[plan]", "a plan saved by `tasc plan --out`; default: a new plan"),
  format: choice("--format <format>", "how to print the result", ["text", "json", "markdown"]),
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

const completion = { shell: argument("<shell>", "which shell", SHELLS) };
export type CompletionOptions = Options<typeof completion> & GlobalOptions;

const PROJECT_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "init",
    summary: "write a project that validates and plans at once",
    options: init,
    examples: [
      { command: "tasc init", does: "in the current folder" },
      { command: "tasc init --chdir e2e", does: "in the folder e2e" },
    ],
    load: () => import("./init.ts"),
  }),
  command({
    name: "validate",
    summary: "check the manifests, without the service",
    options: validate,
    examples: [
      { command: "tasc validate", does: "check the project in the current folder" },
      {
        command: "tasc validate --stage production --allow-missing-secrets",
        does: "without the secrets of production",
      },
      { command: "tasc validate --format github", does: "annotations in a pull request" },
    ],
    load: () => import("./validate.ts"),
  }),
  command({
    name: "schema",
    summary: "print a JSON Schema, or install them for an editor",
    options: schema,
    examples: [
      { command: "tasc schema target > target.schema.json", does: "for a program" },
      { command: "tasc schema --install vscode", does: "completion and checks in VS Code's YAML extension" },
    ],
    load: () => import("./schema.ts"),
  }),
  command({
    name: "fmt",
    summary: "put the keys of the manifests in their usual order",
    options: fmt,
    examples: [
      { command: "tasc fmt", does: "rewrite the files, comments kept" },
      { command: "tasc fmt --check", does: "in a pull request: list the files that would change" },
    ],
    load: () => import("./fmt.ts"),
  }),
  command({
    name: "new",
    summary: "add a commented skeleton of a resource to the right file",
    options: created,
    examples: [
      { command: "tasc new target shop", does: "a new target in a file of its own" },
      { command: "tasc new testCase shop.checkout", does: "a test case of the target shop" },
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
        does: "one target's test cases; 2 if any changes",
      },
      { command: "tasc plan --override-policy maxChanges", does: "a large change that is meant to be one" },
    ],
    load: () => import("./plan.ts"),
  }),
  command({
    name: "stages",
    summary: "list the stages and what each has, without the service",
    options: stages,
    examples: [{ command: "tasc stages", does: "the one marked with * is used unless another is named" }],
    load: () => import("./stages.ts"),
  }),
  command({
    name: "show",
    summary: "print a saved plan again",
    options: show,
    examples: [{ command: "tasc show plan.json", does: "print it as the plan did" }],
    load: () => import("./show.ts"),
  }),
  command({
    name: "merge-plans",
    summary: "print several saved plans as one, of shards for instance",
    options: mergePlans,
    examples: [
      { command: "tasc merge-plans plans/*.json --format markdown", does: "one comment for all shards" },
    ],
    load: () => import("./show.ts"),
  }),
  command({
    name: "apply",
    summary: "make the service what the manifests say",
    options: apply,
    examples: [
      { command: "tasc apply", does: "plan, ask, apply" },
      { command: "tasc apply --auto-approve --stage staging", does: "in a pipeline" },
      { command: "tasc apply plan.json", does: "exactly what was reviewed, or nothing" },
    ],
    load: () => import("./apply.ts"),
  }),
];

const ADOPT_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "import",
    summary: "write manifests for live resources that are not declared yet",
    options: imports,
    examples: [
      { command: "tasc import", does: "a manifest for each live target" },
      { command: "tasc import --target 'Web Shop' --elements", does: "one target, with its steps" },
      { command: "tasc import --stage production", does: "merge a further stage into the manifests" },
      { command: "tasc import --split folder --dry-run", does: "preview one file per folder" },
    ],
    load: () => import("./import.ts"),
  }),
  command({
    name: "pull",
    summary: "write live values into the manifests that declare something else",
    options: pull,
    examples: [
      { command: "tasc pull --dry-run", does: "see what the manifests would take over" },
      {
        command: "tasc pull --only 'testCase.shop.*' --fields tags",
        does: "the tags of one target's test cases; then review it as a git diff",
      },
    ],
    load: () => import("./pull.ts"),
  }),
  command({
    name: "promote",
    summary: "copy configuration from one stage to another in the manifests",
    options: promote,
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
    load: () => import("./promote.ts"),
  }),
];

/** Commands that look and change nothing. */
const LOOK_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "drift",
    summary: "show what the service changed since the last apply",
    options: drift,
    examples: [
      { command: "tasc drift --stage production", does: "2 if anything drifted; made for a nightly job" },
      { command: "tasc drift --only 'testCase.shop.*' --format json", does: "for a program" },
    ],
    load: () => import("./drift.ts"),
  }),
  command({
    name: "diff",
    summary: "show what two stages resolve differently, without calling the service",
    options: diff,
    examples: [
      { command: "tasc diff --from staging --to production", does: "what a promotion would carry" },
      {
        command: "tasc diff --from staging --to production --all --format json",
        does: "every field, for a program",
      },
    ],
    load: () => import("./diff.ts"),
  }),
  command({
    name: "explain",
    summary: "show where a value comes from and what follows from it, or what a code means",
    options: explain,
    examples: [
      { command: "tasc explain testCase.shop.login status", does: "why it is what it is" },
      { command: "tasc explain environment.shop.default --offline", does: "without asking the service" },
      { command: "tasc explain unknown-key", does: "what the code of a message means, and what to do" },
    ],
    load: () => import("./explain.ts"),
  }),
  command({
    name: "snapshot",
    summary: "write what a plan reads, for plans without network and key",
    options: snapshot,
    examples: [
      { command: "tasc snapshot --out snapshot.json", does: "then: tasc plan --snapshot snapshot.json" },
      { command: "tasc serve --from snapshot.json", does: "a copy of the service to rehearse on" },
    ],
    load: () => import("./snapshot.ts"),
  }),
  command({
    name: "graph",
    summary: "draw prerequisites as Mermaid or DOT",
    options: graph,
    examples: [
      { command: "tasc graph shop", does: "as Mermaid, for Markdown" },
      { command: "tasc graph --format dot | dot -Tsvg > graph.svg", does: "as a picture" },
    ],
    load: () => import("./graph.ts"),
  }),
  {
    name: "reports",
    summary: "read test reports",
    examples: [{ command: "tasc reports list --target shop", does: "the reports of one target" }],
    commands: [
      command({
        name: "list",
        summary: "list test reports, newest first",
        options: reportsList,
        examples: [
          { command: "tasc reports list --limit 10", does: "the ten newest of each managed target" },
          { command: "tasc reports list --format json", does: "for a program" },
        ],
        load: () => import("./reports-list.ts"),
      }),
      command({
        name: "show",
        summary: "show one report with its results",
        options: reportsShow,
        examples: [
          { command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10", does: "results by address" },
          {
            command: "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10 --junit > report.xml",
            does: "for CI",
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
      { command: "tasc notifications --target shop", does: "what happened in one target" },
      { command: "tasc notifications --follow", does: "until Ctrl-C" },
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
      { command: "tasc history --stage production", does: "who changed what, when and from where" },
      { command: "tasc history testCase.shop.login", does: "applies that changed one test case" },
    ],
    load: async () => ({ run: (await import("./state.ts")).applies }),
  }),
  {
    name: "state",
    summary: "inspect and modify state",
    examples: [{ command: "tasc state list", does: "all bindings of the stage" }],
    commands: [
      command({
        name: "list",
        summary: "list addresses and the ids they are bound to",
        options: stateList,
        examples: [{ command: "tasc state list --stage staging", does: "all bindings of staging" }],
        load: async () => ({ run: (await import("./state.ts")).list }),
      }),
      command({
        name: "show",
        summary: "show what is remembered of one address",
        options: stateShow,
        examples: [
          { command: "tasc state show testCase.shop.login", does: "its id, and which fields have a record" },
          { command: "tasc state show target.shop", does: "also the ids of the target's folders" },
        ],
        load: () => import("./state-show.ts"),
      }),
      command({
        name: "mv",
        summary: "carry what is remembered over to another address",
        options: stateMv,
        examples: [
          { command: "tasc state mv testCase.shop.login testCase.shop.sign-in", does: "a new key" },
          { command: "tasc state mv target.shop target.web", does: "a target, with all that is in it" },
        ],
        load: async () => ({ run: (await import("./state.ts")).mv }),
      }),
      command({
        name: "rm",
        summary: "forget an address; the service is not called",
        options: stateRm,
        examples: [
          { command: "tasc state rm testCase.shop.old", does: "no longer listed as orphaned" },
          { command: "tasc state rm target.shop", does: "the next plan finds everything by name again" },
        ],
        load: async () => ({ run: (await import("./state.ts")).rm }),
      }),
      command({
        name: "bind",
        summary: "say which live resource an address means",
        options: stateBind,
        examples: [
          {
            command: "tasc state bind testCase.shop.login 4b7c1d9e-5f3a-4c0e-9d6b-8a2f1e0c7b54",
            does: "write-only fields are sent once more",
          },
        ],
        load: () => import("./state-bind.ts"),
      }),
      command({
        name: "mark",
        summary: "say whether a batch generation ran",
        options: stateMark,
        examples: [
          {
            command: "tasc state mark batchGeneration.shop.spring done",
            does: "it ran; do not run it again",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).mark }),
      }),
      command({
        name: "unlock",
        summary: "release a stuck lock",
        options: stateUnlock,
        examples: [
          { command: "tasc state unlock shop --stage staging", does: "prints who held it" },
          {
            command: "tasc state unlock shop 5f0c3f8e-3c1d-4a57-9d0e-0a6b8b1d2c3f",
            does: "release this lock, and never a newer one",
          },
        ],
        load: async () => ({ run: (await import("./state.ts")).unlock }),
      }),
      command({
        name: "pull",
        summary: "print the state of a stage as one JSON object",
        options: statePull,
        examples: [{ command: "tasc state pull --stage staging > backup.json", does: "a backup" }],
        load: async () => ({ run: (await import("./state.ts")).pull }),
      }),
      command({
        name: "push",
        summary: "restore state from a backup",
        options: statePush,
        examples: [
          { command: "tasc state push backup.json", does: "checks that it fits what is there now" },
          { command: "tasc state push backup.json --force", does: "overwrite newer state" },
        ],
        load: async () => ({ run: (await import("./state.ts")).push }),
      }),
      command({
        name: "migrate",
        summary: "copy state from another backend to the one in tasc.yaml, and verify it",
        options: stateMigrate,
        examples: [
          { command: "tasc state migrate --from-config old-state.yaml", does: "once for each stage" },
          { command: "echo 'backend: local' | tasc state migrate --from-config -", does: "from files" },
        ],
        load: async () => ({ run: (await import("./state.ts")).migrate }),
      }),
      command({
        name: "history",
        summary: "list earlier versions of a target's state (postgres)",
        options: stateHistory,
        examples: [{ command: "tasc state history shop", does: "serial and date of each" }],
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
        does: "the changes that an apply would make now; 1 if something fails or remains",
      },
      {
        command: "tasc rehearse plan.json --format markdown",
        does: "a saved plan, as a comment for a pull request",
      },
    ],
    load: () => import("./rehearse.ts"),
  }),
  command({
    name: "serve",
    summary: "run a local service that implements the whole interface",
    options: serve,
    examples: [
      { command: "tasc serve", does: "on http://127.0.0.1:4010 with a random key, which it prints" },
      {
        command: "tasc serve --from snapshot.json --data .tasc/rehearsal",
        does: "try a change on a copy of the real service: docs/local-service.md",
      },
      { command: "tasc serve --port 0 --data /tmp/service", does: "on any free port, which it prints" },
    ],
    load: () => import("./serve.ts"),
  }),
];

/** Commands that help with tasc itself. */
const HELP_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "doctor",
    summary: "check all that a plan and an apply need",
    options: doctor,
    examples: [
      { command: "tasc doctor --stage production", does: "one line a check; 1 if one fails" },
      { command: "tasc doctor --format json", does: "for a program" },
    ],
    load: () => import("./doctor.ts"),
  }),
  command({
    name: "commands",
    summary: "list all commands with what they take",
    options: commands,
    examples: [{ command: "tasc commands --json", does: "for a program" }],
    load: () => import("./commands.ts"),
  }),
  command({
    name: "completion",
    summary: "print a script that lets your shell complete tasc",
    options: completion,
    examples: [
      { command: 'eval "$(tasc completion bash)"', does: "in ~/.bashrc" },
      { command: 'eval "$(tasc completion zsh)"', does: "in ~/.zshrc, after compinit" },
      { command: "tasc completion fish > ~/.config/fish/completions/tasc.fish", does: "once" },
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
