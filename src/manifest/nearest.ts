/** The shortest beginning of a word that is worth a guess. */
const SHORTEST_START = 3;

/**
 * The candidate that a misspelt word most likely means: a third of its letters may differ, and at least one. If none
 * is that near, the first that begins with the word; `undefined` if there is none.
 */
export function nearest(word: string, candidates: Iterable<string>): string | undefined {
  const all = [...candidates];
  const started =
    word.length < SHORTEST_START ? undefined : all.find((candidate) => candidate.startsWith(word));
  return nearestByLetters(word, all) ?? started;
}

function nearestByLetters(word: string, candidates: readonly string[]): string | undefined {
  const wanted = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.max(1, Math.floor(word.length / 3)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = distanceOf(wanted, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Edits that turn one word into the other; two swapped neighbours count as one (Damerau, optimal alignment). */
function distanceOf(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const line = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      line[column] = Math.min(
        cell(last, column) + 1,
        cell(line, column - 1) + 1,
        cell(last, column - 1) + (same ? 0 : 1),
        swapped ? cell(beforeLast, column - 2) + 1 : Infinity,
      );
    }
    [beforeLast, last] = [last, line];
  }
  return cell(last, b.length);
}

function cell(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
