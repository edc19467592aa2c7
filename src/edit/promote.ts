import {
  type Difference,
  type StageValue,
  StageView,
  diffStages,
  sameStageValue,
} from "../inspect/stages.ts";
import { hasErrors } from "../manifest/problem.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type EnvironmentVariables, placeholdersIn } from "../manifest/interpolation.ts";
import { type ProjectReading, readProject, resolveProject } from "../manifest/load.ts";
import { type Address, parseAddress, targetAddress } from "../model/address.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, type Path, sameJson } from "../model/json.ts";
import { isSensitive, reveal } from "../model/value.ts";
import { targetOf } from "../plan/input.ts";
import type { LiveReport } from "../service/answers.ts";
import { type Excluded, type NewText, NOTHING_EXCLUDED, changeKey, withTexts } from "./edit-files.ts";
import {
  type FieldRef,
  type Goal,
  Manifests,
  type NotRewritten,
  type ProjectDocuments,
  type Rewrite,
  type Rewritten,
  type Slot,
  changedFields,
  escaped,
  onlyStagesOf,
  placeAll,
  removals,
  setAt,
  valueAtOne,
} from "./rewrite.ts";

export interface PromoteRequest extends ProjectDocuments {
  readonly reading: ProjectReading;
  readonly env: EnvironmentVariables;
  readonly from: StageView;
  readonly to: StageView;
  /** All stages of the project. */
  readonly stages: readonly string[];
  readonly inScope: (address: Address) => boolean;
}

/**
 * The manifests in which stage `to` resolves every promoted field as stage `from` does, and every other stage as
 * before.
 *
 * A value is written where the one that counts stands now, so that comments and order stay: an override is set and
 * not taken away, or the next change of the base would reach the stage without a promotion. Where that place is shared
 * with another stage or test case that is to stay as it is, the value goes into the stage's own override.
 *
 * A test case whose `onlyStages` leaves stage `to` out is added to that stage. Any other that only one of the stages has
 * is left and said: to make one it takes a description, an external id and what is fixed after creation, which promotion
 * never carries; and the interface can delete none.
 */
export function promote(request: PromoteRequest, excluded: Excluded = NOTHING_EXCLUDED): Rewrite {
  const { from, stages, inScope } = request;
  const { to, sources, extensions, refused } = extendStage(request, excluded);
  const diff = diffStages(from, to, "promoted", inScope);
  const start = new Manifests(sources);
  const left: NotRewritten[] = [];
  const promotions: Promotion[] = [];
  for (const difference of diff.differences) {
    const promotion = promotionOf(difference, start, from, to);
    const reason = excluded.get(changeKey(difference));
    if (reason === undefined) promotions.push(promotion);
    else
      left.push({
        address: difference.address,
        path: difference.path,
        reason,
        ...whereOf(promotion),
        failed: true,
      });
  }
  const { edits, placed } = placeAll(sources, promotions, { stages });
  const changes: Rewritten[] = [];
  for (const one of promotions)
    if (placed.has(one)) changes.push(rewritten(one, placed.get(one)));
    else left.push({ ...whyLeft(one), ...whereOf(one) });
  for (const { address, origin } of diff.onlyFrom)
    left.push({ ...lone(address, from, to, origin), ...refused.get(address) });
  for (const { address, origin } of diff.onlyTo) left.push(lone(address, to, from, origin));
  return {
    edits: [...extensions.map(({ slot, after }) => setAt(slot, after)), ...edits],
    changes: [...extensions.map(extensionChange), ...changes],
    left,
  };
}

/** A resource that is to exist in one more stage. */
interface Extension {
  readonly address: Address;
  readonly slot: Slot;
  readonly before: readonly string[];
  readonly after: readonly string[];
}

const ONLY_STAGES: Path = ["onlyStages"];

function extensionChange({ address, slot, before, after }: Extension): Rewritten {
  const origin = { file: slot.file, path: slot.path };
  return { address, path: ONLY_STAGES, before, after, layer: slot.layer, origin };
}

/**
 * Stage `to` with the test cases and targets that `onlyStages` kept out of it, but for those with which the stage could
 * not be read.
 */
