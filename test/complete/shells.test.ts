// Runs the completion scripts in their shells.
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { programs } from "../contract/support/program.ts";

const call = promisify(execFile);

/** The typed line, and the line after the Tab key was pressed. */
const CASES = [
  ["tasc pla", "tasc plan"],
  ["tasc state unl", "tasc state unlock"],
  ["tasc plan --detailed", "tasc plan --detailed-exitcode"],
  ["tasc plan --format mark", "tasc plan --format markdown"],
  ["tasc plan --stage sta", "tasc plan --stage staging"],
  ["tasc plan --stage=sta", "tasc plan --stage=staging"],
  ["tasc plan --only testCase.shop.lo", "tasc plan --only testCase.shop.login"],
  [
    "tasc --chdir sub explain testCase.other.on",
    "tasc --chdir sub explain testCase.other.only-here",
  ],
  ["tasc explain environment.shop.de", "tasc explain environment.shop.default"],
  ["tasc state unlock sh", "tasc state unlock shop"],
  ["tasc apply my-pl", "tasc apply my-plan.json"],
  ["tasc plan --only testCase.shop.none", "tasc plan --only testCase.shop.none"],
] as const;

let home = "";

/** Creates a project whose variables and secrets are unset. */
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "tasc-complete-"));
  const project = join(home, "project");
  for (const folder of ["project/targets", "project/sub/targets"])
    mkdirSync(join(home, folder), { recursive: true });
  writeFileSync(
    join(project, "tasc.yaml"),
    'version: 1\nservice: { baseUrl: "${env:NOWHERE}", apiKey: "${secret:NO_KEY}" }\nstages: { dev: {}, staging: {} }\n',
  );
  writeFileSync(
    join(project, "targets/shop.yaml"),
    "target: shop\napp: ${env:NO_APP}\nenvironments: { default: {} }\ntestCases: { login: { description: Log in }, cart: {} }\nstages: { dev: { testCases: { only-in-dev: {} } } }\n",
  );
  writeFileSync(join(project, "my-plan.json"), "{}");
  writeFileSync(join(project, "sub/tasc.yaml"), "version: 1\n");
  writeFileSync(
    join(project, "sub/targets/other.yaml"),
    "target: other\ntestCases: { only-here: {} }\n",
  );
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

async function run(shell: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await call(shell, args, {
    cwd: join(home, "project"),
    env: {
      PATH: [await programs(), process.env["PATH"]].join(delimiter),
      HOME: home,
      TERM: "xterm",
      LANG: "C.UTF-8",
    },
    timeout: 120_000,
  });
  expect(stderr).toBe("");
  return stdout;
}

function isThere(shell: string): boolean {
  try {
    execFileSync(shell, ["-c", "true"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** Replaces the last word by the only candidate, as a shell does. */
function completed(typed: string, candidates: readonly string[], from: number): string {
  return candidates.length === 1 ? typed.slice(0, from) + (candidates[0] ?? "") : typed;
}

describe.skipIf(!isThere("bash"))("bash", { meta: { needs: "bash" } }, () => {
  const SCRIPT = `eval "$(tasc completion bash)"
while IFS= read -r typed; do
  spaced=\${typed//=/ = }
  COMP_WORDS=($spaced)
  COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
  spec=$(complete -p tasc); name=\${spec#*-F }; name=\${name%% *}
  "$name" tasc "\${COMP_WORDS[COMP_CWORD]}" "\${COMP_WORDS[COMP_CWORD-1]}"
  echo "\${COMPREPLY[*]}"
done <<< "$1"`;

  test("completes commands, options, stages, addresses and files", async () => {
    const typed = CASES.map(([line]) => line);
    const answers = (await run("bash", ["--norc", "-c", SCRIPT, "bash", typed.join("\n")]))
      .trimEnd()
      .split("\n");
    const lines = typed.map((line, at) => {
      const from = Math.max(line.lastIndexOf(" "), line.lastIndexOf("=")) + 1;
      return completed(line, (answers[at] ?? "").split(" ").filter(Boolean), from);
    });
    expect(lines).toEqual(CASES.map(([, wanted]) => wanted));
  });
});

describe.skipIf(!isThere("fish"))("fish", { meta: { needs: "fish" } }, () => {
  test("completes the same lines, and describes the candidates", async () => {
    const script = `tasc completion fish | source
for typed in $argv; echo "> $typed"; complete -C $typed; end`;
    const typed = CASES.map(([line]) => line);
    const out = await run("fish", ["--no-config", "-c", script, ...typed]);
    expect(out).toContain("plan\tshow what an apply would change\n");
    const answers = out.split(/^> .*\n/m).slice(1);
    const lines = typed.map((line, at) => {
      const candidates = (answers[at] ?? "")
        .split("\n")
        .filter(Boolean)
        .map((one) => one.split("\t")[0] ?? "");
      return completed(line, candidates, line.lastIndexOf(" ") + 1);
    });
    expect(lines).toEqual(CASES.map(([, wanted]) => wanted));
  });
});

describe.skipIf(!isThere("zsh"))("zsh", { meta: { needs: "zsh" } }, () => {
  /**
   * Types each line into an interactive shell at a terminal, presses Tab, and prints the completed
   * line.
   */
  const SCRIPT = `zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT=; RPROMPT=; autoload -Uz compinit; compinit -u -D; eval "$(tasc completion zsh)"; print REA""DY'
zpty -r shell seen '*READY*'
for typed in "$@"; do
  zpty -w -n shell "$typed"$'\\t\\C-a'"print -r -- 'RES''ULT<"$'\\C-e'">'"$'\\n'
  zpty -r shell seen '*RESULT<*>*'
  result=\${seen##*RESULT<}
  print -r -- "\${result%%>*}"
done
zpty -d shell`;

  test("completes commands, options, stages, addresses and files", async () => {
    const typed = CASES.map(([line]) => line);
    const lines = (await run("zsh", ["-f", "-c", SCRIPT, "zsh", ...typed])).trimEnd().split("\n");
    expect(lines.map((line) => line.trimEnd())).toEqual(CASES.map(([, wanted]) => wanted));
  });
});
