import { addressOfId } from "../inspect/explain.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { placeholdersIn } from "../manifest/template.ts";
import { type LoadOptions, loadProject } from "../manifest/load.ts";
import { shortened } from "../manifest/problem.ts";
import { type Address, parseAddress, targetOf } from "../model/address.ts";
import { countValues } from "../model/collections.ts";
import { type DesiredResource, byAddress, originOf, resourcesOf } from "../model/desired.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import {
  type Json,
  type JsonArray,
  defined,
  isArray,
  isObject,
  sameJson,
  startsWith,
} from "../model/json.ts";
import type { LiveElement, LiveResource } from "../model/live.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import {
  type Value,
  type ValueObject,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { compareField, display, folderNames, liveInWords } from "../plan/compare.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import {
  type ElementMatch,
  alignElements,
  declaredElements,
  elementInWords,
  locatorDifference,
  projectElement,
  sameElement,
  withoutLine,
} from "../plan/elements.ts";
import type { PlanInput } from "../plan/input.ts";
import { ordered } from "../plan/normalise.ts";
import { type Memory, keyHolds, mayHoldSecret, memoryOf } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { expectedLive } from "../plan/reference.ts";
import { type EditedText, withTexts } from "./edit-files.ts";
import { type DeclareOptions, isDeclarable } from "./declare.ts";
import {
  type FieldRef,
  Manifests,
  type ProjectDocuments,
  deleteAt,
  escaped,
  setAt,
} from "./manifests.ts";
import { type Candidate, valueAtOne } from "./place-values.ts";
import {
  type Excluded,
  type FieldRewrite,
  NO_PLACE,
  type NotRewritten,
  type Rewrite,
  rewriteFields,
  unreportedChange,
} from "./rewrite.ts";

interface PullRequest extends ProjectDocuments, Pick<DeclareOptions, "holdsSecret"> {
  readonly stages: readonly string[];
  readonly planned: Planned;
  /** The input of that plan. */
  readonly input: PlanInput;
  readonly inScope: (address: Address) => boolean;
  /** Names of the fields to pull; all if empty. */
  readonly fields: ReadonlySet<string>;
  /** Whether to take every live value, whoever changed it. */
  readonly all: boolean;
  /** Whether the live value wins in a field of this address that both sides changed. */
  readonly theirs: (address: Address) => boolean;
  /** The layer to write; by default the one that set the value, if no other stage uses it. */
  readonly into: "base" | "stage" | undefined;
  /** Returns what was applied of a field that both sides changed, where that can be told. */
  readonly applied?: (address: Address, field: Field) => Json | undefined;
  readonly folder: ProjectFolder;
  readonly options: LoadOptions;
}

/**
 * Returns the rewrite after which one stage declares what the service has changed since the last
 * apply, as `drift` lists it.
 *
 * What only the manifests changed is not touched: the next apply sends it. A field that both
 * changed is a conflict and stays, unless the user decides. Without a record of an apply or import
 * nobody can tell who changed a field, so it stays, too.
 *
 * A value goes to the layer that set it, if no other stage or test case gets another value by that;
 * otherwise to the stage's own section.
 */
export function pull(request: PullRequest, excluded: Excluded = new Map()): Rewrite {
  const { stages, planned, inScope, into } = request;
  const start = new Manifests(request);
  const planning = byAddress(planned.plan.changes);
  const fields = [...planned.matched.values()].flatMap(
    (matched): (FieldRewrite | NotRewritten)[] => {
      const resources = resourcesOf(matched.target).filter(({ address }) => inScope(address));
      const { address } = matched.target;
      if (matched.live === undefined || resources.length === 0) return [];
      if (!request.all && !isRecorded(matched)) return [{ address, ...withoutRecord(matched) }];
      return resources.flatMap((one) =>
        pulledFields(one, matched, planning.get(one.address)?.fields ?? [], { ...request, start }),
      );
    },
  );
  // Resources that are declared but not on the service have nothing to pull.
  const absent = planned.plan.changes.flatMap(({ address, action }): readonly NotRewritten[] => {
    const resource = planned.matched.get(targetOf(address))?.resources.get(address);
    if (action !== "create" || resource?.kind === "batchGeneration" || !inScope(address)) return [];
    const origin = resource && originOf(resource);
    const reason =
      "It is not on the service, so there is nothing to pull; the next apply creates it.";
    return [{ address, reason, ...defined({ origin }) }];
  });
  const rewrite = rewriteFields(start, fields, excluded, stages, { follow: into === "base" });
  return { ...rewrite, left: [...rewrite.left, ...absent] };
}

