import type { EnvironmentVariables, Variable } from "../manifest/interpolation.ts";
import {
  type Placeholder,
  isTemplate,
  parseTemplate,
  placeholdersIn,
} from "../manifest/template.ts";
import { guessed, hasErrors } from "../manifest/problem.ts";
import { mergedAt } from "../manifest/resolve.ts";
import { holdsHidden } from "../manifest/shape.ts";
import { type Address, type Kind, targetOf } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic, Place } from "../model/diagnostic.ts";
import { ERROR_CODES, errorCode } from "../model/error-codes.ts";
import { invalid } from "../model/error.ts";
import { type Field, fieldsOf, isFixed } from "../model/fields.ts";
import { type Json, isObject, mapValues, startsWith, valueAt } from "../model/json.ts";
import type { Action, Change } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { SENSITIVE, type Value, isSensitive, isUnknown, isValueObject } from "../model/value.ts";
import { display, folderNames, readField } from "../plan/compare.ts";
import type { MatchedTarget } from "../plan/matched-target.ts";
import type { Fingerprinter } from "../plan/input.ts";
import { NAMED_BY } from "../plan/match.ts";
import { changedBy, keyHolds, mayHoldSecret, memoryOf, unwrittenParts } from "../plan/memory.ts";
import type { Planned } from "../plan/plan.ts";
import { placeText } from "../render/diagnostics.ts";
import { callJson, diagnosticJson } from "../render/json.ts";
import { Outside, outside } from "../render/redact.ts";
import { type Block, type Line, type Section, type View, faint, strong } from "../render/view.ts";
import { PROBLEM_SIGN, SIGNS } from "../render/words.ts";
import { count } from "../model/words.ts";
import { groupBy } from "../model/collections.ts";
import type { PlaceOf } from "./stages.ts";
import { type AcceptedIn, acceptedText } from "./steps.ts";

export interface ExplainRequest {
  readonly resource: DesiredResource;
  /** Names of the fields to explain; empty: all that are declared. */
  readonly fields: readonly string[];
  readonly stage: string;
  readonly env: EnvironmentVariables;
  readonly vars: ReadonlyMap<string, Variable>;
  /** The state of the resource's target, for an explanation without the service. */
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly planned: Planned | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly placeOf: PlaceOf;
  readonly accepted?: AcceptedIn | undefined;
}

/** The request, with further facts that explanations need. */
type Facts = ReturnType<typeof factsOf>;
function factsOf(request: ExplainRequest) {
  const { resource, planned, diagnostics, fingerprints } = request;
  const { address } = resource;
  const matched = planned?.matched.get(targetOf(address));
  const state = matched === undefined ? request.state : matched.state;
  const bound = state?.bindings.get(address)?.id;
  /** The live resource; `undefined` if there is none, or if the service was not asked. */
  const live = matched?.matches.get(address)?.live;
  const id = matched === undefined ? (resource.id ?? bound) : live?.id;
  return {
    ...request,
    id,
    bound,
    state,
    matched,
    live,
    memory:
      id === undefined
        ? undefined
        : memoryOf(address, id, { state, fingerprints, secrets: matched?.secrets }),
    change: planned?.plan.changes.find((change) => change.address === address),
    problem: hasErrors(diagnostics) || (planned !== undefined && matched === undefined),
  };
}

/**
 * Explains where the values of an address come from, and what follows from them: first the
 * resource, then each field.
 */
