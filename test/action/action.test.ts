import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { scripts } from "../examples/scripts.ts";
import { MANIFEST, type Scene, appliedScene } from "../look/scene.ts";
import { type Comment, type Host, type HostOptions, startHost } from "./host.ts";
import { COMMIT, runAction } from "./workflow.ts";

const CHANGED = MANIFEST.replace("tags: [smoke]", "tags: [smoke, auth]");
const MARK = "<!-- tasc:action ";
const PULL = "/repos/acme/shop/pulls/7";

async function host(options: HostOptions = {}): Promise<Host> {
  const started = await startHost(options);
  onTestFinished(() => started.close());
  return started;
}

/** Creates a git repository in a folder. */
function gitIn(cwd: string) {
  const git = (...args: readonly string[]) => {
    const who = [
      "-c",
      "user.name=qa",
      "-c",
      "user.email=qa@example.com",
      "-c",
      "commit.gpgsign=false",
    ];
    execFileSync("git", [...who, ...args], { cwd, stdio: "ignore" });
  };
  git("init", "-q", "-b", "main");
  return git;
}

describe("the action", () => {
  const play = appliedScene();

  test("writes one comment and keeps it up to date", () =>
    play(async (scene) => {
      scene.write("targets/shop.yaml", CHANGED);
      const github = await host();
      const first = await runAction(scene, github);
      expect(first.comment.log).toContain("Comment created");
      expect(github.comments[0]?.body).toContain(
        `(<https://github.example/acme/shop/commit/${COMMIT}>)`,
      );
      const page = readFileSync(String(first.outputs.get("html-file")), "utf8");
      for (const link of ["pull/7", `commit/${COMMIT}`, "actions/runs/42"])
        expect(page).toContain(`<a href="https://github.example/acme/shop/${link}"`);
      expect(github.comments).toHaveLength(1);
      expect(github.comments[0]?.body).toContain("1 to update");
      expect(github.comments[0]?.body).toContain(
        "https://github.example/acme/shop/actions/runs/42",
      );
      const again = await runAction(scene, github, { inputs: { FAIL_ON_CHANGES: "true" } });
      expect([first.verdict.code, again.verdict.code]).toEqual([0, 2]);
      expect(github.writes).toEqual(["POST /repos/acme/shop/issues/7/comments"]);
      scene.write("targets/shop.yaml", MANIFEST);
      await runAction(scene, github);
      expect(github.comments).toHaveLength(1);
      expect(github.comments[0]?.body).toContain("0 to update");
    }));

  test("writes no comment if the pull request has a newer commit", () =>
    play(async (scene) => {
      const github = await host({ answers: { [PULL]: { head: { sha: "newer" }, labels: [] } } });
      const { comment } = await runAction(scene, github);
      expect(comment).toMatchObject({ code: 0 });
      expect(comment.log).toContain(
        "::notice title=tasc::No comment: the pull request has a newer commit",
      );
      const same = await host({ answers: { [PULL]: { head: { sha: COMMIT }, labels: [] } } });
      await runAction(scene, same);
      expect([github.writes.length, same.writes.length]).toEqual([0, 1]);
    }));

  test("finds its comment on a later page, and ignores comments by users", () =>
    play(async (scene) => {
      const others = [...Array(150).keys()].map((id): Comment => ({
        id,
        body: id === 3 ? `${MARK}  -->\nmine, says a person` : `quotes ${MARK}  -->`,
        user: { type: "User", login: "somebody" },
      }));
      const ours = {
        id: 500,
        body: `${MARK}  -->\nold`,
        user: { type: "Bot", login: "github-actions[bot]" },
      };
      const github = await host({ comments: [...others, ours] });
      await runAction(scene, github);
      expect(github.writes).toEqual(["PATCH /repos/acme/shop/issues/comments/500"]);
      expect(github.comments[150]?.body).toContain("0 to update");
    }));

  test("passes numbers and files to later steps, and annotates the line of the manifest", () =>
    play(async (scene) => {
      scene.write("targets/shop.yaml", CHANGED);
      const { plan, outputs, summary } = await runAction(scene, await host());
      expect(plan.log).toMatch(/^::warning file=targets\/shop\.yaml,line=17,.*title=update /m);
      expect(Object.fromEntries([...outputs].filter(([, value]) => /^\d+$/.test(value)))).toEqual({
        exitcode: "2",
        changes: "1",
        create: "0",
        update: "1",
        rediscover: "0",
        disable: "0",
        unchanged: "5",
        orphaned: "0",
        unmanaged: "1",
      });
      const file = String(outputs.get("plan-file"));
      expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ summary: { update: 1 } });
      expect(readFileSync(String(outputs.get("html-file")), "utf8")).toContain("<!doctype html>");
      expect(summary).toContain("1 to update");
    }));

  test("plans each stage separately, in a folder of the repository", () =>
    play(async (scene) => {
      scene.write(
        "e2e/tasc.yaml",
        `${scene.read("tasc.yaml")}stages: { staging: {}, prod-eu: {} }\n`,
      );
      scene.write("e2e/targets/shop.yaml", MANIFEST.replace("tags: [smoke]", "tags: [new]"));
      const github = await host();
      const inputs = { STAGES: "staging, prod-eu", WORKING_DIRECTORY: "e2e" };
      const { plan, outputs } = await runAction(scene, github, { inputs });
      expect(github.comments.map(({ body }) => body.split("\n")[0])).toEqual([
        `${MARK}e2e prod%2Deu -->`,
        `${MARK}e2e staging -->`,
      ]);
      expect(plan.log).toMatch(/^::notice file=e2e\/targets\/shop\.yaml,/m);
      expect(String(outputs.get("plan-file")).split("\n")).toHaveLength(2);
    }));

  test("reports errors in manifests at their lines and in the comment, and fails", () =>
    play(async (scene) => {
      scene.write("targets/shop.yaml", MANIFEST.replace("status: ENABLED", "status: ENABLD"));
      const github = await host();
      const { plan, verdict, summary } = await runAction(scene, github);
      expect(plan.log).toMatch(/^::error file=targets\/shop\.yaml,line=15,/m);
      expect(github.comments[0]?.body).toContain(
        "**There is no plan: tasc ended with exit code 3.**",
      );
      expect(github.comments[0]?.body).toContain("ENABLD");
      expect(summary).toContain("There is no plan");
      expect(verdict.code).toBe(3);
    }));

  test("plans a fork's pull request without secrets, and only writes the summary if it may not comment", () =>
    play(async (scene) => {
      expect((await scene.run(["snapshot", "--out", "default.json"])).code).toBe(0);
      scene.write("targets/shop.yaml", CHANGED);
      const github = await host({ refuse: 403 });
      const none = { TASC_API_KEY: "", QA_PASSWORD: "", QA_USER: "" };
      const inputs = { SNAPSHOT: "default.json" };
      const ran = await runAction(scene, github, { inputs, env: none, fork: true });
      expect(ran.comment).toMatchObject({ code: 0 });
      expect(ran.comment.log).toContain(
        "::notice title=tasc::No comment: this token may not write",
      );
      expect(ran.summary).toContain("1 to update");
      expect(ran.verdict.code).toBe(0);
    }));

  test("fails if the host fails, because the comment would show an old plan", () =>
    play(async (scene) => {
      const { comment } = await runAction(scene, await host({ refuse: 500 }));
      expect(comment.code).toBe(1);
      expect(comment.log).toContain("POST /issues/7/comments: 500");
    }));

  test("reads the trust file from the default branch only, and fails if it is missing there", () =>
    play(async (scene) => {
      scene.write("targets/shop.yaml", CHANGED);
      scene.write("tasc-trust.yaml", "version: 1\npolicy: { maxChanges: 100 }\n");
      const strict = "version: 1\norigins: ['https://tests.example.com']\n";
      const inputs = { TRUST: "tasc-trust.yaml" };
      // Other workflows set the variable to the file in their checkout.
      for (const env of [{}, { TASC_TRUST: "tasc-trust.yaml" }]) {
        const github = await host({ files: { "tasc-trust.yaml": strict } });
        const refused = await runAction(scene, github, { inputs, env });
        expect(refused.verdict.code).toBe(3);
        expect(refused.plan.log).toContain("https://tests.example.com");
      }
      const events = [{}, { event: { merge_group: { base_ref: "refs/heads/main" } } }];
      for (const event of events) {
        const without = await runAction(scene, await host(), { inputs, ...event });
        expect(without.plan.code).toBe(1);
        expect(without.plan.log).toContain(
          "::error title=tasc::The default branch has no tasc-trust.yaml",
        );
      }
      const none = await runAction(scene, await host(), { inputs: { TRUST: "" } });
      expect(none.verdict.code).toBe(0);
    }));

  test("fails if committed files prevent git from reading the checkout", () =>
    play(async (scene) => {
      execFileSync("git", ["init", "-q"], { cwd: scene.dir });
      for (const file of ["tasc.yaml", "targets/shop.yaml"])
        scene.write(`e2e/${file}`, scene.read(file));
      const inputs = { WORKING_DIRECTORY: "e2e" };
      expect((await runAction(scene, await host(), { inputs })).plan.code).toBe(0);
      const bare = { HEAD: "ref: refs/heads/main\n", "objects/keep": "", "refs/keep": "" };
      for (const [file, text] of Object.entries(bare)) scene.write(`e2e/${file}`, text);
      const { plan } = await runAction(scene, await host(), { inputs });
      expect(plan.code, plan.log).toBe(1);
      expect(plan.log).toContain(
        "git cannot read the checkout. Files of the project could pass for a repository",
      );
    }));

  test.each(["link", "folder above", "submodule"])("does not plan another project: %s", (way) =>
    play(async (scene) => {
      const git = gitIn(scene.dir);
      const files = ["tasc.yaml", "targets/shop.yaml"].map(
        (file) => [file, scene.read(file)] as const,
      );
      const writeTo = (folder: string) => {
        for (const [file, text] of files) scene.write(`${folder}/${file}`, text);
      };
      writeTo("e2e");
      if (way !== "folder above") {
        git("rm", "-rfq", "--ignore-unmatch", "tasc.yaml", "targets");
        writeTo("other");
      }
      git("add", ".");
      git("commit", "-q", "-m", "base");
      git("rm", "-rq", "e2e");
      if (way === "link") symlinkSync("other", join(scene.dir, "e2e"));
      if (way === "folder above") scene.write("e2e/README.md", "");
      if (way === "submodule") {
        writeTo("e2e");
        const inner = gitIn(join(scene.dir, "e2e"));
        inner("add", ".");
        inner("commit", "-q", "-m", "own");
        git("submodule", "add", "-q", "./e2e", "e2e");
      }
      const { plan, verdict } = await runAction(scene, await host(), {
        inputs: { WORKING_DIRECTORY: "e2e" },
      });
      expect(verdict.code, plan.log).not.toBe(0);
      expect(plan.log).toContain(way === "folder above" ? "tasc.yaml" : "a link or a submodule");
    }),
  );

  test("fails if the checkout contains only the merge commit", () =>
    play(async (scene) => {
      const [whole, alone] = ["whole", "alone"].map((name) => join(scene.dir, "..", name));
      const git = gitIn(scene.dir);
      git("add", "tasc.yaml", "targets");
      git("commit", "-q", "-m", "base");
      git("switch", "-q", "-c", "change");
      scene.write("targets/shop.yaml", CHANGED);
      git("commit", "-q", "-a", "-m", "change");
      git("switch", "-q", "main");
      git("merge", "-q", "--no-ff", "-m", "merge", "change");
      for (const [folder, depth] of [
        [whole, 2],
        [alone, 1],
      ] as const)
        git("clone", "-q", "--depth", String(depth), `file://${scene.dir}`, String(folder));
      const merge = execFileSync("git", ["rev-parse", "HEAD"], {
        cwd: String(whole),
        encoding: "utf8",
      }).trim();
      for (const [commit, isMerge] of [
        [merge, true],
        [COMMIT, false],
      ] as const) {
        const env = { GITHUB_EVENT_NAME: "pull_request", GITHUB_SHA: commit };
        // oxlint-disable-next-line no-await-in-loop
        const { plan } = await runAction({ ...scene, dir: String(whole) }, await host(), { env });
        expect(plan.code, plan.log).toBe(0);
        expect(plan.log.includes("is not the merge commit")).toBe(!isMerge);
      }
      const { plan } = await runAction({ ...scene, dir: String(alone) }, await host());
      expect(plan.code, plan.log).toBe(1);
      expect(plan.log).toContain("set `fetch-depth: 2`");
    }));

  test("shows a plan although a header, which is redacted, repeats its addresses", () =>
    play(async (scene) => {
      const header = "    additionalHeaderFields: { X-Hidden: testCase.shop }\n";
      scene.write(
        "targets/shop.yaml",
        CHANGED.replace("    testAccount:", `${header}    testAccount:`),
      );
      const github = await host();
      const { outputs, verdict } = await runAction(scene, github);
      expect(github.comments[0]?.body).toContain("2 changes, all shown.");
      expect([outputs.get("exitcode"), verdict.code]).toEqual(["2", 0]);
    }));

  test("does not make its own token available to manifests", () =>
    play(async (scene) => {
      const settings = scene.read("tasc.yaml").replace("TASC_API_KEY", "INPUT_GITHUB_TOKEN");
      expect(settings).toContain("secret:INPUT_GITHUB_TOKEN");
      scene.write("tasc.yaml", settings);
      const { plan, verdict } = await runAction(scene, await host(), {
        inputs: { GITHUB_TOKEN: "ghs_token" },
      });
      expect(plan.log).toContain("The secret INPUT_GITHUB_TOKEN is not set");
      expect(verdict.code).toBe(3);
    }));

  test("overrides a policy only by a current label with the given prefix", () =>
    play(async (scene) => {
      scene.write("tasc.yaml", `${scene.read("tasc.yaml")}policy: { maxChanges: 0 }\n`);
      scene.write("targets/shop.yaml", CHANGED);
      const inputs = { OVERRIDE_POLICY_LABEL: "override-policy" };
      const refused = await runAction(scene, await host(), {
        inputs,
        labels: ["maxChanges", "bug"],
      });
      expect(refused.verdict.code).toBe(1);
      const labels = ["override-policy:maxChanges"];
      expect((await runAction(scene, await host(), { inputs, labels })).verdict.code).toBe(0);
      expect((await runAction(scene, await host(), { labels })).verdict.code).toBe(1);
      // A rerun has the labels of the first run, including labels that were removed since.
      const taken = await host({
        answers: { [PULL]: { head: { sha: COMMIT }, labels: [{ name: "bug" }] } },
      });
      expect((await runAction(scene, taken, { inputs, labels })).verdict.code).toBe(1);
    }));

  test("makes a check run with every annotation at its line, instead of annotations in the log", () =>
    play(async (scene) => {
      scene.write("e2e/tasc.yaml", `${scene.read("tasc.yaml")}stages: { staging: {} }\n`);
      const many = CHANGED.replace("batchGenerations", "  # more\nbatchGenerations").replace(
        "  # more\n",
        [...Array(120).keys()]
          .map(
            (at) =>
              `  case-${at}: { description: "Case ${at}, 50%", discovery: { prompt: Go. } }\n`,
          )
          .join(""),
      );
      scene.write("e2e/targets/shop.yaml", many);
      const github = await host({ mayCheck: true });
      const inputs = { STAGES: "staging", WORKING_DIRECTORY: "e2e", STATUS: "true" };
      const { plan } = await runAction(scene, github, { inputs });
      const checks = github.checks.map(parseCheck);
      const [first, ...more] = checks.filter(({ path }) => !path.includes("status"));
      expect(first).toMatchObject({
        path: "POST /check-runs",
        name: "tasc plan (staging)",
        head_sha: COMMIT,
        status: "completed",
        conclusion: "success",
      });
      expect(first?.output.title).toMatch(/^Plan: 120 to create, 3 to update/);
      expect(first?.output.summary).toContain("<!-- tasc:plan");
      const planned = more.filter(({ path }) => path === "PATCH /check-runs/77");
      const all = [first, ...planned].flatMap((one) => one?.output.annotations ?? []);
      expect(first?.output.annotations).toHaveLength(50);
      expect(new Set(all.map(({ path }) => path))).toEqual(new Set(["e2e/targets/shop.yaml"]));
      const lines = many.split("\n");
      for (const { title, start_line: line } of all.filter(({ title }) =>
        title.startsWith("create "),
      ))
        expect(lines[line - 1]).toContain(`${title.split(".").at(-1)}:`);
      expect(all.filter(({ title }) => title.startsWith("create "))).toHaveLength(120);
      expect(all.find(({ title }) => title === "update testCase.shop.login")?.message).toContain(
        "tags: [smoke] → [smoke, auth]",
      );
      expect(plan.log).not.toMatch(/^::/m);
      expect(plan.log).toMatch(/^notice e2e\/targets\/shop\.yaml:\d+ /m);
      // The state of the suite as well, which never fails.
      expect(checks.at(-1)).toMatchObject({ name: "tasc status (staging)", conclusion: "neutral" });
      expect(checks.at(-1)?.output.title).toMatch(
        /^\d+ test cases in 1 stage: \d+ needs? attention$/,
      );
    }));

  test("fails the check run if the plan fails, with its errors at their lines", () =>
    play(async (scene) => {
      scene.write("targets/shop.yaml", MANIFEST.replace("status: ENABLED", "status: ENABLD"));
      const github = await host({ mayCheck: true });
      await runAction(scene, github);
      const [check] = github.checks.map(parseCheck);
      expect(check).toMatchObject({
        name: "tasc plan",
        conclusion: "failure",
        output: {
          title: "There is no plan: exit code 3",
          annotations: [{ path: "targets/shop.yaml", start_line: 15, annotation_level: "failure" }],
        },
      });
      const none = await host({ mayCheck: true });
      const { plan } = await runAction(scene, none, { inputs: { CHECK: "false" } });
      expect(none.checks).toEqual([]);
      expect(plan.log).toMatch(/^::error file=targets\/shop\.yaml,line=15,/m);
      scene.write("targets/shop.yaml", CHANGED);
      const strict = await host({ mayCheck: true });
      await runAction(scene, strict, { inputs: { FAIL_ON_CHANGES: "true" } });
      expect(strict.checks.map(parseCheck)).toMatchObject([{ conclusion: "failure" }]);
    }));

  test("plans the commit of a merge queue against its base, and writes no comment", () =>
    play(async (scene) => {
      const git = gitIn(scene.dir);
      scene.write(
        "tasc.yaml",
        `${scene.read("tasc.yaml")}policy: { protected: [testCase.shop.login] }\n`,
      );
      git("add", "tasc.yaml", "targets");
      git("commit", "-q", "-m", "base");
      const revision = (): string =>
        execFileSync("git", ["rev-parse", "HEAD"], { cwd: scene.dir, encoding: "utf8" }).trim();
      const base = revision();
      // Two commits of the queue: the parent of the second one is not the base.
      scene.write("tasc.yaml", scene.read("tasc.yaml").replace(/policy.*\n/, ""));
      git("commit", "-q", "-a", "-m", "first");
      scene.write("targets/shop.yaml", MANIFEST.replace("status: ENABLED", "status: DISABLED"));
      git("commit", "-q", "-a", "-m", "second");
      const github = await host({ mayCheck: true });
      const env = { GITHUB_SHA: revision(), GITHUB_EVENT_NAME: "merge_group" };
      const event = { merge_group: { base_sha: base, base_ref: "refs/heads/main" } };
      const { plan, comment, verdict, summary } = await runAction(scene, github, { event, env });
      expect(verdict.code, plan.log).toBe(0);
      expect(summary).toContain("settings allow more than those of the base");
      expect(comment.log).toContain("No pull request, so no comment.");
      expect(github.writes).toEqual([]);
      expect(github.checks.map(parseCheck)).toMatchObject([
        { head_sha: env.GITHUB_SHA, conclusion: "success" },
      ]);
      const cut = { merge_group: { base_sha: COMMIT, base_ref: "refs/heads/main" } };
      const without = await runAction(scene, await host(), { event: cut, env });
      expect(without.plan.code).toBe(1);
      expect(without.plan.log).toContain("set `fetch-depth: 0`");
    }));

  test("does not change a comment of another bot", () =>
    play(async (scene) => {
      const other = {
        id: 9,
        body: `${MARK}  -->\nforged`,
        user: { type: "Bot", login: "other[bot]" },
      };
      const github = await host({ comments: [other] });
      await runAction(scene, github);
      expect(github.writes).toEqual(["POST /repos/acme/shop/issues/7/comments"]);
    }));

  test("keeps the comment on a large plan within the host's limit, and without secrets", () =>
    play(async (scene) => {
      scene.write("targets/many.yaml", manyCases(300));
      const github = await host();
      await runAction(scene, github);
      const body = String(github.comments[0]?.body);
      expect(body.length).toBeGreaterThan(40_000);
      expect(body.length).toBeLessThanOrEqual(65_536);
      expectNoSecret(scene, body);
    }));
});

