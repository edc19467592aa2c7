import {
  type EnvironmentVariables,
  type Placeholder as Parsed,
  type Variable,
  isTemplate,
  parseTemplate,
} from "../manifest/interpolation.ts";
import type { Address, Kind } from "../model/address.ts";
import type { DesiredResource, Layer } from "../model/desired.ts";
import type { Diagnostic, Origin } from "../model/diagnostic.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import type { LiveResource } from "../model/live.ts";
import { type Json, isArray, isObject, valueAt } from "../model/json.ts";
import type { Action, CallJson, Change, FieldChange } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { SENSITIVE, type Value, isSensitive, isUnknown, isValueObject } from "../model/value.ts";
import { type MatchedTarget, display, folderNames, readField } from "../plan/compare.ts";
import { type Fingerprinter, targetOf } from "../plan/input.ts";
import { type Memory, changedBy, keyHolds, mayHoldSecret, memoryOf, unwrittenParts } from "../plan/memory.ts";
import type { Planned } from "../plan/plan.ts";
import { callJson } from "../render/json.ts";
import { count } from "../render/words.ts";

export interface ExplainRequest {
  readonly resource: DesiredResource;
  /** Names of the fields to explain; none: all that are declared. */
  readonly fields: readonly string[];
  readonly around: PlaceholderSources;
  /** Of the resource's target, for an explanation without the service. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  /** Nothing where the service was not asked. */
  readonly planned: Planned | undefined;
}

/** Where an address's values come from and what follows from them. */
export function explain(request: ExplainRequest): Explanation {
  const { resource, planned, fingerprints, around } = request;
  const matched = planned?.matched.get(targetOf(resource.address));
  const state = matched === undefined ? request.state : matched.state;
  const change = planned?.plan.changes.find(({ address }) => address === resource.address);
  const diagnostics = (planned?.plan.diagnostics ?? []).filter(({ address }) => address === resource.address);
  const problem = diagnostics.some(({ severity }) => severity === "error");
  const unclear = planned !== undefined && matched === undefined;
  const identity = matched === undefined ? identityOffline(resource, state) : identityOf(resource, matched);
  const asked = planned !== undefined;
  const ground: Ground = {
    resource,
    around,
    state,
    fingerprints,
    matched,
    change,
    asked,
    problem: problem || unclear,
    id: identity.id,
  };
  return {
    address: resource.address,
    stage: around.stage,
    ...identity,
    ...decision(ground, diagnostics),
    // With an error nothing is sent.
    calls: ground.problem ? [] : (change?.calls ?? []).map(callJson),
    fields: explainFields(ground, request.fields),
    diagnostics,
  };
}

function explainFields(ground: Ground, names: readonly string[]): readonly ExplainedField[] {
  const { resource, matched } = ground;
  const live = matched?.matches.get(resource.address)?.live;
  return fieldsOf(resource.kind)
    .filter(({ name }) => (names.length === 0 ? resource.fields[name] !== undefined : names.includes(name)))
    .map((field) => explainField(field, live, ground));
}

function decision(
  { asked, change, problem, resource, state, matched, id }: Ground,
  diagnostics: readonly Diagnostic[],
): Pick<Explanation, "action" | "why"> {
  if (!asked) return { action: "unknown", why: "The service was not called, so there is no plan for it." };
  if (problem) return { action: "problem", why: "An error must be fixed first." };
  if (change !== undefined) return { action: change.action, why: whyChange(change) };
  if (resource.kind === "batchGeneration") return { action: "none", why: whyNotRun(resource, state) };
  if (matched !== undefined && id === undefined)
    return {
      action: "none",
      why: "It does not exist on the service, and its creation needs a secret that is missing.",
    };
  const caution = diagnostics.length === 0 ? "" : " See the warnings.";
  return { action: "none", why: `No change needed: all declared fields match.${caution}` };
}

function whyChange({ action, fields, calls }: Change): string {
  const methods = [...new Set(calls.map(({ method }) => method))];
  const sent = methods
    .map((method) => count(calls.filter((call) => call.method === method).length, method, method))
    .join(", ");
  switch (action) {
    case "create":
      return `It does not exist, so it is created${sent === "" ? " with its target" : `: ${sent}`}.`;
    case "update":
      return `${count(new Set(fields.map(({ path }) => path[0])).size, "field")} to send: ${sent}.`;
    case "rediscover":
      return `Its prompt is sent, so the service generates again: ${sent}.`;
    case "disable":
      return `It is taken out of runs: ${sent}.`;
  }
}

