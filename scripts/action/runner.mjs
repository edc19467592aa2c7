// The interface to the runner of a workflow. Everything comes through the environment; nothing is
// ever pasted into a script.
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";

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

export function addSummary(env, markdown) {
  if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, `${markdown}\n`);
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

/** An annotation of the run. */
export function annotate(level, message) {
  const text = message.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  console.log(`::${level} title=tasc::${text}`);
}
