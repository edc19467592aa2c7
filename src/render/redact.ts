import type { Failed, Outcome } from "../model/events.ts";
import { type Json, type JsonArray, type JsonObject, type Path, isArray } from "../model/json.ts";
import type { CallJson, PlanJson } from "../model/plan.ts";
import { SENSITIVE, Secrets } from "../model/value.ts";
import {
  decodedText,
  encodedWords,
  isCanonical,
  letterless,
  levelledText,
  rawText,
  toOriginal,
} from "./canonical.ts";
import type { ChangeView, FieldView } from "./json.ts";
import { SHORTEST_SECRET, type Searches, searchesFor } from "./secret-forms.ts";

/**
 * Redacts secrets by value, in any form: in data, before a renderer cuts, wraps or escapes it, and
 * as a safety net in all output. It takes time linear in the text: text and secrets are converted
 * to one canonical form (`canonical.ts`), and one pass searches for all secrets. Base64, hex and
 * base32 cannot be decoded without trying, so the encoded secrets are searched for. A value is
 * redacted wherever it occurs, even in a name that somebody else chose, so anyone who can write
 * names and read the output can test a guess (docs/security.md).
 */
export type Redactor = Readonly<ReturnType<typeof createRedactor>>;

/** Plain data in which objects with keys from outside are marked by `outside`. */
export type ViewJson =
  | Exclude<Json, JsonArray | JsonObject>
  | Outside
  | readonly ViewJson[]
  | { readonly [key: string]: ViewJson | undefined };

/**
 * An object whose keys come from outside, e.g. a payload or headers: its keys are redacted as
 * strictly as its values.
 */
export class Outside {
  readonly value: Json;

  constructor(value: Json) {
    this.value = value;
  }
}

/** Marks a value as coming from outside; returns undefined for a missing value. */
export function outside(value: Json | undefined): Outside | undefined {
  return value === undefined ? undefined : new Outside(value);
}

const [LONGEST_WORD, MOST_WORDS] = [12, 1000];

/**
 * Creates a redactor.
 * @param secrets of any length; those under four characters are ignored. A set may grow later.
 */
export function createRedactor(secrets: ReadonlySet<string> | readonly string[]) {
  const all = "size" in secrets ? secrets : new Set(secrets);
  const isAddress = addressTest(all);
  const text = replacerOf(all, ({ length }) => length >= SHORTEST_SECRET, false, isAddress);
  const isUnmistakable = (secret: string): boolean =>
    secret.length >= 8 && !/^[A-Za-z]+$/.test(secret) && !/^[\d.,:eE+-]+$/.test(secret);
  const word = replacerOf(all, isUnmistakable, true, isAddress);
  return {
    get knowsSecrets() {
      return all.size > 0;
    },
    /** Replaces every secret in a text with `(sensitive)`; overlapping secrets become one. */
    text,
    /**
     * The same for a key or a path of a program, but only for secrets that cannot be mistaken for
     * words of the format.
     */
    word,
    // Finished texts are redacted piece by piece: a secret must not take a whole change with it, or
    // characters that make other texts harmless. Secrets that look like numbers stay in documents,
    // because `1234` would spoil every count.
    /** Redacts JSON, string by string. */
    document: (json: string) => (word(json) === json ? json : inStrings(json, word)),
    /** Redacts markup, word by word. */
    markup: (markup: string) =>
      word(markup) === markup ? markup : markup.replace(/[\w.-]{8,}/g, word),
    /** Redacts a result for people, line by line. */
    lines: (lines: string) => (text(lines) === lines ? lines : lines.replace(/.+/g, text)),
    /**
     * Redacts all strings of plain data; a number that contains a secret becomes a string. Keys are
     * treated like `word`.
     */
    json: (value: ViewJson) => redactData(value, text, word),
    /** The same for data whose keys also come from outside. */
    freeJson: (value: Json) => redactData(value, text, text),
  };
}

type Replacer = (text: string) => string;

/**
 * Returns a redacting function.
 * @param inDocument whether a backslash in front escapes what follows, which must stay
 */
function replacerOf(
  secrets: ReadonlySet<string>,
  isWanted: (secret: string) => boolean,
  inDocument: boolean,
  isAddress: (text: string) => boolean,
): Replacer {
  let known = 0;
  let wanted: readonly string[] = [];
  let searches: Searches | undefined;
  /**
   * Cache of short texts without a secret: long lists repeat the same few field names and values.
   */
  const harmless = new Set<string>();
  return (text) => {
    if (known !== secrets.size) {
      known = secrets.size;
      wanted = [...secrets].filter(isWanted);
      searches = undefined;
      harmless.clear();
    }
    if (wanted.length === 0 || text.length < SHORTEST_SECRET || harmless.has(text)) return text;
    searches ??= searchesFor(wanted);
    if (isHarmless(text, searches)) {
      if (text.length <= LONGEST_WORD && harmless.size < MOST_WORDS) harmless.add(text);
      return text;
    }
    const found = spansIn(text, searches, inDocument);
    return withoutSpans(
      text,
      found.length === 0 ? found : outsideAddresses(text, found, isAddress),
    );
  };
}

