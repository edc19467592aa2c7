// Checks the manifests and plans every stage (a plan validates first): annotations into the log, files and the step's summary for people,
// outputs for later steps. It never fails the step: comment and artifacts come first, then `verdict.mjs`.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { commentBody, commentMark, failureBody, PLAN_BUDGET } from "./body.mjs";
import { addSummary, annotate, input, inputList, pullRequest, setOutput } from "./runner.mjs";
import { log, tasc } from "./tasc.mjs";

const env = process.env;
const folder = mkdtempSync(join(env.RUNNER_TEMP || tmpdir(), "tasc-"));
const artifacts = join(folder, "plans");
const comments = join(folder, "comments");
mkdirSync(artifacts);
mkdirSync(comments);

const stages = inputList(env, "STAGES");
const results = (stages.length === 0 ? [""] : stages).map(planStage);
writeOutputs();

function planStage(stage) {
  const common = stage === "" ? [] : [`--stage=${stage}`];
  const name = `plan${stage === "" ? "" : `-${fileName(stage)}`}`;
  const file = join(artifacts, `${name}.json`);
  const options = ["--format=github", "--detailed-exitcode", `--out=${file}`];
  const planned = tasc(env, ["plan", ...options, ...offline(stage), ...common]);
  log(env, planned);
  const shown = tasc(env, ["show", file, "--format=markdown", `--budget=${PLAN_BUDGET}`]);
  if (shown.code !== 0) return failed(stage, planned);
  writeFileSync(join(artifacts, `${name}.html`), tasc(env, ["show", file, "--format=html"]).stdout);
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

/** The pull request of a fork has no secrets; its plan is made from what `tasc snapshot` wrote. */
function offline(stage) {
  const snapshot = input(env, "SNAPSHOT").replaceAll("{stage}", stage);
  const when = input(env, "OFFLINE") || "auto";
  if (when === "never" || (when === "auto" && pullRequest(env)?.fork !== true)) return [];
  if (snapshot === "") {
    annotate(
      "notice",
      "A fork has no secrets. The input `snapshot` lets its pull requests be planned all the same.",
    );
    return [];
  }
  return [`--snapshot=${snapshot}`, "--allow-missing-secrets"];
}

function failed(stage, { code, stderr }) {
  publish(stage, failureBody(stage, code, stderr));
  return { stage, exitcode: code === 0 ? 1 : code };
}

/** The summary stands even where no comment may be written. */
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
  // What failed wins over what changed.
  const exitcode = codes.find((code) => code !== 0 && code !== 2) ?? Math.max(...codes);
  setOutput(env, "exitcode", exitcode);
  for (const key of ["changes", "create", "update", "rediscover", "unchanged", "orphaned", "unmanaged"])
    setOutput(env, key, sum(key));
  setOutput(env, "plan-file", results.flatMap(({ file }) => file ?? []).join("\n"));
  setOutput(env, "html-file", results.flatMap(({ html }) => html ?? []).join("\n"));
  setOutput(env, "results", JSON.stringify(results));
  setOutput(env, "artifacts", artifacts);
  setOutput(env, "comments", comments);
}