export function explain(request: ExplainRequest): View {
  const facts = factsOf(request);
  const { resource, diagnostics, stage, id, accepted } = facts;
  const { address, kind } = resource;
  const found = foundBy(facts);
  const [action, why] = decision(facts);
  // If there is an error, nothing is sent.
  const calls = facts.problem ? [] : (facts.change?.calls ?? []).map(callJson);
  const isShown = (name: string): boolean =>
    request.fields.includes(name) ||
    (request.fields.length === 0 && resource.fields[name] !== undefined);
  const fields = fieldsOf(kind)
    .filter(({ name }) => isShown(name))
    .map((field) => explainField({ ...facts, field, value: resource.fields[field.name] }));
  const sign: Line =
    action === "problem"
      ? [{ style: "error", text: PROBLEM_SIGN }, " "]
      : action === "none" || action === "unknown"
        ? []
        : [{ style: action, text: SIGNS[action] }, " "];
  return {
    json: {
      formatVersion: "1.0",
      address,
      stage,
      id,
      found,
      action,
      why,
      stepsAccepted: accepted && { ...accepted },
      calls: calls.map(({ method, path, body }) => ({ method, path, body: new Outside(body) })),
      fields,
      diagnostics: diagnostics.map((diagnostic) => ({ ...diagnosticJson(diagnostic) })),
    },
    text: [
      [
        [...sign, strong(address), "  ", faint(`stage ${stage}`)],
        row("live", id === undefined ? found : `${id}, ${found}`),
        row("action", action),
        row("why", why),
        ...(accepted ? [row("steps", acceptedText(accepted))] : []),
        ...calls.map(({ method, path }) => ["  ", faint(`${method} ${path}`)]),
      ],
      ...fields.map(fieldSection),
    ],
  };
}

function row(label: string, line: Line): Block {
  return { label: ["  ", faint(label)], column: 10, beside: line };
}

/** Explains how the live resource of an address was found, or why it was not. */
function foundBy({ resource, matched, id, bound }: Facts): string {
  const { kind, key, address, fields, id: byHand } = resource;
  const match = matched?.matches.get(address);
  if (matched !== undefined && kind === "batchGeneration")
    return "the interface shows no batch generations";
  if (id !== undefined && byHand !== undefined) return "by `id:` in the manifest";
  if (id !== undefined && bound === id) return "by its id in state";
  if (id !== undefined && kind !== "batchGeneration") {
    const isDefault = kind === "environment" && key === "default";
    const names = `${fields["externalId"] === undefined ? "" : "`externalId` or "}\`${NAMED_BY[kind]}\``;
    return `by its ${isDefault ? "type, DEFAULT" : names}; an apply binds it`;
  }
  if (matched === undefined) return "not bound yet; without --offline, the service is asked";
  if (match === undefined) return "no unambiguous match";
  if (match.removed === undefined) return "no live resource matches";
  return `it was ${match.removed}, which was removed outside tasc`;
}

function decision(facts: Facts): readonly [Action | "none" | "problem" | "unknown", string] {
  const { planned, change, problem, resource, state, matched, id, diagnostics } = facts;
  if (planned === undefined)
    return ["unknown", "The service was not called, so there is no plan for it."];
  if (problem) return ["problem", "An error must be fixed first."];
  if (change !== undefined) return [change.action, whyChange(change)];
  if (resource.kind === "batchGeneration")
    return ["none", NOT_RUN[state?.batchGenerations.get(resource.address)?.status ?? "held"]];
  if (matched !== undefined && id === undefined)
    return [
      "none",
      "It does not exist on the service, and its creation needs a secret that is missing.",
    ];
  const caution = diagnostics.length === 0 ? "" : " See the warnings.";
  return ["none", `No change needed: all declared fields match.${caution}`];
}

function whyChange({ action, fields, calls }: Change): string {
  const sent = [...groupBy(calls, ({ method }) => method)]
    .map(([method, own]) => count(own.length, method, method))
    .join(", ");
  const why: Readonly<Record<Action, string>> = {
    create: `It does not exist, so it is created${sent === "" ? " with its target" : `: ${sent}`}.`,
    update: `${count(new Set(fields.map(({ path }) => path[0])).size, "field")} to send: ${sent}.`,
    rediscover: `Its prompt is sent, so the service generates again: ${sent}.`,
    disable: `It is taken out of runs: ${sent}.`,
    forget: "State forgets it at the next apply. Nothing changes on the service.",
  };
  return why[action];
}

const NOT_RUN = {
  done: "It ran with this content. A batch generation runs once per content.",
  uncertain: "It was sent, but it is unknown whether it ran. It is not sent again automatically.",
  held: "The target existed before tasc had state for it, so it is unknown whether it ran. It is held.",
  undone: "Nothing is planned.",
} as const;

