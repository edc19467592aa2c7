import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { graphOf, redactGraph, renderDot, renderMermaid } from "../inspect/graph.ts";
import { targetsNamed } from "./named-targets.ts";
import { openProject } from "./opening.ts";

/** `tasc graph [TARGET]`: prerequisites as a drawing. It reads the manifests alone, so it needs no secrets. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const lenient = { ...given, options: { ...given.options, allowMissingSecrets: true } };
  const opened = await openProject(lenient, world, { needsApiKey: false, leave: "warnings" });
  if (!opened.ok) return opened.code;
  const { desired } = opened.project;
  const targets = targetsNamed(given.args[0], desired, opened.console);
  if (targets === undefined) return EXIT.invalid;
  const { redactor, writer } = opened.console;
  const graph = redactGraph(graphOf(desired.stage, targets), redactor);
  writer.document(textOption(given, "format") === "dot" ? renderDot(graph) : renderMermaid(graph));
  return EXIT.done;
}
