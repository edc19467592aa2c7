import { createHash } from "node:crypto";
import { isObject } from "../../model/json.ts";
import { errorCode } from "../../model/error-codes.ts";
import {
  ACTIONS,
  ATTENTION_CODES,
  type Action,
  type Attention,
  type CallJson,
  type Cause,
} from "../../model/plan.ts";
import { KNOWN_AFTER_APPLY, SENSITIVE } from "../../model/value.ts";
import { placeText } from "../diagnostics.ts";
import { html, htmlContent } from "../escape.ts";
import * as show from "../fields.ts";
import { MOST_DETAILED } from "../formats.ts";
import type { ChangeView, DiagnosticView, FieldView, PlanView } from "../json.ts";
import type { MarkdownOptions } from "../markdown.ts";
import { placeOf } from "../../model/address.ts";
import { count, kindNoun } from "../../model/words.ts";
import * as words from "../words.ts";
import { addressLink, graphSection, section } from "./graph.ts";
import { PAGE_SCRIPT } from "./script.ts";
import { PAGE_STYLE } from "./style.ts";

/**
 * Renders the plan as one page that loads nothing. Its content policy allows only its own script
 * and style, by digest. Returns the page in pieces, a row each, because a page of thousands of
 * changes as a whole takes more memory than all else.
 */
export function* renderPlanHtml(
  plan: PlanView,
  { links = [] }: Pick<MarkdownOptions, "links"> = {},
): Generator<string> {
  const errors = plan.diagnostics.filter(words.isError);
  const warnings = plan.diagnostics.filter((one) => !words.isError(one));
  const planned = new Set<string>(plan.changes.map(({ address }) => address));
  const unplanned = errors.filter(({ address = "" }) => !planned.has(address));
  const problems = [...words.byAddress(unplanned)].map(([address, own]): Problem => ({
    address,
    errors: own,
  }));
  const known = new Set([...planned, ...problems.map(({ address }) => address)]);
  const warned = warnings.map((warning) => `\n${diagnosticItem(warning, known)}`).join("");
  const left = words
    .otherOrphans(plan)
    .map(
      ({ address, id }) =>
        `<li><code>${html(address)}</code> <code class="faint">${html(id)}</code></li>`,
    );
  const orphaned =
    left.length > 0 &&
    `<p>Removed from the manifests but still on the service.</p><ul>${left.join("\n")}</ul>`;
  const skip = `<a class="skip" href="#changes">To the changes</a>\n`;
  yield pageStart(`${words.summaryVerdict(plan).title}: tasc plan for ${plan.stage}`);
  yield `${known.size === 0 ? "" : skip}${header(plan, links, verdictSection(plan, errors, known))}
<main>
`;
  yield* changesSection(plan, problems);
  yield `
${section("warnings", count(warnings.length, "warning"), warned)}
${graphSection(plan)}
${section("orphans", `${left.length} orphaned`, orphaned)}
</main>${PAGE_END}`;
}

/** Renders the changes, and the errors of addresses without a change; nothing without any. */
function* changesSection(plan: PlanView, problems: readonly Problem[]): Generator<string> {
  if (plan.changes.length + problems.length === 0) return;
  const status = `<p id="status" role="status" class="faint">${count(plan.changes.length, "change")}</p>`;
  yield `<section id="changes" tabindex="-1" aria-labelledby="changes-title">
<h2 id="changes-title">Changes</h2>
${isSmall(plan, problems.length) ? "" : `${filterForm(plan, problems.length)}\n${status}`}${isDetailed(plan) ? "" : LEFT_OUT}
`;
  yield* targetSections(plan, problems);
  yield "\n</section>";
}

