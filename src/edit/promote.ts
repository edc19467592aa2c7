import { type Difference, StageView, diffStages, sameStageValue } from "../inspect/stages.ts";
import { hasErrors } from "../manifest/problem.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import type { EnvironmentVariables } from "../manifest/interpolation.ts";
import { placeholdersIn } from "../manifest/template.ts";
import { type ProjectReading, readProject, resolveProject } from "../manifest/load.ts";
import { type Address, targetAddress, targetOf } from "../model/address.ts";
import { defined, sameJson, valueAt } from "../model/json.ts";
import { isSensitive, reveal } from "../model/value.ts";
import { type EditedText, withTexts } from "./edit-files.ts";
import {
  type FieldRef,
  Manifests,
  ONLY_STAGES,
  type ProjectDocuments,
  deleteAt,
  escaped,
  onlyStagesOf,
  setAt,
} from "./manifests.ts";
import { valueAtOne } from "./place-values.ts";
import {
  type Excluded,
  type FieldRewrite,
  NO_PLACE,
  type Rewrite,
  changeKey,
  rewriteFields,
  unreportedChange,
} from "./rewrite.ts";

export interface PromoteRequest extends ProjectDocuments {
  readonly reading: ProjectReading;
  readonly env: EnvironmentVariables;
  readonly from: StageView;
  readonly to: StageView;
  readonly stages: readonly string[];
  readonly inScope: (address: Address) => boolean;
}

/**
 * Returns the rewrite after which stage `to` resolves every promoted field as stage `from` does,
 * and other stages as before.
 *
 * A value replaces the one that is in effect. If that place is shared with another stage, the value
 * goes into the stage's own override; `defaults` are never edited, because later test cases inherit
 * them. An override that becomes equal to what is below it is removed.
 *
 * If `onlyStages` excludes a test case from stage `to`, the stage is added. Any other test case
 * that only one of the stages has is left and reported: creating it needs what promotion never
 * copies, and the API cannot delete test cases.
 */
export function promote(request: PromoteRequest, excluded: Excluded = new Map()): Rewrite {
  const { from, stages } = request;
  const { to, manifests, extensions, refused, diff } = extendStage(request, excluded);
  const { differences, onlyFrom, onlyTo } = diff;
  const fields = differences.map((difference) => rewriteOf(difference, to, manifests));
  const { edits, changes, left } = rewriteFields(manifests, fields, excluded, stages, {
    tidy: true,
  });
  return {
    edits: [...extensions.map(({ slot, after }) => setAt(slot, after)), ...edits],
    changes: [...extensions, ...changes],
    left: [
      ...left,
      ...onlyFrom.map((one) => ({
        ...one,
        reason: `Only ${from.stage} has it, and promotion adds a stage only to \`onlyStages\`. Declare it for ${to.stage} as well, or for all stages.`,
        ...refused.get(one.address),
      })),
      ...onlyTo.map((one) => ({
        ...one,
        reason: `Only ${to.stage} has it, and promotion removes nothing.`,
      })),
    ],
  };
}

/**
 * Adds resources to stage `to` that `onlyStages` keeps out of it, except those with which the stage
 * cannot be read.
 */
function extendStage(request: PromoteRequest, excluded: Excluded) {
  const { from, to, reading, env, project, inScope } = request;
  const diff = diffStages(from, to, "promoted", inScope);
  const start = new Manifests(request);
  const onlyOf = (address: Address) => onlyStagesOf(start, address, [from.stage]);
  const refused = new Map<Address, { readonly reason: string; readonly failed: true }>();
  const refuse = (address: Address, reason: string): unknown =>
    refused.set(address, { reason, failed: true });
  const all = new Set<Address>();
  for (const { address } of diff.onlyFrom) {
    const target = targetAddress(targetOf(address));
    if (onlyOf(target)?.stages.includes(to.stage) === false && !inScope(target))
      refuse(address, `${target} does not exist in ${to.stage}; promote it as well.`);
    else
      for (const one of [target, address]) {
        const reason = excluded.get(changeKey({ address: one, path: ONLY_STAGES.path }));
        if (reason === undefined) all.add(one);
        else refuse(one, reason);
      }
  }
  for (;;) {
    const extensions = [...all].flatMap((address) => {
      const { slot, stages: before = [to.stage] } = onlyOf(address) ?? {};
      const isRefused = refused.has(address) || refused.has(targetAddress(targetOf(address)));
      if (slot === undefined || isRefused || before.includes(to.stage)) return [];
      return [{ address, path: ONLY_STAGES.path, before, after: [...before, to.stage], slot }];
    });
    if (extensions.length === 0) return { to, manifests: start, extensions, refused, diff };
    const { documents } = start.with(extensions.map(({ slot, after }) => setAt(slot, after)));
    const { view, errors } = viewOf(to.stage, { ...reading, documents }, env);
    if (view !== undefined) {
      const manifests = new Manifests({ project, documents });
      return {
        to: view,
        manifests,
        extensions,
        refused,
        diff: diffStages(from, view, "promoted", inScope),
      };
    }
    const own = extensions.filter(({ address }) =>
      errors.some((error) => error.address === address),
    );
    for (const { address } of own.length === 0 ? extensions : own) {
      const error = errors.find((one) => one.address === address) ?? errors[0];
      refuse(
        address,
        `It cannot exist in ${to.stage}: ${error?.summary ?? "the stage could not be read"}.`,
      );
    }
  }
}

