import { isObject } from "../../model/json.ts";
import type { Action, CallJson, Cause } from "../../model/plan.ts";
import { KNOWN_AFTER_APPLY, SENSITIVE } from "../../model/value.ts";
import { placeText } from "../diagnostics.ts";
import { html } from "../escape.ts";
import * as show from "../fields.ts";
import type { ChangeView, FieldView } from "../json.ts";
import { CAUSE_LABELS, SIGNS, kindNoun, placeOf } from "../words.ts";

/** Fields that a row names, and characters of a value there. */
const PREVIEWED = 3;
const MOST = 60;

/** A change as a row that says as much as fits a line, and, once it is unfolded, all of it. */
export function changeHtml(change: ChangeView): string {
  const { address, action, cause } = change;
  const why = cause === undefined ? "" : `<span class="cause">${CAUSE_LABELS[cause]}</span>`;
  return (
    rowHead(address, action, SIGNS[action], cause) +
    `<span class="preview">${why}${previewHtml(change)}</span></summary>` +
    `<div class="inside">${aboutHtml(change)}${tableHtml(change)}` +
    needsHtml(change.needs ?? []) +
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
export function previewHtml(change: ChangeView): string {
  const { action } = change;
  const { shown, left } = show.leadingFields(change, PREVIEWED);
  const texts = shown.map((field) => {
    const value = [...show.changeMeaning(field), show.fieldValues(field, action, MOST)].join(": ");
    const harm = show.isHarmful(field, action) ? ' class="harm"' : "";
    return `<span${harm}><b>${html(show.fieldName(field.path))}</b> ${html(value)}</span>`;
  });
  return texts.join("") + (left === 0 ? "" : `<span>${left} more</span>`);
}

/** Where it is: its id on the service, its line in the manifest. */
function aboutHtml({ id, place }: ChangeView): string {
  const parts = [id === KNOWN_AFTER_APPLY ? [] : id, placeText(place ?? {}) ?? []].flat();
  return parts.length === 0 ? "" : `<p class="faint mono">${parts.map(html).join("  ·  ")}</p>`;
}

function tableHtml({ action, fields }: ChangeView): string {
  if (fields.length === 0) return "";
  const rows = fields.map((field) => {
    const notes = [...show.changeMeaning(field), field.who ?? []].flat();
    const harm = show.isHarmful(field, action) ? ' class="harm"' : "";
    return (
      `<tr${harm}><th scope="row"><code>${html(show.fieldName(field.path))}</code>` +
      `${notes.map((note) => `<div class="faint">${html(note)}</div>`).join("")}</th>` +
      `<td>${valueHtml(field, action)}</td></tr>`
    );
  });
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

const TAGS = { removed: "del", added: "ins" } as const;

function valueHtml(field: FieldView, action: Action): string {
  if (field.sensitive) return `<div>${SENSITIVE}</div>`;
  const texts = show.longTexts(field);
  if (texts !== undefined) {
    const pieces = show.wordDiff(...texts).map(({ kind, text }) => {
      return kind === "same" ? html(text) : `<${TAGS[kind]}>${html(text)}</${TAGS[kind]}>`;
    });
    return `<p>${pieces.join("")}</p>`;
  }
  const sides = show.sidesOf(field, action).map(({ kind, value }, _, { length }) => {
    if (value === undefined) return `<span class="faint">${show.NOT_SHOWN}</span>`;
    const text = html(show.isLongText(value) ? value : show.valueText(value));
    return length === 1 ? text : `<${TAGS[kind]}>${text}</${TAGS[kind]}>`;
  });
  return `<div>${sides.join('<span class="faint">→</span>')}</div>`;
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
