import { withFiles } from "../import/overlay.ts";
import { desiredInScope } from "../look/look.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import type { Document } from "../manifest/document.ts";
import { loadProject } from "../manifest/load.ts";
import type { LoadOptions } from "../manifest/load.ts";
import type { PlanInput } from "../plan/inputs.ts";
import { makePlan } from "../plan/plan.ts";
import { Draft } from "../rewrite/draft.ts";
import type { Rewriting } from "../rewrite/rewriting.ts";
import type { NewText } from "../rewrite/texts.ts";
import { changedUnits } from "../rewrite/unchanged.ts";

export interface PullProof {
  readonly folder: ProjectFolder;
  readonly options: LoadOptions;
  /** The target documents as they are now. */
  readonly documents: readonly Document[];
  /** What was planned from. */
  readonly input: PlanInput;
}

/**
 * Plans once more from the manifests as they are going to be, against what was read of the service: nothing that was
 * pulled may be left to do, and nothing else may be declared differently.
 * @returns what is wrong; nothing where all is well
 */
export async function provePull(
  texts: readonly NewText[],
  { changes }: Rewriting,
  { folder, options, documents, input }: PullProof,
): Promise<string | undefined> {
  const files = texts.map(({ file, after }) => ({ file, text: after }));
  const loaded = await loadProject(options, withFiles(folder, files));
  if (!loaded.ok) {
    const [first] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    return `With the live values the project would not load: ${first?.summary ?? "it cannot be read"}`;
  }
  const desired = desiredInScope(loaded.desired, input.scope, input.states);
  const { plan } = makePlan({ ...input, desired });
  for (const { address, path } of changes) {
    const change = plan.changes.find((one) => one.address === address);
    if (change?.fields.some((field) => path.every((step, at) => field.path[at] === step)) === true)
      return `${address} would still differ in ${path.join(".")}`;
  }
  const pulled = new Set(changes.map(({ address, path }) => JSON.stringify([address, path])));
  const before = Draft.of(documents);
  const spoilt = changedUnits(before, Draft.of(loaded.documents), [desired.stage]).find(
    ({ address, field }) => !pulled.has(JSON.stringify([address, field.path])),
  );
  return spoilt && `${spoilt.address} would change in ${spoilt.field.name}, too`;
}
