import { readAcceptedSteps } from "../app/accepted-steps.ts";
import { checkOverrides, ownRulesBroken } from "../app/plan.ts";
import { type Opened, openProject } from "../app/project.ts";
import { locate } from "../manifest/problem.ts";
import { resourcesOf } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type ExitCode, EXIT, TascError, invalid } from "../model/error.ts";
import { manifestViolations, policyDiagnostics, refusingRules } from "../plan/policy.ts";
import { endingHint, overWarnings } from "../plan/quarantine.ts";
import { codedDiagnosticJson, failureJson } from "../render/json.ts";
import { DIAGNOSTIC_FORMATS } from "../render/formats.ts";
import { count } from "../model/words.ts";
import type { Context } from "./context.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { MISSING_SECRETS, OVERRIDE_POLICY } from "./shared-options.ts";
import { choice, flag } from "./options.ts";
import { forEachStage, worstOf } from "./each-stage.ts";

const OPTIONS = {
  ...MISSING_SECRETS,
  ...OVERRIDE_POLICY,
  allStages: flag("--all-stages", "check all stages"),
  format: choice("--format <format>", "output format", ["text", "json", ...DIAGNOSTIC_FORMATS]),
};

export const command = defineCommand({
  group: "Write",
  summary: "check the manifests without calling the service",
  examples: {
    "tasc validate": "check the project in the current folder",
    "tasc validate --stage production --allow-missing-secrets":
      "check production without its secrets",
    "tasc validate --format github": "annotate a pull request",
  },
  options: OPTIONS,
  run: run,
});

async function run(options: OptionsOf<typeof OPTIONS>, context: Context): Promise<ExitCode> {
  const { console, host } = context;
  const { format = "text" } = options;
  if (options.allStages) return validateAll(options, context);
  try {
    const needs = { needsApiKey: false, texts: false };
    const opened = await openProject(options, host, needs);
    return await printValid(opened, options, format, context);
  } catch (error) {
    if (format === "text" || !(error instanceof TascError)) throw error;
    // Errors are the result of this command, so formats for programs print them as the result.
    if (format === "json") console.json({ valid: false, ...failureJson(error) });
    else await console.report(error.diagnostics, format);
    return EXIT[error.reason];
  }
}

/** `--all-stages`: validates each stage; a problem in several stages is reported once. */
async function validateAll(
  options: OptionsOf<typeof OPTIONS>,
  context: Context,
): Promise<ExitCode> {
  if (options.format !== undefined || options.stage !== undefined)
    throw invalid(
      "bad-arguments",
      "--all-stages goes without --format and --stage",
      "Validate each stage separately instead:\ntasc validate --stage STAGE",
    );
  const seen = new Set<string>();
  const all = await forEachStage(options, context.host, async (one) =>
    printValid(
      await openProject(one, context.host, { needsApiKey: false }),
      options,
      "text",
      context,
      seen,
    ),
  );
  for (const of of all)
    if ("failure" in of) {
      context.console.diagnostics(fresh(of.failure.diagnostics, seen), of.failure.source);
      context.console.say("error", `Not valid: stage ${of.stage}`);
    }
  return worstOf(all.map((of) => ("value" in of ? of.value : EXIT[of.failure.reason])));
}

function fresh(diagnostics: readonly Diagnostic[], seen: Set<string>): readonly Diagnostic[] {
  return diagnostics.filter((one) => seen.size < seen.add(JSON.stringify(one)).size);
}

/**
 * Returns the warnings about the files of accepted steps, where the policy asks for them.
 * @throws TascError if one cannot be read
 */
function stepsWarnings({ root, project: { desired, settings } }: Opened): readonly Diagnostic[] {
  const { policy, stages } = settings;
  const { steps: mode = "off" } = policy;
  if (mode === "off") return [];
  const words = { isSecret: () => false, fingerprints: undefined };
  const accepted = readAcceptedSteps({ root, desired, stages, mode, words, keep: false });
  accepted.check();
  return accepted.warnings;
}

async function printValid(
  opened: Opened,
  { overridePolicy }: OptionsOf<typeof OPTIONS>,
  format: string,
  context: Context,
  seen = new Set<string>(),
) {
  const { console, host } = context;
  const { project } = opened;
  const { desired, sources, settings } = project;
  const { stage, policy } = settings;
  checkOverrides(settings, overridePolicy);
  const resources = desired.targets.flatMap(resourcesOf);
  const violations = [
    ...manifestViolations(desired.targets, policy, host.now()),
    ...(await ownRulesBroken(policy, desired, { stage })),
  ];
  const judged = [
    ...overWarnings(desired.targets, host.now()),
    ...policyDiagnostics(violations, new Set(overridePolicy)),
  ];
  const diagnostics = [
    ...project.diagnostics,
    ...stepsWarnings(opened),
    ...(await locate(judged, sources)),
  ];
  if (refusingRules(violations, overridePolicy).length > 0)
    throw new TascError("failed", diagnostics, (file) => sources.get(file)?.text);
  const hint = endingHint(desired.targets, host.now());
  if (hint !== undefined) console.say("info", hint);
  if (format === "text") {
    console.diagnostics(fresh(diagnostics, seen), (file) => sources.get(file)?.text);
    console.data(
      `Valid: ${count(resources.length, "resource")} in ${count(project.count, "document")}, stage ${desired.stage}\n`,
    );
  } else if (format === "json")
    console.json({ valid: true, diagnostics: diagnostics.map(codedDiagnosticJson) });
  else await console.report(diagnostics, format);
  return EXIT.done;
}
