import { PLAN_FORMATS } from "../../render/formats.ts";
import type { CommandSpec } from "../command.ts";
import type { OptionSpec } from "../options.ts";
import {
  LOCK_TIMEOUT,
  MISSING_SECRETS,
  OVERRIDE_POLICY,
  REDISCOVER,
  RUN,
  SCOPE_OPTIONS,
  SERVICE_OPTIONS,
} from "../options.ts";

const FORMATS = Object.keys(PLAN_FORMATS);

const BUDGET: OptionSpec = {
  flags: "--budget <characters>",
  description: "length that a markdown comment may have; 65536 unless given",
  least: 1000,
};

export const PLAN_COMMANDS: readonly CommandSpec[] = [
  {
    name: "plan",
    summary: "show what an apply would change",
    options: [
      { flags: "--format <format>", description: "how to print the plan", choices: FORMATS },
      BUDGET,
      { flags: "--out <file>", description: "save the plan, for `tasc apply FILE`" },
      { flags: "--detailed-exitcode", description: "exit with 2 when there are changes" },
      ...SCOPE_OPTIONS,
      REDISCOVER,
      RUN,
      OVERRIDE_POLICY,
      MISSING_SECRETS,
      {
        flags: "--snapshot <file>",
        description: "plan offline, from what `tasc snapshot` wrote; needs no key",
      },
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc plan", does: "compare the manifests with the live service" },
      { command: "tasc plan --stage production --out plan.json", does: "save a plan for review" },
      {
        command: "tasc plan --only 'testCase.shop.*' --detailed-exitcode",
        does: "one target's test cases; 2 if any changes",
      },
      { command: "tasc plan --override-policy maxChanges", does: "a large change that is meant to be one" },
    ],
    load: () => import("../../commands/plan.ts"),
  },
  {
    name: "show",
    summary: "print a saved plan again",
    args: [{ name: "<file>", description: "a plan saved by `tasc plan --out`" }],
    options: [
      { flags: "--format <format>", description: "how to print it", choices: FORMATS },
      BUDGET,
      { flags: "--verbose", description: "show every change in full" },
    ],
    examples: [{ command: "tasc show plan.json", does: "print it as the plan did" }],
    load: () => import("../../commands/show.ts"),
  },
  {
    name: "apply",
    summary: "make the service what the manifests say",
    args: [{ name: "[file]", description: "a plan saved by `tasc plan --out`; applied without a question" }],
    options: [
      { flags: "--auto-approve", description: "do not ask" },
      ...SCOPE_OPTIONS,
      REDISCOVER,
      RUN,
      OVERRIDE_POLICY,
      {
        flags: "--wait [duration]",
        description: "wait until discoveries have finished, 15m at most unless another time is given",
      },
      LOCK_TIMEOUT,
      { flags: "--verbose", description: "show every change in full" },
      ...SERVICE_OPTIONS,
    ],
    examples: [
      { command: "tasc apply", does: "plan, ask, apply" },
      { command: "tasc apply --auto-approve --stage staging", does: "in a pipeline" },
      { command: "tasc apply plan.json", does: "exactly what was reviewed, or nothing" },
    ],
    load: () => import("../../commands/apply.ts"),
  },
];