/** Returns what to do about each declared field of a resource that differs from the live one. */
function pulledFields(
  resource: DesiredResource,
  matched: MatchedTarget,
  changes: readonly FieldChange[],
  request: PullRequest & { readonly start: Manifests },
): readonly (FieldRewrite | NotRewritten)[] {
  const { start, holdsSecret, all, into } = request;
  const { stage } = request.input.desired;
  const { address, kind, fields } = resource;
  const live = matched.matches.get(address)?.live;
  if (live === undefined) return [];
  const memory = memoryOf(address, live.id, matched);
  return fieldsOf(kind).flatMap((field): readonly (FieldRewrite | NotRewritten)[] => {
    const { name, path } = field;
    const value = fields[name];
    if (value === undefined || (request.fields.size > 0 && !request.fields.has(name))) return [];
    const ref: FieldRef = { stage, address, field };
    const own = changes.filter((change) => startsWith(change.path, path));
    const who = changerOf(own);
    // A field without a record of its own was declared since, which drift does not list either.
    if (!all && (who === undefined || who === "manifest")) return [];
    const text = start.written(ref) ?? null;
    const isPlanned = own.length > 0;
    const declared = { value, text, matched, memory, isPlanned, holdsSecret };
    const found = pulledValue(field, live, declared);
    if (found === undefined) return [];
    const about = { address, path, ...defined({ origin: originOf(resource, path) }) };
    if ("reason" in found) return [{ ...about, ...found }];
    // Elements keep what the service does not return, e.g. a locator line.
    const after = field.compare === "elements" ? found.written : found.live;
    const shown = { before: ordered(display(value)), after: ordered(after) };
    if (!all && who === "both" && !request.theirs(address))
      return [{ ...about, ...conflict(shown, request.applied?.(address, field)) }];
    return [
      {
        ref,
        isMet: (now) => sameJson(now, found.written),
        candidates: (now) => candidatesFor(found.written, now, ref, into),
        about,
        shown,
        unmet: { reason: NO_PLACE, failed: true },
      },
    ];
  });
}

/** Whether state can tell who changed the fields of a target. */
function isRecorded({ state, fingerprints }: MatchedTarget): boolean {
  if (fingerprints === undefined || state === undefined || !keyHolds(state, fingerprints))
    return false;
  return [...state.bindings.values()].some(({ fields }) => Object.keys(fields).length > 0);
}

function withoutRecord({ state, fingerprints }: MatchedTarget) {
  const isForeign = state !== undefined && fingerprints && !keyHolds(state, fingerprints);
  const why = isForeign
    ? "What was last applied is recorded under another key"
    : "There is no record of an apply or import of it";
  return {
    reason: `${why}, so tasc cannot tell who changed what. \`tasc pull --all\` takes every live value.`,
    failed: true,
  } as const;
}

/**
 * Returns who changed a field since the last apply. In a list of elements each side may have
 * changed some, so that neither value is right as a whole.
 */
function changerOf(changes: readonly FieldChange[]): ChangedBy | undefined {
  const [first, ...others] = new Set(changes.flatMap(({ changedBy = [] }) => changedBy));
  return others.length === 0 ? first : "both";
}

function conflict(
  { before, after }: { readonly before: Json; readonly after: Json },
  applied: Json | undefined,
) {
  const line = applied === undefined ? "" : `\napplied: ${shortly(applied)}`;
  return {
    reason: `Changed in the manifest and on the service since the last apply.\nyours:   ${shortly(before)}\ntheirs:  ${shortly(after)}${line}`,
    conflict: { yours: before, theirs: after, ...(applied !== undefined && { applied }) },
    failed: true,
  } as const;
}

