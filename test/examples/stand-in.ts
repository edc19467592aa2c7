import { spawn } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { runInNewContext } from "node:vm";
import { parse } from "yaml";
import { EXECUTABLE, programs } from "../contract/support/program.ts";

/*
 * Stand-ins for the machines that run pipelines: a real shell runs the scripts of a pipeline in order, in the project's
 * folder, with the environment that a host would set. Programs that need the network are replaced on the PATH:
 * `npm ci` installs the built executable, which runs in the process of the test, and `gh` asks the stand-in of the
 * host's API.
 */

type Env = Readonly<Record<string, string>>;
type Mapping = Readonly<Record<string, unknown>>;

export interface Machine {
  /** The project's folder. */
  readonly dir: string;
  /** Contains programs, artifacts and the home folder. */
  readonly temp: string;
  readonly env: Env;
}

const PROGRAMS: Env = {
  npm: `test "$1" = ci || exit 97
mkdir -p node_modules/@tasc/cli/dist && ln -sf "${EXECUTABLE}" node_modules/@tasc/cli/dist/tasc.cjs`,
  gh: `set -o pipefail
case "$1 $2" in
  "api "*/pulls/*[0-9])
    echo "edit \${2##*/}" >> "$ARTIFACTS/requests"; cp "\${7#body=@}" "$ARTIFACTS/request-body" ;;
  api*) curl --silent --fail "$GITHUB_API_URL/$2" | jq --raw-output --compact-output "$4" ;;
  "run list") [[ "$*" = *"--event schedule"* ]] && printf '%s\\n' $SCHEDULED_RUNS ;;
  "run download")
    run="$3"
    if test "$4" = --repo; then shift 2; fi
    test "$run" != 45 || { echo "no artifact matches" >&2; exit 1; }
    [[ "$run" = 42 || " $SCHEDULED_RUNS " = *" $run "* ]] || exit 96
    mkdir -p "$7" && cp -r "$ARTIFACTS/$5/." "$7" ;;
  "auth setup-git") ;;
  "pr list") # a fork has a branch of that name, too
    own=""; test ! -f "$ARTIFACTS/open-$4" || own=',{"number":8,"isCrossRepository":false}'
    echo '[{"number":6,"isCrossRepository":true}'"$own]" | jq --raw-output "\${10}" ;;
  "pr create")
    echo "$*" > "$ARTIFACTS/pull-request"
    echo "create \${!#}" >> "$ARTIFACTS/requests"; touch "$ARTIFACTS/open-\${!#}"
    test "$5" != --body-file || cp "$6" "$ARTIFACTS/request-body" ;;
  "pr close") echo "close $3" >> "$ARTIFACTS/requests"; rm "$ARTIFACTS"/open-* ;;
  *) exit 98 ;;
esac`,
};

export async function machine(dir: string, env: Env): Promise<Machine> {
  const temp = `${dir}-machine`;
  for (const [name, script] of Object.entries(PROGRAMS)) {
    const file = join(temp, "bin", name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `#!/bin/bash\n${script}\n`);
    chmodSync(file, 0o755);
  }
  const artifacts = join(temp, "artifacts");
  mkdirSync(artifacts);
  const path = [join(temp, "bin"), await programs(), process.env["PATH"]].join(delimiter);
  return {
    dir,
    temp,
    env: { PATH: path, HOME: temp, RUNNER_TEMP: temp, ARTIFACTS: artifacts, ...env },
  };
}

/**
 * Runs a script as hosts do: it stops at the first command that fails.
 * @throws with its output if it fails
 */
export async function shell(
  script: string,
  { dir, env }: Machine,
  more: Env = {},
): Promise<string> {
  const child = spawn("bash", ["-eo", "pipefail", "-c", script], {
    cwd: dir,
    env: { ...env, ...more },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (log += text));
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(`exit ${String(code)} of:\n${script}\n--\n${log}`);
  return log;
}

function mapping(value: unknown): Mapping {
  return typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value))
    : {};
}