type FieldFacts = Facts & { readonly field: Field; readonly value: Value | undefined };

function explainField(facts: FieldFacts) {
  const { field, value, change } = facts;
  const changes = (change?.fields ?? []).filter(({ path }) => startsWith(path, field.path));
  const live = liveText(facts);
  return {
    name: field.name,
    ...sourcesOf(facts),
    value: value === undefined ? undefined : new Outside(shownValue(value)),
    ...live,
    remembered: rememberedOf(facts),
    changes: changes.map((one) => ({
      ...one,
      before: outside(one.before),
      after: outside(one.after),
    })),
    why: whyField(facts, changes.length > 0, live.live !== undefined),
  };
}

function fieldSection(field: ReturnType<typeof explainField>): Section {
  const { name, sources, placeholders, value, live, liveNote, remembered, why } = field;
  return [
    [strong(name)],
    ...sources.map(({ layer, written, role, ...place }) =>
      row("from", [faint(placeText(place)), `  ${layer}: `, written, faint(ROLES[role])]),
    ),
    ...placeholders.map(({ source, means, ...place }) => {
      const where = placeText(place);
      return row("with", [`${source} = ${means}`, faint(where && `  ${where}`)]);
    }),
    row("value", value === undefined ? "not declared" : [value]),
    row("live", live === undefined ? liveNote : [live]),
    row("state", remembered),
    row("why", why),
  ];
}

/**
 * Whether the value of a layer is the one that counts, a part of it, or replaced by a later layer.
 */
const ROLES = {
  counts: "",
  merged: "  (merged with what follows)",
  replaced: "  (replaced by what follows)",
} as const;

/**
 * Returns the layers with a value for a field, lowest first, and the interpolations of the merged
 * value, each once.
 */
function sourcesOf(facts: FieldFacts) {
  const { value, field } = facts;
  const isHidden =
    value !== undefined &&
    (isValueObject(value) ? Object.values(value).every(isSensitive) : isSensitive(value));
  const placeholders = new Map<
    string,
    Partial<Place> & { readonly source: string; readonly means: string }
  >();
  const visit = (written: Json): void => {
    for (const part of placeholdersIn(written)) {
      const { source } = part;
      if (placeholders.has(source)) continue;
      const variable = part.kind === "var" ? facts.vars.get(part.name) : undefined;
      const place = variable?.origin && facts.placeOf(variable.origin);
      placeholders.set(source, { source, ...place, means: meaningOf(part, facts, isHidden) });
      if (variable !== undefined) visit(variable.value);
    }
  };
  const found = facts.resource.layers.flatMap((layer) => {
    const written = valueAt(layer.value, field.path);
    return written === undefined ? [] : [{ layer, written }];
  });
  const sources = found.map(({ layer, written }, at) => {
    // A map is merged if only maps follow; any other value is replaced by later ones.
    const isMerged = found.slice(at).every((one) => isObject(one.written));
    const role: keyof typeof ROLES =
      at === found.length - 1 ? "counts" : isMerged ? "merged" : "replaced";
    const place = facts.placeOf({ file: layer.file, path: [...layer.path, ...field.path] });
    return {
      layer: layer.kind,
      ...place,
      written: new Outside(shownText(written, value, holdsHidden(field))),
      role,
    };
  });
  // Only from the merged value, because only that was checked: a replaced value may name any
  // variable.
  visit(mergedAt(facts.resource.layers, field.path) ?? null);
  return { sources, placeholders: [...placeholders.values()] };
}

/**
 * Returns a value as written. In a value that must not show, interpolations may still show, because
 * they only name a secret; the text around them is hidden. In a map each part is sensitive by
 * itself; any other value as a whole.
 *
 * @param isSecret whether a part that a later layer removes is hidden, too
 */
function shownText(written: Json, value: Value | undefined, isSecret: boolean): Json {
  const shown = (part: Json, meant: Value = null): Json => {
    if (part === null || !(meant === null ? isSecret : isSensitive(meant))) return part;
    if (typeof part !== "string" || !isTemplate(part)) return SENSITIVE;
    const { parts } = parseTemplate(part);
    return parts.map((one) => (one.kind === "text" ? SENSITIVE : one.source)).join("");
  };
  if (!isObject(written)) return shown(written, isValueObject(value) ? null : value);
  return mapValues(written, (part, name) =>
    shown(part, isValueObject(value) ? value[name] : value),
  );
}

