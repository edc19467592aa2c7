import { KEY_PATTERN } from "../../model/address.ts";
import { nearest } from "../nearest.ts";

/**
 * Interpolation (design contract, section 1). A text is cut into literal pieces and placeholders; what a
 * placeholder stands for is decided elsewhere. Placeholders do not nest, so that a text means what it shows.
 */
export interface Template {
  readonly parts: readonly TemplatePart[];
  /** Placeholders that are none of ours; their text is no part. */
  readonly faults: readonly TemplateFault[];
}

export type TemplatePart = { readonly kind: "text"; readonly text: string } | Placeholder;

/** `source` is the placeholder as it is written. */
export type Placeholder = { readonly source: string } & (
  | { readonly kind: "env"; readonly name: string; readonly fallback: string | undefined }
  | { readonly kind: "secret"; readonly name: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "var"; readonly name: string }
  | { readonly kind: "stage" }
);

export interface TemplateFault {
  readonly source: string;
  readonly reason: string;
}

const TOKEN = /\$\$\{|\$\{([^}]*)\}|\$\{/g;
const BODY = /^(env|secret|file|var):(.*)$/s;
const ENV = /^([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?$/s;
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const KEY = new RegExp(KEY_PATTERN);
const FORMS =
  "`${env:NAME}`, `${env:NAME:-fallback}`, `${secret:NAME}`, `${file:path}`, `${var:name}` or `${stage}`";
const ESCAPE = "For a literal `${`, write `$${`.";

/** Whether a text holds a placeholder or an escape; all other texts stand for themselves. */
export function isTemplate(text: string): boolean {
  // One character is looked for several times faster than two, and hardly any text has even that.
  return text.includes("$") && text.includes("${");
}

/** A template that stands for exactly this text. */
export function escapeTemplate(text: string): string {
  return text.split("${").join("$${");
}

export function parseTemplate(text: string): Template {
  const parts: TemplatePart[] = [];
  const faults: TemplateFault[] = [];
  let end = 0;
  const literal = (piece: string): void => {
    if (piece !== "") parts.push({ kind: "text", text: piece });
  };
  for (const found of text.matchAll(TOKEN)) {
    literal(text.slice(end, found.index));
    end = found.index + found[0].length;
    if (found[0] === "$${") literal("${");
    else if (found[1] === undefined) faults.push(unclosed(text.slice(found.index)));
    else sort(placeholder(found[0], found[1]));
  }
  literal(text.slice(end));
  return { parts, faults };

  function sort(read: Placeholder | TemplateFault): void {
    if ("kind" in read) parts.push(read);
    else faults.push(read);
  }
}

function placeholder(source: string, body: string): Placeholder | TemplateFault {
  if (body === "stage") return { source, kind: "stage" };
  const [, kind, rest] = BODY.exec(body) ?? [];
  if (kind === undefined || rest === undefined) return unknownKind(source, body);
  if (rest.includes("${"))
    return fault(source, `Placeholders do not nest. Give the inner one a name under \`vars\` instead.`);
  switch (kind) {
    case "env":
      return envPlaceholder(source, rest);
    case "secret":
      return ENV_NAME.test(rest) ? { source, kind, name: rest } : badSecret(source, rest);
    case "file":
      return rest.trim() === "" ? fault(source, "The path is missing.") : { source, kind, path: rest };
    default:
      return KEY.test(rest)
        ? { source, kind: "var", name: rest }
        : fault(source, "After `var:` stands a name under `vars`: letters, digits, `_` and `-`.");
  }
}

function envPlaceholder(source: string, rest: string): Placeholder | TemplateFault {
  const [, name, fallback] = ENV.exec(rest) ?? [];
  if (name !== undefined) return { source, kind: "env", name, fallback };
  return fault(
    source,
    "After `env:` stands the name of an environment variable (letters, digits and `_`), and then, if wanted, `:-` and a fallback.",
  );
}

function badSecret(source: string, rest: string): TemplateFault {
  if (rest.includes(":-"))
    return fault(source, "A secret has no fallback, since that would stand here in clear.");
  return fault(
    source,
    "After `secret:` stands the name of an environment variable: letters, digits and `_`.",
  );
}

function unknownKind(source: string, body: string): TemplateFault {
  const word = body.trim().split(":", 1)[0] ?? "";
  const guess = nearest(word, ["env", "secret", "file", "var", "stage"]);
  const hint =
    guess === undefined ? "" : ` Did you mean \`${guess === "stage" ? "${stage}" : `\${${guess}:…}`}\`?`;
  return fault(source, `An interpolation is ${FORMS}.${hint} ${ESCAPE}`);
}

function unclosed(rest: string): TemplateFault {
  return fault(rest.split("\n", 1)[0] ?? rest, `The closing \`}\` is missing. ${ESCAPE}`);
}

function fault(source: string, reason: string): TemplateFault {
  return { source, reason };
}
