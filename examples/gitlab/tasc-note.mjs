// .gitlab/tasc-note.mjs: keeps one note per stage on the merge request up to date.
//   node .gitlab/tasc-note.mjs plan.json
import { execFileSync } from "node:child_process";

const env = process.env;
const [file] = process.argv.slice(2);
const request = `${env.CI_API_V4_URL}/projects/${env.CI_MERGE_REQUEST_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}`;
const notes = `${request}/notes`;

if (!env.TASC_NOTE_TOKEN)
  console.log("No note: TASC_NOTE_TOKEN is not set. The plan is in the job's artifacts.");
else await keepNote();

async function keepNote() {
  // A job of an older commit can be started again, and must not put its plan in place of the newer
  // one.
  const { sha } = await call("GET", request);
  if (sha !== (env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA || env.CI_COMMIT_SHA))
    return console.log(
      "No note: the merge request has a newer commit, which has a plan of its own.",
    );
  const links = [
    `Commit ${env.CI_COMMIT_SHORT_SHA}=${env.CI_PROJECT_URL}/-/commit/${env.CI_COMMIT_SHA}`,
  ];
  links.push(`Plan as a page=${env.CI_JOB_URL}/artifacts/browse`);
  const options = ["--format", "markdown", ...links.flatMap((link) => ["--link", link])];
  const body = execFileSync(process.execPath, [env.TASC, "show", file, ...options], {
    encoding: "utf8",
  });
  const [mark] = body.split("\n", 1);
  // Anybody may write a note that begins with the mark; only our own is taken.
  const { id: self } = await call("GET", `${env.CI_API_V4_URL}/user`);
  for (let page = 1; ; page++) {
    const some = await call("GET", `${notes}?per_page=100&page=${page}`);
    const own = some.find((note) => note.author.id === self && note.body.startsWith(`${mark}\n`));
    if (own !== undefined) return call("PUT", `${notes}/${own.id}`, { body });
    if (some.length < 100) return call("POST", notes, { body });
  }
}

async function call(method, url, json) {
  const response = await fetch(url, {
    method,
    headers: { "private-token": env.TASC_NOTE_TOKEN, "content-type": "application/json" },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok)
    throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
