// The comments and check runs of a pull request, through the host's API.

const PER_PAGE = 100;

/** A call that the host rejected. */
export class Refused extends Error {
  constructor(method, path, status, text) {
    super(`${method} ${path}: ${status} ${text.slice(0, 200)}`);
    this.status = status;
  }
}

/** The text of a file on the repository's default branch; `undefined` if it does not exist. */
export async function readFile(host, path) {
  const where = `/contents/${path.split("/").map(encodeURIComponent).join("/")}`;
  const response = await fetch(`${host.url}/repos/${host.repository}${where}`, {
    headers: { ...headers(host), accept: "application/vnd.github.raw+json" },
    signal: AbortSignal.timeout(30_000),
  });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Refused("GET", where, response.status, await response.text());
  return response.text();
}

/** Writes the comment that begins with `mark`: updates the existing one, or creates one. */
export async function keepComment(host, number, { mark, body }) {
  const found = await findComment(host, number, mark);
  if (found === undefined) {
    await call(host, "POST", `/issues/${number}/comments`, { body });
    return "created";
  }
  if (found.body === body) return "unchanged";
  await call(host, "PATCH", `/issues/comments/${found.id}`, { body });
  return "updated";
}

/**
 * The current pull request: an old run can be started again with its old event. `undefined` if the
 * token may not read the pull request.
 */
export async function currentRequest(host, number) {
  try {
    const { head, labels } = await call(host, "GET", `/pulls/${number}`);
    return { commit: head.sha, labels: labels.map(({ name }) => String(name)) };
  } catch (error) {
    if (error instanceof Refused && error.status < 500) return undefined;
    throw error;
  }
}

/** Annotations that one request may bring, and that a check run gets from us. */
const PER_REQUEST = 50;
const MOST_ANNOTATIONS = 1000;

/**
 * Creates a completed check run. Its annotations come fifty at a time. Returns whether the host has
 * it: only the token of an app with `checks: write` may create one.
 */
export async function createCheck(host, { annotations, title, summary, ...check }) {
  const parts = [];
  for (let from = 0; from < Math.min(annotations.length, MOST_ANNOTATIONS); from += PER_REQUEST)
    parts.push(annotations.slice(from, from + PER_REQUEST));
  const [first = [], ...others] = parts;
  const output = (some) => ({ output: { title, summary, annotations: some } });
  try {
    const body = { ...check, status: "completed", ...output(first) };
    const { id } = await call(host, "POST", "/check-runs", body);
    for (const some of others) await call(host, "PATCH", `/check-runs/${id}`, output(some));
    return true;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    console.log(`No check run: ${error.message}`);
    return false;
  }
}

/** Anybody may write a comment that begins with the mark, so only our own comment is used. */
async function findComment(host, number, mark) {
  for (let page = 1; ; page++) {
    const comments = await call(
      host,
      "GET",
      `/issues/${number}/comments?per_page=${PER_PAGE}&page=${page}`,
    );
    for (const comment of comments)
      if (String(comment.body).startsWith(`${mark}\n`) && (await isOurs(host, comment)))
        return comment;
    if (comments.length < PER_PAGE) return undefined;
  }
}

async function isOurs(host, { user }) {
  host.login ??= await ownLogin(host);
  return host.login === "" ? user?.login === WORKFLOW_BOT : user?.login === host.login;
}

/** The author of comments that a workflow's own token writes; other bots write comments, too. */
const WORKFLOW_BOT = "github-actions[bot]";

/** The user of a personal token; a workflow's own token has no user. */
async function ownLogin(host) {
  const response = await fetch(`${host.url}/user`, {
    headers: headers(host),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) return "";
  const { login } = await response.json();
  return login;
}

async function call(host, method, path, body) {
  const response = await fetch(`${host.url}/repos/${host.repository}${path}`, {
    method,
    headers: headers(host),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Refused(method, path, response.status, await response.text());
  return response.json();
}

function headers({ token }) {
  return {
    accept: "application/vnd.github+json",
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    "user-agent": "tasc",
    "x-github-api-version": "2022-11-28",
  };
}
