import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { scripts } from "./scripts.ts";

const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");
const PIPELINES = ["examples/github", "examples/gitlab"].flatMap((folder) =>
  readdirSync(folder).map((name) => join(folder, name)),
);
const nowhere = mkdtempSync(join(tmpdir(), "tasc-nowhere-"));
afterAll(() => rmSync(nowhere, { recursive: true, force: true }));

/** The arguments of each `tasc` in a script, as a shell would split them; variables stand for a stage. */
function commands(script: string): readonly (readonly string[])[] {
  return [...script.matchAll(/\bnpx tasc ([^\n|&;>#]*)/g)].map(([, line = ""]) =>
    [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
      (double ?? single ?? bare ?? "").replaceAll(/\$\w+/g, "staging"),
    ),
  );
}

test("nothing is pasted into a script that a stranger could have written", () => {
  for (const file of PIPELINES) for (const script of scripts(file)) expect(script, file).not.toContain("${{");
});

test("GitHub's pipelines have no secrets for a stranger's code, and say what they may do", () => {
  for (const file of PIPELINES.filter((name) => name.includes("github"))) {
    const pipeline: unknown = parseDocument(readFileSync(file, "utf8")).toJS();
    expect(pipeline, file).toHaveProperty(["permissions", "contents"]);
    expect(pipeline, file).not.toHaveProperty(["on", "pull_request_target"]);
  }
});

test("the action is given inputs that it has, and asked for outputs that it has", () => {
  const action: unknown = parseDocument(readFileSync("action.yml", "utf8")).toJS();
  const text = readFileSync("examples/github/plan.yml", "utf8");
  const [, inputs = ""] = /uses: your-org\/tasc@v1\n +with:\n((?: {10}.*\n)*)/.exec(text) ?? [];
  const names = [...inputs.matchAll(/^ +([\w-]+):/gm)].map(([, name = ""]) => name);
  expect(names).toEqual(["stages", "snapshot"]);
  for (const name of names) expect(action).toHaveProperty(["inputs", name]);
  for (const [, name = ""] of text.matchAll(/steps\.tasc\.outputs\.([\w-]+)/g))
    expect(action).toHaveProperty(["outputs", name]);
});

test.each(PIPELINES)("tasc knows every command of %s", async (file) => {
  const help = await stderrAndStdout(["--help"]);
  for (const args of scripts(file).flatMap(commands)) {
    // The contract has it; the pipelines may come before it.
    if (args[0] === "promote" && !/^ +promote /m.test(help)) continue;
    const said = await stderrAndStdout(args);
    expect(said, args.join(" ")).not.toMatch(
      /unknown (option|command)|too many arguments|missing required|argument missing|is invalid|Allowed choices/i,
    );
    expect(said, args.join(" ")).toMatch(/tasc\.yaml|plan/);
  }
});

/** Where there is no project, a command that the parser takes gets as far as to say that. */
function stderrAndStdout(args: readonly string[]): Promise<string> {
  return new Promise((done) => {
    execFile(process.execPath, [EXECUTABLE, ...args], { cwd: nowhere }, (_, stdout, stderr) =>
      done(stdout + stderr),
    );
  });
}