/** Returns the places in which a value can be written, the best first. */
function candidatesFor(
  value: Json,
  now: Manifests,
  ref: FieldRef,
  into: PullRequest["into"],
): readonly Candidate[] {
  const [top, base, stage] = [now.topSlot(ref), now.baseSlot(ref), now.stageSlot(ref)];
  if (into === "stage") return valueAtOne(value, [stage]);
  if (into === undefined) return valueAtOne(value, [top, base, stage]);
  // What the stage sets itself would hide the value of the base.
  const hiding = top?.layer === "stage" ? [deleteAt(top)] : [];
  return base === undefined ? [] : [{ slot: base, edits: [setAt(base, value), ...hiding] }];
}

/** A declared field, and what it is compared with. */
interface DeclaredField extends Pick<PullRequest, "holdsSecret"> {
  readonly value: Value;
  /** The value as written in the manifests, with placeholders. */
  readonly text: Json;
  readonly matched: MatchedTarget;
  readonly memory: Memory;
  /** Whether a plan would change it. */
  readonly isPlanned: boolean;
}

/**
 * The manifest text for the live value, or why the field is left; undefined if the manifest already
 * matches.
 */
type PulledValue =
  | { readonly written: Json; readonly live: Json }
  | Pick<NotRewritten, "reason" | "failed">
  | undefined;

/** Compares a declared field with the live value, as a plan does. */
function pulledValue(field: Field, live: LiveResource, declared: DeclaredField): PulledValue {
  const { value, text, matched, memory, isPlanned, holdsSecret } = declared;
  const reading = liveInWords(field, live, folderNames(memory.folders));
  // Only a plan knows whether it differs.
  if (isUnknown(value) || reading.kind === "hidden")
    return isPlanned
      ? { reason: "The service does not return it; the next apply sends it." }
      : undefined;
  const found = compareField(field, value, live, memory, expectedLive(matched, field, value));
  const isElements = field.compare === "elements";
  // Comparing elements does not show whether the service changed the selectors that it had made
  // from a locator line.
  const isMoved = (declared: ValueObject, at: number): boolean =>
    movedByService({ declared, at, live: live.elements?.[at] }, memory);
  if (found.kind !== "differs" && !(isElements && declaredElements(value).some(isMoved)))
    return undefined;
  if (!isFixed(field)) {
    if (mayHoldSecret(field, memory) && (isElements || !isSensitive(value)))
      return left(
        "A secret was written to it last, and the live value may still hold it, so it is not shown or written.",
      );
    if (reading.kind === "unnamed")
      return left(
        `It is in the folder with the id ${reading.id}, whose name is unknown; write it by hand.`,
      );
  }
  const own = reading.kind === "shown" ? reading.value : null;
  const isReference = field.shape.type === "reference" && typeof own === "string";
  const address = isReference ? addressOfId(own, matched) : undefined;
  if (isReference && address === undefined)
    return left(
      `The service has ${shortly(own)}, which is not a test case that the manifests declare.`,
    );
  const shown = address === undefined ? own : (parseAddress(address)?.key ?? null);
  // No call can change a fixed field, so taking over the live value is the only way to end the
  // difference.
  if (isFixed(field) && shown === null)
    return left("The service has none; take the field out by hand.");
  if (isSensitive(value))
    return left("It holds a secret, and the live value in its place is not shown or written.");
  if (holdsSecret(shown)) return left("The live value repeats a secret, so it is not written.");
  const declares = shown === null ? field.nullable : isDeclarable(field.shape, shown);
  if (!declares) return left(`The service has ${shortly(shown)}, which a manifest cannot declare.`);
  const meant = reveal(value);
  const written = isElements
    ? graftElements(text, value, live.elements ?? [], memory)
    : field.compare === "set" && isArray(text) && isArray(meant) && isArray(shown)
      ? graftSet(text, meant, shown)
      : graft(text, meant, shown);
  // Placeholders of the written value that the new one would lose.
  const [before, after] = [text, written].map((one) =>
    countValues(placeholdersIn(one).map(({ source }) => source)),
  );
  const lost = [...(before ?? [])].filter(([source, times]) => (after?.get(source) ?? 0) < times);
  if (lost.length === 0) return { written, live: shown };
  return left(
    `It comes through ${lost.map(([source]) => source).join(", ")}; live is ${shortly(shown)}.`,
  );
}

function left(reason: string): PulledValue {
  return { reason, failed: true };
}

function shortly(value: Json): string {
  return shortened(JSON.stringify(value), 80);
}

