import type { Command } from "./command.ts";
import { type CommandSpec, GROUPS } from "./spec.ts";

/*
 * All commands, in the order in which help lists them. A command's code is loaded when it is
 * called; the build makes `dist/commands.json` of their specifications, which help and completion
 * read.
 */
const COMMANDS: Readonly<Record<string, () => Promise<{ readonly command: Command }>>> = {
  init: () => import("./init.ts"),
  validate: () => import("./validate.ts"),
  schema: () => import("./schema.ts"),
  fmt: () => import("./fmt.ts"),
  new: () => import("./new.ts"),
  plan: () => import("./plan.ts"),
  stages: () => import("./stages/list.ts"),
  "stages retire": () => import("./stages/retire.ts"),
  show: () => import("./show.ts"),
  apply: () => import("./apply.ts"),
  import: () => import("./import.ts"),
  pull: () => import("./pull.ts"),
  promote: () => import("./promote.ts"),
  drift: () => import("./drift.ts"),
  steps: () => import("./steps/show.ts"),
  "steps accept": () => import("./steps/accept.ts"),
  diff: () => import("./diff.ts"),
  explain: () => import("./explain.ts"),
  snapshot: () => import("./snapshot.ts"),
  graph: () => import("./graph.ts"),
  "reports list": () => import("./reports/list.ts"),
  "reports show": () => import("./reports/show.ts"),
  "reports gate": () => import("./reports/gate.ts"),
  "reports flaky": () => import("./reports/flaky.ts"),
  status: () => import("./status.ts"),
  notifications: () => import("./notifications.ts"),
  history: () => import("./history.ts"),
  "state list": () => import("./state/list.ts"),
  "state show": () => import("./state/show.ts"),
  "state mv": () => import("./state/mv.ts"),
  "state rm": () => import("./state/rm.ts"),
  "state bind": () => import("./state/bind.ts"),
  "state mark": () => import("./state/mark.ts"),
  "state unlock": () => import("./state/unlock.ts"),
  "state pull": () => import("./state/pull.ts"),
  "state push": () => import("./state/push.ts"),
  "state migrate": () => import("./state/migrate.ts"),
  "state history": () => import("./state/history.ts"),
  rehearse: () => import("./rehearse.ts"),
  serve: () => import("./serve.ts"),
  doctor: () => import("./doctor.ts"),
  commands: () => import("./commands.ts"),
  completion: () => import("./completion.ts"),
};

/** Words that stand before the names of other commands. */
const PREFIXES: Readonly<Record<string, Pick<CommandSpec, "summary" | "examples">>> = {
  reports: {
    summary: "read test reports",
    examples: { "tasc reports list --target shop": "list the reports of one target" },
  },
  state: {
    summary: "inspect and modify state",
    examples: { "tasc state list": "list all bindings of the stage" },
  },
};

/** Loads the command that these words call. */
export async function loadCommand(path: string): Promise<Command | undefined> {
  return (await COMMANDS[path]?.())?.command;
}

/** Returns the specifications of all commands, in the order of help. This loads all of them. */
export async function commandSpecs(): Promise<readonly CommandSpec[]> {
  const specs = await Promise.all(
    Object.entries(COMMANDS).map(async ([path, load]): Promise<CommandSpec> => {
      const { start: _, ...spec } = (await load()).command;
      return { path, name: path.slice(path.lastIndexOf(" ") + 1), ...spec };
    }),
  );
  const words = [...new Set(specs.map(({ path }) => path.split(" ", 1).join("")))];
  const all = words.flatMap((word): readonly CommandSpec[] => {
    const commands = specs.filter(({ path }) => path.startsWith(`${word} `));
    const [first] = commands;
    if (first === undefined) return specs.filter(({ path }) => path === word);
    const { group } = first;
    const own = { path: word, name: word, group, summary: "", examples: {}, ...PREFIXES[word] };
    return [{ ...own, ...specs.find(({ path }) => path === word), commands }];
  });
  return GROUPS.flatMap((group) => all.filter((one) => one.group === group));
}
