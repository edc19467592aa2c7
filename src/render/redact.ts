import { type Json, isArray, isObject } from "../model/json.ts";
import type { CallJson, ChangeJson, DiagnosticJson, FieldJson, PlanJson } from "../model/plan.ts";
import { SENSITIVE } from "../model/value.ts";

/**
 * Takes secrets out by their value, in whatever form they stand. It is used twice: on data, before a renderer cuts,
 * wraps or escapes it, and on every text that leaves, as a net.
 */
export interface Redactor {
  /** Secrets of a whole text become `(sensitive)`; overlapping ones become one. */
  text(text: string): string;
  /** The same for a finished document of a program, as far as it cannot harm the format's own words and numbers. */
  document(text: string): string;
  /** In all strings of plain data; a number that spells a secret becomes a string. Keys are treated as in documents. */
  json(value: Json): Json;
  /** For a text that comes in pieces; nothing is let out while it can still be the start of a secret. */
  stream(): RedactingStream;
}

export interface RedactingStream {
  write(chunk: string): string;
  end(): string;
}

/** @param secrets values of any length; those under four characters are not looked for. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const text = replacerOf(secrets);
  const document = replacerOf(secrets.filter(isUnmistakable));
  return {
    text,
    document,
    json: (value) => redactJson(value, text, document),
    stream: () => openStream(secrets),
  };
}

type Replacer = (text: string) => string;

function replacerOf(secrets: readonly string[]): Replacer {
  const pattern = patternOf(secrets);
  return pattern === undefined ? (text) => text : (text) => redacted(text, pattern);
}

function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = secretForms(secrets);
  return forms.length === 0 ? undefined : new RegExp(forms.join("|"), "g");
}

/** No word of a format and no number of ours: those are short, or all letters, or all digits. */
function isUnmistakable(secret: string): boolean {
  return secret.length >= 8 && !/^[A-Za-z]+$/.test(secret) && !/^[\d.,:eE+-]+$/.test(secret);
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Every place where some form begins, overlapping ones joined: what one match leaves over may belong to another. */
function* spans(text: string, pattern: RegExp): Generator<Span> {
  let open: Span | undefined;
  pattern.lastIndex = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const span = { start: found.index, end: found.index + found[0].length };
    pattern.lastIndex = span.start + 1;
    if (open === undefined || span.start >= open.end) {
      if (open !== undefined) yield open;
      open = span;
    } else if (span.end > open.end) open = { start: open.start, end: span.end };
  }
  if (open !== undefined) yield open;
}

function redacted(text: string, pattern: RegExp): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans(text, pattern)) {
    parts.push(text.slice(from, start), SENSITIVE);
    from = end;
  }
  return from === 0 ? text : parts.join("") + text.slice(from);
}

function redactJson(value: Json, text: Replacer, key: Replacer): Json {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return text(String(value)) === String(value) ? value : SENSITIVE;
  if (isArray(value)) return value.map((item) => redactJson(item, text, key));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [key(name), redactJson(part, text, key)]),
  );
}

/**
 * A secret that begins before the last `longest` characters has come whole, so what stands before them can go out.
 * A span that reaches into them is held with them: the next piece may make it longer.
 */
function openStream(secrets: readonly string[]): RedactingStream {
  const pattern = patternOf(secrets);
  if (pattern === undefined) return { write: (chunk) => chunk, end: () => "" };
  const longest = longestForm(secrets);
  let held = "";
  return {
    write(chunk) {
      held += chunk;
      const settled = settledEnd(held, pattern, held.length - longest);
      const out = redacted(held.slice(0, settled), pattern);
      held = held.slice(settled);
      return out;
    },
    end() {
      const out = redacted(held, pattern);
      held = "";
      return out;
    },
  };
}

function settledEnd(text: string, pattern: RegExp, limit: number): number {
  if (limit <= 0) return 0;
  for (const { start, end } of spans(text, pattern)) {
    if (start >= limit) break;
    if (end > limit) return start;
  }
  return limit;
}