function shownValue(value: Value): Json {
  const shown = (part: Value): Json =>
    isUnknown(part)
      ? "(unknown: a secret is missing)"
      : isSensitive(part)
        ? SENSITIVE
        : display(part);
  if (!isValueObject(value)) return shown(value);
  return mapValues(value, shown);
}

function meaningOf(part: Placeholder, { stage, env, vars }: Facts, isHidden: boolean): string {
  switch (part.kind) {
    case "stage":
      return stage;
    case "secret":
      return env[part.name] ? SENSITIVE : "not set";
    case "file":
      return `the text of ${part.name}`;
    case "var": {
      const variable = vars.get(part.name);
      if (variable === undefined) return "not defined";
      return isHidden ? SENSITIVE : String(variable.value);
    }
    case "env": {
      const { name, fallback } = part;
      const value = Object.hasOwn(env, name) ? env[name] : undefined;
      if (value) return isHidden ? SENSITIVE : value;
      if (fallback === undefined) return value === undefined ? `${name} is not set` : "empty";
      return `${isHidden ? SENSITIVE : fallback} (the fallback: ${name} is not set)`;
    }
  }
}

function liveText({ field, value, planned, resource, live, memory, matched }: FieldFacts) {
  if (field.local) return { liveNote: "only tasc reads it; the service does not have it" };
  if (planned === undefined) return { liveNote: "the service was not asked" };
  if (resource.kind === "batchGeneration")
    return { liveNote: "the service cannot show batch generations" };
  if (live === undefined) return { liveNote: "there is no live resource" };
  const reading = readField(field, live, folderNames(matched?.state?.folders ?? new Map()), value);
  if (reading.kind === "unnamed")
    return { liveNote: `the folder with the id ${reading.id}, whose name is not known yet` };
  if (reading.kind === "hidden")
    return {
      liveNote: `the service ${field.read === undefined ? "never shows" : "does not show"} it`,
    };
  const isSecret = value !== undefined && isSensitive(value);
  if (isSecret || (memory !== undefined && mayHoldSecret(field, memory)))
    return { live: new Outside(SENSITIVE) };
  const { value: shown } = reading;
  const isReference = typeof shown === "string" && field.shape.type === "reference";
  return { live: new Outside(isReference ? (addressOfId(shown, matched) ?? shown) : shown) };
}

/** Returns the address of the declared test case with this live id. */
export function addressOfId(id: string, matched: MatchedTarget | undefined): Address | undefined {
  for (const [address, { live }] of matched?.matches ?? []) if (live?.id === id) return address;
  return undefined;
}

/** The sentences for who changed a field since the last apply. */
const MOVED = {
  service: "the declared value was applied; the service has changed since",
  both: "a different value was applied; manifest and service have both changed since",
  manifest: "the live value was applied; the manifest has changed since",
} as const;

/**
 * Describes what state records of a field. State contains no values, so it only shows whether a
 * value is the same.
 */
function rememberedOf({
  field,
  value,
  resource,
  memory,
  state,
  fingerprints,
  live,
}: FieldFacts): string {
  if (field.local) return "nothing: it is never sent";
  if (resource.kind === "batchGeneration") {
    const status = state?.batchGenerations.get(resource.address)?.status;
    return status === undefined ? "nothing" : `its content as a whole, ${status}`;
  }
  if (state === undefined) return "nothing: there is no state of this target";
  if (memory?.binding === undefined) return "nothing: it is not bound yet";
  if (fingerprints !== undefined && !keyHolds(state, fingerprints))
    return "nothing usable: it was recorded under another key";
  if (memory.binding.fields[field.name] === undefined) return "no record of this field";
  if (fingerprints === undefined)
    return "a record; the key of the fingerprints is needed to compare it";
  if (value === undefined) return "a record, from when it was declared";
  if (isUnknown(value))
    return "a record; the declared value is unknown, so they cannot be compared";
  // Only used for a comparison, never shown.
  const isDirect = live !== undefined && field.compare !== "folder" && field.compare !== "elements";
  const raw = isDirect ? field.read?.(live) : undefined;
  if (raw !== undefined) {
    const by = changedBy(field, value, raw, memory);
    return by === undefined ? "the declared value was applied" : MOVED[by];
  }
  if (field.compare === "elements") return "a record of the elements that were last applied";
  const parts = unwrittenParts(field, value, memory);
  if (parts.length === 0) return "the declared value was last sent";
  const names = parts.map((part) => part.join(".")).filter((name) => name !== "");
  return `a different value was last sent${names.length === 0 ? "" : ` for ${names.join(", ")}`}`;
}

