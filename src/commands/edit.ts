import { writeTexts } from "../edit/edit-files.ts";
import { provePull, pull as pullValues } from "../edit/pull.ts";
import { carryOut } from "../edit/rewrite-view.ts";
import { fieldsNamed } from "../inspect/explain.ts";
import { projectFolder } from "../manifest/files.ts";
import { formatManifest } from "../manifest/format.ts";
import { guessed, hasErrors, locate } from "../manifest/problem.ts";
import { withSkeleton } from "../manifest/skeleton.ts";
import { KINDS, parseAddress } from "../model/address.ts";
import { EXIT, invalid } from "../model/error.ts";
import { fieldsOf } from "../model/fields.ts";
import { type Json, sameJson } from "../model/json.ts";
import { scopeTest } from "../plan/input.ts";
import type { View } from "../render/view.ts";
import { survey } from "../app/plan.ts";
import { invalidProject, readFolder } from "../app/project.ts";
import type { Session } from "../app/session.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

export async function fmt(options: OptionsOf<"fmt">, { host }: Context): Promise<View> {
  const { root, reading } = await readFolder(options, host);
  const { project, documents, problems } = reading;
  // Errors inside a document do not stop the others from being formatted. Without tasc.yaml, the
  // files are unknown.
  if (project === undefined && hasErrors(problems)) throw await invalidProject(reading, problems);
  const all = project === undefined ? documents : [project, ...documents];
  const files = new Map(all.map((document) => [document.file, document]));
  const changed = [...files.values()].flatMap(({ file, bom, text }) => {
    const after = formatManifest(text, file === project?.file ? "project" : "target");
    return after === text ? [] : [{ file, bom, before: text, after }];
  });
  if (!options.check) writeTexts(root, changed);
  const names = changed.map(({ file }) => file);
  return {
    json: { check: options.check, changed: names },
    text: [names],
    exitCode: options.check && names.length > 0 ? EXIT.failed : EXIT.done,
  };
}

export async function addNew(options: OptionsOf<"new">, { host }: Context): Promise<View> {
  const { kind, address } = options;
  const prefix = `${kind}.`;
  const parts = parseAddress(address.startsWith(prefix) ? address : `${prefix}${address}`);
  if (parts === undefined) {
    const example = kind === "target" ? "tasc new target shop" : `tasc new ${kind} shop.checkout`;
    throw invalid(
      "bad-address",
      `${address} is not an address of this kind`,
      `Write it like this:\n${example}`,
    );
  }
  const { root, reading } = await readFolder(options, host);
  const { project, documents, problems } = reading;
  const found = problems.filter(({ code }) => code !== "no-manifests");
  if (project === undefined || hasErrors(found)) throw await invalidProject(reading, found);
  const made = withSkeleton(parts, project, documents);
  writeTexts(root, [made]);
  const created = made.before === undefined;
  return {
    json: { address: made.address, file: made.file, created },
    text: [[`${created ? "wrote" : "changed"}  ${made.file}`]],
  };
}

export async function pull(session: Session, options: OptionsOf<"pull">): Promise<View> {
  const fields = namedFields(options.fields);
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
    nothing: "Nothing to pull: the manifests match the service.",
  });
  return problems.length > 0 ? { ...view, exitCode: EXIT.failed } : view;
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
