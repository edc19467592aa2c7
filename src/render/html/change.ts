import { type Json, isObject } from "../../model/json.ts";
import type { Action, CallJson, Cause, ChangeJson, FieldJson } from "../../model/plan.ts";
import { KNOWN_AFTER_APPLY, SENSITIVE } from "../../model/value.ts";
import { html } from "../escape.ts";
import {
  NOT_SHOWN,
  type Piece,
  fieldName,
  fieldValues,
  isHarmful,
  leadingFields,
  isLongText,
  isText,
  longTexts,
  changeMeaning,
  onlySide,
  valueText,
  wordDiff,
} from "../fields.ts";
import { type PlanExtras, whoChanged } from "../json.ts";
import { CAUSE_LABELS, SIGNS, kindNoun, placeOf } from "../words.ts";

/** Fields that a row names, and characters of a value there. */
const PREVIEWED = 3;
const MOST = 60;

/** A change as a row that says as much as fits a line, and, once it is unfolded, all of it. */
export function changeHtml(change: ChangeJson, extras: PlanExtras): string {
  const { address, action, cause } = change;
  const why = cause === undefined ? "" : `<span class="cause">${CAUSE_LABELS[cause]}</span>`;
  return (
    rowHead(address, action, SIGNS[action], cause) +
    `<span class="preview">${why}${previewHtml(change)}</span></summary>` +
    `<div class="inside">${aboutHtml(change, extras)}${tableHtml(change, extras)}` +
    needsHtml(extras.dependsOn?.[address] ?? []) +
    callsHtml("Calls", change.calls) +
    callsHtml("Then, if the service’s own values differ", change.followUps) +
    "</div></details>\n"
  );
}

/** The beginning of a row, to its address. */
export function rowHead(address: string, action: Action | "problem", sign: string, cause?: Cause): string {
  const dot = address.lastIndexOf(".") + 1;
  const attributes = [
    `class="change ${action}"`,
    `id="${html(address)}"`,
    `data-kind="${kindNoun(placeOf(address).kind)}"`,
    `data-action="${action}"`,
    ...(cause === undefined ? [] : [`data-cause="${cause}"`]),
  ].join(" ");
  return (
    `<details ${attributes}><summary><span class="action">${sign} ${action}</span>` +
    `<code><span class="faint">${html(address.slice(0, dot))}</span>${html(address.slice(dot))}</code>`
  );
}

/** Harmful fields first: they are why somebody looks. */
export function previewHtml(change: ChangeJson): string {
  const { action } = change;
  const { shown, left } = leadingFields(change, PREVIEWED);
  const texts = shown.map((field) => {
    const value = [...changeMeaning(field), fieldValues(field, action, MOST)].join(": ");
    const harm = isHarmful(field, action) ? ' class="harm"' : "";
    return `<span${harm}><b>${html(fieldName(field.path))}</b> ${html(value)}</span>`;
  });
  return texts.join("") + (left === 0 ? "" : `<span>${left} more</span>`);
}

/** Where it is: its id on the service, its line in the manifest. */
function aboutHtml({ address, id }: ChangeJson, { places }: PlanExtras): string {
  const place = places?.[address];
  const parts = [
    ...(id === KNOWN_AFTER_APPLY ? [] : [id]),
    ...(place === undefined ? [] : [`${place.file}:${place.line}:${place.column}`]),
  ];
  return parts.length === 0 ? "" : `<p class="faint mono">${parts.map(html).join("  ·  ")}</p>`;
}

function tableHtml({ address, action, fields }: ChangeJson, extras: PlanExtras): string {
  if (fields.length === 0) return "";
  const rows = fields.map((field) => {
    const who = whoChanged(extras, address, field.path);
    const notes = [...changeMeaning(field), ...(who === undefined ? [] : [who])];
    const harm = isHarmful(field, action) ? ' class="harm"' : "";
    return (
      `<tr${harm}><th scope="row"><code>${html(fieldName(field.path))}</code>` +
      `${notes.map((note) => `<div class="faint">${html(note)}</div>`).join("")}</th>` +
      `<td>${valueHtml(field, action)}</td></tr>`
    );
  });
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

function valueHtml(field: FieldJson, action: ChangeJson["action"]): string {
  const { before, after, sensitive } = field;
  if (sensitive) return `<div>${SENSITIVE}</div>`;
  const texts = longTexts(before, after);
  if (texts !== undefined)
    return `<p>${wordDiff(...texts)
      .map(pieceHtml)
      .join("")}</p>`;
  const only = onlySide(field, action);
  if (only !== undefined) return `<div>${html(sideText(only))}</div>`;
  const [old, wanted] = [before, after].map((side, at) => {
    if (side === undefined) return `<span class="faint">${NOT_SHOWN}</span>`;
    const tag = at === 0 ? "del" : "ins";
    return `<${tag}>${html(sideText(side))}</${tag}>`;
  });
  return `<div>${old}<span class="faint">→</span>${wanted}</div>`;
}

function sideText(value: Json): string {
  return isText(value) && isLongText(value) ? value : valueText(value);
}

function pieceHtml({ kind, text }: Piece): string {
  if (kind === "added") return `<ins>${html(text)}</ins>`;
  return kind === "removed" ? `<del>${html(text)}</del>` : html(text);
}

function needsHtml(addresses: readonly string[]): string {
  if (addresses.length === 0) return "";
  return `<h4>After</h4><ul>${addresses.map((address) => `<li>${addressLink(address)}</li>`).join("")}</ul>`;
}

export function addressLink(address: string): string {
  return `<a href="#${html(address)}"><code>${html(address)}</code></a>`;
}

function callsHtml(title: string, calls: readonly CallJson[]): string {
  if (calls.length === 0) return "";
  return `<h4>${title}</h4>${calls.map(callHtml).join("")}`;
}

function callHtml({ method, path, body }: CallJson): string {
  const head = `<code>${html(`${method} ${path}`)}</code>`;
  if (isObject(body) && Object.keys(body).length === 0) return `<div class="call">${head}</div>`;
  return `<details class="call"><summary>${head}</summary><pre>${html(JSON.stringify(body, null, 2))}</pre></details>`;
}
