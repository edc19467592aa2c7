// The interface to the runner of a workflow. Everything comes through the environment; nothing is
// ever pasted into a script.
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync, readFileSync } from "node:fs";

/** An input of the action; empty if it is not set. */
export function input(env, name) {
  return (env[`INPUT_${name}`] ?? "").trim();
}

/** The words of a list input, separated by commas, spaces or lines. */
export function inputList(env, name) {
  return input(env, name)
    .split(/[\s,]+/)
    .filter((word) => word !== "");
}

/** Sets an output; a value cannot end itself early and begin another output. */
export function setOutput(env, name, value) {
  if (!env.GITHUB_OUTPUT) return;
  const end = `end-${randomUUID()}`;
  appendFileSync(env.GITHUB_OUTPUT, `${name}<<${end}\n${value}\n${end}\n`);
}

/** Bytes that a step's summary may have; GitHub shows no summary that is longer. */
const SUMMARY_BYTES = 1 << 20;
const LEFT_OUT = "\nThe summary has no more room. See the artifacts of this run.\n";

/** Adds to the step's summary; what does not fit is left out as a whole. */
export function addSummary(env, markdown) {
  const file = env.GITHUB_STEP_SUMMARY;
  if (!file) return;
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const room = SUMMARY_BYTES - Buffer.byteLength(before) - Buffer.byteLength(LEFT_OUT);
  if (Buffer.byteLength(markdown) + 1 <= room) appendFileSync(file, `${markdown}\n`);
  else if (!before.endsWith(LEFT_OUT)) appendFileSync(file, LEFT_OUT);
}

/** The pull request of this run; `undefined` for any other event. */
export function pullRequest(env) {
  if (!env.GITHUB_EVENT_PATH) return undefined;
  const { pull_request: found } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
  if (found === undefined) return undefined;
  return {
    number: found.number,
    fork: found.head?.repo?.full_name !== found.base?.repo?.full_name,
    commit: found.head?.sha,
    labels: (found.labels ?? []).map(({ name }) => String(name)),
  };
}

/** The commit that a merge queue wants checked; `undefined` for any other event. */
export function mergeGroup(env) {
  if (!env.GITHUB_EVENT_PATH) return undefined;
  const { merge_group: found } = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
  return found === undefined ? undefined : { base: String(found.base_sha) };
}

/** An annotation of the run. */
export function annotate(level, message) {
  const text = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(`::${level} title=tasc::${text}`);
}
