// Plans every stage: annotations in the log, files and the step's summary for people, outputs for
// later steps. It never fails the step: the comment and the artifacts come first, then
// `verdict.mjs`.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commentBody, commentMark, failureBody, PLAN_BUDGET } from "./body.mjs";
import { annotationsIn, atTheirPlaces, withoutCommands } from "./annotations.mjs";
import { createCheck, currentRequest, readFile } from "./host.mjs";
import {
  addSummary,
  annotate,
  input,
  inputList,
  mergeGroup,
  pullRequest,
  setOutput,
} from "./runner.mjs";
import { isInPlace, projectFolder, tasc } from "./tasc.mjs";

/** Characters that GitHub allows in the summary of a check run. */
const SUMMARY_BUDGET = 65_535;

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
const results = [];
for (const stage of stages.length === 0 ? [""] : stages) {
  results.push(await planStage(stage));
  if (input(env, "STATUS") === "true" && offline(stage).length === 0) await showStatus(stage);
}
writeOutputs();

async function planStage(stage) {
  const common = stage === "" ? [] : [`--stage=${stage}`];
  const name = `plan${stage === "" ? "" : `-${fileName(stage)}`}`;
  const file = join(artifacts, `${name}.json`);
  const options = ["--format=github", "--detailed-exitcode", `--out=${file}`];
  const planned = tasc(env, ["plan", ...options, ...limits, ...base, ...offline(stage), ...common]);
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
    return failed(stage, planned, [0, 2].includes(planned.code) ? unshown : planned);
  writeFileSync(join(artifacts, `${name}.html`), page.stdout);
  publish(stage, shown.stdout);
  const failsOnChanges = input(env, "FAIL_ON_CHANGES") === "true";
  await report("tasc plan", stage, planned, {
    title: /^(?:Plan: .*|No changes\..*)$/m.exec(planned.stdout)?.[0] ?? "Plan",
    summary: shown.stdout,
    conclusion:
      planned.code === 0 || (planned.code === 2 && !failsOnChanges) ? "success" : "failure",
  });
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
 * A pull request is checked out as its merge commit, whose first parent is the base branch; the event
 * of a merge queue names the base. The pull request must not be able to hide this from git.
 */
function baseOptions() {
  const queued = mergeGroup(env);
  if (request === undefined && queued === undefined) return [];
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
  if (queued !== undefined) {
    // The queue's commits may be many, with one parent each.
    if (git("cat-file", "-e", `${queued.base}^{commit}`).status === 0)
      return [`--base=${queued.base}`];
    unknownBase(
      "The checkout lacks the base of the queue; set `fetch-depth: 0` of actions/checkout.",
    );
  }
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

async function failed(stage, planned, { code, stderr }) {
  const summary = failureBody(stage, code, stderr);
  publish(stage, summary);
  const title = `There is no plan: exit code ${code}`;
  await report("tasc plan", stage, planned, { title, summary, conclusion: "failure" });
  return { stage, exitcode: code };
}

/** The state of the suite. It never decides on the plan, so it never fails a check. */
async function showStatus(stage) {
  const common = [
    "status",
    ...(stage === "" ? [] : [`--stage=${stage}`]),
    ...limits.filter((one) => one.startsWith("--trust=")),
  ];
  const ran = tasc(env, [...common, "--format=github"]);
  const shown = tasc(env, [...common, "--format=markdown"]);
  const [title] = /^\d+ test cases? .*$/m.exec(ran.stdout) ?? ["No status"];
  const summary = shown.code === 0 ? shown.stdout : failureBody(stage, shown.code, shown.stderr);
  addSummary(env, `### tasc status ${stage}\n\n${summary}`);
  await report("tasc status", stage, ran, { title, summary, conclusion: "neutral" });
}

/**
 * A check run with the annotations, where the token allows one; otherwise the log has them, of which
 * GitHub shows ten per level. Never both, which would show each of them twice.
 */
async function report(name, stage, { stdout, stderr }, check) {
  const printed = atTheirPlaces(stdout, env);
  const isKept =
    input(env, "CHECK") === "true" &&
    host.token !== "" &&
    (await createCheck(host, {
      name: stage === "" ? name : `${name} (${stage})`,
      head_sha: request?.commit ?? env.GITHUB_SHA,
      ...check,
      summary: check.summary.slice(0, SUMMARY_BUDGET),
      annotations: annotationsIn(printed),
    }));
  process.stdout.write(isKept ? withoutCommands(printed) : printed);
  process.stderr.write(stderr);
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
