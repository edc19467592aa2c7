// Keeps one comment per stage on the pull request up to date.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { currentRequest, keepComment } from "./host.mjs";
import { annotate, input, pullRequest } from "./runner.mjs";

const env = process.env;
const host = {
  url: env.GITHUB_API_URL || "https://api.github.com",
  repository: env.GITHUB_REPOSITORY,
  token: input(env, "GITHUB_TOKEN"),
};
const request = pullRequest(env);
if (request === undefined) console.log("No pull request, so no comment.");
else if (await isOutdated(request))
  annotate(
    "notice",
    "No comment: the pull request has a newer commit, which has a plan of its own.",
  );
else await keepAll(request.number, input(env, "COMMENTS"));

/** The plan of an older commit must not replace the plan of the newest one. */
async function isOutdated({ number, commit }) {
  const now = await currentRequest(host, number);
  return now !== undefined && now.commit !== commit;
}

async function keepAll(number, folder) {
  for (const file of readdirSync(folder).toSorted()) {
    try {
      const done = await keepComment(
        host,
        number,
        JSON.parse(readFileSync(join(folder, file), "utf8")),
      );
      console.log(`Comment ${done}: ${file}`);
    } catch (error) {
      if (!mayNotWrite(error)) throw error;
      annotate(
        "notice",
        `No comment: this token may not write on the pull request (${error.status}), as in a fork. The plan is in the step's summary.`,
      );
      return;
    }
  }
}

/** For a token that may not write, the host answers 403, or, on some hosts, 404. */
function mayNotWrite({ status }) {
  return status === 403 || status === 404;
}
