/** Replaces the characters from `start` up to `end` by `text`; an insertion where the two are the same. */
export type Splice = { readonly start: number; readonly end: number; readonly text: string };

/**
 * Makes all replacements at once. Those at one offset come out in the order given, insertions first.
 *
 * @returns undefined if two of them overlap, which a plan of edits must not let happen.
 */
export function applySplices(text: string, splices: readonly Splice[]): string | undefined {
  let done = 0;
  const parts: string[] = [];
  for (const splice of splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
    if (splice.start < done) return undefined;
    parts.push(text.slice(done, splice.start), splice.text);
    done = splice.end;
  }
  return parts.join("") + text.slice(done);
}