/** Renders errors and warnings without a plan, as a page of the same form. */
export function renderDiagnosticsHtml(
  diagnostics: readonly DiagnosticView[],
  tool: string,
): string {
  const errors = diagnostics.filter(words.isError);
  const warnings = diagnostics.filter((one) => !words.isError(one));
  const { kind, title } = words.diagnosticsVerdict(diagnostics);
  const draw = (one: DiagnosticView): string => diagnosticItem(one, new Set());
  return `${pageStart(`${title}: tasc`)}<header>
<section class="verdict ${kind}" aria-labelledby="verdict"><h1 id="verdict">${title}</h1>
${errors.map(draw).join("\n")}</section>
<p class="about">${html(tool)}</p>
</header>
<main>${section("warnings", count(warnings.length, "warning"), warnings.map(draw).join("\n"))}</main>${PAGE_END}`;
}

/** The frame of a page: its policy and style before a body, and its script after it. */
function pageStart(title: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${html(title)}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
`;
}

const PAGE_END = `
<script>${PAGE_SCRIPT}</script>
</body>
</html>
`;

const [SCRIPT_DIGEST, STYLE_DIGEST] = [PAGE_SCRIPT, PAGE_STYLE].map(
  (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`,
);
const POLICY = `default-src 'none'; script-src ${SCRIPT_DIGEST}; style-src ${STYLE_DIGEST}; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'`;

/** Whether a page is open and has no filter. */
function isSmall({ changes }: Pick<PlanView, "changes">, problems: number): boolean {
  return changes.length + problems <= words.MOST_OPEN;
}

function isDetailed({ changes }: Pick<PlanView, "changes">): boolean {
  return changes.length <= MOST_DETAILED;
}

const LEFT_OUT = `\n<p class="faint">There are more than ${MOST_DETAILED} changes, so their calls and places in the manifests are left out here. <code>--format json</code> has the calls.</p>`;

function header(plan: PlanView, links: readonly words.Link[], verdict: string): string {
  const { calls, followUps, ...counts } = plan.summary;
  const about = [
    `Stage <b>${html(plan.stage)}</b>`,
    ...links.map(
      ({ text, url }) => `<a href="${html(url)}" rel="noopener noreferrer">${html(text)}</a>`,
    ),
    `<time datetime="${html(plan.createdAt)}">${html(words.timeText(plan.createdAt))}</time>`,
    html(plan.baseUrl),
    html(plan.tool),
  ];
  const totals = {
    ...Object.fromEntries(ACTIONS.map((action) => [`to ${action}`, counts[action]])),
    held: counts.held,
    unchanged: counts.unchanged,
    orphaned: counts.orphaned,
    unmanaged: counts.unmanaged,
    ...calls,
  };
  const items = Object.entries(totals)
    .filter(([, amount]) => amount > 0)
    .map(([name, amount]) => [name, name.replace(/^to /, ""), String(amount)] as const);
  if (followUps > 0) items.push(["more calls after discoveries", "", `up to ${followUps}`]);
  const listed = items.map(
    ([name, style, amount]) => `<li class="${style}"><b>${amount}</b> ${name}</li>`,
  );
  return `<header>
${verdict}
<p class="about">${about.join('<span aria-hidden="true"> · </span>')}</p>
${listed.length === 0 ? "" : `<ul class="totals" aria-label="Totals">${listed.join("")}</ul>`}
</header>`;
}

/** Maximum number of addresses that a row of attention unfolds. */
const MOST_LISTED = 200;

/** What must not be missed, on top of the page: errors, then the rows of attention. */
function verdictSection(
  plan: PlanView,
  errors: readonly DiagnosticView[],
  known: ReadonlySet<string>,
): string {
  const { kind: general, title } = words.summaryVerdict(plan);
  const isHarm = plan.attention.some(({ severity }) => severity !== "caution");
  const kind = general === "attention" && isHarm ? "danger" : general;
  const rows = plan.attention.map(
    (row) =>
      `<li class="${row.severity}"><b>${words.SEVERITY_WORDS[row.severity]}</b> <span>${linked(row.text, known)}</span>${addressesHtml(row, known)}</li>`,
  );
  return `<section class="verdict ${kind}" aria-labelledby="verdict"><h1 id="verdict">${html(title)}</h1>
${errors.map((error) => diagnosticItem(error, known)).join("\n")}
${rows.length === 0 ? "" : `<ul class="rows">${rows.join("\n")}</ul>`}${rows.length + errors.length === 0 ? lookedFor(title) : ""}</section>`;
}

