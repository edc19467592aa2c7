import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { programs } from "../contract/support/program.ts";
import type { Scene } from "../look/scene.ts";
import type { Host } from "./host.ts";
import { type Step, runScript } from "./thread.ts";

export interface WorkflowRun {
  readonly plan: Step;
  readonly comment: Step;
  readonly verdict: Step;
  readonly outputs: ReadonlyMap<string, string>;
  readonly summary: string;
}

export interface WorkflowOptions {
  readonly inputs?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly fork?: boolean;
  readonly labels?: readonly string[];
  /** An event other than that of a pull request. */
  readonly event?: object;
  /** The action's folder, whose build it uses. Default: this repository, with `programs`. */
  readonly folder?: string;
}

/** The commit of the pull request. */
export const COMMIT = "4f5e6d7c8b9a0f1e2d3c4b5a69788796a5b4c3d2";

const REPOSITORY = ".";

let runs = 0;

/**
 * Runs the action's steps as a runner does: one after the other, which only has its environment as
 * input.
 */
export async function runAction(
  scene: Scene,
  host: Host,
  {
    inputs = {},
    env = {},
    fork = false,
    labels = [],
    event: other,
    folder = REPOSITORY,
  }: WorkflowOptions = {},
): Promise<WorkflowRun> {
  const temp = join(scene.dir, "..", `runner-${runs++}`);
  mkdirSync(temp, { recursive: true });
  const [output, summary, event] = ["output", "summary", "event"].map((name) => join(temp, name));
  for (const file of [output, summary]) writeFileSync(String(file), "");
  const repo = (owner: string): object => ({ ref: "main", repo: { full_name: `${owner}/shop` } });
  writeFileSync(
    String(event),
    JSON.stringify(
      other ?? {
        pull_request: {
          number: 7,
          head: { ...repo(fork ? "stranger" : "acme"), sha: COMMIT },
          base: repo("acme"),
          labels: labels.map((name) => ({ name })),
        },
      },
    ),
  );
  const common: Readonly<Record<string, string>> = {
    PATH: String(process.env["PATH"]),
    HOME: temp,
    RUNNER_TEMP: temp,
    GITHUB_WORKSPACE: scene.dir,
    GITHUB_EVENT_PATH: String(event),
    GITHUB_OUTPUT: String(output),
    GITHUB_STEP_SUMMARY: String(summary),
    GITHUB_API_URL: host.url,
    GITHUB_SERVER_URL: "https://github.example",
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_RUN_ID: "42",
    ...(folder === REPOSITORY ? { INPUT_EXECUTABLE: join(await programs(), "tasc") } : {}),
  };
  const run = (name: string, env: Readonly<Record<string, string>>): Promise<Step> =>
    runScript(resolve(folder, "scripts", "action", `${name}.mjs`), env);
  const plan = await run("plan", {
    ...common,
    ...scene.env,
    ...env,
    INPUT_CHECK: "true",
    INPUT_GITHUB_TOKEN: "token-of-the-run",
    ...prefixed(inputs),
  });
  const outputs = parseOutputs(readFileSync(String(output), "utf8"));
  const comment = await run("comment", {
    ...common,
    INPUT_GITHUB_TOKEN: "token-of-the-run",
    INPUT_COMMENTS: outputs.get("comments") ?? "",
  });
  const verdict = await run("verdict", {
    ...common,
    ...prefixed(inputs),
    INPUT_EXITCODE: outputs.get("exitcode") ?? "",
  });
  return { plan, comment, verdict, outputs, summary: readFileSync(String(summary), "utf8") };
}

function prefixed(inputs: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [`INPUT_${name}`, value]),
  );
}

/** Parses the outputs as a runner does: `name<<END`, lines, `END`. */
function parseOutputs(text: string): ReadonlyMap<string, string> {
  return new Map(
    [...text.matchAll(/^([\w-]+)<<(\S+)\n([^]*?)\n\2$/gm)].map(([, name = "", , value = ""]) => [
      name,
      value,
    ]),
  );
}
