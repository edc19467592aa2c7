import { KINDS } from "../model/address.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import { POLICY_RULES } from "../model/settings.ts";
import { DIAGNOSTIC_FORMATS, PLAN_FORMATS } from "../render/formats.ts";
import type { ProjectNeeds } from "../app/project.ts";
import type { Session } from "../app/session.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import {
  GLOBAL,
  type OptionRecord,
  type OptionSpec,
  type Options,
  type Raw,
  TEXT_OR_JSON,
  address,
  argument,
  choice,
  duration,
  flag,
  insideFolder,
  isArgument,
  links,
  list,
  oneOf,
  pairs,
  parsed,
  readOptions,
  someOf,
  targetKey,
  text,
  whole,
} from "./options.ts";

/** Options of commands that read state, which may be on a server. */
const INSECURE = {
  insecure: flag("--insecure", "allow plain HTTP to hosts other than localhost"),
};

/** Options of commands that call the service. */
const SERVICE = {
  requestTimeout: duration("--request-timeout <duration>", "time limit of each request, e.g. 30s", {
    examples: "500ms, 30s or 2m",
    least: 1,
  }),
  retries: whole("--retries <n>", "maximum number of retries per request", 0),
  concurrency: whole("--concurrency <n>", "maximum number of concurrent requests", 1),
  ...INSECURE,
};

const SCOPE = {
  only: list("--only <address>", "include only this address or glob"),
  exclude: list("--exclude <address>", "exclude this address or glob"),
};

const TWO_STAGES = {
  from: text("--from <stage>", "source stage"),
  to: text("--to <stage>", "stage to compare with or to change"),
};

const MISSING_SECRETS = {
  allowMissingSecrets: flag(
    "--allow-missing-secrets",
    "treat missing secrets as unknown and skip the fields that use them",
  ),
};

/** Options that make a plan send something, even if state says that it was sent. */
const ON_DEMAND = {
  rediscover: list(
    "--rediscover <address>",
    "force regeneration of this test case (like terraform -replace)",
  ),
  run: list("--run <address>", "force a new run of this batch generation"),
};

const OVERRIDE_POLICY = {
  overridePolicy: someOf(
    "--override-policy <rule>",
    "ignore this policy rule for this run",
    POLICY_RULES,
  ),
};

/** Options that choose the content of a plan, and the policy rules that it ignores. */
const PLANNING = {
  ...SCOPE,
  shard: parsed(
    "--shard <i/n>",
    "include only this part of the targets, e.g. 2/5; each target always stays in the same part",
    "I/N, such as 2/5 for the second of five parts",
    (given) => {
      const [, index = 0, count = 0] = /^(\d{1,4})\/(\d{1,4})$/.exec(given)?.map(Number) ?? [];
      return index >= 1 && index <= count ? { index, count } : undefined;
    },
  ),
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
};

const LOCK_TIMEOUT = {
  lockTimeout: duration("--lock-timeout <duration>", "how long to wait for a lock, e.g. 2m"),
};

const READING = { ...MISSING_SECRETS, ...SERVICE };

const VERBOSE = { verbose: flag("--verbose", "show every change in full") };

const PLAN_VIEW = {
  format: choice("--format <format>", "output format", PLAN_FORMATS),
  budget: whole(
    "--budget <characters>",
    "maximum length of a Markdown comment; default: 65536",
    1000,
  ),
  link: links(
    "--link <text=url>",
    "add a link to HTML and Markdown output, e.g. to the pull request",
  ),
};

const TARGET = { target: text("--target <key>", "key of a target; default: all managed targets") };

const STATE_EDIT = { ...LOCK_TIMEOUT, ...INSECURE };

interface CommandRow {
  readonly summary: string;
  readonly examples: Readonly<Record<string, string>>;
  /**
   * Options in addition to the global ones and `--format text|json`, which a `format` of its own
   * replaces.
   */
  readonly options: OptionRecord;
}