function extendStage(request: PromoteRequest, excluded: Excluded) {
  const { from, to, reading, env, project, inScope } = request;
  const start = new Manifests(request);
  const refused = new Map<Address, { readonly reason: string; readonly failed: true }>();
  const refuse = (address: Address, reason: string): unknown =>
    refused.set(address, { reason, failed: true });
  const all = new Set<Address>();
  for (const { address } of diffStages(from, to, "promoted", inScope).onlyFrom) {
    const target = targetAddress(targetOf(address));
    const isKeptOut = onlyStagesOf(start, target, [from.stage])?.stages.includes(to.stage) === false;
    if (isKeptOut && !inScope(target))
      refuse(address, `${target} does not exist in ${to.stage}; promote it as well.`);
    else for (const one of [target, address]) all.add(one);
  }
  for (const address of all) {
    const reason = excluded.get(changeKey({ address, path: ONLY_STAGES }));
    if (reason !== undefined) refuse(address, reason);
  }
  for (;;) {
    const extensions = [...all].flatMap((address): readonly Extension[] => {
      const only = onlyStagesOf(start, address, [from.stage]);
      const isRefused = refused.has(address) || refused.has(targetAddress(targetOf(address)));
      if (only === undefined || isRefused || only.stages.includes(to.stage)) return [];
      return [{ address, slot: only.slot, before: only.stages, after: [...only.stages, to.stage] }];
    });
    const manifests = new Manifests(request);
    manifests.apply(extensions.map(({ slot, after }) => setAt(slot, after)));
    const sources = { project, documents: manifests.documents };
    if (extensions.length === 0) return { to, sources: request, extensions, refused };
    const options = { env, stage: to.stage, allowMissingSecrets: true, needsApiKey: false };
    const { resolved, problems } = resolveProject({ ...reading, documents: manifests.documents }, options);
    const errors = problems.filter(({ severity }) => severity === "error");
    if (resolved !== undefined && errors.length === 0)
      return { to: new StageView(resolved.desired, project, reading, env), sources, extensions, refused };
    const own = extensions.filter(({ address }) => errors.some((error) => error.address === address));
    for (const { address } of own.length === 0 ? extensions : own) {
      const error = errors.find((one) => one.address === address) ?? errors[0];
      refuse(address, `It cannot exist in ${to.stage}: ${error?.summary ?? "the stage could not be read"}.`);
    }
  }
}

function lone(
  address: Address,
  here: StageView,
  there: StageView,
  origin: NotRewritten["origin"],
): NotRewritten {
  return {
    address,
    reason: `Only ${here.stage} has it, and promotion neither creates nor removes test cases. Declare it for ${there.stage} as well, or for all stages.`,
    ...(origin === undefined ? {} : { origin }),
  };
}

/** One field of one test case, on its way. */
interface Promotion extends Goal {
  readonly difference: Difference;
  /** What it comes to; nothing where the value is to go. */
  readonly meaning: StageValue | undefined;
}

/** What is wanted for a field that differs, and the ways to write it. */
function promotionOf(
  difference: Difference,
  manifests: Manifests,
  from: StageView,
  to: StageView,
): Promotion {
  const field = fieldAt(difference);
  const ref: FieldRef = { stage: to.stage, address: difference.address, field };
  const written = manifests.written({ ...ref, stage: from.stage });
  const meaning = from.meaningOf(field, written);
  const there = to.meaningOf(field, manifests.written(ref));
  const literal = spelt(meaning);
  const both = written === undefined || sameJson(written, literal) ? [literal] : [written, literal];
  return {
    difference,
    ref,
    meaning,
    isMet: (now) => sameStageValue(field, meaning, to.meaningOf(field, now)),
    candidates: (rewriter) => {
      if (meaning === undefined) return removals(rewriter, ref, [ref.stage]);
      if (carriesCredential(meaning, there)) return [];
      const slots = [rewriter.manifests.topSlot(ref), rewriter.manifests.stageSlot(ref)];
      return slots.flatMap((slot) => both.flatMap((text) => valueAtOne(text, [slot])));
    },
  };
}

/** As it stands in one stage, without the variables of that; secrets stay placeholders. */
function spelt(wanted: StageValue | undefined): Json {
  if (wanted === undefined) return null;
  return isSensitive(wanted.value) ? wanted.spelt : escaped(reveal(wanted.value));
}

/** Credentials belong to a stage: only those go along that the other stage uses in the same place. */
function carriesCredential(wanted: StageValue | undefined, there: StageValue | undefined): boolean {
  if (wanted === undefined || !isSensitive(wanted.value)) return false;
  const known = new Set(placeholdersIn(there?.spelt ?? null).map(({ source }) => source));
  return placeholdersIn(wanted.spelt).some(({ source }) => !known.has(source));
}

function fieldAt({ address, path }: Difference): Field {
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) throw new TypeError(`no field ${path.join(".")} of ${address}`);
  return field;
}

/** Where a field stands that is left. */
function whereOf({ difference }: Promotion): Pick<NotRewritten, "origin"> {
  const origin = difference.to?.origin ?? difference.from?.origin;
  return origin === undefined ? {} : { origin };
}

