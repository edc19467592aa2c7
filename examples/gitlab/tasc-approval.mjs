// .gitlab/tasc-approval.mjs: stops unless somebody must approve the environment, or somebody other than the author of the
// change has started the job.
//   node .gitlab/tasc-approval.mjs production
const env = process.env;
const [environment] = process.argv.slice(2);
const project = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}`;

if (!env.TASC_APPROVAL_TOKEN) stop("TASC_APPROVAL_TOKEN is not set, so GitLab cannot be asked.");
else if (await needsApproval()) console.log(`Somebody must approve ${environment}.`);
else await startedByAnother();

/** GitLab answers 404 for an environment that is not protected, also where its edition has no protection. */
async function needsApproval() {
  const found = await get(`protected_environments/${encodeURIComponent(environment)}`, 404);
  const counts = (found?.approval_rules ?? []).map((rule) => rule.required_approvals);
  return Math.max(0, found?.required_approval_count ?? 0, ...counts) > 0;
}

/** A job that is started by hand runs as the user who started it. */
async function startedByAnother() {
  const at = `repository/commits/${env.CI_COMMIT_SHA}`;
  const commit = await get(at);
  const requests = await get(`${at}/merge_requests`);
  const mails = [commit.author_email, commit.committer_email].map((mail) => mail?.toLowerCase());
  const names = requests.flatMap(({ author, merge_user }) => [author, merge_user]);
  const isAuthor =
    mails.includes(env.GITLAB_USER_EMAIL?.toLowerCase()) ||
    names.some((user) => user?.username === env.GITLAB_USER_LOGIN);
  if (isAuthor)
    stop(
      `Nobody has to approve ${environment}, and ${env.GITLAB_USER_LOGIN} is an author of the change. Protect the environment with approvals, or let somebody else start this job.`,
    );
  else console.log(`Started by ${env.GITLAB_USER_LOGIN}, who is not an author of the change.`);
}

function stop(why) {
  console.error(why);
  process.exitCode = 1;
}

async function get(path, none) {
  const response = await fetch(`${project}/${path}`, {
    headers: { "private-token": env.TASC_APPROVAL_TOKEN },
    signal: AbortSignal.timeout(30_000),
  });
  if (response.status === none) return undefined;
  if (!response.ok) throw new Error(`GET ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}
