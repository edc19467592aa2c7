// What the pipelines of `examples` ask their hosts: whether somebody must approve production, and
// for the merge request of the drift. Without tasc and without a service.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { type IncomingMessage, createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { isObject, parseJson } from "../../src/model/json.ts";
import { startHost } from "../action/host.ts";
import { runScript } from "../action/thread.ts";
import { machine, runGithub } from "./stand-in.ts";

interface Repository {
  readonly dir: string;
  readonly git: (...args: readonly string[]) => string;
}

/** A repository with one file on its main branch, and a remote that it can push to. */
function repository(): Repository {
  const above = mkdtempSync(join(tmpdir(), "tasc-hosts-"));
  onTestFinished(() => rmSync(above, { recursive: true, force: true }));
  const dir = join(above, "project");
  const git = (...args: readonly string[]): string =>
    execFileSync("git", [...args], { cwd: dir, encoding: "utf8", stdio: "pipe" });
  execFileSync("git", ["init", "-q", "--bare", join(above, "remote.git")]);
  execFileSync("git", ["init", "-q", "-b", "main", dir]);
  git("config", "user.name", "qa");
  git("config", "user.email", "qa@example.com");
  writeFileSync(join(dir, "shop.yaml"), "tags: [smoke]\n");
  git("add", ".");
  git("commit", "-q", "-m", "The shop");
  git("remote", "add", "origin", join(above, "remote.git"));
  git("push", "-q", "origin", "main");
  return { dir, git };
}

test("GitHub's pipelines stop without required reviewers, unless another person starts them", async () => {
  const { dir } = repository();
  const answers: Record<string, unknown> = {
    "/repos/acme/shop/commits/merged": {
      author: { login: "ada" },
      committer: { login: "web-flow" },
    },
    "/repos/acme/shop/commits/merged/pulls": [{ user: { login: "bob" } }],
    "/repos/acme/shop/actions/runs/43": { head_sha: "merged", path: ".github/workflows/apply.yml" },
    "/repos/acme/shop/actions/runs/44": { head_sha: "merged", path: ".github/workflows/mine.yml" },
    "/repos/acme/shop/actions/runs/45": { head_sha: "other", path: ".github/workflows/apply.yml" },
  };
  const github = await startHost({ answers });
  onTestFinished(() => github.close());
  const computer = await machine(dir, {
    GITHUB_API_URL: github.url,
    GITHUB_REPOSITORY: "acme/shop",
    GITHUB_SHA: "merged",
    GITHUB_RUN_ID: "43",
  });
  const approve = async (who: string, event: string, run = "", file = "apply", rerun = who) =>
    runGithub(
      `examples/github/${file}.yml`,
      {
        ...computer,
        env: { ...computer.env, GITHUB_ACTOR: who, GITHUB_TRIGGERING_ACTOR: rerun },
      },
      {
        context: { inputs: { "plan-of-run": run }, github: { token: "t", event_name: event } },
        jobs: ["approval"],
      },
    );
  // Not to be asked, not protected, protected by others than people, and without any reviewer.
  const unprotected = [
    undefined,
    { protection_rules: [] },
    { protection_rules: [{ type: "wait_timer" }, { type: "branch_policy" }] },
    { protection_rules: [{ type: "required_reviewers", reviewers: [] }] },
  ];
  const where = "/repos/acme/shop/environments/production";
  for (const answer of unprotected) {
    answers[where] = answer;
    // oxlint-disable-next-line no-await-in-loop
    await expect(approve("ada", "push")).rejects.toThrow("::error::Nobody has to approve");
  }
  await expect(approve("ada", "push", "", "shards")).rejects.toThrow("Nobody has to approve");
  await expect(approve("eve", "workflow_dispatch")).rejects.toThrow("Nobody has to approve");
  await expect(approve("Ada", "workflow_dispatch", "43")).rejects.toThrow("Ada is an author");
  await expect(approve("bob", "workflow_dispatch", "43")).rejects.toThrow("bob is an author");
  await expect(approve("eve", "workflow_dispatch", "43", "apply", "bob")).rejects.toThrow(
    "bob is an author",
  );
  for (const run of ["44", "45"])
    // oxlint-disable-next-line no-await-in-loop
    await expect(approve("eve", "workflow_dispatch", run)).rejects.toThrow("did not plan this");
  expect(await approve("eve", "workflow_dispatch", "43")).toContain("Started by eve");
  answers["/repos/acme/shop/commits/merged"] = { author: null, committer: null };
  await expect(approve("eve", "workflow_dispatch", "43")).rejects.toThrow("is not known to GitHub");
  answers[where] = { protection_rules: [{ type: "required_reviewers", reviewers: [{}] }] };
  for (const file of ["apply", "shards"])
    // oxlint-disable-next-line no-await-in-loop
    await approve("ada", "push", "", file);
});

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A GitLab that answers what it is given, by path without the query. */
async function startGitlab(answers: Readonly<Record<string, unknown>>) {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const path = new URL(request.url ?? "/", "http://host").pathname.replace("/projects/1/", "");
      const body = text === "" ? {} : parseJson(text);
      const method = String(request.method);
      if (method !== "GET") asked.push({ method, path, body: isObject(body) ? body : {} });
      const answer = method === "GET" ? answers[path] : {};
      const isKnown = request.headers["private-token"] === "token" && answer !== undefined;
      response.writeHead(isKnown ? 200 : 404).end(JSON.stringify(answer ?? {}));
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => server.close().closeAllConnections());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : "";
  return { url: `http://127.0.0.1:${port}`, asked };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}

