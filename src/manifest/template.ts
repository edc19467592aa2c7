import { KEY_PATTERN } from "../model/address.ts";
import { type Json, type Path, isArray, isObject } from "../model/json.ts";
import { type SourceText, didYouMean, nearest } from "./problem.ts";

/**
 * A text, split into literal pieces and placeholders. Placeholders do not nest, so that a text
 * means what it says.
 */
interface Template {
  readonly parts: readonly TemplatePart[];
  /** Malformed placeholders. Their text is not in `parts`. */
  readonly faults: readonly TemplateFault[];
}

type TemplatePart = { readonly kind: "text"; readonly text: string } | Placeholder;

export interface Placeholder {
  readonly kind: keyof typeof NAMES | "stage";
  /** The name of a variable, or the path of a file; empty for `${stage}`. */
  readonly name: string;
  readonly fallback?: string | undefined;
  readonly source: string;
}

type TemplateFault = { readonly source: string; readonly reason: string };

/** Whether a text contains a placeholder or an escape; other texts are literal. */
export function isTemplate(text: string): boolean {
  // Searching for one character is several times faster than for two, and hardly any text contains
  // a `$`.
  return text.includes("$") && text.includes("${");
}

export function escapeTemplate(text: string): string {
  return text.split("${").join("$${");
}

export type FoundTemplate = { readonly path: Path; readonly template: Template };

/**
 * Finds the templates of a document. A text without `${` can contain one only by an escape in
 * double quotes.
 */
export function findTemplates({
  text,
  value,
}: SourceText & { readonly value: Json }): readonly FoundTemplate[] {
  return isTemplate(text) || text.includes("\\") ? search(value) : [];
}

export function placeholdersIn(value: Json): readonly Placeholder[] {
  return search(value).flatMap(({ template }) =>
    template.parts.flatMap((part) => (part.kind === "text" ? [] : [part])),
  );
}

function search(document: Json): readonly FoundTemplate[] {
  const found: FoundTemplate[] = [];
  // One path for the whole walk, copied only when a template is found.
  const path: (string | number)[] = [];
  const visit = (value: Json): void => {
    if (typeof value === "string") {
      if (isTemplate(value)) found.push({ path: [...path], template: parseTemplate(value) });
      return;
    }
    if (!isArray(value) && !isObject(value)) return;
    for (const [step, inner] of isArray(value) ? value.entries() : Object.entries(value)) {
      path.push(step);
      visit(inner);
      path.pop();
    }
  };
  visit(document);
  return found;
}

export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  /** By source text: the same mistake in fifty thousand places is reported once. */
  const faults = new Map<string, TemplateFault>();
  let end = 0;
  const literal = (piece: string): void => {
    if (piece !== "") parts.push({ kind: "text", text: piece });
  };
  // Matches an escape, or a placeholder. A placeholder that is not closed includes all that
  // follows.
  for (const { 0: source, 1: body, 2: close, index } of text.matchAll(/\$\$\{|\$\{([^}]*)(\}?)/g)) {
    literal(text.slice(end, index));
    end = index + source.length;
    if (body === undefined) literal("${");
    else if (close === "") {
      const [line = ""] = source.split("\n", 1);
      faults.set(line, { source: line, reason: `The closing \`}\` is missing. ${ESCAPE}` });
    } else if (!faults.has(source)) {
      const read = placeholder(source, body);
      if ("kind" in read) parts.push(read);
      else faults.set(source, read);
    }
  }
  literal(text.slice(end));
  return { parts, faults: [...faults.values()] };
}

function placeholder(source: string, body: string): Placeholder | TemplateFault {
  if (body === "stage") return { source, kind: "stage", name: "" };
  const kind = KINDS.find((one) => body.startsWith(`${one}:`));
  if (kind === undefined) {
    const guess = nearest(body.trim().split(":", 1)[0] ?? "", [...KINDS, "stage"]);
    const meant = guess === "stage" ? "${stage}" : `\${${guess}:…}`;
    const reason = `An interpolation is ${FORMS}.${didYouMean(guess && meant)} ${ESCAPE}`;
    return { source, reason };
  }
  const text = body.slice(kind.length + 1);
  const [pattern, needed] = NAMES[kind];
  const [, name, fallback] = pattern.exec(text) ?? [];
  if (text.includes("${"))
    return {
      source,
      reason:
        "Interpolations cannot be nested. Define the inner one under `vars` and use `${var:name}`.",
    };
  if (name !== undefined) return { source, kind, name, fallback };
  const isOpen = kind === "secret" && text.includes(":-");
  const reason = isOpen
    ? "A secret cannot have a fallback, because the fallback would be readable here."
    : needed;
  return { source, reason };
}

/** What may follow the colon, and the message for anything else. */
const NAMES = {
  env: [
    /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s,
    "`env:` takes the name of an environment variable (letters, digits and `_`), optionally followed by `:-` and a fallback.",
  ],
  secret: [
    /^([A-Za-z_][A-Za-z0-9_]*)$/,
    "`secret:` takes the name of an environment variable: letters, digits and `_`.",
  ],
  file: [/^(.*\S.*)$/s, "The path is missing."],
  var: [
    new RegExp(`(${KEY_PATTERN})`),
    "`var:` takes a name under `vars`: letters, digits, `_` and `-`.",
  ],
} as const;

const KINDS = ["env", "secret", "file", "var"] as const;

const FORMS =
  "`${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`";

const ESCAPE = "For a literal `${`, write `$${`.";