const ADDRESS = /((?:target|(?:environment|testCase|batchGeneration)\.[\w-]+)\.[\w-]+)/;

/** Writes a sentence in which each address on the page links to its place. */
function linked(text: string, known: ReadonlySet<string>): string {
  const parts = text.split(ADDRESS);
  return parts.map((part) => (known.has(part) ? addressLink(part) : html(part))).join("");
}

function addressesHtml({ addresses, text }: Attention, known: ReadonlySet<string>): string {
  if (addresses.every((address) => text.includes(address))) return "";
  const items = addresses
    .slice(0, MOST_LISTED)
    .map((one) => `<li>${known.has(one) ? addressLink(one) : `<code>${html(one)}</code>`}</li>`);
  const more = addresses.length - items.length;
  if (more > 0) items.push(`<li>and ${more} more, which come first in their targets below</li>`);
  return `<details><summary>${count(addresses.length, "address", "addresses")}</summary><ul>${items.join("")}</ul></details>`;
}

/** Says what the table looked for, where it found nothing. */
function lookedFor(heading: string): string {
  const line =
    heading === words.NOTHING_NEEDS
      ? "What was looked for"
      : `${words.NOTHING_NEEDS}: what was looked for`;
  const titles = ATTENTION_CODES.map((code) => errorCode(code)?.[0] ?? code);
  return `<details><summary>${line}</summary><ul>${titles.map((title) => `<li>${html(title)}</li>`).join("")}</ul></details>`;
}

function diagnosticItem(diagnostic: DiagnosticView, known: ReadonlySet<string>): string {
  const { severity, summary, detail, address } = diagnostic;
  const place = placeText(diagnostic);
  const code = (text: string): string => `<code>${html(text)}</code>`;
  const about =
    address === undefined ? [] : known.has(address) ? addressLink(address) : code(address);
  const where = [about, place === "" ? [] : code(place)].flat().join(" ");
  return (
    `<div class="diagnostic ${html(severity)}"><p><strong>${words.isError(diagnostic) ? "Error" : "Warning"}:</strong> ` +
    `<span>${html(summary)}</span> ${where}</p>${detail === "" ? "" : `<pre>${html(detail)}</pre>`}</div>`
  );
}

/**
 * Returns the filter form, hidden until the script runs, because without the script it does
 * nothing.
 */
function filterForm({ changes }: PlanView, problems: number): string {
  const places = changes.map(({ address }) => placeOf(address));
  const causes = words.byCause(changes).flatMap(({ changes: own }) => {
    const cause = own[0]?.cause;
    return cause
      ? chip("cause", cause, `${words.CAUSE_WORDS[cause].label} (${own.length})`, "")
      : [];
  });
  const actions = words
    .actionsIn(changes)
    .map(([action, amount]) =>
      chip("action", action, `${words.SIGNS[action]} ${action} (${amount})`, action),
    );
  if (problems > 0)
    actions.unshift(
      chip("action", "problem", `${words.PROBLEM_SIGN} problem (${problems})`, "problem"),
    );
  return `<form id="filter" role="search" aria-label="Filter changes" hidden>
<div class="bar"><input id="search" type="search" name="search" aria-label="Filter" placeholder="Filter (press /)" autocomplete="off" spellcheck="false">
<button id="expand" type="button">Expand all</button><button id="collapse" type="button">Collapse all</button></div>
<div class="bar chips"><fieldset><legend>Action</legend>${actions.join("")}</fieldset>${causes.length === 0 ? "" : `<fieldset><legend>Cause</legend>${causes.join("")}</fieldset>`}
${choice("kind", [...new Set(places.map(({ kind }) => kind))].map(kindNoun))}
${choice("target", [...new Set(places.map(({ target }) => target))])}
<button type="reset">Reset</button>
<span class="faint keys" aria-hidden="true"><kbd>j</kbd> <kbd>k</kbd> move, <kbd>o</kbd> open</span></div>
</form>`;
}

