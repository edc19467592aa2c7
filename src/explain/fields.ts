import type { Field } from "../fields/field.ts";
import type { Json } from "../model/json.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Change } from "../model/plan.ts";
import type { State } from "../model/state.ts";
import { isSensitive, isUnknown, isValueObject, SENSITIVE } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { display } from "../plan/field-changes.ts";
import type { Fingerprinter } from "../plan/inputs.ts";
import { memoryOf } from "../plan/memory.ts";
import type { Seen } from "../plan/seen.ts";
import type { ExplainedField } from "./explanation.ts";
import { liveOf } from "./live.ts";
import type { Shown } from "./live.ts";
import { placeholdersIn } from "./placeholders.ts";
import type { Surroundings } from "./placeholders.ts";
import { rememberedBatch, rememberedOf } from "./remembered.ts";
import { countingValues, sourcesOf, textsIn } from "./sources.ts";
import type { Hidden } from "./sources.ts";
import { whyField } from "./why.ts";

/** Everything that a field's explanation draws on. */
export interface Ground {
  readonly resource: DesiredResource;
  readonly around: Surroundings;
  readonly state: State | undefined;
  readonly fingerprints: Fingerprinter | undefined;
  readonly seen: Seen | undefined;
  readonly change: Change | undefined;
  /** Whether the service was asked. */
  readonly asked: boolean;
  /** An error keeps anything from being decided. */
  readonly problem: boolean;
  /** Id of the live resource, or of what state holds for it. */
  readonly id: string | undefined;
}

/** @param live the live resource; nothing where there is none, or nobody has asked */
export function explainField<L>(field: Field<L>, live: L | undefined, ground: Ground): ExplainedField {
  const { resource, state, fingerprints, change, asked, problem, id, seen } = ground;
  const value = resource.fields[field.name];
  const shown: Shown = live === undefined ? noLive(ground) : liveOf(field, live, value, seen);
  const memory = id === undefined ? undefined : memoryOf(resource.address, id, state, fingerprints);
  const changes = (change?.fields ?? []).filter(({ path }) =>
    field.path.every((step, at) => path[at] === step),
  );
  const hidden = value !== undefined && isHidden(value);
  const raw = rawLive(field, live);
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
      value,
      change,
      changes,
      shown: "live" in shown,
      recorded: memory?.binding?.fields[field.name] !== undefined,
      asked,
      exists: live !== undefined,
      runs: resource.kind === "batchGeneration",
      problem,
    }),
  };
}

/** The live value as it is, to be compared and not to be shown. */
function rawLive<L>(field: Field<L>, live: L | undefined): Json | undefined {
  return live !== undefined && field.behaviour.kind === "readable" ? field.behaviour.read(live) : undefined;
}

function noLive({ asked, resource }: Ground): Shown {
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
