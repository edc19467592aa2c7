// Plans every stage: annotations in the log, files and the step's summary for people, outputs for
// later steps. It never fails the step: the comment and the artifacts come first, then
// `verdict.mjs`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commentBody, commentMark, failureBody, PLAN_BUDGET } from "./body.mjs";
import { currentRequest, readFile } from "./host.mjs";
import { addSummary, annotate, input, inputList, pullRequest, setOutput } from "./runner.mjs";
import { isInPlace, log, projectFolder, tasc } from "./tasc.mjs";

const env = process.env;
const folder = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "tasc-"));
const artifacts = join(folder, "plans");
const comments = join(folder, "comments");
mkdirSync(artifacts);
mkdirSync(comments);

const host = {
  url: env.GITHUB_API_URL || "https://api.github.com",
  repository: env.GITHUB_REPOSITORY,
  token: input(env, "GITHUB_TOKEN"),
};
const request = pullRequest(env);
const stages = inputList(env, "STAGES");
const limits = [...(await trust()), ...(await overrides())];
const base = baseOptions();
const results = (stages.length === 0 ? [""] : stages).map(planStage);
writeOutputs();

function planStage(stage) {
  const common = stage === "" ? [] : [`--stage=${stage}`];
  const name = `plan${stage === "" ? "" : `-${fileName(stage)}`}`;
  const file = join(artifacts, `${name}.json`);
  const options = ["--format=github", "--detailed-exitcode", `--out=${file}`];
  const planned = tasc(env, ["plan", ...options, ...limits, ...base, ...offline(stage), ...common]);
  log(env, planned);
  const [pull, ...others] = links();
  const shown = tasc(env, [
    "show",
    file,
    "--format=markdown",
    `--budget=${PLAN_BUDGET}`,
    ...others,
  ]);
  const page = tasc(env, ["show", file, "--format=html", pull, ...others].filter(Boolean));
  const unshown = [shown, page].find(({ code }) => code !== 0);
  // Changes that cannot be shown are a failure, whatever the exit code of the plan.
  if (unshown !== undefined)
    return failed(stage, [0, 2].includes(planned.code) ? unshown : planned);
  writeFileSync(join(artifacts, `${name}.html`), page.stdout);
  publish(stage, shown.stdout);
  const { summary, changes } = JSON.parse(readFileSync(file, "utf8"));
  return {
    stage,
    exitcode: planned.code,
    file,
    html: join(artifacts, `${name}.html`),
    ...summary,
    changes: changes.length,
  };
}

/** Links of the plan: to the pull request, which only the page shows, then to commit and run. */
function links() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  const commit = request?.commit ?? env.GITHUB_SHA;
  const link = (text, id, path) =>
    server && repository && id ? `--link=${text}=${server}/${repository}/${path}/${id}` : undefined;
  return [
    link(`Pull request #${request?.number}`, request?.number, "pull"),
    ...[
      link(`Commit ${commit?.slice(0, 7)}`, commit, "commit"),
      link(`Run ${run}`, run, "actions/runs"),
    ].filter((one) => one !== undefined),
  ];
}

/**
 * Limits that the manifests of a branch cannot change: the trust file of the repository's default
 * branch, whatever the event. The file of the checkout or of another base branch is not used,
 * because anybody can push those. TASC_TRUST is not used either, because in other workflows it
 * names the file of the checkout.
 */
async function trust() {
  const name = input(env, "TRUST");
  if (name === "") return [];
  const path = join(input(env, "WORKING_DIRECTORY") || ".", name).replaceAll("\\", "/");
  const text = await readFile(host, path);
  if (text === undefined) {
    annotate(
      "error",
      `The default branch has no ${path}, so manifests would decide where secrets go. Add the file (\`tasc init\` writes one), or set the input \`trust\` to an empty text.`,
    );
    process.exit(1);
  }
  const file = join(folder, "trust.yaml");
  writeFileSync(file, text);
  return [`--trust=${file}`];
}

/**
 * Overrides from the input, or from current labels of the pull request, which only people with the
 * right can add.
 */
async function overrides() {
  const prefix = input(env, "OVERRIDE_POLICY_LABEL");
  const isAsked = prefix !== "" && request !== undefined;
  const now = isAsked ? await currentRequest(host, request.number) : undefined;
  const labels = isAsked ? (now ?? request).labels : [];
  const byLabel = labels.flatMap((label) =>
    label.startsWith(`${prefix}:`) ? [label.slice(prefix.length + 1)] : [],
  );
  return [...inputList(env, "OVERRIDE_POLICY"), ...byLabel].map(
    (rule) => `--override-policy=${rule}`,
  );
}

/**
 * A pull request is checked out as its merge commit, whose first parent is the base branch. The
 * pull request must not be able to hide this from git.
 */
