import { isArray, isObject } from "../../model/json.ts";
import type { Json, Path } from "../../model/json.ts";
import type { SourceText } from "../document.ts";
import { isTemplate, parseTemplate } from "./parse.ts";
import type { Template } from "./parse.ts";

/** A text of a document that is to be filled in. */
export interface FoundTemplate {
  readonly path: Path;
  readonly template: Template;
}

/**
 * The templates of a document, in its order. Most documents have none, and show it at a glance: `${` stands in the
 * text of the file, unless an escape in double quotes makes it.
 */
export function findTemplates({
  text,
  value,
}: SourceText & { readonly value: Json }): readonly FoundTemplate[] {
  return isTemplate(text) || text.includes("\\") ? search(value) : [];
}

function search(document: Json): readonly FoundTemplate[] {
  const found: FoundTemplate[] = [];
  // One path for the whole walk, copied where something is found.
  const path: (string | number)[] = [];
  visit(document);
  return found;

  function visit(value: Json): void {
    if (typeof value === "string") {
      if (isTemplate(value)) found.push({ path: [...path], template: parseTemplate(value) });
    } else if (isArray(value)) for (let at = 0; at < value.length; at++) enter(at, value[at] ?? null);
    else if (isObject(value)) for (const key of Object.keys(value)) enter(key, value[key] ?? null);
  }

  function enter(step: string | number, value: Json): void {
    path.push(step);
    visit(value);
    path.pop();
  }
}
