import { EXIT, type ExitCode, type Given, textOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { diagnosticView } from "../render/diagnostics.ts";
import { renderDiagnosticsAs } from "../render/formats.ts";
import { redactDiagnostic } from "../render/redact.ts";
import { count } from "../render/words.ts";
import { keepYoungSpaceSmall } from "./engine.ts";
import { type NotOpened, type Opened, openProject } from "./opening.ts";

/** `tasc validate`: reads and checks the manifests; it calls nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  keepYoungSpaceSmall();
  const format = textOption(given, "format") ?? "text";
  const leave = format === "text" ? {} : { leave: "all" as const };
  const opened = await openProject(given, world, { needsApiKey: false, ...leave });
  await print(format, opened, foundIn(opened, world), world);
  return opened.ok ? EXIT.done : opened.code;
}

function foundIn(opened: Opened | NotOpened, world: World): readonly Diagnostic[] {
  if (opened.ok) return opened.project.diagnostics;
  // What is wrong before any manifest is read, with --dotenv for instance, has been said already.
  return opened.diagnostics.length > 0 ? opened.diagnostics : world.said;
}

async function print(
  format: string,
  opened: Opened | NotOpened,
  diagnostics: readonly Diagnostic[],
  world: World,
): Promise<void> {
  const { console } = opened;
  if (format === "json") console.json({ valid: opened.ok, diagnostics: diagnostics.map(json) });
  else if (format !== "text") {
    const views = diagnostics.map((one) => redactDiagnostic(diagnosticView(one), console.redactor));
    console.writer.document((await renderDiagnosticsAs(format, views, `tasc ${world.version}`)) ?? "");
  } else if (opened.ok) console.data(`Valid: ${sizeOf(opened)}\n`);
}

function json({ severity, code, summary, detail, address, place }: Diagnostic) {
  return {
    severity,
    code,
    ...(address === undefined ? {} : { address }),
    summary,
    detail,
    ...place,
  };
}

function sizeOf({ project: { desired, documents } }: Opened): string {
  const resources = desired.targets.flatMap(resourcesOf).length;
  return `${count(resources, "resource")} in ${count(documents.length, "document")}, stage ${desired.stage}`;
}
