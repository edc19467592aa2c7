// The text of a stage's comment.

/** Characters of a comment that the plan itself may use; GitHub allows 65,536 in total. */
export const PLAN_BUDGET = 64_000;
/** Maximum number of characters from the output of a failed plan. */
const MOST_SAID = 20_000;

/**
 * The hidden mark in the first line, by which the next run finds the comment of this project and
 * stage.
 */
export function commentMark(project, stage) {
  return `<!-- tasc:action ${encode(project)} ${encode(stage)} -->`;
}

function encode(text) {
  return encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd")).replaceAll("-", "%2D");
}

/** Shown instead of a plan that could not be made; tasc has removed secrets from its output. */
export function failureBody(stage, code, said) {
  const text = said.length > MOST_SAID ? `${said.slice(0, MOST_SAID)}\n…` : said;
  const fence = "`".repeat(Math.max(3, 1 + longest(text)));
  const name = stage === "" ? "" : ` for \`${stage.replace(/[^\w.-]/g, "?")}\``;
  return `### tasc plan${name}\n\n**There is no plan: tasc ended with exit code ${code}.**\n\n${fence}text\n${text.trimEnd()}\n${fence}\n`;
}

function longest(text) {
  return (text.match(/`+/g) ?? []).reduce((most, { length }) => Math.max(most, length), 0);
}

/** The mark, the text, and links to the rest. */
export function commentBody(mark, text, env) {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run } = env;
  const link =
    server && repository && run
      ? `\n[Run with the plan as a page and as JSON](${server}/${repository}/actions/runs/${run})\n`
      : "";
  return `${mark}\n${text}${link}`;
}