function whyNotRun({ address }: DesiredResource, state: State | undefined): string {
  const status = state?.batchGenerations.get(address)?.status;
  switch (status) {
    case "done":
      return "It ran with this content. A batch generation runs once per content.";
    case "uncertain":
      return "It was sent, but it is unknown whether it ran. It is not sent again automatically.";
    case undefined:
    case "held":
      return "The target existed before tasc had state for it, so it is unknown whether it ran. It is held.";
    case "undone":
      return "Nothing is planned.";
  }
}

/** Where the values of one address come from, and what follows from them. Plain data, safe to be shown. */
export interface Explanation {
  readonly address: Address;
  readonly stage: string;
  /** The live resource, if one is known. */
  readonly id?: string;
  /** How it is known which live resource is meant, or why none is. */
  readonly found: string;
  /** `unknown` where the service was not asked, `problem` where errors keep it from being decided. */
  readonly action: Action | "none" | "problem" | "unknown";
  readonly why: string;
  readonly calls: readonly CallJson[];
  readonly fields: readonly ExplainedField[];
  readonly diagnostics: readonly Diagnostic[];
}

export interface ExplainedField {
  readonly name: string;
  /** Lowest layer first. */
  readonly sources: readonly LayerSource[];
  readonly placeholders: readonly Placeholder[];
  /** What it comes to; absent where it is not declared. */
  readonly value?: Json;
  /** The live value; absent where it does not show. */
  readonly live?: Json;
  /** What the service says of it, where it shows no value. */
  readonly liveNote?: string;
  /** What state remembers. */
  readonly remembered: string;
  readonly changes: readonly FieldChange[];
  readonly why: string;
}

/** A layer that gives the field a value. */
export interface LayerSource {
  readonly layer: Layer["kind"];
  readonly origin: Origin;
  /** As it is written, before anything is filled in. */
  readonly written: Json;
  /** Whether it is the one that counts, a part of it, or replaced by a later one. */
  readonly role: "counts" | "merged" | "replaced";
}

/** An interpolation that the value is made of. */
export interface Placeholder {
  /** As it is written. */
  readonly source: string;
  /** Where what it names is defined: a variable. */
  readonly origin?: Origin;
  /** What it stands for, as far as that may show. */
  readonly means: string;
}

/** Everything that a field's explanation draws on. */
interface Ground {
  readonly resource: DesiredResource;
  readonly around: PlaceholderSources;
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly matched: MatchedTarget | undefined;
  readonly change: Change | undefined;
  /** Whether the service was asked. */
  readonly asked: boolean;
  /** An error must be fixed first. */
  readonly problem: boolean;
  /** Id of the live resource, or of what state holds for it. */
  readonly id: string | undefined;
}

/** @param live the live resource; nothing where there is none, or nobody has asked */
function explainField(field: Field, live: LiveResource | undefined, ground: Ground): ExplainedField {
  const { resource, state, fingerprints, change, id, matched } = ground;
  const value = resource.fields[field.name];
  const memory = id === undefined ? undefined : memoryOf(resource.address, id, state, fingerprints);
  const shown: LiveShown = live === undefined ? noLive(ground) : liveOf(field, live, value, matched, memory);
  const changes = (change?.fields ?? []).filter(({ path }) =>
    field.path.every((step, at) => path[at] === step),
  );
  const hidden = value !== undefined && isHidden(value);
  // To be compared, and not to be shown.
  const raw =
    live === undefined || field.compare === "folder" || field.compare === "elements"
      ? undefined
      : field.read?.(live);
  return {
    name: field.name,
    sources: sourcesOf(resource, field, hidingIn(value)),
    placeholders: placeholdersIn(countingValues(resource, field).flatMap(textsIn), ground.around, hidden),
    ...(value === undefined ? {} : { value: shownValue(value) }),
    ...shown,
    remembered:
      resource.kind === "batchGeneration"
        ? rememberedBatch(resource.address, state)
        : rememberedOf(field, value, raw, memory, state, fingerprints),
    changes,
    why: whyField(field, {
      ...ground,
      value,
      changes,
      shown: "live" in shown,
      recorded: memory?.binding?.fields[field.name] !== undefined,
      exists: live !== undefined,
    }),
  };
}

function noLive({ asked, resource }: Ground): LiveShown {
  if (!asked) return { liveNote: "the service was not asked" };
  if (resource.kind === "batchGeneration") return { liveNote: "the service cannot show batch generations" };
  return { liveNote: "there is no live resource" };
}

