import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { sayAnnotations } from "./diagnostics.ts";
import { openProject } from "./opening.ts";

/** `tasc validate`: reads and checks the manifests; it calls nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const format = textOption(given, "format") ?? "text";
  const json = format === "json";
  const opened = await openProject(given, world, { needsApiKey: false, ...(json ? { leave: "all" } : {}) });
  const diagnostics = opened.ok ? opened.project.diagnostics : opened.diagnostics;
  if (json) {
    const places = diagnostics.map(({ severity, code, summary, detail, address, place }) => ({
      severity,
      code,
      ...(address === undefined ? {} : { address }),
      summary,
      detail,
      ...place,
    }));
    opened.console.json({ valid: opened.ok, diagnostics: places });
  }
  if (format === "github") await sayAnnotations(opened.console, diagnostics);
  if (!opened.ok) return opened.code;
  const { desired, documents } = opened.project;
  const resources = desired.targets.reduce(
    (sum, target) =>
      sum + 1 + target.environments.length + target.testCases.length + target.batchGenerations.length,
    0,
  );
  if (!json)
    opened.console.data(
      `Valid: ${resources} ${resources === 1 ? "resource" : "resources"} in ${documents.length} ${documents.length === 1 ? "document" : "documents"}, stage ${desired.stage}\n`,
    );
  return EXIT.done;
}
