import { addressOfId } from "../inspect/explain.ts";
import type { ProjectFolder } from "../manifest/files.ts";
import { type Placeholder, placeholdersIn } from "../manifest/interpolation.ts";
import { type LoadOptions, loadProject } from "../manifest/load.ts";
import { type Address, parseAddress } from "../model/address.ts";
import { originOf, resourcesOf } from "../model/desired.ts";
import type { Origin } from "../model/diagnostic.ts";
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
import {
  type Value,
  type ValueObject,
  isSensitive,
  isUnknown,
  isValueObject,
  reveal,
} from "../model/value.ts";
import { type MatchedTarget, compareField, display, folderNames, liveInWords } from "../plan/compare.ts";
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
import { type PlanInput, ordered, targetOf } from "../plan/input.ts";
import { type Memory, mayHoldSecret, memoryOf } from "../plan/memory.ts";
import { type Planned, makePlan } from "../plan/plan.ts";
import { desiredInScope } from "../plan/refresh.ts";
import { expectedLive } from "../plan/resources.ts";
import { type Excluded, NOTHING_EXCLUDED, type NewText, changeKey, withTexts } from "./edit-files.ts";
import { isDeclarable } from "./import-draft.ts";
import {
  type FieldRef,
  type Goal,
  Manifests,
  type NotRewritten,
  type ProjectDocuments,
  type Rewrite,
  type Rewritten,
  changedFields,
  escaped,
  placeAll,
  sameWritten,
  valueAtOne,
} from "./rewrite.ts";

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

/** A declared field that is to get its live value. */
interface PullGoal extends Goal {
  readonly origin: Origin | undefined;
  readonly before: Json;
  readonly after: Json;
}

/**
 * The manifests in which one stage says what the service has, wherever it declared something else.
 *
 * A value is written where the one that counts stands now. In a resource's own map it reaches the other stages, which
 * are named with the change. A default stays as it is where it holds for another test case that is not to change, in
 * this stage or in another one; then the value goes to the resource itself.
 */
export function pull(request: PullRequest, excluded: Excluded = NOTHING_EXCLUDED): Rewrite {
  const { stage, stages, planned, inScope, fields, holdsSecret } = request;
  const start = new Manifests(request);
  const left: NotRewritten[] = [];
  const goals: PullGoal[] = [];
  const changed = new Map(planned.plan.changes.map((change) => [change.address, change.fields]));
  for (const matched of planned.matched.values())
    for (const resource of resourcesOf(matched.target)) {
      const { address, kind } = resource;
      const live = matched.matches.get(address)?.live;
      if (live === undefined || !inScope(address)) continue;
      for (const field of fieldsOf(kind)) {
        const { name, path } = field;
        const value = resource.fields[name];
        if (value === undefined || (fields.size > 0 && !fields.has(name))) continue;
        const ref: FieldRef = { stage, address, field };
        const text = start.written(ref) ?? null;
        const found = pulledValue(field, live, { value, text, matched, address, holdsSecret });
        if (found.kind === "same") continue;
        const about = { address, path, ...defined({ origin: originOf(resource, path) }) };
        const reason = excluded.get(changeKey(about)) ?? (found.kind === "left" ? found.reason : undefined);
        if (reason !== undefined) left.push({ ...about, reason, failed: true });
        else if (found.kind === "pull") {
          goals.push({
            ref,
            isMet: (now) => sameWritten(now, found.written),
            candidates: ({ manifests }) =>
              valueAtOne(found.written, [
                manifests.topSlot(ref),
                manifests.baseSlot(ref),
                manifests.stageSlot(ref),
              ]),
            origin: about.origin,
            before: ordered(display(value)),
            // Elements keep what the service does not show, a locator line for one.
            after: ordered(field.compare === "elements" ? found.written : found.live),
          });
        } else if (changed.get(address)?.some((change) => startsWith(change.path, path)))
          left.push({ ...about, reason: "The service does not return it; the next apply sends it." });
      }
    }
  const { edits, manifests, placed } = placeAll(request, goals, {
    stages,
    mayChange: (ref, own) => ref.stage !== stage && ref.address === own.address,
  });
  const changes: Rewritten[] = [];
  for (const goal of goals) {
    const { ref, origin, before, after } = goal;
    const { address, field } = ref;
    const slot = placed.get(goal);
    const alsoStages = stages.filter(
      (one) =>
        one !== stage &&
        !sameWritten(start.written({ ...ref, stage: one }), manifests.written({ ...ref, stage: one })),
    );
    if (slot === undefined) {
      const reason = "Writing it anywhere would also change something else.";
      left.push({ address, path: field.path, reason, failed: true, ...defined({ origin }) });
    } else
      changes.push({
        address,
        path: field.path,
        before,
        after,
        layer: slot.layer,
        origin: { file: slot.file, path: slot.path },
        ...(alsoStages.length === 0 ? {} : { alsoStages }),
      });
  }
  return { edits, changes, left: [...left, ...absent(request)] };
}

