import { type Session, targetsNamed } from "../app/session.ts";
import { graphOf, graphView } from "../inspect/graph.ts";
import { choice, text } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { NO_SECRETS, inProject } from "./in-project.ts";

const OPTIONS = {
  target: text("[target]", "key of a target; default: all"),
  format: choice("--format <format>", "output format; default: mermaid", [
    "mermaid",
    "dot",
    "json",
  ]),
};

export const command = defineCommand({
  group: "Review",
  summary: "draw prerequisites as Mermaid or DOT",
  examples: {
    "tasc graph shop": "print Mermaid for use in Markdown",
    "tasc graph --format dot | dot -Tsvg > graph.svg": "create an image",
  },
  options: OPTIONS,
  run: inProject(graph, NO_SECRETS),
});

async function graph(
  { desired }: Session,
  { target, format = "mermaid" }: OptionsOf<typeof OPTIONS>,
) {
  return { ...graphView(graphOf(desired.stage, targetsNamed(target, desired))), format };
}