/** Runs a script of `examples/gitlab`. @throws with its output if it fails */
async function script(
  name: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const child = spawn(process.execPath, [resolve("examples/gitlab", name), ...args], {
    cwd,
    env: { PATH: String(process.env["PATH"]), HOME: cwd, CI_PROJECT_ID: "1", ...env },
  });
  let log = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (log += text));
  const code = await new Promise((done) => child.once("close", done));
  if (code !== 0) throw new Error(log);
  return log;
}

test("GitLab's pipeline stops without required approvals, unless another person starts the job", async () => {
  const answers: Record<string, unknown> = {
    "repository/commits/merged": { author_email: "ada@example.com", committer_email: "x@y.z" },
    "repository/commits/merged/merge_requests": [
      { author: { username: "bob" }, merge_user: { username: "carl" } },
    ],
  };
  const { url } = await startGitlab(answers);
  const approve = async (login: string, token = "token"): Promise<string> => {
    const env = {
      CI_API_V4_URL: url,
      CI_PROJECT_ID: "1",
      CI_COMMIT_SHA: "merged",
      TASC_APPROVAL_TOKEN: token,
      GITLAB_USER_LOGIN: login,
      GITLAB_USER_EMAIL: `${login}@Example.com`,
    };
    const file = resolve("examples/gitlab/tasc-approval.mjs");
    const { code, log } = await runScript(file, env, ["production"]);
    if (code !== 0) throw new Error(log);
    return log;
  };
  const where = "protected_environments/production";
  const unprotected = [
    undefined,
    {
      required_approval_count: 0,
      deploy_access_levels: [{ access_level: 40 }],
      approval_rules: [],
    },
    { approval_rules: [{ required_approvals: 0 }] },
  ];
  for (const answer of unprotected) {
    answers[where] = answer;
    // oxlint-disable-next-line no-await-in-loop
    await expect(approve("ada")).rejects.toThrow("Nobody has to approve production");
  }
  await expect(approve("bob")).rejects.toThrow("bob is an author of the change");
  await expect(approve("carl")).rejects.toThrow("carl is an author of the change");
  expect(await approve("eve")).toContain("Started by eve");
  await expect(approve("eve", "")).rejects.toThrow("TASC_APPROVAL_TOKEN is not set");
  for (const answer of [
    { required_approval_count: 1 },
    { required_approval_count: 0, approval_rules: [{ required_approvals: 2 }] },
  ]) {
    answers[where] = answer;
    // oxlint-disable-next-line no-await-in-loop
    expect(await approve("ada")).toContain("Somebody must approve production");
  }
});

