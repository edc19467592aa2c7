import { type Difference, type Meaning, StageView, diffStages, sameMeaning } from "../inspect/stages.ts";
import { type Document, hasErrors } from "../manifest/document.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import type { Environment } from "../manifest/interpolation.ts";
import { readProject, resolveProject } from "../manifest/load.ts";
import { type Address, parseAddress } from "../model/address.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, sameJson } from "../model/json.ts";
import { isSensitive, reveal } from "../model/value.ts";
import type { LiveReport } from "../service/answers.ts";
import { withFiles } from "./import-write.ts";
import {
  type Candidate,
  Draft,
  type FileEdit,
  type Left,
  type NewText,
  type PlaceRules,
  type Rewrite,
  type Rewriting,
  type Rewritten,
  type Spot,
  type Unit,
  type Wish,
  changedUnits,
  deleteAt,
  escaped,
  place,
  placeholdersIn,
  setAt,
  stageSpot,
  topSpot,
  wishesOf,
} from "./rewrite.ts";

interface PromoteRequest {
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
 * A test case that only one of the stages has is left and said. To make one it takes a description, an external id and
 * what is fixed after creation, which promotion never carries; and the interface can delete none.
 */
export function promote(start: Draft, { from, to, stages, inScope }: PromoteRequest): Rewrite {
  const diff = diffStages(from, to, "promoted", inScope);
  const promotions = diff.differences.map((difference) => promotionOf(difference, start, from, to));
  const rules = { start, stages, wishes: wishesOf(promotions.map(({ wish }) => wish)) };
  const settled = settle(start, promotions, rules);
  const { draft } = settled;
  const changes: Rewritten[] = [];
  const left: Left[] = [];
  for (const one of promotions) {
    if (one.wish.isMet(draft.written(one.wish.unit)))
      changes.push(rewritten(one, settled.spots.get(one) ?? topSpot(draft, one.wish.unit)));
    else left.push({ ...whyLeft(one), ...whereOf(one) });
  }
  for (const { address, origin } of diff.onlyFrom) left.push(lone(address, from, to, origin));
  for (const { address, origin } of diff.onlyTo) left.push(lone(address, to, from, origin));
  return { draft, changes, left };
}

/** The manifests with all wishes met that can be, and where each value was written that was. */
interface Settled {
  readonly draft: Draft;
  readonly spots: ReadonlyMap<Promotion, Spot>;
}

/**
 * Meets wishes until no more can be met: a shared default can go only once those test cases that want another value
 * have it elsewhere, and one that all its sharers wish is written once for all.
 */
function settle(start: Draft, promotions: readonly Promotion[], rules: PlaceRules): Settled {
  const spots = new Map<Promotion, Spot>();
  let draft = start;
  for (let met = -1; met < spots.size;) {
    met = spots.size;
    for (const one of promotions) {
      if (one.wish.isMet(draft.written(one.wish.unit))) continue;
      const placed = place(draft, one.wish, candidatesOf(draft, one), rules);
      if (placed === undefined) continue;
      spots.set(one, placed.spot);
      ({ draft } = placed);
    }
  }
  return { draft, spots };
}

function candidatesOf(draft: Draft, { wish: { unit }, texts, wanted }: Promotion): readonly Candidate[] {
  const top = topSpot(draft, unit);
  if (wanted === undefined) return top === undefined ? [] : removals(draft, unit, top);
  const spots = [top, stageSpot(draft, unit)].filter((spot) => spot !== undefined);
  return spots.flatMap((spot) => texts.map((text) => ({ spot, edits: [setAt(spot, text)] })));
}

/**
 * The value goes; and where the stage's defaults have one below it, that as well. Where others take theirs from there
 * and are to keep it, they get it in their own overrides.
 */
function removals(draft: Draft, unit: Unit, top: Spot): readonly Candidate[] {
  const once = [deleteAt(top)];
  const below = topSpot(draft.with(once), unit);
  const lowest = below ?? top;
  const all = below === undefined ? once : [...once, deleteAt(below)];
  return [
    { spot: top, edits: once },
    { spot: lowest, edits: all },
    { spot: lowest, edits: [...all, ...pins(draft, draft.with(all), unit)] },
  ];
}

function pins(before: Draft, after: Draft, unit: Unit): readonly FileEdit[] {
  const parts = parseAddress(unit.address);
  const siblings = parts === undefined ? [] : before.addressesOf(parts.target, parts.kind);
  return siblings.flatMap((address) => {
    const sibling = { ...unit, address };
    const was = before.written(sibling);
    const now = after.written(sibling);
    if (address === unit.address || was === undefined || (now !== undefined && sameJson(was, now))) return [];
    const spot = stageSpot(before, sibling);
    return spot === undefined ? [] : [setAt(spot, was)];
  });
}

function lone(address: Address, here: StageView, there: StageView, origin: Left["origin"]): Left {
  return {
    address,
    reason: `Only ${here.stage} has it, and promotion neither makes nor removes test cases. Declare it for ${there.stage}, too, or for all stages.`,
    ...(origin === undefined ? {} : { origin }),
  };
}

/** One field of one test case, on its way. */
interface Promotion {
  readonly difference: Difference;
  readonly wish: Wish;
  /** What to write, the best first; none where the value is to go, or would carry a credential. */
  readonly texts: readonly Json[];
  readonly wanted: Meaning | undefined;
}

/** What is wished for a field that differs, and the ways to write it. */
function promotionOf(difference: Difference, draft: Draft, from: StageView, to: StageView): Promotion {
  const field = fieldAt(difference);
  const unit: Unit = { stage: to.stage, address: difference.address, field };
  const written = draft.written({ ...unit, stage: from.stage });
  const wanted = from.meaningOf(field, written);
  const isMet = (now: Json | undefined): boolean => sameMeaning(field, wanted, to.meaningOf(field, now));
  const there = to.meaningOf(field, draft.written(unit));
  const literal = spelt(wanted);
  const both = written === undefined || sameJson(written, literal) ? [literal] : [written, literal];
  const texts = written === undefined || carriesCredential(wanted, there) ? [] : both;
  return { difference, wish: { unit, isMet }, texts, wanted };
}

/** As it stands in one stage, without the variables of that; secrets stay placeholders. */
function spelt(wanted: Meaning | undefined): Json {
  if (wanted === undefined) return null;
  return isSensitive(wanted.value) ? wanted.spelt : escaped(reveal(wanted.value));
}

/** Credentials belong to a stage: only those go along that the other stage uses in the same place. */
function carriesCredential(wanted: Meaning | undefined, there: Meaning | undefined): boolean {
  if (wanted === undefined || !isSensitive(wanted.value)) return false;
  const known = new Set(there === undefined ? [] : placeholdersIn(there.spelt));
  return placeholdersIn(wanted.spelt).some((placeholder) => !known.has(placeholder));
}

function fieldAt({ address, path }: Difference): Field<never> {
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) throw new TypeError(`no field ${path.join(".")} of ${address}`);
  return field;
}