/** A resource that is declared and not on the service has nothing to be pulled. */
function absent({ planned: { plan, matched }, inScope }: PullRequest): readonly NotRewritten[] {
  return plan.changes.flatMap(({ address, action }) => {
    const resource = matched.get(targetOf(address))?.resources.get(address);
    if (action !== "create" || resource?.kind === "batchGeneration" || !inScope(address)) return [];
    const origin = resource && originOf(resource);
    const reason = "It is not on the service, so there is nothing to pull; the next apply creates it.";
    return [{ address, reason, ...defined({ origin }) }];
  });
}

/** Whether the service has changed the selectors that it made of a locator line, which no comparison of elements tells. */
function hasMovedSelectors(field: Field, value: Value, { elements }: LiveResource, memory: Memory): boolean {
  if (field.compare !== "elements") return false;
  return declaredElements(value).some((declared, at) =>
    movedByService({ declared, at, live: elements?.[at] }, memory),
  );
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

/** Placeholders that the written value came through and the new one would lose; with any of them, a pull leaves it. */
type Lost = Placeholder[];

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

/** What is declared, and what it is compared with. */
interface DeclaredField {
  readonly value: Value;
  /** As the manifests say it, with placeholders. */
  readonly text: Json;
  readonly matched: MatchedTarget;
  readonly address: Address;
  /** Whether a value repeats one that must not show in any file. */
  readonly holdsSecret: (value: Json) => boolean;
}

const OLD_SECRET =
  "A secret was written to it last, and the live value may still hold it, so it is not shown or written.";

/** Compares a declared field with the live value, as a plan does. */
function pulledValue(field: Field, live: LiveResource, declared: DeclaredField): PulledValue {
  const { value, matched, address } = declared;
  const memory = memoryOf(address, live.id, matched.state, matched.fingerprints);
  const reading = liveInWords(field, live, folderNames(memory.folders));
  if (isUnknown(value) || reading.kind === "hidden") return { kind: "hidden" };
  const found = compareField(field, value, live, memory, expectedLive(matched, field, value));
  if (found.kind !== "differs" && !hasMovedSelectors(field, value, live, memory)) return { kind: "same" };
  if (isFixed(field)) {
    // No call can change it: taking over the live value is the only way to end the difference.
    const id = reading.kind === "shown" ? reading.value : null;
    const isReference = field.shape.type === "reference" && typeof id === "string";
    const shown = isReference ? keyOfId(id, matched) : id;
    if (shown === undefined)
      return left(`The service has ${shortly(id)}, which is not a test case that the manifests declare.`);
    if (shown === null) return left("The service has none; take the field out by hand.");
    return written(field, shown, live, declared, memory);
  }
  const mayHold = mayHoldSecret(field, memory);
  if (mayHold && (field.compare === "elements" || !isSensitive(value))) return left(OLD_SECRET);
  if (reading.kind === "unnamed")
    return left(`It is in the folder with the id ${reading.id}, whose name is unknown; write it by hand.`);
  return written(field, reading.value, live, declared, memory);
}

function keyOfId(id: string, matched: MatchedTarget): string | undefined {
  const address = addressOfId(id, matched);
  return address === undefined ? undefined : parseAddress(address)?.key;
}

function written(
  field: Field,
  shown: Json,
  live: LiveResource,
  { value, text, holdsSecret }: DeclaredField,
  memory: Memory,
): PulledValue {
  if (isSensitive(value))
    return left("It holds a secret, and the live value in its place is not shown or written.");
  if (holdsSecret(shown)) return left("The live value repeats a secret, so it is not written.");
  const declares = shown === null ? field.nullable : isDeclarable(field.shape, shown);
  if (!declares) return left(`The service has ${shortly(shown)}, which a manifest cannot declare.`);
  const lost: Lost = [];
  const meant = reveal(value);
  const made =
    field.compare === "elements"
      ? graftElements(text, value, live.elements ?? [], memory, lost)
      : field.compare === "set" && isArray(text) && isArray(meant) && isArray(shown)
        ? graftSet(text, meant, shown, lost)
        : graft(text, meant, shown, lost);
  if (lost.length === 0) return { kind: "pull", written: made, live: shown };
  return left(
    `It comes through ${[...new Set(lost.map(({ source }) => source))].join(", ")}; live is ${shortly(shown)}.`,
  );
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
  { changes }: Rewrite,
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
    if (planned.get(address)?.fields.some((field) => startsWith(field.path, path)))
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