/** Why nothing could be written. */
function whyLeft({ difference, meaning, ref: { stage } }: Promotion): NotRewritten {
  const { address, path } = difference;
  if (meaning !== undefined && isSensitive(meaning.value))
    return {
      address,
      path,
      reason: `It contains a secret that ${stage} does not use here, and credentials are not promoted. Write it by hand.`,
    };
  return { address, path, reason: "Writing it anywhere would also change something else." };
}

/** A field that is promoted, and where its value stands. */
function rewritten({ difference, ref }: Promotion, slot: Slot | undefined): Rewritten {
  const { address, path, sensitive, from, to } = difference;
  const before = to?.value;
  const after = from?.value;
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    layer: slot?.layer ?? "stage",
    origin:
      slot === undefined
        ? (to?.origin ?? { file: "", path: ref.field.path })
        : { file: slot.file, path: slot.path },
  };
}

export interface ProofRequest extends PromoteRequest {
  readonly folder: ProjectFolder;
  readonly env: EnvironmentVariables;
}

/**
 * Reads the manifests as they are going to be, and looks whether they do what they are for and no more: the diff of
 * what was promoted is empty, and nothing else is declared differently in any stage.
 * @returns what is wrong; nothing where all is well
 */
export async function provePromotion(
  texts: readonly NewText[],
  { changes, left }: Rewrite,
  request: ProofRequest,
): Promise<string | undefined> {
  const { folder, env, from, to, inScope, stages } = request;
  const reading = await readProject(withTexts(folder, texts));
  const { project } = reading;
  const options = { env, allowMissingSecrets: true, needsApiKey: false };
  const views = [from, to].map(({ stage }) => {
    const { resolved, problems } = resolveProject(reading, { ...options, stage });
    if (resolved === undefined || project === undefined || hasErrors([...problems, ...reading.problems]))
      return undefined;
    return new StageView(resolved.desired, project, reading, env);
  });
  const [source, goal] = views;
  if (source === undefined || goal === undefined || project === undefined)
    return "the new manifests could not be read";
  const open = new Set(left.map(changeKey));
  const differing = diffStages(source, goal, "promoted", inScope).differences.find(
    (difference) => !open.has(changeKey(difference)),
  );
  if (differing !== undefined)
    return `${differing.address} would still differ in ${differing.path.join(".")}`;
  const promoted = new Set(changes.map(changeKey));
  const extended = new Set(changes.filter(({ path }) => path === ONLY_STAGES).map(({ address }) => address));
  const isExtended = (address: Address): boolean =>
    extended.has(address) || extended.has(targetAddress(targetOf(address)));
  const spoilt = changedFields(
    new Manifests(request),
    new Manifests({ project, documents: reading.documents }),
    stages,
  ).find(
    ({ stage, address, field: { path } }) =>
      stage !== to.stage || !(isExtended(address) || promoted.has(changeKey({ address, path }))),
  );
  return spoilt && `${spoilt.address} would change in ${spoilt.field.name}, in stage ${spoilt.stage}`;
}

/** A test case that keeps a promotion from being made. */
export interface Refused {
  readonly address: Address;
  readonly outcome: "failed" | "missing" | "otherwise";
  /** What the report says of it, or why it says nothing. */
  readonly why: string;
}

/** What a target's newest finished report is asked about. */
export interface GateQuestion {
  readonly addresses: readonly Address[];
  /** The live test case of an address; nothing where there is none. */
  readonly idOf: (address: Address) => string | undefined;
  /** Nothing where no report has finished. */
  readonly report: LiveReport | undefined;
  /** When the last apply that touched a test case began, ISO 8601; nothing where none is known. */
  readonly appliedAt: (address: Address) => string | undefined;
}

/** The test cases that have not passed. One that ran more than once has passed if it did each time. */
export function refusedBy({ addresses, idOf, report, appliedAt }: GateQuestion): readonly Refused[] {
  return addresses.flatMap((address) => {
    const id = idOf(address);
    if (id === undefined) return [missing(address, "it is not live there")];
    if (report === undefined) return [missing(address, "no test report of its target has finished")];
    const results = report.results.filter(({ testCaseId }) => testCaseId === id);
    if (results.length === 0) return [missing(address, `it is not in report ${report.id}`)];
    const open = results.map(({ status }) => status ?? "no status").filter((status) => status !== "PASSED");
    const [status] = open.includes("FAILED") ? ["FAILED"] : open;
    const applied = appliedAt(address);
    if (applied !== undefined && !(Date.parse(report.createdAt ?? "") > Date.parse(applied)))
      return [
        missing(
          address,
          `no report has finished since it was applied at ${applied}; report ${report.id} is older`,
        ),
      ];
    if (status === undefined) return [];
    const outcome = status === "FAILED" ? "failed" : "otherwise";
    return [{ address, outcome, why: `${status} in report ${report.id}` }];
  });
}

function missing(address: Address, why: string): Refused {
  return { address, outcome: "missing", why };
}