interface Check {
  readonly path: string;
  readonly name?: string;
  readonly output: {
    readonly title: string;
    readonly summary: string;
    readonly annotations: readonly {
      readonly path: string;
      readonly start_line: number;
      readonly title: string;
      readonly message: string;
    }[];
  };
}

function parseCheck(request: string): Check {
  const [method, path, ...body] = request.split(" ");
  // oxlint-disable-next-line no-unsafe-type-assertion
  return { ...(JSON.parse(body.join(" ")) as Check), path: `${method} ${path}` };
}

function manyCases(amount: number): string {
  const cases = [...Array(amount).keys()].map(
    (at) =>
      `  case-${at}: { description: Case ${at}, discovery: { prompt: "Open page ${at} and check that its heading says so." } }\n`,
  );
  return `target: shop\ntestCases:\n${cases.join("")}`;
}

function expectNoSecret({ env }: Scene, text: string): void {
  for (const name of ["TASC_API_KEY", "QA_PASSWORD", "QA_USER"])
    expect(text).not.toContain(env[name]);
}

describe("the action's folder", () => {
  /** The action's files in a release, and an npm that only records its calls. */
  function release(dist: boolean): { readonly folder: string; readonly build: () => string } {
    const folder = mkdtempSync(join(tmpdir(), "tasc-release-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    cpSync("scripts/action", join(folder, "scripts/action"), { recursive: true });
    if (dist) cpSync("dist", join(folder, "dist"), { recursive: true });
    writeFileSync(join(folder, "npm"), `#!/bin/sh\necho "$*" >> "${folder}/calls"\n`, {
      mode: 0o755,
    });
    const [script = ""] = scripts("action.yml");
    const env = {
      PATH: `${folder}:${process.env["PATH"] ?? ""}`,
      GITHUB_ACTION_PATH: folder,
      NODE_ENV: "production",
    };
    const build = (): string => {
      execFileSync("bash", ["-e", "-c", script], { env });
      return existsSync(join(folder, "calls")) ? readFileSync(join(folder, "calls"), "utf8") : "";
    };
    return { folder, build };
  }
  const play = appliedScene();

  test("of a release is used without an install", () =>
    play(async (scene) => {
      const { folder, build } = release(true);
      expect(build()).toBe("");
      const env = { NODE_ENV: "production" };
      const ran = await runAction(scene, await host(), { folder, env });
      expect([ran.verdict.code, ran.outputs.get("exitcode")]).toEqual([0, "0"]);
    }));

  test("without dist is built, also with NODE_ENV=production", () => {
    expect(release(false).build()).toBe(
      "ci --ignore-scripts --silent --no-audit --no-fund --include=dev\nrun --silent build\n",
    );
  });
});

test("action.yml passes all values to scripts through the environment", () => {
  for (const run of scripts("action.yml")) {
    expect(run).not.toContain("${{");
    for (const [, script = ""] of run.matchAll(/GITHUB_ACTION_PATH\/([\w./-]+)/g))
      expect(existsSync(script), script).toBe(true);
  }
  const set = readFileSync("scripts/action/plan.mjs", "utf8");
  const outputs = [
    ...readFileSync("action.yml", "utf8").matchAll(/steps\.plan\.outputs\.([\w-]+)/g),
  ];
  expect(outputs).toHaveLength(15);
  for (const [, name] of outputs) expect(set).toContain(`"${name}"`);
});