/** Of a map each part is sensitive by itself; anything else as a whole. */
function isHidden(value: Value): boolean {
  return isValueObject(value) ? Object.values(value).every(isSensitive) : isSensitive(value);
}

function hidingIn(value: Value | undefined): Hidden {
  return (part) => {
    if (value === undefined) return false;
    if (!isValueObject(value)) return isSensitive(value);
    return part !== undefined && isSensitive(value[part] ?? null);
  };
}

const MISSING = "(unknown: a secret is missing)";

function shownValue(value: Value): Json {
  if (!isValueObject(value)) return shownPart(value);
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shownPart(part)]));
}

function shownPart(value: Value): Json {
  if (isUnknown(value)) return MISSING;
  return isSensitive(value) ? SENSITIVE : display(value);
}

/** Which live resource an address means, and how that is known. */
export interface Identity {
  readonly id?: string;
  readonly found: string;
}

/** As a plan finds it. */
function identityOf(resource: DesiredResource, matched: MatchedTarget): Identity {
  if (resource.kind === "batchGeneration") return { found: "the interface shows no batch generations" };
  const match = matched.matches.get(resource.address);
  if (match === undefined) return { found: "no unambiguous match" };
  if (match.live !== undefined)
    return { id: match.live.id, found: howFound(resource, match.live.id, matched.state) };
  return match.removed === undefined
    ? { found: "no live resource matches" }
    : { found: `it was ${match.removed}, which was removed outside tasc` };
}

/** As far as manifests and state tell, when the service is not asked. */
function identityOffline(resource: DesiredResource, state: State | undefined): Identity {
  const id = resource.id ?? state?.bindings.get(resource.address)?.id;
  if (id !== undefined) return { id, found: howFound(resource, id, state) };
  return { found: "not bound yet; without --offline, the service is asked" };
}

function howFound(resource: DesiredResource, id: string, state: State | undefined): string {
  if (resource.id !== undefined) return "by `id:` in the manifest";
  if (state?.bindings.get(resource.address)?.id === id) return "by its id in state";
  return `by its ${nameOf(resource)}; an apply binds it`;
}

function nameOf({ kind, key, fields }: DesiredResource): string {
  if (kind === "target") return "`app`";
  if (kind === "environment") return key === "default" ? "type, DEFAULT" : "`discoveryUrl`";
  return fields["externalId"] === undefined ? "`description`" : "`externalId` or `description`";
}

/** A live value, or why none shows. */
type LiveShown = { readonly live: Json } | { readonly liveNote: string };

/** What the service shows of a field. */
function liveOf(
  field: Field,
  live: LiveResource,
  value: Value | undefined,
  matched: MatchedTarget | undefined,
  memory: Memory | undefined,
): LiveShown {
  const shown = readShown(field, live, value, matched);
  const isSecret =
    (value !== undefined && isSensitive(value)) || (memory !== undefined && mayHoldSecret(field, memory));
  return "live" in shown && isSecret ? { live: SENSITIVE } : shown;
}

const NOT_SHOWN: LiveShown = { liveNote: "the service does not show it" };

function readShown(
  field: Field,
  live: LiveResource,
  value: Value | undefined,
  matched: MatchedTarget | undefined,
): LiveShown {
  const reading = readField(field, live, folderNames(matched?.state?.folders ?? new Map()), value);
  if (reading.kind === "unnamed")
    return { liveNote: `the folder with the id ${reading.id}, whose name is not known yet` };
  if (reading.kind === "hidden")
    return field.read === undefined ? { liveNote: "the service never shows it" } : NOT_SHOWN;
  const { value: shown } = reading;
  const isReference = typeof shown === "string" && field.shape.type === "reference";
  return { live: isReference ? (addressOfId(shown, matched) ?? shown) : shown };
}

/** The declared test case that a live one is. */
export function addressOfId(id: string, matched: MatchedTarget | undefined): Address | undefined {
  for (const [address, { live }] of matched?.matches ?? []) if (live?.id === id) return address;
  return undefined;
}

/** The fields that a word means: one by its name, a part of one (`testAccount.password`), or what holds several (`discovery`). */
export function fieldsNamed(kind: Kind, word: string): readonly string[] {
  const names = fieldsOf(kind).map(({ name }) => name);
  return names.filter((name) => name === word || name.startsWith(`${word}.`) || isPartOf(word, name));
}

function isPartOf(word: string, name: string): boolean {
  return word.startsWith(`${name}.`) || word.startsWith(`${name}[`);
}

/** What interpolations draw on, as far as it can be told. */
interface PlaceholderSources {
  readonly stage: string;
  readonly env: EnvironmentVariables;
  readonly vars: ReadonlyMap<string, Variable>;
}