/**
 * Changes the written elements to the live ones: an unchanged element stays as written, one that
 * was changed in place keeps the parts that it declares, and a locator line whose selectors the
 * service has changed is replaced by these.
 */
function graftElements(
  written: Json,
  value: Value | undefined,
  live: readonly LiveElement[],
  memory: Memory,
): Json {
  const items = isArray(written) ? written : [];
  const declared = declaredElements(value);
  const partner = new Map(
    alignElements(declared, live, memory).map((match) => [match.live, match]),
  );
  return live.map((element) => {
    const match = partner.get(element);
    return match === undefined
      ? escaped(elementInWords(element))
      : graftElement(items[match.at] ?? {}, match, element, memory);
  });
}

function graftElement(written: Json, match: ElementMatch, live: LiveElement, memory: Memory): Json {
  const { declared } = match;
  const moved = movedByService(match, memory);
  if (sameElement(declared, live) && !moved) return written;
  const { locatorLine: line, ...own } = isObject(written) ? written : {};
  const keepsLine = line === undefined || locatorDifference(match, memory) === undefined;
  if (moved || !keepsLine || !sameKind(declared, live)) return escaped(elementInWords(live));
  const parts = graft(own, reveal(withoutLine(declared)), projectElement(declared, live));
  return line === undefined || !isObject(parts) ? parts : { ...parts, locatorLine: line };
}

/**
 * True if the service changed the selectors of a locator line; known only if state has recorded the
 * original selectors.
 */
function movedByService(match: ElementMatch, memory: Memory): boolean {
  const difference = locatorDifference(match, memory);
  return difference === "service" || difference === "both";
}

/**
 * Whether an element is still an interaction or an assertion; if not, it is another step and is
 * replaced as a whole.
 */
function sameKind(declared: ValueObject, live: LiveElement): boolean {
  return ["interaction", "assertion"].every(
    (part) =>
      !Object.hasOwn(declared, part) ||
      isValueObject(declared[part]) === ((live.parts[part] ?? null) !== null),
  );
}

/**
 * Changes the written value as little as possible so that it means the live one: parts with the
 * same meaning stay as written, with their placeholders. @param meant what the written value means:
 * it has the same structure
 */
function graft(written: Json, meant: Json, live: Json): Json {
  if (sameJson(meant, live)) return written;
  const part = (old: Json | undefined, means: Json | undefined, now: Json): Json =>
    old === undefined || means === undefined ? escaped(now) : graft(old, means, now);
  if (isArray(written) && isArray(meant) && isArray(live))
    return live.map((item, at) => part(written[at], meant[at], item));
  if (!isObject(written) || !isObject(meant) || !isObject(live)) return escaped(live);
  const keys = Object.keys({ ...written, ...live }).filter((key) => Object.hasOwn(live, key));
  return Object.fromEntries(
    keys.map((key) => [key, part(written[key], meant[key], live[key] ?? null)]),
  );
}

/** Changes a set of texts: members that stay keep their place, new ones come last. */
function graftSet(written: JsonArray, meant: JsonArray, live: JsonArray): Json {
  const kept = written.filter((_, at) => live.includes(meant[at] ?? null));
  return [...kept, ...live.filter((item) => !meant.includes(item)).map(escaped)];
}

/**
 * Plans again: pulled fields must not differ, and nothing else may be declared differently unless
 * it is reported.
 */
export async function provePull(
  texts: readonly EditedText[],
  { changes }: Rewrite,
  request: PullRequest,
) {
  const { folder, options, stages, input } = request;
  const loaded = await loadProject(options, withTexts(folder, texts));
  if (!loaded.ok) {
    const [first] = loaded.diagnostics.filter(({ severity }) => severity === "error");
    return `with the live values the project would not load (${first?.summary ?? "it cannot be read"})`;
  }
  const desired = desiredInScope(loaded.desired, input.scope, input.states);
  const planned = byAddress(makePlan({ ...input, desired }).plan.changes);
  for (const { address, path } of changes)
    if (planned.get(address)?.fields.some((field) => startsWith(field.path, path)))
      return `${address} would still differ in ${path.join(".")}`;
  const other = unreportedChange(request, loaded, changes, desired.stage, stages);
  return (
    other && `${other.address} would change in ${other.field.name} as well, in stage ${other.stage}`
  );
}