test("GitLab's schedule keeps one merge request of the drift, and closes it when it has ended", async () => {
  const { dir, git } = repository();
  const answers: Record<string, unknown> = { merge_requests: [] };
  const { url, asked } = await startGitlab(answers);
  const address = "https://promotion:token@gitlab.example/acme/shop.git";
  git("config", `url.${join(dir, "../remote.git")}.insteadOf`, address);
  writeFileSync(join(dir, ".git/drift.txt"), "tags: [smoke] → [smoke, found]\n");
  const night = async (code: string, tags = "", token = "token"): Promise<string> => {
    // A runner checks out a commit, not a branch.
    git("checkout", "-q", "--force", "--detach", "main");
    if (tags !== "") writeFileSync(join(dir, "shop.yaml"), `tags: [${tags}]\n`);
    if (tags !== "") writeFileSync(join(dir, "new.txt"), "steps\n");
    const ran = await script("tasc-drift.mjs", [code, ".git/drift.txt"], dir, {
      CI_API_V4_URL: url,
      CI_SERVER_HOST: "gitlab.example",
      CI_PROJECT_PATH: "acme/shop",
      CI_DEFAULT_BRANCH: "main",
      TASC_STAGE: "staging",
      PROMOTION_TOKEN: token,
    });
    git("clean", "-fdq");
    return ran;
  };
  const tip = (): string => git("ls-remote", "origin", "tasc-pull-staging").slice(0, 40);

  expect(await night("2", "smoke, found", "")).toContain("PROMOTION_TOKEN is not set");
  expect(await night("0")).toContain("Nothing differs");
  expect(asked).toEqual([]);
  await night("2", "smoke, found");
  expect(asked.splice(0)).toMatchObject([
    {
      method: "POST",
      path: "merge_requests",
      body: {
        source_branch: "tasc-pull-staging",
        target_branch: "main",
        title: "Changes on the service in staging",
      },
    },
  ]);
  const first = tip();
  expect(git("ls-tree", "--name-only", first)).toBe("new.txt\nshop.yaml\n");
  answers["merge_requests"] = [{ iid: 7 }];
  await night("2", "smoke, found");
  expect(tip(), "the same change is not pushed again").toBe(first);
  expect(asked.splice(0)).toMatchObject([{ method: "PUT", path: "merge_requests/7" }]);
  await night("2", "smoke, other");
  expect(tip()).not.toBe(first);
  asked.splice(0);
  // Drift that no file shows has not ended.
  expect(await night("2")).toContain("No file shows what differs");
  expect(asked).toEqual([]);
  await night("0");
  expect(asked.splice(0)).toEqual([
    { method: "PUT", path: "merge_requests/7", body: { state_event: "close" } },
  ]);
  expect(tip()).toBe("");

  // Commits of a person stay.
  await night("2", "smoke, found");
  git("fetch", "-q", "origin", "tasc-pull-staging");
  git("checkout", "-q", "FETCH_HEAD");
  git("commit", "-q", "--allow-empty", "-m", "Mine");
  git("push", "-q", "origin", "HEAD:tasc-pull-staging");
  const mine = tip();
  expect(await night("2", "smoke, third")).toContain("Somebody works on tasc-pull-staging");
  await night("0");
  expect(tip()).toBe(mine);
  rmSync(join(dir, "../remote.git"), { recursive: true });
  const broken = night("2", "smoke, x");
  await expect(broken).rejects.toThrow(/git ls-remote: /);
  await expect(broken).rejects.not.toThrow("promotion:token@");
});
