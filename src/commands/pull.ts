import { EXIT, type ExitCode, type Given, flagOption, listOption } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { provePull, pull } from "../edit/pull.ts";
import { fieldsNamed } from "../inspect/explain.ts";
import { locate, nearest } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import { KINDS } from "../model/address.ts";
import { type Json, sameJson } from "../model/json.ts";
import { scopeTest } from "../plan/input.ts";
import { sayDiagnostics, sayError } from "./diagnostics.ts";
import { consoleFor } from "./opening.ts";
import { carryOutRewrite } from "./rewrite.ts";
import type { OrCode } from "./states.ts";
import { survey } from "./survey.ts";

/** `tasc pull`: writes what is live into the manifests, where they declare something else. */
export async function run(given: Given, world: World): Promise<ExitCode> {
  const fields = namedFields(given, world);
  if (!fields.ok) return fields.code;
  const looked = await survey(given, world);
  if (!looked.ok) return looked.code;
  const { opened, planned, input } = looked.value;
  const { project, console, root, env } = opened;
  const { documents, settings } = project;
  const { stage, baseUrl } = settings;
  const found = await locate(planned.plan.diagnostics, project.sources);
  const problems = found.filter(({ severity }) => severity === "error");
  sayDiagnostics(console, problems, project.sources);
  const request = {
    stage,
    stages: settings.stages,
    documents,
    project: project.project,
    planned,
    inScope: scopeTest(input.scope),
    fields: fields.value,
    holdsSecret: (value: Json) => !sameJson(console.redactor.json(value), value),
  };
  const options = {
    root,
    env,
    stage,
    allowMissingSecrets: flagOption(given, "allowMissingSecrets"),
    needsApiKey: true,
  };
  const proof = {
    folder: projectFolder(root),
    options,
    stages: settings.stages,
    documents,
    project: project.project,
    input,
  };
  const code = await carryOutRewrite(given, {
    root,
    console,
    documents,
    make: (excluded) => pull(request, excluded),
    prove: (texts, rewrite) => provePull(texts, rewrite, proof),
    head: { stage, baseUrl },
    title: `Stage ${stage} at ${baseUrl}`,
    nothing: "Nothing to pull: the manifests match the service.",
  });
  return code === EXIT.done && problems.length > 0 ? EXIT.failed : code;
}

/** The fields that `--fields` names, of whatever kind: by name, by what holds several, or several with commas. */
function namedFields(given: Given, world: World): OrCode<ReadonlySet<string>> {
  const words = listOption(given, "fields").flatMap((text) => text.split(",").map((word) => word.trim()));
  const names = new Set<string>();
  const known = new Set<string>();
  for (const word of words) {
    const found = KINDS.flatMap((kind) => {
      const named = fieldsNamed(kind, word);
      if (named.ok) return named.names;
      for (const name of named.known) known.add(name);
      return [];
    });
    for (const name of found) names.add(name);
    if (found.length > 0) continue;
    const close = nearest(word, [...known]);
    const hint = close === undefined ? "" : ` Did you mean ${close}?`;
    sayError(
      consoleFor(given, world, []),
      `There is no field ${JSON.stringify(word)}, which --fields names`,
      `Fields are such as status, tags and discovery.prompt.${hint}`,
    );
    return { ok: false, code: EXIT.invalid };
  }
  return { ok: true, value: names };
}
