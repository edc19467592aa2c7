import { parseTemplate } from "../manifest/template/parse.ts";
import type { Placeholder as Parsed } from "../manifest/template/parse.ts";
import type { Environment, Variable } from "../manifest/template/surroundings.ts";
import { SENSITIVE } from "../model/value.ts";
import type { Placeholder } from "./explanation.ts";

/** What interpolations draw on, as far as it can be told. */
export interface Surroundings {
  readonly stage: string;
  readonly env: Environment;
  readonly vars: ReadonlyMap<string, Variable>;
}

/**
 * The interpolations of some texts, each once, and behind a variable those of its value.
 * @param hidden their values must not show
 */
export function placeholdersIn(
  texts: readonly string[],
  around: Surroundings,
  hidden: boolean,
): readonly Placeholder[] {
  const found = new Map<string, Placeholder>();
  const visit = (text: string): void => {
    for (const part of parseTemplate(text).parts) {
      if (part.kind === "text" || found.has(part.source)) continue;
      found.set(part.source, describe(part, around, hidden));
      const variable = part.kind === "var" ? around.vars.get(part.name) : undefined;
      if (typeof variable?.value === "string") visit(variable.value);
    }
  };
  for (const text of texts) visit(text);
  return [...found.values()];
}

function describe(part: Parsed, around: Surroundings, hidden: boolean): Placeholder {
  const { source } = part;
  switch (part.kind) {
    case "stage":
      return { source, means: around.stage };
    case "secret":
      return { source, means: isSet(around.env[part.name]) ? SENSITIVE : "not set" };
    case "file":
      return { source, means: `the text of ${part.path}` };
    case "env":
      return { source, means: envMeaning(part, around.env[part.name], hidden) };
    case "var": {
      const variable = around.vars.get(part.name);
      if (variable === undefined) return { source, means: "not defined" };
      return { source, origin: variable.origin, means: hidden ? SENSITIVE : String(variable.value) };
    }
  }
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "";
}

function envMeaning(
  { name, fallback }: Parsed & { readonly kind: "env" },
  value: string | undefined,
  hidden: boolean,
): string {
  if (isSet(value)) return hidden ? SENSITIVE : (value ?? "");
  if (fallback === undefined) return value === undefined ? `${name} is not set` : "empty";
  return `${hidden ? SENSITIVE : fallback} (the fallback: ${name} is not set)`;
}