function longestForm(secrets: readonly string[]): number {
  return LONGEST_CHARACTER * Math.max(...secrets.map((secret) => secret.length));
}

/**
 * The forms in which a secret turns up in a text: as it is, or as an encoder left it. Encoders leave ASCII letters
 * and digits alone, so only the other characters have several forms; each may stand in its own, since a text can
 * have gone through several encoders (a JSON body quoted in a JSON message, in a URL, in HTML).
 */

/** Shorter values are too common to be found by what they say (design contract, section 1). */
export const SHORTEST_SECRET = 4;
/** A line of a longer secret that is this long is a secret itself; shorter ones are `}` or `-----`. */
const SHORTEST_LINE = 8;

/** No form of one character is longer than a line break with gutters on both sides. */
const LONGEST_CHARACTER = 150;

/** Regular expressions, as source text, for all forms of all secrets; those of longer secrets come first. */
function secretForms(secrets: readonly string[]): readonly string[] {
  const texts = [...new Set(secrets.flatMap(variants))].filter((text) => text.length >= SHORTEST_SECRET);
  texts.sort((a, b) => b.length - a.length || (a < b ? -1 : 1));
  return [...new Set(texts.flatMap((text) => [written(text), ...base64(text)]))];
}

/** Services trim what they are given, and logs show one line at a time. */
function variants(secret: string): readonly string[] {
  const lines = secret.split(/\r\n|\r|\n/).map((line) => line.trim());
  return [
    secret,
    secret.trim(),
    ...(lines.length > 1 ? lines.filter((line) => line.length >= SHORTEST_LINE) : []),
  ];
}

/**
 * Runs of white space and of backslashes are taken together: where neighbours may both be drawn out, a text that is
 * almost the secret could be cut up in so many ways that the search would not come to an end.
 */
const RUNS = /[ \t\r\n\f\v]+|\\+|[A-Za-z0-9]+|\P{ASCII}|[^A-Za-z0-9\s\\]/gu;

function written(secret: string): string {
  return (secret.match(RUNS) ?? []).map(writtenRun).join("");
}

function writtenRun(run: string): string {
  if (/^[A-Za-z0-9]/.test(run)) return run;
  if (run.startsWith("\\")) return backslashes(run.length);
  return /^[ \t\r\n\f\v]/.test(run) ? whiteSpace(run) : sign(run);
}

/** In front of an escaped character: one backslash, or as many as escaping it again (and again) makes of it. */
const ESCAPE = String.raw`\\{1,7}`;
/** HTML may have been escaped again as well. */
const AMPERSAND = "&(?:amp;){0,2}";

const HEX_SPACE = "(?:20|0[9a-dA-D])";
const SPACE_ENTITY = `${AMPERSAND}#0{0,4}(?:32|9|1[0-3]|[xX]0{0,4}(?:20|[9a-dA-D]));`;
const ONE_SPACE = `(?:\\s|${ESCAPE}(?:[tnrfv]|u00${HEX_SPACE})|%(?:25){0,2}${HEX_SPACE}|${SPACE_ENTITY})`;
const BLANKS = String.raw`[^\S\n]{0,20}`;

/** White space may have been set in lines anew, with the signs that a diff or a quotation puts before each line. */
function whiteSpace(run: string): string {
  const lines = Math.max(1, run.split("\n").length - 1);
  const wrapped = `${BLANKS}(?:\\n${BLANKS}(?:[|│>+~-]${BLANKS}){0,3}){1,${lines}}`;
  return `(?:${wrapped}|${ONE_SPACE}{1,${run.length + 20}}|\\+{${run.length}})`;
}

function backslashes(count: number): string {
  return `(?:\\\\{${count},${count * 8}}|(?:${numeric("\\")}){${count},${count * 8}})`;
}

