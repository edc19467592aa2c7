import { type Address, type Kind, addressOf, compareText } from "../model/address.ts";
import type { DesiredResource } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Field } from "../model/fields.ts";
import { type Json, valueAt } from "../model/json.ts";
import type { LiveResource } from "../model/live.ts";
import { IdOf, Secret, type Value, isSensitive, isUnknown, reveal } from "../model/value.ts";
import type { DeclaredField, SentField } from "./calls.ts";
import type { MatchedTarget } from "./matched-target.ts";
import { NAMED_BY, matchedIds } from "./match.ts";
import { memoryOf } from "./memory.ts";
import { fewOf, problem } from "./problem.ts";

/** A field as a creation sends it: a reference becomes the id or the name of the other resource. */
interface ResolvedField extends SentField {
  /** Resources that must be created first. */
  readonly needs?: readonly Address[];
  readonly problem?: Diagnostic;
}

/** Resolves a field that refers to another resource; returns other fields as they are. */
export function resolveReference(
  matched: MatchedTarget,
  resource: DesiredResource,
  declared: DeclaredField,
): ResolvedField {
  const { field, value } = declared;
  const { shape } = field;
  if (shape.type !== "reference") return declared;
  const { address, name, live } = referents(matched, shape.to, value);
  const [found, ...others] = live;
  if (address === undefined && (found === undefined || others.length > 0))
    return { field, value: undefined, problem: notOneByName(resource, name, live, field) };
  const needs = address === undefined || found !== undefined ? [] : [address];
  if (shape.by !== "name")
    return { field, value: found?.id ?? (address && new IdOf(address)), needs };
  // The service looks up the name when the POST arrives. Renames come later, so the live name takes
  // precedence.
  const shown = found?.[NAMED_BY.testCase];
  const written = address && matched.resources.get(address)?.fields[NAMED_BY.testCase];
  // The live name is sensitive if the declared name is, or was when it was written.
  const wasSecret =
    address !== undefined &&
    found !== undefined &&
    memoryOf(address, found.id, matched).secrets.includes(NAMED_BY.testCase);
  const isSecret = wasSecret || (written !== undefined && isSensitive(written));
  return {
    field,
    value: (shown !== undefined && isSecret ? new Secret(shown) : shown) ?? written,
    needs,
  };
}

/**
 * Resolves a reference: a key of the same target, or the live test cases with a name that no
 * address matches.
 */
function referents(
  { target, matches, testCases }: MatchedTarget,
  to: Exclude<Kind, "target">,
  value: Value,
): { readonly address?: Address; readonly name?: Json; readonly live: readonly LiveResource[] } {
  const plain = reveal(value);
  if (typeof plain === "string") {
    const address = addressOf(to, target.key, plain);
    const live = matches.get(address)?.live;
    return { address, live: live === undefined ? [] : [live] };
  }
  const name = valueAt(plain, [NAMED_BY.testCase]) ?? null;
  const managed = matchedIds(matches);
  return {
    name,
    live: testCases.filter((one) => one.description === name && !managed.has(one.id)),
  };
}

/**
 * Makes the error for a `{ description: … }` that does not name exactly one unmanaged live test
 * case.
 */
function notOneByName(
  resource: DesiredResource,
  description: Json | undefined,
  found: readonly LiveResource[],
  { path }: Field,
): Diagnostic {
  const ids = found.map(({ id }) => `  ${id}`).toSorted(compareText);
  const name = JSON.stringify(description);
  const [summary, detail] =
    ids.length === 0
      ? [
          `No unmanaged live test case is named ${name}`,
          "Correct the name, or, if a manifest declares the test case, write its key instead.",
        ]
      : [
          `${ids.length} unmanaged live test cases are named ${name}`,
          `The service finds a prerequisite by its name, so it must be the only one:\n${fewOf(ids, "\n")}\nRename the others.`,
        ];
  return problem("prerequisite-by-name", resource, summary, detail, path);
}

/**
 * Returns the value that the service would show for a fixed field, or `undefined` if it is unknown.
 */
export function expectedLive(
  matched: MatchedTarget,
  { shape }: Field,
  value: Value,
): Json | undefined {
  if (shape.type !== "reference") return typeof value === "string" ? value : undefined;
  return value === null || isUnknown(value)
    ? undefined
    : referents(matched, shape.to, value).live[0]?.id;
}
