// The components for GitLab, as an interpreter of its pipelines reads them, and the hooks of
// pre-commit, as pre-commit itself reads and runs them.
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { at, object, parseJson } from "../contract/support/json.ts";

const EXECUTABLE = resolve(process.env["TASC_EXECUTABLE"] ?? "dist/tasc.cjs");
const INTERPRETER = resolve("node_modules/gitlab-ci-local/dist/index.js");
const TEMPLATES = ["plan", "apply"].map((name) => `templates/${name}/template.yml`);

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "tasc-components-"));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

function git(cwd: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=qa", "-c", "user.email=qa@example.com"];
  return execFileSync("git", [...who, ...args], { cwd, encoding: "utf8", stdio: "pipe" });
}

/** What an interpreter of GitLab pipelines makes of them, with what it prints if it refuses them. */
function interpreted(includes: string) {
  const dir = folder();
  cpSync("templates", join(dir, "templates"), { recursive: true });
  writeFileSync(join(dir, ".gitlab-ci.yml"), `stages: [test, deploy]\ninclude:\n${includes}`);
  git(dir, "init", "-q", "-b", "main");
  git(dir, "remote", "add", "origin", "git@gitlab.example:acme/shop.git");
  git(dir, "add", ".");
  git(dir, "commit", "-q", "-m", "pipeline");
  return spawnSync(process.execPath, ["--import", SETS, INTERPRETER, "--preview"], {
    cwd: dir,
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1", HOME: dir },
  });
}

/** Node 20 lacks this method, which the interpreter uses. */
const SETS = `data:text/javascript,${encodeURIComponent(
  "Set.prototype.union ??= function (more) { return new Set([...this, ...more]) }",
)}`;

const include = (name: string, inputs: string): string =>
  `  - { local: templates/${name}/template.yml, inputs: ${inputs} }\n`;

test("an interpreter of GitLab's pipelines fills the components in, once for each stage", () => {
  const preview = interpreted(
    include("plan", "{ stage: staging, environment: staging }") +
      include(
        "plan",
        "{ stage: production, environment: prod, merge-requests: false, trust: '' }",
      ) +
      include("apply", "{ stage: staging, environment: staging, approval: false }") +
      include(
        "apply",
        "{ stage: production, environment: prod, working-directory: e2e, wait: 90s }",
      ),
  );
  expect(preview.status, preview.stderr).toBe(0);
  expect(preview.stdout).not.toContain("$[[");
  const pipeline: unknown = parse(preview.stdout.slice(preview.stdout.indexOf("---")));
  expect(pipeline).toMatchObject({
    "plan staging": { environment: { name: "staging", action: "prepare" }, stage: "test" },
    "plan production": { variables: { TASC_STAGE: "production", TASC_TRUST_FILE: "" } },
    "apply staging": { variables: { TASC_APPROVAL: "false" }, resource_group: "staging" },
    "apply production": {
      needs: [{ job: "plan production" }],
      rules: [{ when: "manual" }],
      allow_failure: false,
      environment: { name: "prod" },
      resource_group: "prod",
      variables: { TASC_WAIT: "90s", TASC_FOLDER: "e2e", TASC_APPROVAL: "true" },
    },
  });
  // A stage whose key branches must not get is not planned in merge requests.
  expect(preview.stdout.match(/"false" == "true"/g)).toHaveLength(1);
});

test("components refuse missing and wrong inputs", () => {
  const missing = interpreted(include("plan", "{ stage: staging }"));
  expect(missing.status).not.toBe(0);
  expect(missing.stderr + missing.stdout).toContain("environment");
  const wrong = interpreted(
    include("apply", "{ stage: staging, environment: staging, approval: maybe }"),
  );
  expect(wrong.status).not.toBe(0);
});