/** Explains why a field is sent, or why it is not: the first reason that applies. */
function whyField(facts: FieldFacts, changes: boolean, shown: boolean): string {
  const { field, value, planned, problem, resource, live, change, memory } = facts;
  const recorded = memory?.binding?.fields[field.name] !== undefined;
  if (value === undefined) return "It is not declared, so it is not managed and nothing is sent.";
  if (field.local) return "It is never sent: only tasc reads it.";
  if (isUnknown(value)) return "A secret is missing, so it is neither compared nor sent.";
  if (planned === undefined) return "The service was not called, so there is no plan for it.";
  if (problem) return "The error below must be fixed first.";
  if (resource.kind === "batchGeneration")
    return `It is sent when the batch generation runs, which is ${change === undefined ? "not " : ""}planned.`;
  if (live === undefined && change === undefined)
    return "It does not exist, and no creation is planned.";
  if (change?.action === "create") return whyCreated(field, value, change);
  if (changes) {
    if (field.generates)
      return "The prompt differs, so it is sent, and the service generates again.";
    if (shown) return "The live value differs, so it is sent.";
    if (field.compare === "folder")
      return "It is written by name and read as an id. The id of this name is not known yet or differs, so it is sent.";
    if (!recorded) return "There is no record that it was sent, so it is sent once.";
    return `A different value was sent last, so it is ${value === null ? "cleared" : "sent"}.`;
  }
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

function whyCreated({ create, update }: Field, value: Value, { calls }: Change): string {
  if (value === null) return "It is null, so the creation leaves it out.";
  const posts = calls.some(({ method }) => method === "POST");
  if (posts && create !== undefined) return "It is sent with the creation.";
  const follows = calls.some(
    ({ method, body }) => method === "PATCH" && update !== undefined && Object.hasOwn(body, update),
  );
  if (follows) return "The creation cannot set it, so a PATCH follows.";
  // The DEFAULT environment is created with its target and has no creation of its own.
  if (!posts && create !== undefined) return "It is sent with the creation of the target.";
  return "It is sent after the creation if the service's own value differs by then.";
}

/**
 * Returns the fields that a word means: a name, a part of a field (`testAccount.password`), or a
 * group (`discovery`).
 */
export function fieldsNamed(kind: Kind, word: string): readonly string[] {
  return fieldsOf(kind)
    .map(({ name }) => name)
    .filter((name) => {
      const isPart = word.startsWith(name) && /[.[]/.test(word.charAt(name.length));
      return isPart || name === word || name.startsWith(`${word}.`);
    });
}

/** Shows the entry of a code in the catalogue of diagnostics. @throws TascError if there is none */
export function explainCode(name: string): View {
  const entry = errorCode(name);
  if (entry === undefined)
    throw invalid(
      "unknown-code",
      `No diagnostic has the code ${name}`,
      `Addresses look like testCase.shop.login, and codes like unknown-key.${guessed(name, ERROR_CODES.keys())}`,
    );
  const [title, explanation, remedy] = entry;
  return {
    json: { formatVersion: "1.0", code: name, title, explanation, remedy },
    text: [
      [[name, ": ", title]],
      [
        { label: "  meaning", column: 11, beside: [explanation] },
        { label: "  remedy", column: 11, beside: [remedy] },
      ],
    ],
  };
}
