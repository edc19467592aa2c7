import { type Session, withSession } from "../app/session.ts";
import { forEachStage, worstOf } from "./stages.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { EXIT, type ExitCode, TascError, stop } from "../model/error.ts";
import { codedDiagnosticJson, failureJson } from "../render/json.ts";
import { count } from "../render/words.ts";
import type { Context } from "./context.ts";
import { fitHeapTo } from "./engine.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc validate`: reads and checks the manifests; it calls nothing. */
export async function run(options: OptionsOf<"validate">, context: Context): Promise<ExitCode> {
  const { console, host } = context;
  const { format = "text" } = options;
  if (options.allStages) return validateAll(options, context);
  try {
    return await withSession(options, host, (session) => printValid(session, format, context), {
      apiKey: false,
      texts: false,
      counted: fitHeapTo,
    });
  } catch (error) {
    if (format === "text" || !(error instanceof TascError)) throw error;
    // The mistakes are what this command is asked for, so in a format for programs they are its result.
    const { reason, diagnostics } = error;
    if (format === "json") console.json({ valid: false, ...failureJson(reason, diagnostics) });
    else await console.report(diagnostics, format);
    return EXIT[reason];
  }
}

/** `--all-stages`: what is wrong in several stages is said once. */
async function validateAll(options: OptionsOf<"validate">, context: Context): Promise<ExitCode> {
  if (options.format !== undefined || options.stage !== undefined)
    throw stop(
      "invalid",
      "bad-arguments",
      "--all-stages goes without --format and --stage",
      "Validate each stage separately instead:\ntasc validate --stage STAGE",
    );
  const said = new Set<string>();
  const all = await forEachStage(
    options,
    context.host,
    (session) => printValid(session, "text", context, said),
    { apiKey: false },
  );
  for (const of of all)
    if ("failure" in of) {
      context.console.diagnostics(fresh(of.failure.diagnostics, said), of.failure.source);
      context.console.say("error", `Not valid: stage ${of.stage}`);
    }
  return worstOf(all.map((of) => ("value" in of ? of.value : EXIT[of.failure.reason])));
}

/** Those that were not printed for an earlier stage. */
function fresh(diagnostics: readonly Diagnostic[], said: Set<string>): readonly Diagnostic[] {
  return diagnostics.filter((one) => said.size < said.add(JSON.stringify(one)).size);
}

async function printValid(
  session: Session,
  format: string,
  context: Context,
  said = new Set<string>(),
): Promise<ExitCode> {
  const { console } = context;
  const { project, desired, source } = session;
  const { diagnostics, documents } = project;
  if (format === "text") {
    console.diagnostics(fresh(diagnostics, said), source);
    const resources = count(desired.targets.flatMap(resourcesOf).length, "resource");
    console.data(`Valid: ${resources} in ${count(documents.length, "document")}, stage ${desired.stage}\n`);
  } else if (format === "json")
    console.json({ valid: true, diagnostics: diagnostics.map(codedDiagnosticJson) });
  else await console.report(diagnostics, format);
  return EXIT.done;
}