function chip(name: string, value: string, text: string, style: string): string {
  return `<label class="${style}"><input type="checkbox" name="${name}" value="${value}">${text}</label>`;
}

/** Returns a choice among values; empty if there are fewer than two. */
function choice(name: string, values: readonly string[]): string {
  if (values.length < 2) return "";
  const options = values
    .toSorted()
    .map((value) => `<option value="${html(value)}">${html(value)}</option>`);
  return `<select name="${name}" aria-label="${name}"><option value="">All ${name}s</option>${options.join("")}</select>`;
}

/** The errors of an address for which nothing is planned. */
type Problem = { readonly address: string; readonly errors: readonly DiagnosticView[] };

function* targetSections(plan: PlanView, problems: readonly Problem[]): Generator<string> {
  const weight = words.weightOf(plan);
  const draw = isDetailed(plan) ? (change: ChangeView) => change : withoutCalls;
  const open = isSmall(plan, problems.length) ? " open" : "";
  for (const [at, { title, changes }] of words.byCause(plan.changes).entries()) {
    if (at > 0) yield "\n";
    if (title !== undefined) yield `<h3 class="group">${title}</h3>`;
    const wrong = words.byTarget(at === 0 ? problems : []);
    const own = words.byTarget(changes);
    let between = "";
    for (const target of new Set([...wrong.keys(), ...own.keys()])) {
      const [errors, rows] = [wrong.get(target) ?? [], own.get(target) ?? []];
      const failed = errors.length === 0 ? [] : [count(errors.length, "problem")];
      const totals = [...failed, ...words.actionCounts(rows)].map(
        (text) => `<span class="${text.replace(/.* |s$/g, "")}">${text}</span>`,
      );
      yield `${between}<details class="target" data-target="${html(target)}"${open}><summary><h3>${html(target)}</h3><span class="small">${totals.join("")}</span><span class="matching faint"></span></summary>\n`;
      for (const problem of errors) yield problemHtml(problem, open);
      for (const change of words.byWeight(weight, rows)) yield changeHtml(draw(change), open);
      yield "</details>";
      between = "\n";
    }
  }
}

function withoutCalls(change: ChangeView): ChangeView {
  return { ...change, calls: [], followUps: [] };
}

function problemHtml({ address, errors }: Problem, open: string): string {
  const text = errors.map((error) => diagnosticItem(error, new Set())).join("");
  return `${rowHead(address, "problem", words.PROBLEM_SIGN, open)}<span class="preview">${html(errors[0]?.summary ?? "")}</span></summary><div class="inside">${text}</div></details>\n`;
}

/** Maximum number of fields that a row names, and maximum length of a value there. */
const PREVIEWED = 3;
const MOST = 60;

/** Renders a change as a row with as much as fits a line; unfolded, it shows everything. */
function changeHtml(change: ChangeView, open: string): string {
  const { address, action, cause, id, place, needs = [] } = change;
  const why =
    cause === undefined ? "" : `<span class="cause">${words.CAUSE_WORDS[cause].label}</span>`;
  const about = [id === KNOWN_AFTER_APPLY ? "" : id, placeText(place ?? {})].filter(Boolean);
  const after = needs.map((needed) => `<li>${addressLink(needed)}</li>`).join("");
  const texts = changedTexts(change);
  return (
    rowHead(address, action, words.SIGNS[action], open, cause) +
    `<span class="preview">${why}${previewHtml(change, texts)}</span></summary><div class="inside">` +
    (about.length === 0 ? "" : `<p class="faint mono">${about.map(html).join("  ·  ")}</p>`) +
    tableHtml(change, texts) +
    (after === "" ? "" : `<h4>After</h4><ul>${after}</ul>`) +
    callsHtml("Calls", change.calls) +
    callsHtml(FOLLOW_UP_TITLE, change.followUps) +
    "</div></details>\n"
  );
}

