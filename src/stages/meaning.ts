import type { Field } from "../fields/field.ts";
import { isArray, isObject, sameJson } from "../model/json.ts";
import type { Json } from "../model/json.ts";
import { isUnknown, reveal } from "../model/value.ts";
import type { Value } from "../model/value.ts";
import { escapeTemplate, isTemplate, parseTemplate } from "../manifest/template/parse.ts";
import type { Surroundings } from "../manifest/template/surroundings.ts";
import { normalise } from "../plan/compare.ts";

/** What a written value comes to in one stage. */
export interface Meaning {
  readonly value: Value;
  /** Filled in but for secrets, which stand by name: for comparing where they are not at hand. */
  readonly spelt: Json;
}

/**
 * Whether two stages mean the same by a field. Secrets that are not at hand are the same if they have the same name:
 * both stages read the same environment.
 */
export function sameMeaning(field: Field<never>, a: Meaning | undefined, b: Meaning | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  const compare = field.behaviour.kind === "readable" ? field.behaviour.compare : "plain";
  const same = (one: Json, other: Json): boolean =>
    sameJson(normalise(compare, one), normalise(compare, other));
  if (isUnknown(a.value) || isUnknown(b.value)) return same(a.spelt, b.spelt);
  return same(reveal(a.value), reveal(b.value));
}

/** A written value with all placeholders filled in that are no secrets. */
export function spell(written: Json, around: Surroundings, within: readonly string[] = []): Json {
  if (typeof written === "string") return spellText(written, around, within);
  if (isArray(written)) return written.map((item) => spell(item, around, within));
  if (!isObject(written)) return written;
  return Object.fromEntries(
    Object.entries(written).map(([key, value]) => [key, spell(value, around, within)]),
  );
}

/** @param within variables that are being spelt: those in a circle are told of elsewhere, and stay as written */
function spellText(text: string, around: Surroundings, within: readonly string[]): string {
  if (!isTemplate(text)) return text;
  const pieces = parseTemplate(text).parts.map((part) => {
    switch (part.kind) {
      case "text":
        return escapeTemplate(part.text);
      case "stage":
        return escapeTemplate(around.stage);
      case "secret":
        return part.source;
      case "env":
        return escapeTemplate(around.env[part.name] || part.fallback || "");
      case "file": {
        const file = around.files.get(part.path);
        return file?.ok === true ? escapeTemplate(file.text) : part.source;
      }
      case "var": {
        const value = around.vars.get(part.name)?.value;
        if (value === undefined || within.includes(part.name)) return part.source;
        if (typeof value !== "string") return String(value);
        return isTemplate(value) ? spellText(value, around, [...within, part.name]) : value;
      }
    }
  });
  return pieces.join("");
}
