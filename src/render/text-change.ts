import type { ChangedBy, ChangeJson } from "../model/plan.ts";
import { isObject } from "../model/json.ts";
import { safeLine } from "../output/safe.ts";
import { changedByText, whoChanged } from "./extras.ts";
import type { PlanExtras } from "./extras.ts";
import type { Fold } from "./fold.ts";
import { SIGNS } from "./signs.ts";
import { fieldLines } from "./text-field.ts";
import type { FieldOptions } from "./text-field.ts";
import { wrap } from "./width.ts";
import { count, kindNoun, placeOf } from "./words.ts";

export interface ChangeOptions extends FieldOptions {
  /** Creations by name alone; a plan of a thousand is read that way. */
  readonly brief: boolean;
}

/** A change, or several that say the same, as lines of the tree. */
export function changeLines(fold: Fold, extras: PlanExtras, options: ChangeOptions): readonly string[] {
  const { first, changes } = fold;
  const alone = changes.length === 1;
  if (options.brief && alone && first.action === "create") return [briefCreation(first, options)];
  const common = commonHand(first, extras);
  const note = common === undefined ? "" : `  ${options.style.faint(changedByText(common))}`;
  const fields = allFieldLines(first, extras, common, options);
  const [only] = fields;
  if (options.brief && alone && fields.length === 1 && first.followUps.length === 0)
    return [`${heading(first, options)}  ${only}${note}`];
  const head = alone ? [heading(first, options) + note] : foldHeading(fold, note, options);
  const calls = options.verbose && alone ? callLines(first, options) : [];
  const below = [...fields, ...laterLines(first, options), ...calls];
  return [...head, ...below.map((line) => `    ${line}`)];
}

function briefCreation(change: ChangeJson, options: ChangeOptions): string {
  return `${heading(change, options)}  ${options.style.faint(nameOf(change))}`.trimEnd();
}

function allFieldLines(
  { address, action, fields }: ChangeJson,
  extras: PlanExtras,
  common: ChangedBy | undefined,
  options: ChangeOptions,
): readonly string[] {
  return fields.flatMap((field) => {
    const who = common === undefined ? whoChanged(extras, address, field.path) : undefined;
    return fieldLines(field, action, who === undefined ? "" : changedByText(who), options);
  });
}

function heading({ action, address }: ChangeJson, { style }: ChangeOptions): string {
  return `${style.action(action, SIGNS[action])} ${style.strong(address)}`;
}

/** Addresses that a fold names; `verbose` shows all changes one by one. */
const NAMED = 4;

function foldHeading(fold: Fold, note: string, { style, width }: ChangeOptions): readonly string[] {
  const { action, address } = fold.first;
  const noun = kindNoun(placeOf(address).kind);
  const title = `${style.action(action, SIGNS[action])} ${style.strong(count(fold.changes.length, noun))} alike${note}`;
  const names = fold.changes.slice(0, NAMED).map((change) => change.address);
  const more = fold.changes.length - names.length;
  const text = more === 0 ? names.join(", ") : `${names.join(", ")} and ${more} more`;
  return [title, ...wrap(text, width - 4).map((line) => `    ${style.faint(line)}`)];
}

/** Who changed all fields, where it is one and the same for each. */
function commonHand({ address, fields }: ChangeJson, extras: PlanExtras): ChangedBy | undefined {
  const hands = new Set(fields.map(({ path }) => whoChanged(extras, address, path)));
  const [only] = hands;
  return hands.size === 1 ? only : undefined;
}

/** What a person calls it: its first name-like field. */
function nameOf({ fields }: ChangeJson): string {
  const named = fields.find(({ path }) => path.length === 1 && NAMES.has(String(path[0])));
  return typeof named?.after === "string" ? safeLine(named.after) : "";
}

const NAMES: ReadonlySet<string> = new Set(["description", "app", "name", "discoveryUrl", "prompt"]);

/** What may be sent besides, once the service has generated. */
function laterLines({ followUps }: ChangeJson, { style, width }: ChangeOptions): readonly string[] {
  const names = followUps.flatMap(({ body }) => (isObject(body) ? Object.keys(body) : []));
  if (names.length === 0) return [];
  const text = `afterwards, if different by then: ${names.map(safeLine).join(", ")}`;
  return wrap(text, width).map(style.faint);
}

function callLines({ calls, followUps, id }: ChangeJson, { style }: ChangeOptions): readonly string[] {
  const lines = [
    `id ${id}`,
    ...calls.map(({ method, path }) => `${method} ${path}`),
    ...followUps.map(({ method, path }) => `${method} ${path} (if needed)`),
  ];
  return lines.map((line) => style.faint(safeLine(line)));
}
