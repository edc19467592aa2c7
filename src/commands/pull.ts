import { survey } from "../app/plan.ts";
import { withSession } from "../app/session.ts";
import { provePull, pull } from "../edit/pull.ts";
import { fieldsNamed } from "../inspect/explain.ts";
import { locate, nearest } from "../manifest/problem.ts";
import { projectFolder } from "../manifest/files.ts";
import { KINDS } from "../model/address.ts";
import { EXIT, type ExitCode, stop } from "../model/error.ts";
import { type Json, sameJson } from "../model/json.ts";
import { scopeTest } from "../plan/input.ts";
import type { Context } from "./context.ts";
import { runRewrite } from "./rewrite.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc pull`: writes live values into the manifests, where they declare something else. */
export async function run(options: OptionsOf<"pull">, { host, console }: Context): Promise<ExitCode> {
  const fields = namedFields(options.fields);
  return withSession(options, host, async (session) => {
    const { planned, input } = await survey(session, options);
    const { project, root, env, settings, redactor } = session;
    const found = await locate(planned.plan.diagnostics, project.sources);
    const problems = found.filter(({ severity }) => severity === "error");
    console.diagnostics([...project.diagnostics, ...problems], session.source);
    const { stage, stages, baseUrl } = settings;
    const request = {
      ...project,
      stage,
      stages,
      planned,
      fields,
      inScope: scopeTest(input.scope),
      holdsSecret: (value: Json) => !sameJson(redactor.json(value), value),
    };
    const loading = { root, env, stage, allowMissingSecrets: options.allowMissingSecrets, needsApiKey: true };
    const proof = {
      ...project,
      stages,
      input,
      folder: projectFolder(root, env["TASC_TRUST"]),
      options: loading,
    };
    const code = await runRewrite(
      {
        ...options,
        root,
        documents: project.documents,
        make: (excluded) => pull(request, excluded),
        prove: (texts, rewrite) => provePull(texts, rewrite, proof),
        head: { stage, baseUrl },
        title: `Stage ${stage} at ${baseUrl}`,
        nothing: "Nothing to pull: the manifests match the service.",
      },
      console,
    );
    return code === EXIT.done && problems.length > 0 ? EXIT.failed : code;
  });
}

/** The fields that `--fields` names, of whatever kind: by name, by what holds several, or several with commas. */
function namedFields(texts: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  const known = new Set<string>();
  for (const word of texts.flatMap((text) => text.split(",").map((one) => one.trim()))) {
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
    throw stop(
      "invalid",
      "unknown-field",
      `Unknown field ${JSON.stringify(word)} in --fields`,
      `Examples of fields: status, tags and discovery.prompt.${hint}`,
    );
  }
  return names;
}