const TABLE = {
  init: {
    summary: "create a project that is ready to validate and plan",
    examples: {
      "tasc init": "create a project in the current folder",
      "tasc init --chdir e2e": "create a project in the folder e2e",
    },
    options: {},
  },
  validate: {
    summary: "check the manifests without calling the service",
    examples: {
      "tasc validate": "check the project in the current folder",
      "tasc validate --stage production --allow-missing-secrets":
        "check production without its secrets",
      "tasc validate --format github": "annotate a pull request",
    },
    options: {
      ...MISSING_SECRETS,
      allStages: flag("--all-stages", "check all stages"),
      format: choice("--format <format>", "output format", ["text", "json", ...DIAGNOSTIC_FORMATS]),
    },
  },
  schema: {
    summary: "print a JSON Schema, or install all schemas for an editor",
    examples: {
      "tasc schema target > target.schema.json": "save the schema for other tools",
      "tasc schema --install vscode": "get completion and checks in VS Code's YAML extension",
    },
    options: {
      which: choice("[which]", "which schema to print", ["project", "target", "plan"]),
      install: choice(
        "--install <editor>",
        "add the schemas to the project and the editor's settings instead of printing one",
        ["vscode"],
      ),
    },
  },
  fmt: {
    summary: "format the manifests",
    examples: {
      "tasc fmt": "put keys in their usual order; comments are kept",
      "tasc fmt --check": "list the files that would change, e.g. in a pull request",
    },
    options: { check: flag("--check", "change nothing; exit with 1 if a file would change") },
  },
  new: {
    summary: "add a commented skeleton of a resource to the right file",
    examples: {
      "tasc new target shop": "add a target in a new file",
      "tasc new testCase shop.checkout": "add a test case to the target shop",
    },
    options: {
      kind: oneOf("<kind>", "kind of resource to add", KINDS),
      address: argument(
        "<address>",
        "address: `shop` for a target, `shop.checkout` for a resource of that target",
      ),
    },
  },
  plan: {
    summary: "show what an apply would change",
    examples: {
      "tasc plan": "compare the manifests with the live service",
      "tasc plan --stage production --out plan.json": "save a plan for review",
      "tasc plan --only 'testCase.shop.*' --detailed-exitcode":
        "plan one target's test cases; exit with 2 if any changes",
      "tasc plan --override-policy maxChanges": "allow an intended large change",
    },
    options: {
      ...PLAN_VIEW,
      out: text("--out <file>", "save the plan, for `tasc apply FILE`"),
      expires: duration("--expires <duration>", "how long the saved plan can be applied, e.g. 24h"),
      detailedExitcode: flag("--detailed-exitcode", "exit with 2 when there are changes"),
      base: text(
        "--base <ref>",
        "separate the changes of this branch from those pending at this commit and from drift",
      ),
      allStages: flag("--all-stages", "plan all stages and exit with the most severe exit code"),
      ...PLANNING,
      ...MISSING_SECRETS,
      snapshot: text(
        "--snapshot <file>",
        "plan offline from a file written by `tasc snapshot`; no API key needed",
      ),
      ...VERBOSE,
      ...SERVICE,
    },
  },
  stages: {
    summary: "list the stages and their contents without calling the service",
    examples: { "tasc stages": "list the stages; * marks the default" },
    options: {},
  },
  show: {
    summary: "print a saved plan again",
    examples: { "tasc show plan.json": "print the saved plan again" },
    options: {
      file: argument("<file>", "a plan saved by `tasc plan --out`"),
      ...PLAN_VIEW,
      ...VERBOSE,
    },
  },
  "merge-plans": {
    summary: "print several saved plans as one, e.g. the plans of shards",
    examples: {
      "tasc merge-plans plans/*.json --format markdown": "print one comment for all shards",
    },
    options: {
      files: list("<file...>", "plans of one stage, saved by `tasc plan --out`"),
      ...PLAN_VIEW,
      ...VERBOSE,
    },
  },
  apply: {
    summary: "apply the manifests to the service",
    examples: {
      "tasc apply": "plan, confirm, apply",
      "tasc apply --auto-approve --stage staging": "apply in a pipeline, without confirmation",
      "tasc apply plan.json": "apply exactly the reviewed plan",
    },
    options: {
      file: text("[file]", "a plan saved by `tasc plan --out`; applied without confirmation"),
      autoApprove: flag("--auto-approve", "skip the confirmation"),
      ...PLANNING,
      wait: duration(
        "--wait [duration]",
        "wait for discoveries to finish; default time limit: 15m",
        {
          always: 15 * 60_000,
        },
      ),
      ...LOCK_TIMEOUT,
      format: choice("--format <format>", "output format; json prints one event per line", [
        "text",
        "json",
      ]),
      ...VERBOSE,
      ...SERVICE,
    },
  },
  import: {
    summary: "write manifests for live resources that are not declared",
    examples: {
      "tasc import": "write a manifest for each live target",
      "tasc import --target 'Web Shop' --elements": "import one target with its elements",
      "tasc import --stage production": "merge another stage into the manifests",
      "tasc import --split folder --dry-run": "preview one file per folder",
    },
    options: {
      target: list("--target <app-or-id>", "import only this live target; default: all"),
      dir: insideFolder(
        "--dir <dir>",
        "folder to write the manifests to; default: targets",
        "targets",
      ),
      split: choice(
        "--split <by>",
        "one file per target (default), or additionally one per folder",
        ["target", "folder"],
      ),
      into: pairs(
        "--into <key=app-or-id>",
        "use this declared target for a live target in this stage",
        "KEY=APP-or-ID",
        (key) => `names the target ${key} twice`,
      ),
      elements: flag("--elements", "also import the elements of test cases"),
      folder: pairs(
        "--folder <id=name>",
        "name of a folder; the API returns only its id",
        "ID=NAME",
        (id, names) => `gives two names to ${id}: ${names}`,
      ),
      dryRun: flag("--dry-run", "print the manifests and write nothing"),
      ...LOCK_TIMEOUT,
      ...SERVICE,
    },
  },
  pull: {
    summary: "update the manifests with live values from the service",
    examples: {
      "tasc pull --dry-run": "preview the changes to the manifests",
      "tasc pull --only 'testCase.shop.*' --fields tags":
        "pull the tags of one target's test cases; then review the git diff",
    },
    options: {
      ...SCOPE,
      fields: list("--fields <name>", "pull only this field, e.g. status or discovery.prompt"),
      dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
      ...READING,
    },
  },
  promote: {
    summary: "copy configuration from one stage to another in the manifests",
    examples: {
      "tasc promote --from staging --to production --dry-run":
        "preview the changes to the manifests",
      "tasc promote --from staging --to production --only testCase.shop.login":
        "promote one test case; then review the git diff",
      "tasc promote --from staging --to production --gate":
        "promote only if the affected test cases have passed in staging",
    },
    options: {
      ...TWO_STAGES,
      ...SCOPE,
      dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
      gate: flag("--gate", "require every affected test case to have passed since its last apply"),
      ...READING,
    },
  },
  drift: {
    summary: "show changes made on the service since the last apply",
    examples: {
      "tasc drift --stage production": "exit with 2 on drift, e.g. in a nightly job",
      "tasc drift --only 'testCase.shop.*' --format json": "print drift as JSON",
    },
    options: { ...SCOPE, ...MISSING_SECRETS, ...VERBOSE, ...SERVICE },
  },
  diff: {
    summary: "show how two stages differ, without calling the service",
    examples: {
      "tasc diff --from staging --to production": "show what promote would copy",
      "tasc diff --from staging --to production --all --format json":
        "print the differences in all fields as JSON",
    },
    options: {
      ...TWO_STAGES,
      all: flag("--all", "compare all fields, not only those that promote copies"),
      detailedExitcode: flag("--detailed-exitcode", "exit with 2 when the stages differ"),
      ...SCOPE,
    },
  },
  explain: {
    summary: "show where a value comes from and how it is used, or what a code means",
    examples: {
      "tasc explain testCase.shop.login status": "explain the value of one field",
      "tasc explain environment.shop.default --offline": "explain without calling the service",
      "tasc explain unknown-key": "explain the code of a message",
    },
    options: {
      address: argument(
        "<address>",
        "address of a resource, e.g. testCase.shop.login, or a code, e.g. unknown-key",
      ),
      field: text(
        "[field]",
        "field, e.g. status or discovery.prompt; default: all declared fields",
      ),
      offline: flag("--offline", "use manifests and state only; do not call the service"),
      ...READING,
    },
  },
  snapshot: {
    summary: "save the service's data for planning offline",
    examples: {
      "tasc snapshot --out snapshot.json": "save a snapshot for tasc plan --snapshot snapshot.json",
      "tasc serve --from snapshot.json": "run a local copy of the service",
    },
    options: {
      out: text("--out <file>", "write to this file instead of stdout, readable only by you"),
      ...READING,
    },
  },
  graph: {
    summary: "draw prerequisites as Mermaid or DOT",
    examples: {
      "tasc graph shop": "print Mermaid for use in Markdown",
      "tasc graph --format dot | dot -Tsvg > graph.svg": "create an image",
    },
    options: {
      target: text("[target]", "key of a target; default: all"),
      format: choice("--format <format>", "output format; default: mermaid", [
        "mermaid",
        "dot",
        "json",
      ]),
    },
  },
  "reports list": {
    summary: "list test reports, newest first",
    examples: {
      "tasc reports list --limit 10": "list the ten newest reports of each managed target",
      "tasc reports list --format json": "print reports as JSON",
    },
    options: {
      ...TARGET,
      limit: whole("--limit <n>", "maximum number of reports per target; default: all", 1),
      ...READING,
    },
  },
  "reports show": {
    summary: "show one report with its results",
    examples: {
      "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10": "show results by address",
      "tasc reports show 0b9f8b0e-6d0c-4b55-9f1d-3b1c2a7e9d10 --junit > report.xml":
        "save the report for CI",
    },
    options: {
      id: argument("<id>", "id of the report"),
      ...TARGET,
      junit: flag("--junit", "print the report in JUnit format"),
      ...READING,
    },
  },
  notifications: {
    summary: "read the service's notifications, oldest first",
    examples: {
      "tasc notifications --target shop": "show the notifications of one target",
      "tasc notifications --follow": "keep printing until Ctrl-C",
    },
    options: {
      ...TARGET,
      follow: flag("--follow", "keep running and print new notifications as they arrive"),
      interval: duration("--interval <duration>", "polling interval for --follow; default: 5s", {
        examples: "5s or 1m",
        least: 1,
      }),
      ...READING,
    },
  },
  history: {
    summary: "list the applies of a stage, newest first",
    examples: {
      "tasc history --stage production": "show who changed what, when and from where",
      "tasc history testCase.shop.login": "list the applies that changed one test case",
    },
    options: {
      address: address("[address]", "list only applies that changed this address"),
      ...INSECURE,
    },
  },
  "state list": {
    summary: "list addresses and the ids they are bound to",
    examples: { "tasc state list --stage staging": "list all bindings of staging" },
    options: INSECURE,
  },
  "state show": {
    summary: "show the state of one address",
    examples: {
      "tasc state show testCase.shop.login": "show its id and its recorded fields",
      "tasc state show target.shop": "also show the ids of the target's folders",
    },
    options: {
      address: address("<address>", "address of a resource, e.g. testCase.shop.login"),
      ...INSECURE,
    },
  },
  "state mv": {
    summary: "move state to another address",
    examples: {
      "tasc state mv testCase.shop.login testCase.shop.sign-in": "rename a test case",
      "tasc state mv target.shop target.web": "rename a target and everything in it",
    },
    options: {
      from: address("<from>", "current address"),
      to: address("<to>", "new address"),
      ...STATE_EDIT,
    },
  },
  "state rm": {
    summary: "remove an address from state without calling the service",
    examples: {
      "tasc state rm testCase.shop.old": "stop listing a test case as orphaned",
      "tasc state rm target.shop": "forget a target; the next plan matches everything by name",
    },
    options: {
      address: address("<address>", "address to forget; a target includes everything in it"),
      ...STATE_EDIT,
    },
  },
  "state bind": {
    summary: "bind an address to a live resource",
    examples: {
      "tasc state bind testCase.shop.login 4b7c1d9e-5f3a-4c0e-9d6b-8a2f1e0c7b54":
        "bind a test case; its write-only fields are sent again",
    },
    options: {
      address: address("<address>", "a target, an environment or a test case"),
      id: argument("<id>", "id of the resource on the service"),
      ...LOCK_TIMEOUT,
      ...SERVICE,
    },
  },
  "state mark": {
    summary: "record whether a batch generation ran",
    examples: {
      "tasc state mark batchGeneration.shop.spring done":
        "record that it ran, so that it does not run again",
    },
    options: {
      address: address("<address>", "address of a batch generation"),
      what: oneOf("<what>", "whether the batch generation ran", ["done", "undone"]),
      ...STATE_EDIT,
    },
  },
  "state unlock": {
    summary: "release a stuck lock",
    examples: {
      "tasc state unlock shop --stage staging": "release the lock and print who held it",
      "tasc state unlock shop 5f0c3f8e-3c1d-4a57-9d0e-0a6b8b1d2c3f":
        "release only the lock with this id",
    },
    options: {
      target: targetKey("<target>", "key of the target, e.g. shop"),
      id: text(
        "[id]",
        "id of the lock, from the error message; a lock with another id is not released",
      ),
      ...INSECURE,
    },
  },
  "state pull": {
    summary: "print the state of a stage as one JSON object",
    examples: { "tasc state pull --stage staging > backup.json": "save a backup" },
    options: {
      target: text("--target <key>", "key of a target; default: all targets of the stage"),
      format: choice("--format <format>", "output format", ["json"]),
      ...INSECURE,
    },
  },
  "state push": {
    summary: "restore state from a backup",
    examples: {
      "tasc state push backup.json": "restore a backup that matches the current state",
      "tasc state push backup.json --force": "overwrite newer state",
    },
    options: {
      file: argument("<file>", "a backup from `tasc state pull`; - reads standard input"),
      force: flag("--force", "overwrite state of another lineage or a higher serial"),
      ...STATE_EDIT,
    },
  },
  "state migrate": {
    summary: "copy state from another backend to the one in tasc.yaml, and verify it",
    examples: {
      "tasc state migrate --from-config old-state.yaml": "copy the state; run once per stage",
      "echo 'backend: local' | tasc state migrate --from-config -": "copy state from local files",
    },
    options: {
      fromConfig: text(
        "--from-config <file>",
        "file with the old `state:` section as YAML; - reads standard input",
      ),
      ...STATE_EDIT,
    },
  },
  "state history": {
    summary: "list earlier versions of a target's state (postgres)",
    examples: { "tasc state history shop": "show the serial and date of each version" },
    options: { target: targetKey("<target>", "key of the target, e.g. shop"), ...INSECURE },
  },
  rehearse: {
    summary: "plan and apply on a local copy of the service, and check that nothing remains",
    examples: {
      "tasc rehearse": "rehearse the current changes; exit with 1 if something fails or remains",
      "tasc rehearse plan.json --format markdown":
        "rehearse a saved plan and print a pull request comment",
    },
    options: {
      file: text("[plan]", "a plan saved by `tasc plan --out`; default: a new plan"),
      format: choice("--format <format>", "output format", ["text", "json", "markdown"]),
      ...SCOPE,
      ...ON_DEMAND,
      ...OVERRIDE_POLICY,
      ...SERVICE,
    },
  },
  serve: {
    summary: "run a local service that implements the complete API",
    examples: {
      "tasc serve": "listen on http://127.0.0.1:4010 and print a random key",
      "tasc serve --from snapshot.json --data .tasc/rehearsal":
        "try a change on a copy of the real service; see docs/local-service.md",
      "tasc serve --port 0 --data /tmp/service": "listen on a free port and print it",
    },
    options: {
      port: parsed(
        "--port <port>",
        "port on 127.0.0.1; default: 4010",
        "a number from 0 to 65535; 0 selects a free port",
        (given) =>
          [Number(given)].find((port) => Number.isInteger(port) && port >= 0 && port <= 65_535),
      ),
      data: text("--data <dir>", "data folder; default: .tasc/service"),
      apiKey: text(
        "--api-key <key>",
        "API key to accept (or TASC_SERVE_API_KEY); default: a random key, kept in the data folder",
      ),
      from: text("--from <file>", "fill an empty data folder with a file from `tasc snapshot`"),
      discoveryTime: duration(
        "--discovery-time <duration>",
        "how long a discovery takes, e.g. 2s",
        {
          examples: "500ms or 2s",
        },
      ),
    },
  },
  doctor: {
    summary: "check configuration, credentials, service and state",
    examples: {
      "tasc doctor --stage production": "print one line per check; exit with 1 if one fails",
      "tasc doctor --format json": "print the checks as JSON",
    },
    options: READING,
  },
  commands: {
    summary: "list all commands and their options",
    examples: { "tasc commands --json": "print commands and options as JSON" },
    options: {},
  },
  completion: {
    summary: "print a shell completion script",
    examples: {
      'eval "$(tasc completion bash)"': "enable completion; add this to ~/.bashrc",
      'eval "$(tasc completion zsh)"': "enable completion; add this to ~/.zshrc, after compinit",
      "tasc completion fish > ~/.config/fish/completions/tasc.fish": "enable completion; run once",
    },
    options: { shell: oneOf("<shell>", "shell to complete for", ["bash", "zsh", "fish"]) },
  },
} satisfies Readonly<Record<string, CommandRow>>;

