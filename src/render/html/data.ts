import type { Address } from "../../model/address.ts";
import { type Json, isObject } from "../../model/json.ts";
import type { Action, CallJson, ChangeJson, FieldJson, PlanJson } from "../../model/plan.ts";
import { KNOWN_AFTER_APPLY, SENSITIVE } from "../../model/value.ts";
import { type DiagnosticView, placeText, planDiagnostics } from "../diagnostics.ts";
import { safeLine, safeLines } from "../escape.ts";
import { type Piece, fieldName, isLongText, isText, NOT_SHOWN, valueText, wordDiff } from "../fields.ts";
import { type PlanExtras, changedByText, whoChanged } from "../json.ts";
import { SIGNS, kindNoun, placeOf } from "../words.ts";

/**
 * What the page's script shows, ready as text: it decides nothing and knows no field. Everything is safe to look at;
 * the script puts it into the page as text, never as HTML.
 */
export interface PageData {
  readonly changes: readonly PageChange[];
  readonly orphaned: readonly { readonly address: string; readonly id: string }[];
  readonly diagnostics: readonly PageDiagnostic[];
}

export interface PageChange {
  readonly address: Address;
  readonly action: Action;
  readonly sign: string;
  readonly kind: string;
  readonly target: string;
  /** Empty for what is yet to be made. */
  readonly id: string;
  readonly place: string;
  readonly fields: readonly PageField[];
  readonly calls: readonly PageCall[];
  readonly followUps: readonly PageCall[];
  readonly needs: readonly string[];
}

export interface PageField {
  readonly name: string;
  readonly note: string;
  readonly before?: string;
  readonly after?: string;
  /** What stands for the side that is missing. */
  readonly missing?: string;
  /** Long text: what was kept, removed, added, word by word. */
  readonly pieces?: readonly Piece[];
}

export interface PageCall {
  readonly method: string;
  readonly path: string;
  readonly body: string;
}

export interface PageDiagnostic {
  readonly severity: string;
  readonly summary: string;
  readonly detail: string;
  readonly where: string;
}

export function pageData(plan: PlanJson, extras: PlanExtras): PageData {
  return {
    changes: plan.changes.map((change) => pageChange(change, extras)),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id: safeLine(id) })),
    diagnostics: planDiagnostics(plan, extras).map(pageDiagnostic),
  };
}

function pageChange(change: ChangeJson, extras: PlanExtras): PageChange {
  const { address, action, id, fields, calls, followUps } = change;
  const { kind, target } = placeOf(address);
  const place = extras.places?.[address];
  return {
    address,
    action,
    sign: SIGNS[action],
    kind: kindNoun(kind),
    target,
    id: id === KNOWN_AFTER_APPLY ? "" : safeLine(id),
    place: place === undefined ? "" : safeLine(`${place.file}:${place.line}:${place.column}`),
    fields: fields.map((field) => pageField(field, change, extras)),
    calls: calls.map(pageCall),
    followUps: followUps.map(pageCall),
    needs: extras.dependsOn?.[address] ?? [],
  };
}

function pageField(field: FieldJson, { address, action }: ChangeJson, extras: PlanExtras): PageField {
  const { path, before, after, sensitive } = field;
  const who = whoChanged(extras, address, path);
  const head = { name: fieldName(path), note: who === undefined ? "" : changedByText(who) };
  if (sensitive) return { ...head, after: SENSITIVE };
  if (isText(before) && isText(after) && (isLongText(before) || isLongText(after)))
    return { ...head, pieces: wordDiff(safeLines(before), safeLines(after)) };
  return {
    ...head,
    ...(before === undefined ? {} : { before: sideText(before) }),
    ...(after === undefined ? {} : { after: sideText(after) }),
    ...(action === "create" || (before !== undefined && after !== undefined) ? {} : { missing: NOT_SHOWN }),
  };
}

function sideText(value: Json): string {
  return isText(value) && isLongText(value) ? safeLines(value) : valueText(value);
}

function pageCall({ method, path, body }: CallJson): PageCall {
  const shown = isObject(body) && Object.keys(body).length === 0 ? "" : JSON.stringify(body, null, 2);
  return { method, path: safeLine(path), body: safeLines(shown) };
}

function pageDiagnostic(diagnostic: DiagnosticView): PageDiagnostic {
  const { severity, summary, detail, address } = diagnostic;
  const where = [address, placeText(diagnostic)].filter((part) => part !== undefined);
  return {
    severity,
    summary: safeLine(summary),
    detail: safeLines(detail),
    where: safeLine(where.join("  ")),
  };
}