/** Where a field stands that is left. */
function whereOf({ difference }: Promotion): Pick<Left, "origin"> {
  const origin = difference.to?.origin ?? difference.from?.origin;
  return origin === undefined ? {} : { origin };
}

/** Why nothing could be written. */
function whyLeft({ difference, wanted, wish }: Promotion): Left {
  const { address, path } = difference;
  const { stage } = wish.unit;
  if (wanted !== undefined && isSensitive(wanted.value))
    return {
      address,
      path,
      reason: `It holds a secret that ${stage} does not use here, and credentials are not promoted. Write it by hand.`,
    };
  return { address, path, reason: "No place was found for it that would change nothing else." };
}

/** A field that is promoted, and where its value stands. */
function rewritten({ difference, wish }: Promotion, spot: Spot | undefined): Rewritten {
  const { address, path, sensitive, from, to } = difference;
  const before = to?.value;
  const after = from?.value;
  return {
    address,
    path,
    ...(sensitive ? { sensitive } : {}),
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
    layer: spot?.layer ?? "stage",
    origin:
      spot === undefined
        ? (to?.origin ?? { file: "", path: wish.unit.field.path })
        : { file: spot.file, path: spot.path },
  };
}

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
}

/** The test cases that have not passed. One that ran more than once has passed if it did each time. */
export function refusedBy({ addresses, idOf, report }: GateQuestion): readonly Refused[] {
  return addresses.flatMap((address) => {
    const id = idOf(address);
    if (id === undefined) return [missing(address, "it is not live there")];
    if (report === undefined) return [missing(address, "no test report of its target has finished")];
    const results = report.results.filter(({ testCaseId }) => testCaseId === id);
    if (results.length === 0) return [missing(address, `it is not in report ${report.id}`)];
    const open = results.map(({ status }) => status ?? "no status").filter((status) => status !== "PASSED");
    const [status] = open.includes("FAILED") ? ["FAILED"] : open;
    if (status === undefined) return [];
    const outcome = status === "FAILED" ? "failed" : "otherwise";
    return [{ address, outcome, why: `${status} in report ${report.id}` }];
  });
}

function missing(address: Address, why: string): Refused {
  return { address, outcome: "missing", why };
}