const GROUPS: Readonly<Record<string, Omit<CommandRow, "options">>> = {
  reports: {
    summary: "read test reports",
    examples: { "tasc reports list --target shop": "list the reports of one target" },
  },
  state: {
    summary: "inspect and modify state",
    examples: { "tasc state list": "list all bindings of the stage" },
  },
};

type Name = keyof typeof TABLE;

/** The options that a command receives: its own, the format, and the global ones. */
export type OptionsOf<N extends Name> = Options<
  Omit<typeof TEXT_OR_JSON, keyof (typeof TABLE)[N]["options"]> & (typeof TABLE)[N]["options"]
> &
  Options<typeof GLOBAL>;

/**
 * A command's work. If it returns a view, that is shown in the requested format; otherwise it has
 * printed its output.
 */
type Run<N extends Name> = (options: OptionsOf<N>, context: Context) => Promise<View | ExitCode>;

/**
 * Returns the work of a command in a project. The code of the command is loaded before the project
 * is opened.
 */
function inProject<N extends Name>(
  load: () => Promise<
    (session: Session, options: OptionsOf<N>, context: Context) => Promise<View | ExitCode>
  >,
  needs?: ProjectNeeds,
): Run<N> {
  return async (options, context) => {
    const [{ withSession }, work] = await Promise.all([import("../app/session.ts"), load()]);
    return withSession(options, context.host, (session) => work(session, options, context), needs);
  };
}

