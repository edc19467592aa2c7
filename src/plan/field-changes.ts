import type { Field } from "../fields/field.ts";
import type { Json, Path } from "../model/json.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import type { Value } from "../model/value.ts";
import {
  isLeafObject,
  isSensitive,
  isValueList,
  isValueObject,
  reveal,
  SENSITIVE,
  UNKNOWN,
} from "../model/value.ts";
import { ordered, orderedParts } from "./ordered.ts";
import { differences } from "./deep.ts";

/** How a value reads where it is not shown: a creation, or a field that the service never shows. */
export function declaredChanges<L>(
  field: Field<L>,
  value: Value,
  parts: readonly Path[] = [[]],
): readonly FieldChange[] {
  return parts.flatMap((part) => {
    const [key] = part;
    if (key === undefined) return wholeChanges(field, value);
    const partValue = isValueObject(value) && typeof key === "string" ? value[key] : undefined;
    // A header that goes has no value any more; that it goes is all there is to say, and its old value is secret.
    return [afterOnly([...field.path, key], partValue ?? UNKNOWN)];
  });
}

function wholeChanges<L>(field: Field<L>, value: Value): readonly FieldChange[] {
  const split = field.shape.type === "object" || field.shape.type === "map";
  if (!split || !isValueObject(value) || Object.keys(value).length === 0)
    return [afterOnly(field.path, value)];
  return orderedParts(field.shape, Object.keys(value)).map((part) =>
    afterOnly([...field.path, part], value[part] ?? null),
  );
}

/** With one sensitive leaf the whole is: what stands around it would tell of it. */
function afterOnly(path: Path, value: Value): FieldChange {
  return isSensitive(value) ? { path, sensitive: true } : { path, after: ordered(reveal(value)) };
}

/** A readable field's difference: the value as a whole, or, for structures, each place that differs. */
export function readableChanges<L>(
  field: Field<L>,
  before: Json,
  value: Value,
  changedBy: ChangedBy | undefined,
): readonly FieldChange[] {
  const by = changedBy === undefined ? {} : { changedBy };
  if (isSensitive(value)) return [{ path: field.path, sensitive: true, ...by }];
  const after = ordered(reveal(value));
  if (field.behaviour.kind !== "elements") return [{ path: field.path, before, after, ...by }];
  return differences(ordered(before), after).map(({ path, ...sides }) => ({
    path: [...field.path, ...path],
    ...sides,
    ...by,
  }));
}

/** Plain data for showing: what is sensitive reads `(sensitive)`. */
export function display(value: Value): Json {
  if (isLeafObject(value)) return SENSITIVE;
  if (isValueList(value)) return value.map(display);
  if (isValueObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, display(part)]));
  return value;
}