test("components use only files of the package, say what each input is, and hide no expression in a script", () => {
  const packed: unknown = JSON.parse(readFileSync("package.json", "utf8"));
  expect(packed).toHaveProperty("files", expect.arrayContaining(["examples/gitlab/*.mjs"]));
  for (const file of TEMPLATES) {
    const text = readFileSync(file, "utf8");
    for (const [, script = ""] of text.matchAll(/node_modules\/@tasc\/cli\/(examples\/\S+)/g))
      expect(existsSync(script), script).toBe(true);
    const [header, body, ...others] = parseAllDocuments(text).map((one) =>
      parseJson(JSON.stringify(one)),
    );
    expect(others).toEqual([]);
    expect(header).toHaveProperty("spec.inputs");
    const inputs = object(at(header, "spec", "inputs"));
    for (const [name, input] of Object.entries(inputs)) {
      expect(input, name).toHaveProperty("description");
      expect(text, name).toContain(`$[[ inputs.${name} ]]`);
    }
    const used = [...text.matchAll(/\$\[\[ inputs\.([\w-]+) \]\]/g)].map(([, name]) => name);
    for (const name of used) expect(inputs).toHaveProperty([String(name)]);
    // An input is text of another project: a script takes it from a variable.
    const scripts = JSON.stringify(body).match(/"script":\[.*?\](?=[,}])/g) ?? [];
    expect(scripts).toHaveLength(1);
    for (const script of scripts) expect(script).not.toContain("$[[");
  }
});

/** Whether pre-commit is installed (`npm run test:setup`). */
const hasPreCommit = spawnSync("pre-commit", ["--version"]).status === 0;

test.skipIf(!hasPreCommit)(
  "pre-commit accepts the hooks, checks manifests and formats them",
  () => {
    const dir = folder();
    const preCommit = (...args: readonly string[]) =>
      spawnSync("pre-commit", args, {
        cwd: dir,
        encoding: "utf8",
        env: {
          ...process.env,
          HOME: dir,
          PRE_COMMIT_HOME: join(dir, ".cache"),
          PATH: [join(dir, "bin"), process.env["PATH"]].join(delimiter),
        },
      });
    const manifest = resolve(".pre-commit-hooks.yaml");
    expect(preCommit("validate-manifest", manifest)).toMatchObject({ status: 0 });
    // The hooks as they are, with the built program instead of one that pre-commit installs from git.
    const hooks: unknown = parse(readFileSync(manifest, "utf8").replaceAll("node", "system"));
    const config = { repos: [{ repo: "local", hooks }] };
    mkdirSync(join(dir, "bin"));
    writeFileSync(
      join(dir, "bin/tasc"),
      `#!/bin/sh\nexec "${process.execPath}" "${EXECUTABLE}" "$@"\n`,
    );
    chmodSync(join(dir, "bin/tasc"), 0o755);
    writeFileSync(join(dir, ".pre-commit-config.yaml"), JSON.stringify(config));
    writeFileSync(
      join(dir, "tasc.yaml"),
      'version: 1\nservice:\n  baseUrl: http://127.0.0.1:1\n  apiKey: "${secret:KEY}"\n',
    );
    mkdirSync(join(dir, "targets"));
    const shop = join(dir, "targets/shop.yaml");
    writeFileSync(shop, "app: Shop\ntarget: shop\n");
    git(dir, "init", "-q", "-b", "main");
    git(dir, "add", "tasc.yaml", "targets");
    const first = preCommit("run");
    expect(first.stdout, first.stderr).toMatch(/tasc validate\.+Passed[^]*tasc fmt\.+Failed/);
    expect(first.stdout).toContain("files were modified by this hook");
    expect(readFileSync(shop, "utf8")).toBe("target: shop\napp: Shop\n");
    git(dir, "add", "targets");
    expect(preCommit("run")).toMatchObject({ status: 0 });
    git(dir, "commit", "-q", "-m", "shop");
    writeFileSync(shop, "target: shop\nap: Shop\n");
    git(dir, "add", "targets");
    const wrong = preCommit("run");
    expect(wrong.status).toBe(1);
    expect(wrong.stdout).toMatch(/tasc validate\.+Failed[^]*targets\/shop\.yaml:2:1/);
    // Nothing is run for other files.
    git(dir, "reset", "-q", "--hard");
    writeFileSync(join(dir, "README.md"), "# Shop\n");
    git(dir, "add", "README.md");
    expect(preCommit("run").stdout).toMatch(/tasc validate\.+.*Skipped/);
  },
);
