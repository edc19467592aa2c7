/** A piece of a document that may be left out. */
export interface Piece {
  readonly section: string;
  readonly text: string;
  /** What all pieces of its section together may take of the whole, so that a long list leaves room for others. */
  readonly share: number;
}

/**
 * Takes pieces, the most important first, as far as the budget lasts; those taken keep their order. A piece that does
 * not fit is left out and smaller ones after it are still tried.
 */
export function fit<P extends Piece>(pieces: readonly P[], budget: number): readonly P[] {
  let left = budget;
  const spent = new Map<string, number>();
  return pieces.filter(({ section, text, share }) => {
    const used = (spent.get(section) ?? 0) + text.length;
    if (text.length > left || used > budget * share) return false;
    left -= text.length;
    spent.set(section, used);
    return true;
  });
}