function baseOptions() {
  if (request === undefined) return [];
  const folder = projectFolder(env);
  // Committed files must not be accepted as a bare repository.
  const safe = ["-c", "safe.bareRepository=explicit", "-c", "core.fsmonitor=false"];
  const git = (...args) =>
    // Windows looks for programs in the working folder first, and the checkout may contain one.
    spawnSync("git", ["-C", folder, ...safe, ...args], {
      cwd: dirname(process.execPath),
      encoding: "utf8",
    });
  // A git before 2.38 ignores `safe.bareRepository`.
  if (isForged(folder))
    unknownBase("git cannot read the checkout. Files of the project could pass for a repository.");
  // For a folder of another project or repository, the base does not show what it protects in this
  // one.
  if (!isInPlace(env) || git("rev-parse", "--show-superproject-working-tree").stdout?.trim())
    unknownBase("The project's folder is a link or a submodule.");
  if (
    env.GITHUB_EVENT_NAME === "pull_request" &&
    git("rev-parse", "HEAD").stdout?.trim() !== env.GITHUB_SHA
  )
    annotate(
      "warning",
      "The checkout is not the merge commit of the pull request, so it is unknown what the base branch protects. Omit `ref` of actions/checkout.",
    );
  const { status, stderr } = git("rev-parse", "--quiet", "--verify", "HEAD^2");
  if (status === 0) return ["--base=HEAD^1"];
  // A checkout of the merge commit without its parents looks like any other commit; only the commit
  // lists its parents.
  const isCutOff = /^tree .*\nparent .*\nparent /.test(
    git("cat-file", "commit", "HEAD").stdout ?? "",
  );
  if ((status === 1 && !isCutOff) || !isInRepository(folder)) return [];
  const why = isCutOff
    ? "the checkout lacks the base branch; set `fetch-depth: 2` of actions/checkout"
    : stderr;
  unknownBase(`git cannot read the checkout. ${why ?? ""}`.trim());
}

function unknownBase(why) {
  annotate("error", `It is unknown what the base branch protects. ${why}`);
  process.exit(1);
}

function isForged(folder) {
  if (existsSync(join(folder, ".git"))) return false;
  return (
    existsSync(join(folder, "HEAD")) || (folder !== dirname(folder) && isForged(dirname(folder)))
  );
}

function isInRepository(folder) {
  return (
    existsSync(join(folder, ".git")) ||
    (folder !== dirname(folder) && isInRepository(dirname(folder)))
  );
}

/**
 * The pull request of a fork has no secrets; its plan is made from a file that `tasc snapshot`
 * wrote.
 */
function offline(stage) {
  const snapshot = input(env, "SNAPSHOT").replaceAll("{stage}", stage);
  const when = inputList(env, "OFFLINE_STAGES").includes(stage)
    ? "always"
    : input(env, "OFFLINE") || "auto";
  if (when === "never" || (when === "auto" && request?.fork !== true)) return [];
  if (snapshot === "") {
    annotate(
      "notice",
      "A fork has no secrets. Set the input `snapshot` to plan its pull requests from a snapshot.",
    );
    return [];
  }
  return [`--snapshot=${snapshot}`, "--allow-missing-secrets"];
}

function failed(stage, { code, stderr }) {
  publish(stage, failureBody(stage, code, stderr));
  return { stage, exitcode: code };
}

/** The summary is written even if no comment is allowed. */
function publish(stage, markdown) {
  addSummary(env, markdown);
  const mark = commentMark(input(env, "WORKING_DIRECTORY"), stage);
  writeFileSync(
    join(comments, `${fileName(stage) || "default"}.json`),
    JSON.stringify({ mark, body: commentBody(mark, markdown, env) }),
  );
}

function fileName(stage) {
  return stage.replace(/[^\w-]/g, (character) => `%${character.codePointAt(0).toString(16)}`);
}

function writeOutputs() {
  const sum = (key) => results.reduce((total, result) => total + (result[key] ?? 0), 0);
  const codes = results.map(({ exitcode }) => exitcode);
  // A failure takes precedence over changes.
  const exitcode = codes.find((code) => code !== 0 && code !== 2) ?? Math.max(...codes);
  setOutput(env, "exitcode", exitcode);
  for (const key of [
    "changes",
    "create",
    "update",
    "rediscover",
    "disable",
    "unchanged",
    "orphaned",
    "unmanaged",
  ])
    setOutput(env, key, sum(key));
  setOutput(env, "plan-file", results.flatMap(({ file }) => file ?? []).join("\n"));
  setOutput(env, "html-file", results.flatMap(({ html }) => html ?? []).join("\n"));
  setOutput(env, "results", JSON.stringify(results));
  setOutput(env, "artifacts", artifacts);
  setOutput(env, "comments", comments);
}
