import { provePull, pull } from "../edit/pull.ts";
import { carryOut } from "../edit/rewrite-view.ts";
import { fieldsNamed } from "../inspect/explain.ts";
import { projectFolder } from "../manifest/files.ts";
import { locate, nearest } from "../manifest/problem.ts";
import { KINDS } from "../model/address.ts";
import { EXIT, stop } from "../model/error.ts";
import { type Json, sameJson } from "../model/json.ts";
import { fieldsOf } from "../model/fields.ts";
import { scopeTest } from "../plan/input.ts";
import { type ReviewOptions, survey } from "./plan.ts";
import type { Session } from "./session.ts";

export interface PullOptions extends ReviewOptions {
  /** By name; all where it is empty. */
  readonly fields: ReadonlySet<string>;
  readonly allowMissingSecrets: boolean;
  readonly dryRun: boolean;
}

/** Writes live values into the manifests, where they declare something else. @throws TascError */
export async function pullFields(session: Session, options: PullOptions): ReturnType<typeof carryOut> {
  const { planned, input } = await survey(session, options);
  const { project, root, env, settings, redactor, host } = session;
  const { stage, stages, baseUrl } = settings;
  const found = await locate(planned.plan.diagnostics, project.sources);
  const problems = found.filter(({ severity }) => severity === "error");
  host.warn([...project.diagnostics, ...problems], session.source);
  const request = {
    ...project,
    stage,
    stages,
    planned,
    fields: options.fields,
    inScope: scopeTest(input.scope),
    holdsSecret: (value: Json) => !sameJson(redactor.json(value), value),
  };
  const { allowMissingSecrets } = options;
  const proof = {
    ...project,
    stages,
    input,
    folder: projectFolder(root, env["TASC_TRUST"]),
    options: { root, env, stage, allowMissingSecrets, needsApiKey: true },
  };
  const { view, exitCode } = await carryOut({
    root,
    dryRun: options.dryRun,
    documents: project.documents,
    make: (excluded) => pull(request, excluded),
    prove: (texts, rewrite) => provePull(texts, rewrite, proof),
    head: { stage, baseUrl },
    title: `Stage ${stage} at ${baseUrl}`,
    nothing: "Nothing to pull: the manifests match the service.",
  });
  return { view, exitCode: problems.length > 0 ? EXIT.failed : exitCode };
}

/** The fields that words name, of whatever kind: by name, by what holds several, or several with commas. */
export function namedFields(texts: readonly string[]): ReadonlySet<string> {
  const words = texts.flatMap((text) => text.split(",").map((one) => one.trim()));
  return new Set(
    words.flatMap((word) => {
      const found = KINDS.flatMap((kind) => fieldsNamed(kind, word));
      if (found.length > 0) return found;
      const close = nearest(word, new Set(KINDS.flatMap((kind) => fieldsOf(kind).map(({ name }) => name))));
      const hint = close === undefined ? "" : ` Did you mean ${close}?`;
      throw stop(
        "invalid",
        "unknown-field",
        `Unknown field ${JSON.stringify(word)} in --fields`,
        `Examples of fields: status, tags and discovery.prompt.${hint}`,
      );
    }),
  );
}
