import { withFiles } from "../import/overlay.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import type { Document } from "../manifest/document.ts";
import { hasErrors } from "../manifest/problem.ts";
import { readProject } from "../manifest/read-project.ts";
import { resolveProject } from "../manifest/resolve-project.ts";
import type { Environment } from "../manifest/template/surroundings.ts";
import { Draft } from "../rewrite/draft.ts";
import type { Rewriting } from "../rewrite/rewriting.ts";
import type { NewText } from "../rewrite/texts.ts";
import { changedUnits } from "../rewrite/unchanged.ts";
import { diffStages } from "../stages/difference.ts";
import { StageView } from "../stages/stage-view.ts";
import type { PromoteRequest } from "./promote.ts";

export interface ProofRequest extends PromoteRequest {
  readonly folder: ProjectFolder;
  readonly env: Environment;
  /** The target documents as they are now. */
  readonly documents: readonly Document[];
}

/**
 * Reads the manifests as they are going to be, and looks whether they do what they are for and no more: the diff of
 * what was promoted is empty, and nothing else is declared differently in any stage.
 * @returns what is wrong; nothing where all is well
 */
export async function provePromotion(
  texts: readonly NewText[],
  { changes, left }: Rewriting,
  request: ProofRequest,
): Promise<string | undefined> {
  const { folder, env, from, to, inScope, stages, documents } = request;
  const files = texts.map(({ file, after }) => ({ file, text: after }));
  const reading = await readProject(withFiles(folder, files));
  const { project } = reading;
  const options = { env, allowMissingSecrets: true, needsApiKey: false };
  const views = [from, to].map(({ stage }) => {
    const { resolved, problems } = resolveProject(reading, { ...options, stage });
    if (resolved === undefined || project === undefined || hasErrors([...problems, ...reading.problems]))
      return undefined;
    return new StageView(resolved.desired, project, reading, env);
  });
  const [source, goal] = views;
  if (source === undefined || goal === undefined) return "the new manifests could not be read";
  const keyOf = (address: string, path: readonly (string | number)[]): string =>
    JSON.stringify([address, path]);
  const open = new Set(left.map(({ address, path = [] }) => keyOf(address, path)));
  const differing = diffStages(source, goal, "promoted", inScope).differences.find(
    ({ address, path }) => !open.has(keyOf(address, path)),
  );
  if (differing !== undefined)
    return `${differing.address} would still differ in ${differing.path.join(".")}`;
  const promoted = new Set(changes.map(({ address, path }) => keyOf(address, path)));
  const spoilt = changedUnits(Draft.of(documents), Draft.of(reading.documents), stages).find(
    ({ stage, address, field }) => stage !== to.stage || !promoted.has(keyOf(address, field.path)),
  );
  return spoilt && `${spoilt.address} would change in ${spoilt.field.name}, in stage ${spoilt.stage}`;
}