/** Signs and letters beyond ASCII; Markdown, shells and JSON may put backslashes before them. */
function sign(character: string): string {
  const named = NAMES[character];
  const entity = named === undefined ? "" : `|${AMPERSAND}${named};`;
  return `(?:${quoted(character)}|${ESCAPE}${quoted(character)}|${numeric(character)}${entity})`;
}

const NAMES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "/": "sol",
  "+": "plus",
  "\u00a0": "nbsp",
};

/** A character by its number: `%2F`, `\u002f`, `&#47;`, `&#x2f;`. */
function numeric(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const percent = [...Buffer.from(character)].map((byte) => `%(?:25){0,2}${hex(byte, 2)}`).join("");
  const units = [...Array(character.length).keys()].map(
    (at) => `${ESCAPE}u${hex(character.charCodeAt(at), 4)}`,
  );
  return `(?:${percent}|${units.join("")}|${AMPERSAND}#(?:0{0,4}${code}|[xX]0{0,4}${hex(code, 1)});)`;
}

/** Digits of a number in either case. */
function hex(code: number, digits: number): string {
  const text = code.toString(16).padStart(digits, "0");
  return text.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
}

function quoted(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

/**
 * Base64 writes three bytes as four characters, so inside a longer text a secret has three forms, by where it
 * starts. Only the characters that the secret alone decides are looked for; a few bits more stand in their neighbours.
 */
function base64(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  return [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes]).toString("base64");
    const first = Math.ceil((offset * 8) / 6);
    const last = Math.floor(((offset + bytes.length) * 8) / 6);
    const core = encoded.slice(first, last);
    return `${core.replace(/[+/]/g, (character) => BASE64_SIGNS[character] ?? character)}${BASE64_END}`;
  });
}

const BASE64_SIGNS: Readonly<Record<string, string>> = {
  "+": String.raw`(?:[+\-]|%2[bB]|&#43;|\\{1,7}u002[bB])`,
  "/": String.raw`(?:_|(?:\\{1,7})?\/|%2[fF]|&#47;)`,
};
const BASE64_CHARACTER = "[A-Za-z0-9+/_-]";
const BASE64_END = `${BASE64_CHARACTER}?(?:=|%3[dD]){0,2}`;

/**
 * Takes secrets out of what came from outside into a plan: live values, bodies, messages. It comes before every
 * renderer, because they cut, wrap and escape. What tasc itself put there stays as it is, the more since hiding it
 * would tell what the secret is: addresses, actions, field names, counts.
 */
export function redactPlan(plan: PlanJson, redactor: Redactor): PlanJson {
  return {
    ...plan,
    baseUrl: redactor.text(plan.baseUrl),
    changes: plan.changes.map((change) => redactChange(change, redactor)),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id: redactor.text(id) })),
    diagnostics: plan.diagnostics.map((diagnostic) => redactDiagnostic(diagnostic, redactor)),
  };
}

function redactChange(change: ChangeJson, redactor: Redactor): ChangeJson {
  return {
    ...change,
    id: redactor.text(change.id),
    fields: change.fields.map((field) => redactField(field, redactor)),
    calls: change.calls.map((call) => redactCall(call, redactor)),
    followUps: change.followUps.map((call) => redactCall(call, redactor)),
  };
}

function redactField(field: FieldJson, redactor: Redactor): FieldJson {
  return {
    ...field,
    path: field.path.map((step) => (typeof step === "string" ? redactor.document(step) : step)),
    ...(field.before === undefined ? {} : { before: redactor.json(field.before) }),
    ...(field.after === undefined ? {} : { after: redactor.json(field.after) }),
  };
}

function redactCall(call: CallJson, redactor: Redactor): CallJson {
  return { ...call, path: redactor.document(call.path), body: redactor.json(call.body) };
}

/** Likewise for a diagnostic, in a plan or by itself. */
export function redactDiagnostic<D extends DiagnosticJson>(diagnostic: D, redactor: Redactor): D {
  return {
    ...diagnostic,
    summary: redactor.text(diagnostic.summary),
    detail: redactor.text(diagnostic.detail),
  };
}
