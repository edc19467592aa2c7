import type { Json } from "../model/json.ts";
import { isArray, isObject } from "../model/json.ts";
import { SENSITIVE } from "../model/value.ts";
import { LONGEST_CHARACTER, secretForms } from "./secret-forms.ts";

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
