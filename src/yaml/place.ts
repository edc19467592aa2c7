/** A position as people read it: both 1-based, the column in UTF-16 units. */
export type Place = { readonly line: number; readonly column: number };

/**
 * Turns offsets of one text into lines and columns, in the logarithm of the number of lines.
 * A lone CR ends a line too: it is refused elsewhere, but editors count it, and so must the place of that
 * refusal.
 */
export function placesOf(text: string): (offset: number) => Place {
  const starts = lineStarts(text);
  return (offset) => {
    const line = lastAtMost(starts, offset);
    return { line: line + 1, column: offset - (starts[line] ?? 0) + 1 };
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (const found of text.matchAll(/\r\n?|\n/g)) starts.push(found.index + found[0].length);
  return starts;
}

function lastAtMost(sorted: readonly number[], wanted: number): number {
  let low = 0;
  let high = sorted.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((sorted[middle] ?? 0) <= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}
