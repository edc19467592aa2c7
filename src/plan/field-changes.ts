import type { Field } from "../fields/field.ts";
import { isArray, isObject, sameJson } from "../model/json.ts";
import type { Json, Path } from "../model/json.ts";
import type { ChangedBy, FieldChange } from "../model/plan.ts";
import type { Value } from "../model/value.ts";
import {
  isLeafObject,
  isValueList,
  isValueObject,
  reveal,
  Secret,
  SENSITIVE,
  UNKNOWN,
} from "../model/value.ts";
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
  return Object.entries(value).map(([part, partValue]) => afterOnly([...field.path, part], partValue));
}

function afterOnly(path: Path, value: Value): FieldChange {
  return isLeafObject(value) ? { path, sensitive: true } : { path, after: display(value) };
}

/** A readable field's difference: the value as a whole, or, for structures, each place that differs. */
export function readableChanges<L>(
  field: Field<L>,
  before: Json,
  value: Value,
  changedBy: ChangedBy | undefined,
): readonly FieldChange[] {
  const by = changedBy === undefined ? {} : { changedBy };
  if (isLeafObject(value)) return [{ path: field.path, sensitive: true, ...by }];
  if (field.behaviour.kind !== "elements")
    return [{ path: field.path, before, after: display(value), ...by }];
  return differences(before, masked(value, before)).map(({ path, before: was, after }) =>
    after === SENSITIVE
      ? { path: [...field.path, ...path], sensitive: true, ...by }
      : {
          path: [...field.path, ...path],
          ...(was === undefined ? {} : { before: was }),
          ...(after === undefined ? {} : { after }),
          ...by,
        },
  );
}

/** Plain data for showing: what is sensitive reads `(sensitive)`. */
export function display(value: Value): Json {
  if (isLeafObject(value)) return SENSITIVE;
  if (isValueList(value)) return value.map(display);
  if (isValueObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, display(part)]));
  return value;
}

/** Like `display`, but a sensitive leaf that is already live reads as it is there, so that it makes no difference. */
function masked(value: Value, live: Json | undefined): Json {
  if (value instanceof Secret) return live !== undefined && sameJson(reveal(value), live) ? live : SENSITIVE;
  if (isValueList(value)) return value.map((item, at) => masked(item, isArray(live) ? live[at] : undefined));
  if (isValueObject(value))
    return Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, masked(part, isObject(live) ? live[key] : undefined)]),
    );
  return display(value);
}
