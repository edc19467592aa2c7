import type { Field } from "../fields/field.ts";
import type { Change, FieldChange } from "../model/plan.ts";
import { isUnknown } from "../model/value.ts";
import type { Value } from "../model/value.ts";

/** What a field's reason follows from. */
export interface Grounds {
  readonly value: Value | undefined;
  /** What the plan does with the resource. */
  readonly change: Change | undefined;
  /** The part of it that is about this field. */
  readonly changes: readonly FieldChange[];
  /** Whether the service shows a value, so that there was something to compare. */
  readonly shown: boolean;
  /** Whether state has a record of the field that counts. */
  readonly recorded: boolean;
  /** Whether the service was asked. */
  readonly asked: boolean;
  /** Whether there is a live resource. */
  readonly exists: boolean;
  /** It belongs to a batch generation, which runs as a whole or not at all. */
  readonly runs: boolean;
  /** An error keeps anything from being decided. */
  readonly problem: boolean;
}

/** Why a field is sent, or why it is not. The first that holds. */
export function whyField<L>(field: Field<L>, grounds: Grounds): string {
  const { value, change, changes, exists } = grounds;
  if (value === undefined) return "Not declared, so it is not managed: nothing is sent.";
  if (isUnknown(value)) return "A secret is missing, so it is neither compared nor sent.";
  if (!grounds.asked) return "The service was not asked, so nothing is decided.";
  if (grounds.problem) return "An error, told below, keeps anything from being decided.";
  if (grounds.runs) return whyRun(change);
  if (!exists && change === undefined) return "It does not exist, and nothing is planned.";
  if (change?.action === "create") return whyCreated(field, value, change);
  if (changes.length > 0) return whyChanged(field, grounds);
  return whyUnchanged(field, grounds);
}

function whyRun(change: Change | undefined): string {
  return change === undefined
    ? "It is sent when the batch generation runs, and it does not."
    : "It is sent with the batch generation, which runs.";
}

function whyCreated<L>(field: Field<L>, value: Value, { calls }: Change): string {
  if (value === null) return "Null, so the creation leaves it out.";
  const posts = calls.some(({ method }) => method === "POST");
  if (posts && field.create !== undefined) return "It is sent with the creation.";
  const { update } = field;
  if (
    calls.some(
      ({ method, body }) => method === "PATCH" && update !== undefined && Object.hasOwn(body, update),
    )
  )
    return "The creation cannot carry it, so a PATCH after it does.";
  // The DEFAULT environment is made with its target, and has no creation of its own.
  if (!posts && field.create !== undefined) return "It is sent with the creation of the target.";
  return "It is sent once the creation is done, if the service's own value differs by then.";
}

function whyChanged<L>(field: Field<L>, { shown, recorded, value, change }: Grounds): string {
  if (field.generates && change !== undefined && change.action !== "create")
    return "The prompt differs, so it is sent, and the service generates again.";
  if (shown) return "The live value is another one, so it is sent.";
  if (field.behaviour.kind === "indirect")
    return "It is written by name and read as an id; the name's id is not known yet, or is another one, so it is sent.";
  if (!recorded) return "Nothing tells that the service has it, so it is sent once.";
  return value === null
    ? "Something else was sent last, so it is cleared."
    : "Something else was sent last, so it is sent.";
}

function whyUnchanged<L>(field: Field<L>, { shown, recorded }: Grounds): string {
  if (field.behaviour.kind === "fixed")
    return shown
      ? "It is fixed once the test case is made: a difference is a warning, and nothing is ever sent."
      : "It is fixed once the test case is made, and the service does not show it.";
  if (shown) return "The live value is the same: nothing to do.";
  if (field.generates && !recorded)
    return "The service shows no prompt and state has no record of it, so it counts as it stands; an apply records it.";
  if (recorded) return "It was sent as it is declared: nothing to do.";
  return "Without the key it is not known what was sent, so nothing is.";
}
