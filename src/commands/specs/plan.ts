import { PLAN_FORMATS } from "../../render/formats.ts";
import {
  argument,
  choice,
  command,
  type CommandSpec,
  duration,
  flag,
  type GlobalOptions,
  LOCK_TIMEOUT,
  MISSING_SECRETS,
  ON_DEMAND,
  type Options,
  OVERRIDE_POLICY,
  SCOPE,
  SERVICE,
  text,
  VERBOSE,
  whole,
} from "../options.ts";

const BUDGET = {
  budget: whole("--budget <characters>", "length that a markdown comment may have; 65536 unless given", 1000),
};

const plan = {
  format: choice("--format <format>", "how to print the plan", PLAN_FORMATS),
  ...BUDGET,
  out: text("--out <file>", "save the plan, for `tasc apply FILE`"),
  detailedExitcode: flag("--detailed-exitcode", "exit with 2 when there are changes"),
  ...SCOPE,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  ...MISSING_SECRETS,
  snapshot: text("--snapshot <file>", "plan offline, from what `tasc snapshot` wrote; needs no key"),
  ...VERBOSE,
  ...SERVICE,
};
export type PlanCommandOptions = Options<typeof plan> & GlobalOptions;

const show = {
  file: argument("<file>", "a plan saved by `tasc plan --out`"),
  format: choice("--format <format>", "how to print it", PLAN_FORMATS),
  ...BUDGET,
  ...VERBOSE,
};
export type ShowOptions = Options<typeof show> & GlobalOptions;

const apply = {
  file: text("[file]", "a plan saved by `tasc plan --out`; applied without a question"),
  autoApprove: flag("--auto-approve", "do not ask"),
  ...SCOPE,
  ...ON_DEMAND,
  ...OVERRIDE_POLICY,
  wait: duration(
    "--wait [duration]",
    "wait until discoveries have finished, 15m at most unless another time is given",
    { always: 15 * 60_000 },
  ),
  ...LOCK_TIMEOUT,
  ...VERBOSE,
  ...SERVICE,
};
export type ApplyCommandOptions = Options<typeof apply> & GlobalOptions;

export const PLAN_COMMANDS: readonly CommandSpec[] = [
  command({
    name: "plan",
    summary: "show what an apply would change",
    options: plan,
    examples: [
      { command: "tasc plan", does: "compare the manifests with the live service" },
      { command: "tasc plan --stage production --out plan.json", does: "save a plan for review" },
      {
        command: "tasc plan --only 'testCase.shop.*' --detailed-exitcode",
        does: "one target's test cases; 2 if any changes",
      },
      { command: "tasc plan --override-policy maxChanges", does: "a large change that is meant to be one" },
    ],
    load: () => import("../plan.ts"),
  }),
  command({
    name: "show",
    summary: "print a saved plan again",
    options: show,
    examples: [{ command: "tasc show plan.json", does: "print it as the plan did" }],
    load: () => import("../show.ts"),
  }),
  command({
    name: "apply",
    summary: "make the service what the manifests say",
    options: apply,
    examples: [
      { command: "tasc apply", does: "plan, ask, apply" },
      { command: "tasc apply --auto-approve --stage staging", does: "in a pipeline" },
      { command: "tasc apply plan.json", does: "exactly what was reviewed, or nothing" },
    ],
    load: () => import("../apply.ts"),
  }),
];
