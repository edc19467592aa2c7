// .gitlab/tasc-drift.mjs: after `tasc drift`, `tasc pull` and `tasc steps accept`, keeps one merge request per stage up to
// date, and closes it when nothing differs any more.
//   node .gitlab/tasc-drift.mjs CODE FILE-WITH-THE-DRIFT    (CODE: 0 if nothing differs that no file shows)
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";

const env = process.env;
const [code, file] = process.argv.slice(2);
const branch = `tasc-pull-${env.TASC_STAGE}`;
const bot = "tasc@users.invalid";
const project = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`;
const remote = `https://promotion:${env.PROMOTION_TOKEN}@${env.CI_SERVER_HOST}/${env.CI_PROJECT_PATH}.git`;

if (!env.PROMOTION_TOKEN) console.log("No merge request: PROMOTION_TOKEN is not set.");
else await keepRequest();

async function keepRequest() {
  const [open] = await call(
    "GET",
    `merge_requests?state=opened&source_branch=${branch}&source_project_id=${env.CI_PROJECT_ID}&target_branch=${env.CI_DEFAULT_BRANCH}`,
  );
  const [old] = git("ls-remote", "--heads", remote, `refs/heads/${branch}`).split("\t");
  if (old !== "") git("fetch", "--quiet", remote, `refs/heads/${branch}`);
  // Commits of a person are never replaced or deleted.
  const authors = old === "" ? "" : git("log", "--format=%ae", "HEAD..FETCH_HEAD");
  const isShared = authors.split("\n").some((mail) => mail !== "" && mail !== bot);
  appendFileSync(".git/info/exclude", "/node_modules\n/.npm\n");
  git("add", "--all");
  const isClean = git("diff", "--cached", "--name-only") === "";
  if (isClean && code !== "0") return console.log("No file shows what differs. See above.");
  if (isClean) {
    if (open) await call("PUT", `merge_requests/${open.iid}`, { state_event: "close" });
    if (old !== "" && !isShared) push(old, `:refs/heads/${branch}`);
    return console.log("Nothing differs.");
  }
  if (isShared) return console.log(`Somebody works on ${branch}, so it stays as it is.`);
  git("-c", "user.name=tasc", "-c", `user.email=${bot}`, "commit", "--quiet", "-m", title());
  // A new commit for the same change would start its pipeline again, and undo its approvals.
  if (old === "" || git("diff", "--name-only", "FETCH_HEAD", "HEAD") !== "")
    push(old, `HEAD:refs/heads/${branch}`);
  const text = readFileSync(file, "utf8").slice(0, 60_000).trimEnd();
  const description = `Somebody changed these values on the service, or it generated these steps. Merge what is right. To undo the rest, run the apply of this stage.\n\n~~~~~~text\n${text}\n~~~~~~\n`;
  if (open) await call("PUT", `merge_requests/${open.iid}`, { description });
  else
    await call("POST", "merge_requests", {
      source_branch: branch,
      target_branch: env.CI_DEFAULT_BRANCH,
      title: title(),
      description,
      remove_source_branch: true,
    });
  return console.log(`The merge request of ${branch} is up to date.`);
}

function title() {
  return `Changes on the service in ${env.TASC_STAGE}`;
}

/** Only if the branch is still as it was read. */
function push(old, what) {
  git("push", "--quiet", `--force-with-lease=refs/heads/${branch}:${old}`, remote, what);
}

function git(...args) {
  try {
    return execFileSync("git", args, { encoding: "utf8", stdio: "pipe" }).trim();
  } catch (error) {
    // The arguments have the token in them, so the original error is left out.
    // oxlint-disable-next-line preserve-caught-error
    throw new Error(`git ${args[0]}: ${error.stderr}`.replaceAll(env.PROMOTION_TOKEN, "***"));
  }
}

async function call(method, path, json) {
  const response = await fetch(`${project}/${path}`, {
    method,
    headers: { "private-token": env.PROMOTION_TOKEN, "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok)
    throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