/** A scalar as text; an empty text for any other value. */
function text(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The values of expressions such as `${{ github.token }}`, and a function that runs the action. */
export interface GithubOptions {
  readonly context: Mapping;
  readonly action?: (inputs: Env, env: Env) => Promise<Env>;
  /** The jobs to run; all by default. */
  readonly jobs?: readonly string[];
}

/** Runs the jobs of a GitHub workflow in order and returns their output. */
export async function runGithub(
  file: string,
  computer: Machine,
  { context, action, jobs }: GithubOptions,
): Promise<string> {
  const workflow = mapping(parse(readFileSync(file, "utf8")));
  const needs: Record<string, unknown> = {};
  const runner = { temp: String(computer.env["RUNNER_TEMP"]) };
  let log = "";
  let failure: unknown;
  for (const [name, value] of Object.entries(mapping(workflow["jobs"]))) {
    const job = mapping(value);
    if (jobs?.includes(name) === false) continue;
    if (failure !== undefined && !text(job["if"]).includes("!cancelled()")) continue;
    const [[key, values] = ["none", [""]]] = Object.entries(
      mapping(mapping(job["strategy"])["matrix"]),
    );
    for (const one of list(values)) {
      const known = { ...context, needs, runner, matrix: { [key]: one } };
      const outputs = await runSteps(list(job["steps"]).map(mapping), known);
      const filled = Object.entries(mapping(job["outputs"])).map(
        ([out, value]) => [out, fill(value, { ...known, steps: outputs })] as const,
      );
      needs[name] = { outputs: Object.fromEntries(filled) };
    }
  }
  if (failure !== undefined) throw failure;
  return log;

  async function runSteps(steps: readonly Mapping[], known: Mapping): Promise<Mapping> {
    // Each job begins in a clean checkout, without the files of the previous job.
    await shell(
      `git clean -ffdxq plans .snapshots plan-production.json && git reset --quiet --hard
git switch --quiet main && git branch --list 'tasc-pull-*' | xargs --no-run-if-empty git branch --quiet -D`,
      computer,
    );
    let failed: unknown;
    const outputs: Record<string, unknown> = {};
    for (const step of steps) {
      const context = { ...known, steps: outputs };
      const fillAll = (values: unknown): Env =>
        Object.fromEntries(
          Object.entries(mapping(values)).map(
            ([name, value]) => [name, fill(value, context)] as const,
          ),
        );
      const condition = text(step["if"]);
      if (condition === "always()" ? false : failed !== undefined) continue;
      if (!["", "always()"].includes(condition) && fill(`\${{ ${condition} }}`, context) !== "true")
        continue;
      const output = join(computer.temp, "output");
      writeFileSync(output, "");
      const env = { ...fillAll(workflow["env"]), ...fillAll(step["env"]) };
      const uses = text(step["uses"]);
      if (step["run"] !== undefined)
        try {
          log += await shell(text(step["run"]), computer, { ...env, GITHUB_OUTPUT: output });
        } catch (error) {
          failed = error;
        }
      else if (uses.startsWith("your-org/tasc@"))
        outputs[text(step["id"])] = { outputs: await action?.(fillAll(step["with"]), env) };
      else artifact(uses, fillAll(step["with"]));
      const set = [...readFileSync(output, "utf8").matchAll(/^([\w-]+)=(.*)$/gm)];
      if (set.length > 0)
        outputs[text(step["id"])] = {
          outputs: Object.fromEntries(set.map(([, a = "", b = ""]) => [a, b] as const)),
        };
    }
    failure ??= failed;
    return outputs;
  }

  function artifact(uses: string, { name = "", pattern = "", path = "." }: Env): void {
    const kept = join(String(computer.env["ARTIFACTS"]), name || pattern);
    const there = resolve(computer.dir, path);
    const isDownload = uses.startsWith("actions/download-artifact@");
    if (isDownload && pattern !== "") rmSync(there, { recursive: true, force: true });
    // Where no artifact has a name of the pattern, nothing is downloaded.
    if (isDownload && (pattern === "" || existsSync(kept)))
      cpSync(kept, there, { recursive: true });
    if (!uses.startsWith("actions/upload-artifact@") || !existsSync(there)) return;
    const isFile = path.endsWith(".json");
    cpSync(there, isFile ? join(kept, path) : kept, { recursive: true });
  }
}

/** Replaces `${{ a.b }}`, `${{ a.b || c.d }}` and `${{ a.b == 'c' }}` by their values. */
function fill(template: unknown, context: Mapping): string {
  const valueOf = (name: string): string =>
    text(name.split(".").reduce<unknown>((inside, key) => mapping(inside)[key], context));
  return text(template).replaceAll(/\$\{\{ (.*?) \}\}/g, (_, expression: string) => {
    const [left = "", right] = expression.split(" == ");
    if (right !== undefined) return String(`'${valueOf(left)}'` === right);
    return left.split(" || ").map(valueOf).find(Boolean) ?? "";
  });
}

/** A job of a GitLab pipeline, with what it extends. */
function gitlabJob(name: string, pipeline: Mapping): Mapping {
  const own = mapping(pipeline[name]);
  const above = own["extends"] === undefined ? {} : gitlabJob(text(own["extends"]), pipeline);
  return { ...above, ...own };
}

/** The jobs of a pipeline that its rules select, in order. */
export function gitlabJobs(file: string, variables: Env): readonly string[] {
  const pipeline = mapping(parse(readFileSync(file, "utf8")));
  return Object.keys(pipeline).filter((name) => {
    const rules = list(gitlabJob(name, pipeline)["rules"]).map(mapping);
    const first = rules.find((rule) => holds(text(rule["if"]), variables));
    return !name.startsWith(".") && first !== undefined && first["when"] !== "never";
  });
}

function holds(condition: string, variables: Env): boolean {
  const script = condition.replaceAll(/\$(\w+)/g, (_, name: string) =>
    JSON.stringify(variables[name] ?? null),
  );
  return Boolean(runInNewContext(script));
}

/** Runs a job once for each value of its matrix and returns its output. */
export async function runGitlab(
  file: string,
  name: string,
  computer: Machine,
  variables: Env,
): Promise<string> {
  const pipeline = mapping(parse(readFileSync(file, "utf8")));
  const job = gitlabJob(name, pipeline);
  const [matrix] = list(mapping(job["parallel"])["matrix"]).map(mapping);
  const [[key, values] = ["NONE", [""]]] = Object.entries(matrix ?? {});
  const before = list(mapping(pipeline["default"])["before_script"]);
  const script = [...before, ...list(job["script"])].join("\n");
  let log = "";
  for (const value of list(values)) {
    const all = { ...mapping(pipeline["variables"]), ...mapping(job["variables"]) };
    const own = Object.entries(all).map(([one, set]) => [one, text(set)] as const);
    const env: Env = { ...variables, ...Object.fromEntries(own), [key]: text(value) };
    log += await shell(script, computer, env);
    keep(job, computer, env);
  }
  return log;
}

/** Keeps the artifact of a job for the next one: the plan of its stage. */
function keep(job: Mapping, { dir, env }: Machine, { TASC_STAGE = "" }: Env): void {
  const plan = join(dir, "plan.json");
  if (job["artifacts"] !== undefined && existsSync(plan))
    cpSync(plan, join(String(env["ARTIFACTS"]), `${TASC_STAGE}.json`));
}
