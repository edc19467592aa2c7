import { POLICY_RULES } from "../model/settings.ts";
import { PLAN_FORMATS } from "../render/formats.ts";
import { choice, duration, flag, links, list, parsed, text, whole } from "./options.ts";

/** Options of commands that read state, which may be on a server. */
export const INSECURE = {
  insecure: flag("--insecure", "allow plain HTTP to hosts other than localhost"),
};

/** Options of commands that call the service. */
export const SERVICE = {
  requestTimeout: duration("--request-timeout <duration>", "time limit of each request, e.g. 30s", {
    examples: "500ms, 30s or 2m",
    least: 1,
  }),
  retries: whole("--retries <n>", "maximum number of retries per request", 0),
  concurrency: whole("--concurrency <n>", "maximum number of concurrent requests", 1),
  ...INSECURE,
};

export const SCOPE = {
  only: list("--only <address>", "include only this address or glob"),
  exclude: list("--exclude <address>", "exclude this address or glob"),
};

export const TWO_STAGES = {
  from: text("--from <stage>", "source stage"),
  to: text("--to <stage>", "stage to compare with or to change"),
};

export const MISSING_SECRETS = {
  allowMissingSecrets: flag(
    "--allow-missing-secrets",
    "treat missing secrets as unknown and skip the fields that use them",
  ),
};

/** Options that make a plan send something, even if state says that it was sent. */
export const ON_DEMAND = {
  rediscover: list(
    "--rediscover <address>",
    "force regeneration of this test case (like terraform -replace)",
  ),
  run: list("--run <address>", "force a new run of this batch generation"),
};

export const OVERRIDE_POLICY = {
  overridePolicy: list(
    "--override-policy <rule>",
    `ignore this policy rule for this run: ${POLICY_RULES.join(", ")}, or the name of one in policy.rules`,
  ),
};

/** Options that choose the content of a plan, and the policy rules that it ignores. */
export const PLANNING = {
  ...SCOPE,
  shard: parsed(
    "--shard <i/n>",
    "include only this part of the targets, e.g. 2/5; each target always stays in the same part",
    "I/N, such as 2/5 for the second of five parts",
    (given) => {
      const [, index = 0, count = 0] = /^(\d{1,4})\/(\d{1,4})$/.exec(given)?.map(Number) ?? [];
      return index >= 1 && index <= count ? { index, count } : undefined;
    },
  ),
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
};

export const LOCK_TIMEOUT = {
  lockTimeout: duration("--lock-timeout <duration>", "how long to wait for a lock, e.g. 2m"),
};

export const READING = { ...MISSING_SECRETS, ...SERVICE };

export const VERBOSE = { verbose: flag("--verbose", "show every change in full") };

export const PLAN_VIEW = {
  format: choice("--format <format>", "output format", PLAN_FORMATS),
  budget: whole(
    "--budget <characters>",
    "maximum length of a Markdown comment; default: 65536",
    1000,
  ),
  link: links(
    "--link <text=url>",
    "add a link to HTML and Markdown output, e.g. to the pull request",
  ),
};

export const TARGET = {
  target: text("--target <key>", "key of a target; default: all managed targets"),
};

export const STATE_EDIT = { ...LOCK_TIMEOUT, ...INSECURE };