/** Returns a test for the addresses of the project; they are collected when it is first called. */
function addressTest(secrets: ReadonlySet<string>): (text: string) => boolean {
  if (!(secrets instanceof Secrets)) return () => false;
  let known = new Set<string>();
  let sources = 0;
  return (text) => {
    if (sources !== secrets.addresses.length) {
      sources = secrets.addresses.length;
      known = new Set(secrets.addresses.flatMap((list) => [...list()]));
    }
    return known.has(text);
  };
}

const ADDRESS_LIKE = /\b(?:target|(?:environment|testCase|batchGeneration)\.[\w-]+)\.[\w-]+/g;

/** Leaves out the spans within an address of the project. */
function outsideAddresses(
  text: string,
  spans: readonly Span[],
  isAddress: (text: string) => boolean,
): readonly Span[] {
  const addresses = [...text.matchAll(ADDRESS_LIKE)].flatMap(({ 0: own, index }) =>
    isAddress(own) ? [{ start: index, end: index + own.length }] : [],
  );
  if (addresses.length === 0) return spans;
  return spans.filter(
    ({ start, end }) => !addresses.some((own) => own.start <= start && end <= own.end),
  );
}

function inStrings(json: string, replace: Replacer): string {
  const parts: string[] = [];
  let taken = 0;
  for (const { 0: sign, index } of json.matchAll(/\\[^]|"/g)) {
    if (sign !== '"') continue;
    parts.push(json.slice(taken, index));
    taken = index + 1;
  }
  parts.push(json.slice(taken));
  return parts.map((part, at) => (at % 2 === 1 ? replace(part) : part)).join('"');
}

/** Redacts plain data; most of it has no secret, and is not copied. */
function redactData(value: ViewJson, text: Replacer, key: Replacer): Json {
  return isClean(value, text, key) ? value : redactJson(value, text, key);
}

/** Redacts plain data. Omits undefined values, as `JSON.stringify` does. */
function redactJson(value: ViewJson, text: Replacer, key: Replacer): Json {
  if (typeof value === "string") return text(value);
  if (typeof value === "number") return text(String(value)) === String(value) ? value : SENSITIVE;
  if (value instanceof Outside) return redactJson(value.value, text, text);
  if (isArray(value)) return value.map((item) => redactJson(item, text, key));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, part]) =>
      part === undefined ? [] : [[key(name), redactJson(part, text, FREE.has(name) ? text : key)]],
    ),
  );
}

/** Whether redaction would change nothing. */
function isClean(value: ViewJson | undefined, text: Replacer, key: Replacer): value is Json {
  if (typeof value === "string") return text(value) === value;
  if (typeof value === "number") return text(String(value)) === String(value);
  if (value === undefined || value instanceof Outside) return false;
  if (isArray(value)) return value.every((item) => isClean(item, text, key));
  if (typeof value !== "object" || value === null) return true;
  for (const name in value)
    if (key(name) !== name || !isClean(value[name], text, FREE.has(name) ? text : key))
      return false;
  return true;
}

/** Fields whose keys other people choose: keys in them are redacted like values. */
const FREE: ReadonlySet<string> = new Set(["options", "additionalHeaderFields", "context"]);

type Span = ReturnType<typeof toOriginal>;

/**
 * Whether a text has no secret, for most that have none. A function of its own, because it needs
 * nothing that a full search makes at its start.
 */
function isHarmless(text: string, { raw, canonical, base64 }: Searches): boolean {
  if (!isCanonical(text) || raw.mayFind(text) || base64.mayFind(text)) return false;
  return !canonical.mayFind(letterless(text));
}

function spansIn(
  text: string,
  { raw, canonical, base64, level }: Searches,
  inDocument: boolean,
): readonly Span[] {
  const found: Span[] = [];
  raw.scan(text, (start, end) => {
    // In a document, the first character belongs to an escape, which the canonical form takes as a
    // whole.
    if (!inDocument || text[start - 1] !== "\\") found.push({ start, end });
  });
  const decoded = decodedText(rawText(text));
  const whole = level ? levelledText(decoded) : decoded;
  const lower = letterless(whole.text);
  const lowerEnd = tailEnds(lower);
  canonical.scan(lower, (from, to, { exact, lead = 0, tail }) => {
    if (exact !== undefined && !whole.text.startsWith(exact, from)) return;
    const { start, end } = toOriginal(whole, from, lowerEnd(to, tail));
    found.push({ start: start - signsBefore(text, start, lead), end });
  });
  const words = encodedWords(decoded);
  const wordEnd = tailEnds(words.text);
  base64.scan(words.text, (from, to, { tail }) => {
    const { start, end } = toOriginal(words, from, wordEnd(to, tail));
    const rest = /^[A-Za-z0-9+/_-]?(?:=|%3[dD]){0,2}/.exec(text.slice(end, end + 7));
    found.push({ start, end: end + (rest?.[0].length ?? 0) });
  });
  return found;
}

