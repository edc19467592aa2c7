import { addressOfId } from "../inspect/explain.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type LoadOptions, loadProject } from "../manifest/load.ts";
import { type Address, parseAddress } from "../model/address.ts";
import { type DesiredResource, originOf, resourcesOf } from "../model/desired.ts";
import { type Field, fieldsOf } from "../model/fields.ts";
import { type Json, type JsonArray, isArray, isObject, sameJson } from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import type { Change } from "../model/plan.ts";
import {
  type Value,
  type ValueObject,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { type MatchedTarget, compareField, display, folderNames, readField } from "../plan/compare.ts";
import {
  type ElementMatch,
  alignElements,
  declaredElements,
  elementInWords,
  locatorDifference,
  projectElement,
  sameElement,
  sameElements,
  withoutLine,
} from "../plan/elements.ts";
import { type PlanInput, ordered } from "../plan/input.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { type Memory, mayHoldSecret, memoryOf } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { expectedLive } from "../plan/resources.ts";
import { type Excluded, NOTHING_EXCLUDED, type NewText, changeKey, withTexts } from "./edit-files.ts";
import { escaped, isDeclarable } from "./import-draft.ts";
import {
  type Candidate,
  type FieldRef,
  type NotRewritten,
  Manifests,
  type ProjectDocuments,
  type Rewrite,
  Rewriter,
  type Rewriting,
  type Rewritten,
  type RewriteScope,
  changedFields,
  placeholdersIn,
  sameWritten,
  setAt,
} from "./rewrite.ts";

/**
 * The manifests in which one stage says what the service has, wherever it declared something else.
 *
 * A value is written where the one that counts stands now. In a resource's own map it reaches the other stages, which
 * are named with the change. A default stays as it is where it holds for another test case that is not to change, in
 * this stage or in another one; then the value goes to the resource itself.
 */
export function pull(request: PullRequest, excluded: Excluded = NOTHING_EXCLUDED): Rewrite {
  const { stage, stages, planned } = request;
  const start = new Manifests(request);
  const found = [...planned.matched.values()].flatMap((matched) => findingsIn(matched, start, request));
  const left: NotRewritten[] = found.flatMap((finding) => leftOf(finding, excluded));
  const findings = found.filter((finding) => !excluded.has(changeKey(about(finding))));
  const rewriter = new Rewriter(
    request,
    findings.flatMap(({ wanted }) => wanted ?? []),
    {
      stages,
      mayChange: (ref, own) => ref.stage !== stage && ref.address === own.address,
    },
  );
  const changes: Rewritten[] = [];
  for (const finding of findings) {
    const { wanted, verdict } = finding;
    if (wanted === undefined || verdict.kind !== "pull") continue;
    const isMet = wanted.isMet(rewriter.manifests.written(wanted.ref));
    const slot = isMet
      ? rewriter.manifests.topSlot(wanted.ref)
      : rewriter.place(wanted, candidatesOf(rewriter.manifests, wanted.ref, verdict.written));
    if (slot === undefined)
      left.push({
        ...about(finding),
        reason: "Writing it anywhere would also change something else.",
        failed: true,
      });
    else
      changes.push({
        address: finding.resource.address,
        path: finding.field.path,
        before: ordered(display(finding.resource.fields[finding.field.name] ?? null)),
        // Elements keep what the service does not show, a locator line for one.
        after: ordered(finding.field.compare === "elements" ? verdict.written : verdict.live),
        layer: slot.layer,
        origin: { file: slot.file, path: slot.path },
      });
  }
  const all = changes.map((change) => withStages(change, start, rewriter.manifests, request));
  return { edits: rewriter.edits, changes: all, left: [...left, ...absent(request)] };
}

function* candidatesOf(manifests: Manifests, ref: FieldRef, value: Json): Generator<Candidate> {
  for (const slot of [manifests.topSlot(ref), manifests.baseSlot(ref), manifests.stageSlot(ref)])
    if (slot !== undefined) yield { slot, edits: [setAt(slot, value)] };
}

function leftOf(finding: Finding, excluded: Excluded): readonly NotRewritten[] {
  const { verdict, pending } = finding;
  const reason = excluded.get(changeKey(about(finding)));
  if (reason !== undefined) return [{ ...about(finding), reason, failed: true }];
  if (verdict.kind === "left") return [{ ...about(finding), reason: verdict.reason, failed: true }];
  if (verdict.kind === "hidden" && pending)
    return [{ ...about(finding), reason: "The service does not return it; the next apply sends it." }];
  return [];
}

function about({ resource, field }: Finding): Omit<NotRewritten, "reason"> {
  const origin = originOf(resource, field.path);
  return { address: resource.address, path: field.path, ...(origin === undefined ? {} : { origin }) };
}

/** A resource that is declared and not on the service has nothing to be pulled. */
function absent({ planned, inScope }: PullRequest): readonly NotRewritten[] {
  const resources = new Map(
    [...planned.matched.values()]
      .flatMap((matched) => [...matched.resources.values()])
      .map((one) => [one.address, one]),
  );
  return planned.plan.changes.flatMap(({ address, action }) => {
    const resource = resources.get(address);
    if (action !== "create" || resource?.kind === "batchGeneration" || !inScope(address)) return [];
    const origin = resource && originOf(resource);
    const reason = "It is not on the service, so there is nothing to pull; the next apply creates it.";
    return [{ address, reason, ...(origin === undefined ? {} : { origin }) }];
  });
}

function withStages(
  change: Rewritten,
  before: Manifests,
  after: Manifests,
  { stage, stages }: PullRequest,
): Rewritten {
  const { address, path } = change;
  const kind = parseAddress(address)?.kind ?? "target";
  const field = fieldsOf(kind).find(({ name }) => name === path.join("."));
  if (field === undefined) return change;
  const alsoStages = stages.filter((other) => {
    const ref = { stage: other, address, field };
    return other !== stage && !sameWritten(before.written(ref), after.written(ref));
  });
  return alsoStages.length === 0 ? change : { ...change, alsoStages };
}

/** Whether the live elements are others than what is declared, as far as the service shows them. */
function elementsDiffer(value: Value | undefined, live: readonly LiveElement[], memory: Memory): boolean {
  const declared = declaredElements(value);
  if (!sameElements(declared, live)) return true;
  return declared.some((element, at) => movedByService({ declared: element, at, live: live[at] }, memory));
}

/**
 * The written elements changed to the live ones: an element that stays is left as it is written, one that was changed
 * in place keeps the parts that it declares, and what is new is written whole. A locator line whose selectors the
 * service has changed gives way to these.
 */
function graftElements(
  written: Json,
  value: Value | undefined,
  live: readonly LiveElement[],
  memory: Memory,
  lost: Lost,
): Json {
  const items = isArray(written) ? written : [];
  const declared = declaredElements(value);
  const matches = sameElements(declared, live)
    ? declared.map((element, at) => ({ declared: element, at, live: live[at] }))
    : alignElements(declared, live, memory);
  const partner = new Map(matches.map((match) => [match.live, match]));
  const stays = new Set(live.flatMap((element) => partner.get(element)?.at ?? []));
  for (const [at, item] of items.entries()) if (!stays.has(at)) lost.push(...placeholdersIn(item));
  return live.map((element) => {
    const match = partner.get(element);
    return match === undefined
      ? inWords(element)
      : graftElement(items[match.at] ?? {}, match, element, memory, lost);
  });
}

function graftElement(
  written: Json,
  match: ElementMatch,
  live: LiveElement,
  memory: Memory,
  lost: Lost,
): Json {
  const { declared } = match;
  const moved = movedByService(match, memory);
  if (sameElement(declared, live) && !moved) return written;
  const { locatorLine: line, ...own } = isObject(written) ? written : {};
  const keepsLine = line === undefined || locatorDifference(match, memory) === undefined;
  if (moved || !keepsLine || !sameKind(declared, live)) {
    lost.push(...placeholdersIn(written));
    return inWords(live);
  }
  const parts = graft(own, reveal(withoutLine(declared)), projectElement(declared, live), lost);
  return line === undefined || !isObject(parts) ? parts : { ...parts, locatorLine: line };
}

/** Only where state knows which selectors the service once made of the line can it be told that it changed them. */
function movedByService(match: ElementMatch, memory: Memory): boolean {
  const difference = locatorDifference(match, memory);
  return difference === "service" || difference === "both";
}

/** A step that acts stays one that acts, and a check a check; else it is another step, and all of it is new. */
function sameKind(declared: ValueObject, live: LiveElement): boolean {
  const same = (part: "interaction" | "assertion"): boolean =>
    !Object.hasOwn(declared, part) || isValueObject(declared[part]) === ((live.parts[part] ?? null) !== null);
  return same("interaction") && same("assertion");
}

function inWords(element: LiveElement): Json {
  return escaped(elementInWords(element));
}

interface PullRequest extends ProjectDocuments {
  readonly stage: string;
  /** All stages of the project. */
  readonly stages: readonly string[];
  readonly planned: Planned;
  readonly inScope: (address: Address) => boolean;
  /** By name; all where it is empty. */
  readonly fields: ReadonlySet<string>;
  readonly holdsSecret: (value: Json) => boolean;
}

/** A declared field that is not the live value. */
interface Finding {
  readonly resource: DesiredResource;
  readonly field: Field;
  readonly verdict: Exclude<PulledValue, { readonly kind: "same" }>;
  /** Only where something is to be written. */
  readonly wanted: RewriteScope | undefined;
  /** The plan would send the field, and the service shows nothing of it. */
  readonly pending: boolean;
}

/** What a target's resources declare otherwise than it is live. */
function findingsIn(matched: MatchedTarget, start: Manifests, request: PullRequest): readonly Finding[] {
  const { planned, inScope } = request;
  const changes = new Map(planned.plan.changes.map((change) => [change.address, change]));
  return resourcesOf(matched.target)
    .filter(({ address }) => inScope(address))
    .flatMap((resource) => {
      const live = matched.matches.get(resource.address)?.live;
      const change = changes.get(resource.address);
      if (live === undefined) return [];
      return fieldsOf(resource.kind).flatMap(
        (field) => findingOf(field, live, matched, resource, change, start, request) ?? [],
      );
    });
}

function findingOf(
  field: Field,
  live: LiveResource,
  matched: MatchedTarget,
  resource: DesiredResource,
  change: Change | undefined,
  start: Manifests,
  { stage, fields, holdsSecret }: PullRequest,
): Finding | undefined {
  const value = resource.fields[field.name];
  if (value === undefined || (fields.size > 0 && !fields.has(field.name))) return undefined;
  const ref: FieldRef = { stage, address: resource.address, field };
  const verdict = judge(field, live, {
    value,
    written: start.written(ref) ?? null,
    memory: memoryOf(resource.address, live.id, matched.state, matched.fingerprints),
    expected: (declared) => expectedLive(matched, field, declared),
    addressOfId: (id) => addressOfId(id, matched),
    holdsSecret,
  });
  if (verdict.kind === "same") return undefined;
  const pending =
    change?.fields.some(({ path }) => field.path.every((step, at) => path[at] === step)) ?? false;
  const wanted =
    verdict.kind === "pull"
      ? { ref, isMet: (now: Json | undefined) => sameWritten(now, verdict.written) }
      : undefined;
  return { resource, field, verdict, wanted, pending };
}

/** Placeholders that the written value came through and the new one would lose; with any of them, a pull leaves it. */
type Lost = string[];

/**
 * The written value changed as little as makes it mean the live one: parts that mean the same already stay as they are
 * written, placeholders and all.
 * @param meant what the written value means: it has the same form
 */
function graft(written: Json, meant: Json, live: Json, lost: Lost): Json {
  if (sameJson(meant, live)) return written;
  const part = (old: Json | undefined, means: Json | undefined, now: Json): Json =>
    old === undefined || means === undefined ? escaped(now) : graft(old, means, now, lost);
  if (isArray(written) && isArray(meant) && isArray(live)) {
    lost.push(...written.slice(live.length).flatMap(placeholdersIn));
    return live.map((item, at) => part(written[at], meant[at], item));
  }
  if (isObject(written) && isObject(meant) && isObject(live)) {
    const kept = Object.keys(written).filter((key) => Object.hasOwn(live, key));
    for (const key of Object.keys(written))
      if (!Object.hasOwn(live, key)) lost.push(...placeholdersIn(written[key] ?? null));
    const added = Object.keys(live).filter((key) => !Object.hasOwn(written, key));
    const entries = [...kept, ...added].map((key): [string, Json] => [
      key,
      part(written[key], meant[key], live[key] ?? null),
    ]);
    return Object.fromEntries(entries);
  }
  lost.push(...placeholdersIn(written));
  return escaped(live);
}

/** A set of texts: members that stay keep their place, new ones come last. */
function graftSet(written: JsonArray, meant: JsonArray, live: JsonArray, lost: Lost): Json {
  const stays = (_: Json, at: number): boolean => live.includes(meant[at] ?? null);
  lost.push(...written.filter((item, at) => !stays(item, at)).flatMap(placeholdersIn));
  return [...written.filter(stays), ...live.filter((item) => !meant.includes(item)).map(escaped)];
}

/** What is to become of a declared field: nothing, the text that says the live value, or why it is left. */
type PulledValue =
  | { readonly kind: "same" }
  /** The service does not show it, so that only a plan can tell whether it differs. */
  | { readonly kind: "hidden" }
  | { readonly kind: "pull"; readonly written: Json; readonly live: Json }
  | { readonly kind: "left"; readonly reason: string };

/** What a verdict draws on in addition to the field and its live resource. */
export interface Declared {
  readonly value: Value;
  /** As the manifests say it, with placeholders. */
  readonly written: Json;
  readonly memory: Memory;
  /** What the service would show of a fixed field; nothing where that cannot be told. */
  readonly expected: (value: Value) => Json | undefined;
  readonly addressOfId: (id: string) => string | undefined;
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
}

const SAME: PulledValue = { kind: "same" };
const HIDDEN: PulledValue = { kind: "hidden" };

/** Compares a declared field with the live value, as a plan does. */
function judge(field: Field, live: LiveResource, declared: Declared): PulledValue {
  const { value } = declared;
  if (isUnknown(value)) return HIDDEN;
  if (field.compare === "elements") {
    const { elements = [] } = live;
    if (!elementsDiffer(value, elements, declared.memory)) return SAME;
    if (mayHoldSecret(field, declared.memory)) return left(OLD_SECRET);
    return written(field, elements.map(elementInWords), declared, elements);
  }
  const reading = readField(field, live, folderNames(declared.memory.folders));
  if (reading.kind === "hidden") return HIDDEN;
  const found = compareField(field, value, live, declared.memory, declared.expected(value));
  if (found.kind !== "differs") return SAME;
  if (field.update === undefined) return fixed(field, found.before ?? null, declared);
  if (mayHoldSecret(field, declared.memory) && !isSensitive(value)) return left(OLD_SECRET);
  if (reading.kind === "unnamed")
    return left(`It is in the folder with the id ${reading.id}, whose name is unknown; write it by hand.`);
  return written(field, reading.value, declared);
}

const OLD_SECRET =
  "A secret was written to it last, and the live value may still hold it, so it is not shown or written.";

function written(
  field: Field,
  live: Json,
  { value, written: text, memory, holdsSecret }: Declared,
  elements?: readonly LiveElement[],
): PulledValue {
  if (isSensitive(value))
    return left("It holds a secret, and the live value in its place is not shown or written.");
  if (holdsSecret(live)) return left("The live value repeats a secret, so it is not written.");
  const declares = live === null ? field.nullable : isDeclarable(field.shape, live);
  if (!declares) return left(`The service has ${shortly(live)}, which a manifest cannot declare.`);
  const lost: Lost = [];
  const meant = reveal(value);
  const isSet = field.compare === "set";
  const made =
    elements !== undefined
      ? graftElements(text, value, elements, memory, lost)
      : isSet && isArray(text) && isArray(meant) && isArray(live)
        ? graftSet(text, meant, live, lost)
        : graft(text, meant, live, lost);
  if (lost.length === 0) return { kind: "pull", written: made, live };
  return left(`It comes through ${[...new Set(lost)].join(", ")}; live is ${shortly(live)}.`);
}

/** A field that no call can change: taking over the live value is the only way to end the difference. */
function fixed(field: Field, shown: Json, declared: Declared): PulledValue {
  const live = field.shape.type === "reference" ? referenceTo(shown, declared) : shown;
  if (live === undefined)
    return left(`The service has ${shortly(shown)}, which is not a test case that the manifests declare.`);
  if (live === null) return left("The service has none; take the field out by hand.");
  return written(field, live, declared);
}

function referenceTo(id: Json, { addressOfId }: Declared): Json | undefined {
  if (typeof id !== "string") return id;
  const address = addressOfId(id);
  return address === undefined ? undefined : parseAddress(address)?.key;
}

function left(reason: string): PulledValue {
  return { kind: "left", reason };
}

/** As much of a value as fits into a line. */
function shortly(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
}

export interface PullProof extends ProjectDocuments {
  readonly stages: readonly string[];
  readonly folder: ProjectFolder;
  readonly options: LoadOptions;
  /** What was planned from. */
  readonly input: PlanInput;
}

/**
 * Plans once more from the manifests as they are going to be, against what was read of the service: nothing that was
 * pulled may be left to do, and nothing else may be declared differently, in any stage, unless it is said.
 * @returns what is wrong; nothing where all is well
 */
export async function provePull(
  texts: readonly NewText[],
  { changes }: Rewriting,
  { folder, options, stages, input, ...sources }: PullProof,
): Promise<string | undefined> {
  const loaded = await loadProject(options, withTexts(folder, texts));
  if (!loaded.ok) {
    const [first] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    return `with the live values the project would not load (${first?.summary ?? "it cannot be read"})`;
  }
  const desired = desiredInScope(loaded.desired, input.scope, input.states);
  const planned = new Map(makePlan({ ...input, desired }).plan.changes.map((one) => [one.address, one]));
  for (const { address, path } of changes)
    if (planned.get(address)?.fields.some((field) => path.every((step, at) => field.path[at] === step)))
      return `${address} would still differ in ${path.join(".")}`;
  const said = new Set(
    changes.flatMap((change) =>
      [desired.stage, ...(change.alsoStages ?? [])].map((stage) => `${stage} ${changeKey(change)}`),
    ),
  );
  const other = changedFields(new Manifests(sources), new Manifests(loaded), stages).find(
    ({ stage, address, field: { path } }) => !said.has(`${stage} ${changeKey({ address, path })}`),
  );
  return other && `${other.address} would change in ${other.field.name} as well, in stage ${other.stage}`;
}