/** Needs of commands that only read manifests. */
const NO_SECRETS: ProjectNeeds = { needsApiKey: false, allowMissingSecrets: true };

/** Needs of commands that edit state, which do not depend on the contents of the manifests. */
const STATE: ProjectNeeds = { ...NO_SECRETS, targets: "optional" };

/** The code of each command, loaded only when the command is called. */
const RUN: { readonly [N in Name]: Run<N> } = {
  init: async (...call) => (await import("./setup.ts")).init(...call),
  validate: async (...call) => (await import("./validate.ts")).run(...call),
  schema: async (...call) => (await import("./setup.ts")).schema(...call),
  fmt: async (...call) => (await import("./edit.ts")).fmt(...call),
  new: async (...call) => (await import("./edit.ts")).addNew(...call),
  plan: async (...call) => (await import("./plan.ts")).run(...call),
  stages: async (...call) => (await import("./validate.ts")).stages(...call),
  show: async (...call) => (await import("./show.ts")).run(...call),
  "merge-plans": async (...call) => (await import("./show.ts")).run(...call),
  apply: async (...call) => (await import("./apply.ts")).run(...call),
  import: inProject(async () => (await import("./import.ts")).importTargets, {
    targets: "optional",
  }),
  pull: inProject(async () => (await import("./edit.ts")).pull),
  promote: async (...call) => (await import("./two-stages.ts")).promote(...call),
  drift: inProject(async () => (await import("./inspect.ts")).drift),
  diff: async (...call) => (await import("./two-stages.ts")).diff(...call),
  explain: async (...call) => (await import("./inspect.ts")).explain(...call),
  snapshot: inProject(async () => (await import("./snapshot.ts")).snapshot),
  graph: inProject(async () => (await import("./inspect.ts")).graph, NO_SECRETS),
  "reports list": inProject(async () => (await import("./inspect.ts")).listReports),
  "reports show": inProject(async () => (await import("./inspect.ts")).showReport),
  notifications: inProject(async () => (await import("./inspect.ts")).notifications),
  history: inProject(async () => (await import("./state.ts")).history, STATE),
  "state list": inProject(async () => (await import("./state.ts")).listState, STATE),
  "state show": inProject(async () => (await import("./state.ts")).showState, STATE),
  "state mv": inProject(async () => (await import("./state.ts")).moveState, STATE),
  "state rm": inProject(async () => (await import("./state.ts")).removeState, STATE),
  "state bind": inProject(async () => (await import("./state.ts")).bindState, STATE),
  // It records a fingerprint of the content, secrets included, so it needs the key and the secrets.
  "state mark": inProject(async () => (await import("./state.ts")).markState),
  "state unlock": inProject(async () => (await import("./state.ts")).unlockState, STATE),
  "state pull": inProject(async () => (await import("./state-copies.ts")).pullState, STATE),
  "state push": inProject(async () => (await import("./state-copies.ts")).pushState, STATE),
  "state migrate": inProject(async () => (await import("./state-copies.ts")).migrateState, STATE),
  "state history": inProject(async () => (await import("./state.ts")).stateVersions, STATE),
  rehearse: async (...call) => (await import("./rehearse.ts")).rehearse(...call),
  serve: async (...call) => (await import("./serve.ts")).run(...call),
  doctor: async (...call) => (await import("./doctor.ts")).doctor(...call),
  commands: async () => (await import("./completion.ts")).commands(),
  completion: async (options) => (await import("./completion.ts")).completion(options),
};

