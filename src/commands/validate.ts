import { setFlagsFromString } from "node:v8";
import { EXIT } from "../cli/exit.ts";
import type { ExitCode } from "../cli/exit.ts";
import { textOption } from "../cli/options.ts";
import type { Given } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { redactDiagnostic } from "../output/redact-plan.ts";
import { resourcesOf } from "../model/desired.ts";
import { diagnosticView } from "../render/diagnostic-view.ts";
import { count } from "../render/words.ts";
import { diagnosticsDocument } from "./diagnostics-document.ts";
import { openProject } from "./opening.ts";
import type { NotOpened, Opened } from "./opening.ts";

/** The versions of Node in which the flags are known to be there and to be heeded while a program runs. */
const [OLDEST, NEWEST] = [20, 24];

/**
 * Tells V8 what it cannot know: that the run is over in less than a second, and that all it reads stays until the
 * end. Inlining little makes compiling so much cheaper that it leaves the cores to the work itself; and a large space
 * for young objects would save no work, and cost a fifth of the memory.
 */
function expectShortRun(): void {
  const major = Number.parseInt(process.versions.node, 10);
  if (major < OLDEST || major > NEWEST) return;
  setFlagsFromString("--max-inlined-bytecode-size-cumulative=100");
  setFlagsFromString("--semi-space-growth-factor=1");
}

/** `tasc validate`: reads and checks the manifests; it calls nothing. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  expectShortRun();
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
    console.writer.document((await diagnosticsDocument(format, views, world)) ?? "");
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