const FOLLOW_UP_TITLE = `${words.FOLLOW_UP.charAt(0).toUpperCase()}${words.FOLLOW_UP.slice(1)}`;

function rowHead(
  address: string,
  action: Action | "problem",
  sign: string,
  open: string,
  cause?: Cause,
): string {
  const id = html(address);
  const dot = id.lastIndexOf(".") + 1;
  const kind = kindNoun(placeOf(address).kind);
  const why = cause === undefined ? "" : ` data-cause="${cause}"`;
  return (
    `<details class="change ${action}" id="${id}" data-kind="${kind}" data-action="${action}"${why}${open}>` +
    `<summary><span class="action">${sign} ${action}</span><code><span class="faint">${id.slice(0, dot)}</span>${id.slice(dot)}</code>`
  );
}

/** The differences of long texts, by field: a row names them, and its table shows them. */
type Texts = ReadonlyMap<FieldView, readonly show.Piece[]>;

function changedTexts({ fields }: ChangeView): Texts {
  return new Map(
    fields.flatMap((field) => {
      const texts = field.sensitive ? undefined : show.longTexts(field);
      return texts === undefined ? [] : [[field, show.wordDiff(...texts)] as const];
    }),
  );
}

/** Previews the fields of a change, harmful ones first, because they are the reason to look. */
function previewHtml(change: ChangeView, texts: Texts): string {
  const { action } = change;
  const { shown, left } = show.leadingFields(change, PREVIEWED);
  const parts = shown.map((field) => {
    const text = texts.get(field);
    const values =
      text === undefined ? show.fieldValues(field, action, MOST) : show.changedWords(text, MOST);
    const value = [...show.changeMeaning(field), values].join(": ");
    return `<span${harmClass(field, action)}><b>${html(words.fieldName(field.path))}</b> ${html(value)}</span>`;
  });
  return parts.join("") + (left === 0 ? "" : `<span>${left} more</span>`);
}

function harmClass(field: FieldView, action: Action): string {
  return show.isHarmful(field, action) ? ' class="harm"' : "";
}

function tableHtml({ action, fields }: ChangeView, texts: Texts): string {
  if (fields.length === 0) return "";
  const rows = fields.map((field) => {
    const notes = [...show.changeMeaning(field), field.who ?? []].flat();
    return (
      `<tr${harmClass(field, action)}><th scope="row"><code>${html(words.fieldName(field.path))}</code>` +
      `${notes.map((note) => `<div class="faint">${html(note)}</div>`).join("")}</th>` +
      `<td>${valueHtml(field, action, texts)}</td></tr>`
    );
  });
  return `<table><tbody>${rows.join("")}</tbody></table>`;
}

const TAGS = { removed: "del", added: "ins" } as const;

function valueHtml(field: FieldView, action: Action, texts: Texts): string {
  if (field.sensitive) return `<div>${SENSITIVE}</div>`;
  const changed = texts.get(field);
  if (changed !== undefined) {
    const pieces = changed.map(({ kind, text }) => {
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

function callsHtml(title: string, calls: readonly CallJson[]): string {
  if (calls.length === 0) return "";
  const items = calls.map(({ method, path, body }) => {
    const head = `<code>${html(`${method} ${path}`)}</code>`;
    if (isObject(body) && Object.keys(body).length === 0) return `<div class="call">${head}</div>`;
    return `<details class="call"><summary>${head}</summary><pre>${htmlContent(JSON.stringify(body, null, 2))}</pre></details>`;
  });
  return `<h4>${title}</h4>${items.join("")}`;
}
