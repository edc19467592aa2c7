import { fieldsOf } from "../fields/fields.ts";
import type { Kind } from "../model/address.ts";
import { nearest } from "../manifest/nearest.ts";

/** The fields that a word on the command line means, or the nearest ones that there are. */
export type NamedFields =
  | { readonly ok: true; readonly names: readonly string[] }
  | { readonly ok: false; readonly known: readonly string[]; readonly guess: string | undefined };

/** A field by its name, a part of one (`testAccount.password`), or what holds several (`discovery`). */
export function fieldsNamed(kind: Kind, word: string | undefined): NamedFields {
  if (word === undefined) return { ok: true, names: [] };
  const known = fieldsOf(kind).map(({ name }) => name);
  const names = known.filter((name) => name === word || name.startsWith(`${word}.`) || isPartOf(word, name));
  return names.length > 0 ? { ok: true, names } : { ok: false, known, guess: nearest(word, known) };
}

function isPartOf(word: string, name: string): boolean {
  return word.startsWith(`${name}.`) || word.startsWith(`${name}[`);
}