/** Returns a function that finds where a match ends, including its tail; no tail is read twice. */
function tailEnds(text: string): (to: number, tail: RegExp | undefined) => number {
  let reached: Map<RegExp, number> | undefined;
  return (to, tail) => {
    if (tail === undefined) return to;
    const known = reached?.get(tail) ?? 0;
    if (to <= known) return known;
    tail.lastIndex = to;
    const end = to + (tail.exec(text)?.[0].length ?? 0);
    (reached ??= new Map<RegExp, number>()).set(tail, end);
    return end;
  };
}

function signsBefore(text: string, start: number, most: number): number {
  let amount = 0;
  while (amount < most && "|│>~-+".includes(text[start - amount - 1] ?? " ")) amount++;
  return amount;
}

/**
 * Redacts spans. Overlapping ones become one, because what one match leaves over may belong to
 * another.
 */
function withoutSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of spans.toSorted((a, b) => a.start - b.start)) {
    if (start >= from) parts.push(text.slice(from, start), SENSITIVE);
    from = Math.max(from, end);
  }
  return parts.join("") + text.slice(from);
}

/**
 * Redacts the parts of a plan that come from outside. Redacting our own words would reveal the
 * secret.
 */
export function redactPlan(plan: PlanJson, redactor: Redactor): PlanJson {
  if (!redactor.knowsSecrets) return plan;
  return {
    ...plan,
    baseUrl: redactor.text(plan.baseUrl),
    changes: plan.changes.map((change) => redactChange(change, redactor)),
    attention: plan.attention.map((row) => ({ ...row, text: redactSentence(row.text, redactor) })),
    orphaned: plan.orphaned.map(({ address, id }) => ({ address, id: redactor.text(id) })),
    diagnostics: plan.diagnostics.map((diagnostic) => redactDiagnostic(diagnostic, redactor)),
  };
}

/** Origins and addresses in a sentence, which a secret such as `shop` must not hide. */
const NAMES =
  /([a-z][a-z\d+.-]*:\/\/[^\s,;]+|\b(?:target|environment|testCase|batchGeneration)\.[\w.-]+)/i;

function redactSentence(sentence: string, { text, word }: Redactor): string {
  const parts = sentence.split(NAMES);
  return parts.map((part, at) => (at % 2 === 1 ? word(part) : text(part))).join("");
}

export function redactChange(change: ChangeView, redactor: Redactor): ChangeView {
  if (!redactor.knowsSecrets) return change;
  return {
    ...change,
    id: redactor.text(change.id),
    fields: change.fields.map((field) => redactField(field, redactor)),
    calls: change.calls.map((call) => redactCall(call, redactor)),
    followUps: change.followUps.map((call) => redactCall(call, redactor)),
  };
}

export function redactField(field: FieldView, redactor: Redactor): FieldView {
  return {
    ...field,
    path: redactPath(field.path, redactor),
    ...(field.before !== undefined && { before: redactor.freeJson(field.before) }),
    ...(field.after !== undefined && { after: redactor.freeJson(field.after) }),
  };
}

/** Redacts a path in a resource; below a key of `FREE`, other people choose the keys. */
function redactPath(path: Path, { text, word }: Redactor): Path {
  const free = path.findIndex((step) => step === "options" || step === "context");
  const isFree = (at: number): boolean => free >= 0 && at > free;
  return path.map((step, at) =>
    typeof step === "number" ? step : isFree(at) ? text(step) : word(step),
  );
}

function redactCall(call: CallJson, redactor: Redactor): CallJson {
  return { ...call, path: redactor.word(call.path), body: redactor.json(call.body) };
}

/** Redacts a diagnostic or the failure of a change. */
export function redactDiagnostic<D extends Failed["failure"]>(told: D, { text }: Redactor): D {
  return { ...told, summary: text(told.summary), detail: text(told.detail) };
}

/**
 * Redacts failures; a `fatal` one may name the place of the state that could not be saved, which
 * may contain a secret.
 */
export function redactOutcome(outcome: Outcome, redactor: Redactor): Outcome {
  const failed = outcome.failed.map((one) => ({
    ...one,
    failure: redactDiagnostic(one.failure, redactor),
  }));
  const words = new Map(
    [...outcome.words].map(([address, word]) => [address, redactor.text(word)]),
  );
  return {
    ...outcome,
    failed,
    words,
    fatal: outcome.fatal && redactDiagnostic(outcome.fatal, redactor),
  };
}