/**
 * The interpolations of some texts, each once, and behind a variable those of its value.
 * @param hidden their values must not show
 */
function placeholdersIn(
  texts: readonly string[],
  around: PlaceholderSources,
  hidden: boolean,
): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  const visit = (text: string): void => {
    for (const part of parseTemplate(text).parts) {
      if (part.kind === "text" || found.has(part.source)) continue;
      found.set(part.source, describe(part, around, hidden));
      const variable = part.kind === "var" ? around.vars.get(part.name) : undefined;
      if (typeof variable?.value === "string") visit(variable.value);
    }
  };
  for (const text of texts) visit(text);
  return [...found.values()];
}

function describe(part: Parsed, around: PlaceholderSources, hidden: boolean): Placeholder {
  const { source } = part;
  switch (part.kind) {
    case "stage":
      return { source, means: around.stage };
    case "secret":
      return { source, means: isSet(around.env[part.name]) ? SENSITIVE : "not set" };
    case "file":
      return { source, means: `the text of ${part.path}` };
    case "env":
      return { source, means: envMeaning(part, around.env[part.name], hidden) };
    case "var": {
      const variable = around.vars.get(part.name);
      if (variable === undefined) return { source, means: "not defined" };
      return { source, origin: variable.origin, means: hidden ? SENSITIVE : String(variable.value) };
    }
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

function envMeaning(
  { name, fallback }: Parsed & { readonly kind: "env" },
  value: string | undefined,
  hidden: boolean,
): string {
  if (isSet(value)) return hidden ? SENSITIVE : (value ?? "");
  if (fallback === undefined) return value === undefined ? `${name} is not set` : "empty";
  return `${hidden ? SENSITIVE : fallback} (the fallback: ${name} is not set)`;
}

/** Of a batch generation the content as a whole is remembered, and no field by itself. */
function rememberedBatch(address: Address, state: State | undefined): string {
  const status = state?.batchGenerations.get(address)?.status;
  return status === undefined ? "nothing" : `its content as a whole, ${status}`;
}

/** What state can tell of a field, as a sentence. It holds no values, so it can only tell what is the same. */
function rememberedOf(
  field: Field,
  value: Value | undefined,
  live: Json | undefined,
  memory: Memory | undefined,
  state: State | undefined,
  fingerprints: Fingerprinter | undefined,
): string {
  if (state === undefined) return "nothing: there is no state of this target";
  if (memory?.binding === undefined) return "nothing: it is not bound yet";
  if (fingerprints !== undefined && !keyHolds(state, fingerprints))
    return "nothing usable: it was recorded under another key";
  if (memory.binding.fields[field.name] === undefined) return "no record of this field";
  if (fingerprints === undefined) return "a record; the API key is needed to compare it";
  if (value === undefined) return "a record, from when it was declared";
  if (isUnknown(value)) return "a record; the declared value is unknown, so they cannot be compared";
  if (live !== undefined) {
    const by = changedBy(field, value, live, memory);
    if (by === "service") return "the declared value was applied; the service has changed since";
    if (by === "both") return "a different value was applied; manifest and service have both changed since";
    if (by === "manifest") return "the live value was applied; the manifest has changed since";
    return "the declared value was applied";
  }
  if (field.compare === "elements") return "a record of the elements that were last applied";
  const parts = unwrittenParts(field, value, memory);
  if (parts.length === 0) return "the declared value was last sent";
  const names = parts.map((part) => part.join(".")).filter((name) => name !== "");
  return names.length === 0
    ? "a different value was last sent"
    : `a different value was last sent for ${names.join(", ")}`;
}

/** The layers of a resource that give a field a value, lowest first. */
function sourcesOf(resource: DesiredResource, field: Field, hidden: Hidden): readonly LayerSource[] {
  const found = resource.layers.flatMap((layer) => {
    const written = valueAt(layer.value, field.path);
    return written === undefined ? [] : [{ layer, written }];
  });
  return found.map(({ layer, written }, place) => ({
    layer: layer.kind,
    origin: { file: layer.file, path: [...layer.path, ...field.path] },
    written: showWritten(written, hidden),
    role: roleOf(found.slice(place).map((later) => later.written)),
  }));
}

/** A map goes on to count below maps; anything else is replaced by what comes later. */
function roleOf([own, ...later]: readonly Json[]): LayerSource["role"] {
  if (later.length === 0) return "counts";
  return isObject(own) && later.every(isObject) ? "merged" : "replaced";
}

/** Which parts of a field must not show as they are written: all, or those of that name. */
type Hidden = (part: string | undefined) => boolean;

/**
 * A value as it is written. Of one that must not show, the interpolations may still: they name a secret and do not
 * tell it; what stands around them stays hidden.
 */
function showWritten(written: Json, hidden: Hidden): Json {
  if (!isObject(written)) return hidden(undefined) ? veiled(written) : written;
  return Object.fromEntries(
    Object.entries(written).map(([part, value]) => [
      part,
      hidden(part) || hidden(undefined) ? veiled(value) : value,
    ]),
  );
}

function veiled(written: Json): Json {
  if (typeof written !== "string" || !isTemplate(written)) return SENSITIVE;
  return parseTemplate(written)
    .parts.map((part) => (part.kind === "text" ? SENSITIVE : part.source))
    .join("");
}

/** The written values that count, for the interpolations in them. */
function countingValues(resource: DesiredResource, field: Field): readonly Json[] {
  const written = resource.layers.flatMap((layer) => valueAt(layer.value, field.path) ?? []);
  return written.filter((_, place) => roleOf(written.slice(place)) !== "replaced");
}

/** Every text in a value. */
function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (isArray(value)) return value.flatMap(textsIn);
  return isObject(value) ? Object.values(value).flatMap(textsIn) : [];
}

/** What a field's reason follows from. */
interface ReasonFacts extends Ground {
  readonly value: Value | undefined;
  /** The part of the change that is about this field. */
  readonly changes: readonly FieldChange[];
  /** Whether the service shows a value, so that there was something to compare. */
  readonly shown: boolean;
  /** Whether state has a record of the field that counts. */
  readonly recorded: boolean;
  /** Whether there is a live resource. */
  readonly exists: boolean;
}

/** Why a field is sent, or why it is not. The first that holds. */
function whyField(field: Field, grounds: ReasonFacts): string {
  const { value, change, changes, exists } = grounds;
  if (value === undefined) return "It is not declared, so it is not managed and nothing is sent.";
  if (isUnknown(value)) return "A secret is missing, so it is neither compared nor sent.";
  if (!grounds.asked) return "The service was not called, so there is no plan for it.";
  if (grounds.problem) return "The error below must be fixed first.";
  if (grounds.resource.kind === "batchGeneration")
    return `It is sent when the batch generation runs, which is ${change === undefined ? "not " : ""}planned.`;
  if (!exists && change === undefined) return "It does not exist, and no creation is planned.";
  if (change?.action === "create") return whyCreated(field, value, change);
  if (changes.length > 0) return whyChanged(field, grounds);
  return whyUnchanged(field, grounds);
}

function whyCreated(field: Field, value: Value, { calls }: Change): string {
  if (value === null) return "It is null, so the creation leaves it out.";
  const posts = calls.some(({ method }) => method === "POST");
  if (posts && field.create !== undefined) return "It is sent with the creation.";
  const { update } = field;
  if (
    calls.some(
      ({ method, body }) => method === "PATCH" && update !== undefined && Object.hasOwn(body, update),
    )
  )
    return "The creation cannot set it, so a PATCH follows.";
  // The DEFAULT environment is made with its target, and has no creation of its own.
  if (!posts && field.create !== undefined) return "It is sent with the creation of the target.";
  return "It is sent after the creation if the service's own value differs by then.";
}

function whyChanged(field: Field, { shown, recorded, value, change }: ReasonFacts): string {
  if (field.generates && change !== undefined && change.action !== "create")
    return "The prompt differs, so it is sent, and the service generates again.";
  if (shown) return "The live value differs, so it is sent.";
  if (field.compare === "folder")
    return "It is written by name and read as an id. The id of this name is not known yet or differs, so it is sent.";
  if (!recorded) return "There is no record that it was sent, so it is sent once.";
  return value === null
    ? "A different value was sent last, so it is cleared."
    : "A different value was sent last, so it is sent.";
}

function whyUnchanged(field: Field, { shown, recorded }: ReasonFacts): string {
  if (isFixed(field))
    return shown
      ? "It is fixed after creation: a difference is a warning and is never sent."
      : "It is fixed after creation, and the service does not show it.";
  if (shown) return "The live value is the same, so nothing is sent.";
  if (field.generates && !recorded)
    return "The service shows no prompt and state has no record of it, so it is assumed to match. An apply records it.";
  if (recorded) return "The declared value was sent already, so nothing is sent.";
  return "Without the API key it is unknown what was sent, so nothing is sent.";
}
