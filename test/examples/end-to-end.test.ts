// Runs the pipelines of `examples` from the merge request to production, with stand-ins for their
// hosts.
import { cpSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { parseJson } from "../../src/model/json.ts";
import { startHost } from "../action/host.ts";
import { COMMIT, runAction } from "../action/workflow.ts";
import { KEY, type Scene, listAt, scene, textAt } from "../look/scene.ts";
import { gitlabJobs, machine, runGithub, runGitlab, shell } from "./stand-in.ts";

const PROJECT = `version: 1
service: { baseUrl: "\${env:TASC_BASE_URL}", apiKey: "\${secret:APIKEY}" }
state: { backend: local, fingerprintKey: "\${secret:TASC_FINGERPRINT_KEY}" }
stages: { staging: {}, production: {} }
`;
const TARGET = `target: shop
app: Shop \${stage}
environments: { default: { discoveryUrl: https://shop.example.com } }
testCases:
  login: { description: Log in, discovery: { prompt: Log in. } }
`;
const SECRETS = {
  TASC_FINGERPRINT_KEY: "0123456789abcdef",
  PRODUCTION_FINGERPRINT_KEY: "fedcba9876543210",
  QA_PASSWORD: "hunter2-of-qa",
  TASC_STATE_URL: "",
};

/** A repository with the project on its main branch, and a remote that it can push to. */
const REPOSITORY = `git init --quiet --initial-branch main
git config user.name qa && git config user.email qa@example.com
printf '%s\\n' node_modules .tasc plans .snapshots '*.json' '*.html' drift.txt > .gitignore
git add . && git commit --quiet -m "The shop"
git init --quiet --bare ../remote.git && git -C ../remote.git config receive.advertisePushOptions true
git remote add origin ../remote.git && git push --quiet origin main`;

async function liveApps(stage: Scene): Promise<readonly string[]> {
  const data = await stage.control("GET", "/data");
  return listAt(data, "testTargets").map((target) => textAt(target, "app"));
}

/** Adds a tag to the test case in staging only, for a promotion to copy. */
function editInStaging(stage: Scene): void {
  stage.write(
    "targets/shop.yaml",
    `${TARGET}stages: { staging: { testCases: { login: { tags: [smoke] } } } }\n`,
  );
}

/** Makes all test cases in staging pass after the last apply. */
async function passAll(stage: Scene): Promise<void> {
  const data = await stage.control("GET", "/data");
  const target = listAt(data, "testTargets").find((one) => textAt(one, "app") === "Shop staging");
  const begun = await stage.control("POST", "/reports", {
    testTargetId: textAt(target ?? null, "id"),
  });
  const ids = listAt(begun, "testResults").map(
    (result) => [textAt(result, "testCaseId"), "PASSED"] as const,
  );
  await stage.control("POST", `/reports/${textAt(begun, "id")}/results`, {
    results: Object.fromEntries(ids),
  });
}

test("the GitHub pipelines take snapshots, plan a pull request, apply it, check drift and promote", async () => {
  await scene(
    async (stage) => {
      const stages =
        "stages:\n  staging: { service: { apiKey: '${secret:STAGING_KEY}' } }\n  production: { service: { apiKey: '${secret:PRODUCTION_KEY}' }, state: { fingerprintKey: '${secret:PRODUCTION_FINGERPRINT_KEY}' } }\n";
      const settings = PROJECT.replace(/stages.*\n/, stages).replace(
        ', apiKey: "${secret:APIKEY}"',
        "",
      );
      stage.write("tasc.yaml", settings);
      stage.write("targets/shop.yaml", TARGET);
      stage.write("tasc-trust.yaml", "version: 1\npolicy: { maxChanges: 100 }\n");
      // From a pull request: these are not the reviewed plan and the snapshot of the last night.
      stage.write("plans/plan-staging.json", "{}");
      stage.write(".snapshots/production.json", "{}");
      const head = { sha: COMMIT, repo: { full_name: "acme/shop" } };
      const pulls = [{ number: 7, merged_at: "then", base: { ref: "main" }, head }];
      // A plan against another branch was made with that branch's manifests. GitHub does not list
      // closed pull requests.
      expect(readFileSync("examples/github/plan.yml", "utf8")).toContain(
        "run-name: \"Plan of ${{ github.event.merge_group.head_ref || format('#{0} against {1}', github.event.pull_request.number, github.base_ref) }}\"",
      );
      const title = (base: string): string => `Plan of #7 against ${base}`;
      const runs = {
        workflow_runs: [
          { id: 41, display_title: title("theirs"), pull_requests: [] },
          { id: 42, display_title: title("main"), pull_requests: [] },
        ],
      };
      const reviewers = { type: "required_reviewers", reviewers: [{ type: "User" }] };
      const github = await startHost({
        answers: {
          "/repos/acme/shop/commits/merged/pulls": pulls,
          "/repos/acme/shop/actions/workflows/plan.yml/runs": runs,
          "/repos/acme/shop/environments/production": { protection_rules: [reviewers] },
        },
      });
      onTestFinished(() => github.close());
      const computer = await machine(stage.dir, {
        TASC_BASE_URL: stage.server.url,
        GITHUB_API_URL: github.url,
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_SHA: "merged",
        GITHUB_REF_NAME: "main",
        GITHUB_RUN_ID: "43",
        // The last one has no snapshots yet.
        SCHEDULED_RUNS: "45 44",
        GITHUB_STEP_SUMMARY: `${stage.dir}-summary.md`,
      });
      const secrets = {
        STAGING_KEY: KEY,
        PRODUCTION_KEY: KEY,
        PROMOTION_TOKEN: "token",
        ...SECRETS,
      };
      const play = async (name: string, inputs = {}, event = "push"): Promise<string> =>
        runGithub(`examples/github/${name}.yml`, computer, {
          context: {
            secrets,
            inputs,
            github: {
              token: "token-of-the-run",
              event_name: event,
              event: { repository: { default_branch: "main" } },
              run_id: "43",
            },
          },
          action: async (given, env) => {
            const upper = Object.entries(given).map(
              ([key, value]) => [key.toUpperCase().replaceAll("-", "_"), value] as const,
            );
            const run = await runAction(stage, github, {
              inputs: Object.fromEntries(upper),
              env,
            });
            expect(run.verdict.code, run.plan.log).toBe(0);
            const artifacts = join(computer.temp, "artifacts", "tasc-plan");
            cpSync(String(run.outputs.get("artifacts")), artifacts, { recursive: true });
            return Object.fromEntries(run.outputs);
          },
        });

      await shell(REPOSITORY, computer);
      await shell(
        "git add --force plans .snapshots && git commit --quiet -m Plans && git push --quiet origin main",
        computer,
      );
      await play("nightly");
      const night = join(computer.temp, "artifacts", "tasc-snapshots");
      expect(readdirSync(night)).toEqual(["production.json", "staging.json"]);
      expect(await play("plan", {}, "pull_request")).toMatch(/^\d+ changes; 0 test cases/m);
      expect(github.comments.map(({ body }) => /3 to create/.test(body))).toEqual([true, true]);
      expect(await play("apply")).not.toContain("plan again");
      expect(await liveApps(stage)).toEqual(
        expect.arrayContaining(["Shop staging", "Shop production"]),
      );
      // The reviewed plan was applied, and production's plan is in the summary that its approver
      // reads.
      expect(readFileSync(`${stage.dir}-summary.md`, "utf8")).toContain(
        "tasc plan for `production`",
      );

      editInStaging(stage);
      // The limits of the trust file also apply to the job that has production's key.
      stage.write("tasc-trust.yaml", "version: 1\npolicy: { maxChanges: 0 }\n");
      await shell("git commit --quiet --all -m Tag && git push --quiet origin main", computer);
      rmSync(join(computer.temp, "artifacts"), { recursive: true });
      head.repo.full_name = "stranger/shop";
      await expect(play("apply")).rejects.toThrow('Blocked by policy "maxChanges"');
      // Without a successful plan, the changes were not reviewed.
      runs.workflow_runs.pop();
      for (const from of ["acme/shop", "stranger/shop"]) {
        head.repo.full_name = from;
        // oxlint-disable-next-line no-await-in-loop
        await expect(play("apply")).rejects.toThrow("start this by hand");
      }
      await play("apply", { "override-policy": "maxChanges" }, "workflow_dispatch");
      await passAll(stage);
      await play("promote", { from: "staging", to: "production", only: "*" });
      expect(readFileSync(join(computer.temp, "artifacts", "pull-request"), "utf8")).toContain(
        "Promote staging",
      );
      const pushed = await shell(
        "git show --format=%s origin/promote-staging-to-production-43",
        computer,
      );
      expect(pushed).toMatch(/^Promote staging to production\n[^]*\+.*smoke/);
    },
    { discoveryTime: 1 },
  );
});

test("the nightly job keeps one pull request for each stage, and closes it when nothing differs", async () => {
  await scene(
    async (stage) => {
      stage.write("tasc.yaml", PROJECT);
      stage.write("targets/shop.yaml", TARGET.replace("{ desc", "{ tags: [web], desc"));
      stage.write("tasc-trust.yaml", "version: 1\npolicy: { maxChanges: 100 }\n");
      const computer = await machine(stage.dir, {
        TASC_BASE_URL: stage.server.url,
        APIKEY: KEY,
        GITHUB_REPOSITORY: "acme/shop",
        GITHUB_STEP_SUMMARY: `${stage.dir}-summary.md`,
      });
      const nightly = () =>
        runGithub("examples/github/nightly.yml", computer, {
          context: { secrets: SECRETS },
          jobs: ["drift", "pull-request"],
        });
      const asked = () => shell('cat "$ARTIFACTS/requests" && rm "$ARTIFACTS/requests"', computer);
      const pushed = (what: string) => shell(`git -C ../remote.git ${what}`, computer);
      await shell(REPOSITORY, computer);
      const tasc = `npm ci && node node_modules/@tasc/cli/dist/tasc.cjs`;
      await shell(`${tasc} apply --stage staging --auto-approve --wait`, computer, SECRETS);

      await nightly();
      expect(await asked()).toBe("create tasc-pull-staging\n");
      const first = await pushed("rev-parse tasc-pull-staging");
      expect(await pushed("show --format= --name-only tasc-pull-staging")).toBe(
        "steps/staging/shop/login.txt\n",
      );
      await nightly();
      expect(await pushed("rev-parse tasc-pull-staging"), "not pushed again").toBe(first);

      const data = await stage.control("GET", "/data");
      await stage.edit(textAt(data, "testCases", 0, "id"), { tags: ["mobile"] });
      await nightly();
      expect(await asked()).toBe("edit 8\nedit 8\n");
      expect(readFileSync(join(computer.temp, "artifacts/request-body"), "utf8")).toMatch(
        /~~~~~~text\n[^]*mobile[^]*~~~~~~/,
      );
      expect(await pushed("show --format= --name-only tasc-pull-staging")).toBe(
        "steps/staging/shop/login.txt\ntargets/shop.yaml\n",
      );

      await shell("git merge --quiet origin/tasc-pull-staging && git push origin main", computer);
      await nightly();
      expect(await asked()).toBe("close 8\n");
      expect(await shell("git ls-remote --heads origin 'tasc-pull-*'", computer)).toBe("");

      // Commits of a person are neither overwritten nor deleted. The merge was applied.
      await shell(`${tasc} apply --stage staging --auto-approve`, computer, SECRETS);
      await stage.edit(textAt(data, "testCases", 0, "id"), { tags: ["other"] });
      await nightly();
      await shell(
        `git fetch --quiet && git switch --quiet --detach origin/tasc-pull-staging
git -c user.email=mia@example.com commit --quiet --allow-empty -m Mine
git push --quiet origin HEAD:tasc-pull-staging && git switch --quiet main`,
        computer,
      );
      const mine = await pushed("rev-parse tasc-pull-staging");
      await stage.edit(textAt(data, "testCases", 0, "id"), { tags: ["third"] });
      expect(await nightly()).toContain("Somebody works on tasc-pull-staging");
      await stage.edit(textAt(data, "testCases", 0, "id"), { tags: ["mobile"] });
      await nightly();
      expect(await asked()).toBe("create tasc-pull-staging\nclose 8\n");
      expect(await pushed("rev-parse tasc-pull-staging")).toBe(mine);
    },
    { discoveryTime: 1, seed: {} },
  );
});

test("the GitLab pipeline takes snapshots, plans, validates forks, applies, checks drift and promotes", async () => {
  await scene(
    async (stage) => {
      const file = "examples/gitlab/.gitlab-ci.yml";
      const settings = `${PROJECT.replace("APIKEY", "TASC_API_KEY")}policy: { protected: ["testCase.shop.login"] }\n`;
      stage.write("tasc.yaml", settings);
      stage.write("targets/shop.yaml", TARGET);
      for (const name of ["note", "drift", "approval"])
        stage.write(
          `.gitlab/tasc-${name}.mjs`,
          readFileSync(`examples/gitlab/tasc-${name}.mjs`, "utf8"),
        );
      const gitlab = await startNotes();
      const computer = await machine(stage.dir, {
        TASC_BASE_URL: stage.server.url,
        TASC_API_KEY: KEY,
        ...SECRETS,
        CI_API_V4_URL: gitlab.url,
        CI_PROJECT_ID: "1",
        CI_ENVIRONMENT_NAME: "production",
        TASC_APPROVAL_TOKEN: "token-of-the-approvals",
      });
      const push = {
        CI_PIPELINE_SOURCE: "push",
        CI_COMMIT_BRANCH: "main",
        CI_DEFAULT_BRANCH: "main",
      };
      const request = {
        CI_PIPELINE_SOURCE: "merge_request_event",
        CI_DEFAULT_BRANCH: "main",
        CI_MERGE_REQUEST_IID: "7",
        CI_MERGE_REQUEST_PROJECT_ID: "1",
        CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "1",
        CI_PROJECT_URL: "https://gitlab.example/acme/shop",
        CI_COMMIT_SHA: COMMIT,
        CI_COMMIT_SHORT_SHA: COMMIT.slice(0, 8),
        CI_JOB_URL: "https://gitlab.example/acme/shop/-/jobs/42",
        TASC_NOTE_TOKEN: "token-of-the-notes",
      };
      const fork = { ...request, CI_MERGE_REQUEST_SOURCE_PROJECT_ID: "2" };
      const schedule = { CI_PIPELINE_SOURCE: "schedule" };
      const host = {
        CI_SERVER_HOST: "gitlab.example",
        CI_PROJECT_PATH: "acme/shop",
        CI_PROJECT_ID: "1",
        CI_PIPELINE_ID: "44",
        CI_API_V4_URL: gitlab.url,
        PROMOTION_TOKEN: "secret",
      };
      const promotion = { ...schedule, PROMOTE_FROM: "staging", PROMOTE_TO: "production" };
      const play = async (variables: Readonly<Record<string, string>>): Promise<string> => {
        let log = "";
        for (const name of gitlabJobs(file, variables)) {
          if (name.startsWith("apply"))
            cpSync(
              join(computer.temp, "artifacts", `${name.replace("apply ", "")}.json`),
              join(stage.dir, "plan.json"),
            );
          log += await runGitlab(file, name, computer, variables);
        }
        return log;
      };

      stage.write("tasc-trust.yaml", "version: 1\npolicy: { maxChanges: 100 }\n");
      await shell(REPOSITORY, computer);
      const nightly = ["drift", "snapshot", "suite", "pages"];
      expect(gitlabJobs(file, schedule)).toEqual(nightly);
      await shell(
        'git config --global url."$PWD/../remote.git".insteadOf "https://promotion:secret@gitlab.example/acme/shop.git"',
        computer,
      );
      await play({ ...schedule, ...host });
      const page = readFileSync(join(stage.dir, "public/staging.html"), "utf8");
      expect(page).toContain("<title>Test suite");
      expect(readFileSync(join(stage.dir, "public/index.html"), "utf8")).toContain(
        '<a href="staging.html">',
      );
      // The trust file of a merge request is not read, nor that of a tag with the name of the
      // default branch.
      stage.write("tasc-trust.yaml", "nonsense: true\n");
      await shell("git push --quiet origin $(git stash create):refs/tags/main", computer);
      expect(gitlabJobs(file, request)).toEqual(["plan staging", "preview production"]);
      await play(request);
      await play(request);
      // One note for each stage is kept up to date. A note with the same beginning by another user
      // is not changed.
      expect(gitlab.notes.map(({ body }) => /<!-- tasc:plan (\w+)/.exec(body)?.[1])).toEqual([
        "staging",
        "staging",
        "production",
      ]);
      expect(gitlab.notes[1]?.body).toContain("3 to create");
      expect(gitlab.writes).toEqual(["POST", "POST", "PUT", "PUT"]);
      await play({ ...request, TASC_NOTE_TOKEN: "" });
      expect(await play({ ...request, CI_COMMIT_SHA: "older" })).toContain(
        "No note: the merge request has",
      );
      expect(gitlab.writes).toHaveLength(4);

      await shell("git checkout --quiet tasc-trust.yaml", computer);
      expect(gitlabJobs(file, fork)).toEqual(["validate fork"]);
      expect(await play({ ...fork, TASC_API_KEY: "", TASC_FINGERPRINT_KEY: "" })).toContain(
        "stage production",
      );

      const jobs = ["plan staging", "plan production", "apply staging", "apply production"];
      expect(gitlabJobs(file, push)).toEqual(jobs);
      expect(gitlabJobs(file, { ...push, CI_PIPELINE_SOURCE: "web" })).toEqual(jobs);
      await play(push);
      expect(await liveApps(stage)).toEqual(
        expect.arrayContaining(["Shop staging", "Shop production"]),
      );

      // The steps that were generated are a merge request, and it is closed when nothing differs.
      const merged = { ...schedule, ...host, CI_DEFAULT_BRANCH: "main" };
      const pulled = async () => runGitlab(file, "drift", computer, merged);
      await pulled();
      const remote = (what: string) => shell(`git -C ../remote.git ${what}`, computer);
      const proposed = "show --format= --name-only tasc-pull-staging";
      expect(await remote(proposed)).toBe("steps/staging/shop/login.txt\n");
      const first = await remote("rev-parse tasc-pull-staging");
      await shell("git reset --quiet --hard origin/main", computer);
      await pulled();
      expect(await remote("rev-parse tasc-pull-staging"), "not pushed again").toBe(first);
      await shell(
        "git fetch --quiet origin tasc-pull-production && git reset --quiet --hard FETCH_HEAD",
        computer,
      );
      gitlab.closed.pop();
      await pulled();
      expect(gitlab.closed).toEqual(["8"]);
      await shell("git reset --quiet --hard origin/main && git clean -fdq steps", computer);

      // Protection does not depend on the state path in a merge request.
      stage.write("tasc.yaml", settings.replace("local,", "local, path: .other,"));
      stage.write("targets/shop.yaml", TARGET.replace("login: {", "zzz: { status: DISABLED,"));
      await expect(play(request)).rejects.toThrow("protects it as testCase.shop.login");
      expect(gitlab.notes[1]?.body).toMatch(/CAUTION[^]*protects it as/);
      stage.write("tasc.yaml", settings);

      editInStaging(stage);
      stage.write("tasc.yaml", settings.replace("policy: {", "policy: { maxChanges: 0,"));
      await shell("git commit --quiet --all -m Tag && git push --quiet origin main", computer);
      await play({ ...push, OVERRIDE_POLICY: "maxChanges" });
      await passAll(stage);
      expect(gitlabJobs(file, promotion)).toEqual(["promote"]);
      // A runner checks out a commit, not a branch.
      await shell("git checkout --quiet --detach", computer);
      await play({ ...promotion, ...host });
      const pushed = await shell("git -C ../remote.git show --format=%s promote-44", computer);
      expect(pushed).toMatch(/^Promote staging to production\n[^]*\+.*smoke/);
    },
    { discoveryTime: 1 },
  );
});

interface Note {
  readonly id: number;
  body: string;
  readonly author: { readonly id: number };
}

/**
 * A minimal GitLab that keeps the notes of a merge request. Another user has written one that
 * begins like ours.
 */
async function startNotes() {
  const notes: Note[] = [
    { id: 1, body: "<!-- tasc:plan staging -->\nmine, says a person", author: { id: 9 } },
  ];
  const writes: string[] = [];
  const closed: string[] = [];
  const server = createServer((request, response) => {
    void textOf(request).then((text) => {
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://host");
      if (request.headers["private-token"] === "secret") {
        const [, iid] = /^\/projects\/1\/merge_requests(?:\/(\d+))?$/.exec(pathname) ?? [];
        if (iid !== undefined && text === '{"state_event":"close"}') closed.push(iid);
        const isOpen = searchParams.get("source_branch") === "tasc-pull-staging";
        return response.end(JSON.stringify(isOpen ? [{ iid: 8 }] : []));
      }
      const [, id] = /^\/projects\/1\/merge_requests\/7\/notes\/?(\d*)$/.exec(pathname) ?? [];
      const isRequest = pathname === "/projects/1/merge_requests/7";
      if (
        pathname === "/projects/1/protected_environments/production" &&
        request.headers["private-token"] === "token-of-the-approvals"
      )
        return response.end(JSON.stringify({ approval_rules: [{ required_approvals: 1 }] }));
      const known = pathname === "/user" || isRequest || id !== undefined;
      if (!known || request.headers["private-token"] !== "token-of-the-notes")
        return response.writeHead(404).end("{}");
      if (isRequest) return response.end(JSON.stringify({ sha: COMMIT }));
      if (request.method === "GET")
        return response.end(JSON.stringify(pathname === "/user" ? { id: 5 } : notes));
      writes.push(String(request.method));
      const body = textAt(parseJson(text), "body");
      const own = notes.find((note) => String(note.id) === id);
      if (own === undefined) notes.push({ id: 100 + notes.length, body, author: { id: 5 } });
      else own.body = body;
      return response.end("{}");
    });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => server.close().closeAllConnections());
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`,
    notes,
    writes,
    closed,
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request.setEncoding("utf8")) text += String(chunk);
  return text;
}