/** Reads a stage; if there are errors, returns only these. */
function viewOf(stage: string, reading: ProjectReading, env: EnvironmentVariables) {
  const options = { env, stage, allowMissingSecrets: true, needsApiKey: false };
  const { resolved, problems } = resolveProject(reading, options);
  const errors = problems.filter(({ severity }) => severity === "error");
  const { project } = reading;
  if (resolved === undefined || project === undefined || errors.length > 0) return { errors };
  return { view: new StageView(resolved.desired, project, reading, env), errors };
}

function rewriteOf(difference: Difference, to: StageView, manifests: Manifests): FieldRewrite {
  const { address, field, path, sensitive, written, before: meaning, after: there } = difference;
  const ref: FieldRef = { stage: to.stage, address, field };
  const hasSecret = meaning !== undefined && isSensitive(meaning.value);
  // The value as stage `from` resolves it, without the variables of that stage; secrets stay
  // placeholders.
  const literal =
    meaning === undefined ? null : hasSecret ? meaning.spelt : escaped(reveal(meaning.value));
  const both = written === undefined || sameJson(written, literal) ? [literal] : [written, literal];
  // Credentials belong to a stage, so only those that the other stage uses in the same place are
  // copied.
  const known = new Set(placeholdersIn(there?.spelt ?? null).map(({ source }) => source));
  const isForeign =
    hasSecret && placeholdersIn(meaning.spelt).some(({ source }) => !known.has(source));
  const isDefaulted = manifests
    .layersOf(ref)
    .some(
      ({ kind, value }) => kind.endsWith("defaults") && valueAt(value, field.path) !== undefined,
    );
  return {
    ref,
    isMet: (now) => sameStageValue(field, meaning, to.meaningOf(field, now)),
    candidates: (now) => {
      const top = now.topSlot(ref);
      const own = top?.layer === "base" || top?.layer === "stage" ? top : undefined;
      if (meaning === undefined)
        return own === undefined ? [] : [{ slot: own, edits: [deleteAt(own)] }];
      if (isForeign) return [];
      const slots = [own, now.stageSlot(ref)];
      return slots.flatMap((slot) => both.flatMap((text) => valueAtOne(text, [slot])));
    },
    about: {
      address,
      path,
      ...defined({ origin: difference.to?.origin ?? difference.from?.origin }),
    },
    shown: defined({ sensitive, before: difference.to?.value, after: difference.from?.value }),
    unmet: {
      reason: hasSecret
        ? `It contains a secret that ${to.stage} does not use here, and credentials are not promoted. Write it by hand.`
        : meaning === undefined && isDefaulted
          ? `${to.stage} has it from \`defaults\`, which promotion does not edit.`
          : NO_PLACE,
    },
  };
}

/**
 * Checks the new manifests: promoted fields must not differ between the stages, and nothing else
 * may have changed.
 */
export async function provePromotion(
  texts: readonly EditedText[],
  { changes, left }: Rewrite,
  request: PromoteRequest & { readonly folder: ProjectFolder },
): Promise<string | undefined> {
  const { folder, env, from, to, inScope, stages } = request;
  const reading = await readProject(withTexts(folder, texts));
  const { project, documents } = reading;
  const { view: goal } = viewOf(to.stage, reading, env);
  if (goal === undefined || project === undefined || hasErrors(reading.problems))
    return "the new manifests could not be read";
  const open = new Set(left.map(changeKey));
  // If stage `from` changes, the check below finds it.
  const differing = diffStages(from, goal, "promoted", inScope).differences.find(
    (difference) => !open.has(changeKey(difference)),
  );
  if (differing !== undefined)
    return `${differing.address} would still differ in ${differing.path.join(".")}`;
  const other = unreportedChange(request, { project, documents }, changes, to.stage, stages);
  return other && `${other.address} would change in ${other.field.name}, in stage ${other.stage}`;
}