/** A command or a group of commands, as the parser, help and completion see it. */
export interface CommandSpec extends Omit<CommandRow, "options"> {
  readonly name: string;
  readonly args?: readonly OptionSpec[];
  readonly options?: readonly OptionSpec[];
  readonly start?: (raw: Raw, context: Context) => Promise<ExitCode>;
  readonly commands?: readonly CommandSpec[];
}

function specOf<N extends Name>(path: N, run: Run<N> = RUN[path]): CommandSpec {
  const { summary, examples, options: own }: CommandRow = TABLE[path];
  const all = Object.values({ ...TEXT_OR_JSON, ...own });
  return {
    name: path.slice(path.lastIndexOf(" ") + 1),
    summary,
    args: all.filter(isArgument),
    options: all.filter((option) => !isArgument(option)).flatMap(withShortForm),
    examples,
    start: async (raw, context) => {
      const options = optionsOf(path, raw);
      const result = await run(options, context);
      if (typeof result === "number") return result;
      await context.console.show(result, result.format ?? options.format);
      return result.exitCode ?? EXIT.done;
    },
  };
}

/** Adds `--json` to every `--format` that accepts json. */
function withShortForm(option: OptionSpec): readonly OptionSpec[] {
  const isFormat =
    option.flags.startsWith("--format ") && option.choices?.includes("json") === true;
  return isFormat
    ? [option, { flags: "--json", description: "short for --format json" }]
    : [option];
}

function optionsOf<N extends Name>(
  path: N,
  raw: Raw,
): OptionsOf<N> & { readonly format: string | undefined };
function optionsOf(path: Name, raw: Raw): Readonly<Record<string, unknown>> {
  return readOptions({ ...TEXT_OR_JSON, ...TABLE[path].options, ...GLOBAL }, raw);
}

const NAMES = Object.keys(TABLE).filter((name): name is Name => name in TABLE);

/** All commands of tasc, in the order in which help lists them. */
export const COMMANDS: readonly CommandSpec[] = NAMES.flatMap((path): readonly CommandSpec[] => {
  const [name = ""] = path.split(" ", 1);
  const group = GROUPS[name];
  if (group === undefined) return [specOf(path)];
  const own = NAMES.filter((one) => one.startsWith(`${name} `));
  return own[0] === path ? [{ name, ...group, commands: own.map((one) => specOf(one)) }] : [];
});
