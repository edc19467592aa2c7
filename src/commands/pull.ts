import { provePull, pull as pullValues } from "../edit/pull.ts";
import type { Rewrite } from "../edit/rewrite.ts";
import { fieldsNamed } from "../inspect/explain.ts";
import { projectFolder } from "../manifest/files.ts";
import { guessed, locate } from "../manifest/problem.ts";
import { KINDS } from "../model/address.ts";
import { EXIT, invalid } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { type Json, sameJson } from "../model/json.ts";
import { scopeTest } from "../plan/scope.ts";
import type { View } from "../render/view.ts";
import { appliedValues } from "../app/applied-values.ts";
import { checkRequest, survey } from "../app/survey.ts";
import type { Session } from "../app/session.ts";
import { carryOut } from "./rewrite-view.ts";
import { SCOPE, READING } from "./shared-options.ts";
import { choice, flag, list } from "./options.ts";
import { type OptionsOf, defineCommand } from "./command.ts";
import { inProject } from "./in-project.ts";

const OPTIONS = {
  ...SCOPE,
  fields: list("--fields <name>", "pull only this field, e.g. status or discovery.prompt"),
  theirs: list("--theirs <address>", "take the live value of fields that both sides changed"),
  all: flag("--all", "take every live value, also in place of manifest changes"),
  into: choice("--into <layer>", "layer to write; default: the one that set the value", [
    "base",
    "stage",
  ]),
  dryRun: flag("--dry-run", "show the changes to the files and write nothing"),
  ...READING,
};

export const command = defineCommand({
  group: "Write",
  summary: "write what the service changed into the manifests",
  examples: {
    "tasc pull --dry-run": "preview the changes to the manifests",
    "tasc pull --only 'testCase.shop.*' --fields tags":
      "pull the tags of one target's test cases; then review the git diff",
    "tasc pull --theirs testCase.shop.login":
      "in a conflict, take the live values of one test case",
  },
  options: OPTIONS,
  run: inProject(pull),
});

async function pull(session: Session, options: OptionsOf<typeof OPTIONS>): Promise<View> {
  const fields = namedFields(options.fields);
  if (!options.all) session.requireFingerprintKey("Nobody can tell who changed what");
  const { planned, input } = await survey(session, options);
  const { project, root, env, settings, redactor, host } = session;
  const { stage, stages, baseUrl } = settings;
  const found = await locate(planned.plan.diagnostics, project.sources);
  const problems = found.filter(({ severity }) => severity === "error");
  host.warn([...project.diagnostics, ...problems], session.source);
  const { allowMissingSecrets } = options;
  const request = {
    ...project,
    stages,
    planned,
    input,
    fields,
    all: options.all,
    theirs:
      options.theirs.length === 0
        ? () => false
        : scopeTest(checkRequest({ only: options.theirs }, input).scope),
    applied: await appliedValues(session, planned),
    into: options.into,
    inScope: scopeTest(input.scope),
    holdsSecret: (value: Json) => !sameJson(redactor.json(value), value),
    folder: projectFolder(root, env["TASC_TRUST"]),
    options: { root, env, stage, allowMissingSecrets, needsApiKey: true },
  };
  const view = await carryOut({
    root,
    dryRun: options.dryRun,
    documents: project.documents,
    make: (excluded) => pullValues(request, excluded),
    prove: (texts, rewrite) => provePull(texts, rewrite, request),
    head: { stage, baseUrl },
    title: `Stage ${stage} at ${baseUrl}`,
    nothing: options.all
      ? "Nothing to pull: the manifests match the service."
      : "Nothing to pull: no managed field was changed on the service since the last apply.",
    next: (rewrite) => nextSteps(rewrite, options),
  });
  return problems.length > 0 ? { ...view, exitCode: EXIT.failed } : view;
}

function nextSteps(
  { changes, left }: Rewrite,
  { dryRun, stage, theirs }: OptionsOf<typeof OPTIONS>,
): string | undefined {
  const inStage = stage === undefined ? "" : ` --stage ${stage}`;
  const [first] = left.filter(({ conflict }) => conflict !== undefined);
  if (first !== undefined)
    return `decide the conflicts: edit the manifests, or take the live values with \`tasc pull${inStage} --theirs ${first.address}\`.`;
  if (changes.length === 0) return undefined;
  if (dryRun) return `run \`tasc pull${inStage}\` to write this.`;
  // A live value may stand in this stage's section, and the edit that it replaces here in the base.
  const rest =
    theirs.length === 0
      ? "there is nothing to apply."
      : "your own values stay planned in the stages that have them.";
  return `review the change with \`git diff\` and commit it; ${rest}`;
}

/**
 * Returns the fields of any kind that the words name: fields, prefixes of several fields, or lists
 * with commas.
 */
function namedFields(texts: readonly string[]): ReadonlySet<string> {
  const words = texts.flatMap((text) => text.split(",").map((one) => one.trim()));
  return new Set(
    words.flatMap((word) => {
      const found = KINDS.flatMap((kind) => fieldsNamed(kind, word));
      if (found.length > 0) return found;
      const known = new Set(KINDS.flatMap((kind) => fieldsOf(kind).map(({ name }) => name)));
      throw invalid(
        "unknown-field",
        `Unknown field ${JSON.stringify(word)} in --fields`,
        `Examples of fields: status, tags and discovery.prompt.${guessed(word, known)}`,
      );
    }),
  );
}
