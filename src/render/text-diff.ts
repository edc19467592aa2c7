import { diffLines, diffWordsWithSpace } from "diff";

/** A piece of a text that was kept, added or removed. */
export interface Piece {
  readonly kind: "same" | "added" | "removed";
  readonly text: string;
}

/** Lines of both texts in reading order. A line break at the very end does not count as a line. */
export function lineDiff(before: string, after: string): readonly Piece[] {
  const parts = diffLines(ended(before), ended(after), BOUND);
  if (parts === undefined) return [...lines("removed", before), ...lines("added", after)];
  return parts.flatMap((part) => lines(kindOf(part), part.value));
}

/** Words and the white space between them; neighbouring words that changed are one change. */
export function wordDiff(before: string, after: string): readonly Piece[] {
  const parts = diffWordsWithSpace(before, after, BOUND);
  if (parts !== undefined) return joined(parts.map((part) => ({ kind: kindOf(part), text: part.value })));
  return [
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ];
}

/** Puts changes together between which nothing but spaces was kept: sentences, not a salad of words. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const result: Piece[] = [];
  let run: Piece[] = [];
  const flush = (): void => {
    for (const kind of ["removed", "added"] as const) {
      const text = run
        .map((piece) => (piece.kind === kind || piece.kind === "same" ? piece.text : ""))
        .join("");
      if (text !== "") result.push({ kind, text });
    }
    run = [];
  };
  for (const [at, piece] of pieces.entries()) {
    const between = run.length > 0 && at + 1 < pieces.length && /^[^\S\n]+$/.test(piece.text);
    if (piece.kind !== "same" || between) run.push(piece);
    else {
      flush();
      result.push(piece);
    }
  }
  flush();
  return result;
}

/** Two texts with nothing in common are not worth the time that it takes to find that out. */
const BOUND = { maxEditLength: 2000 };

function lines(kind: Piece["kind"], text: string): readonly Piece[] {
  if (text === "") return [];
  return text
    .replace(/\n$/, "")
    .split("\n")
    .map((line) => ({ kind, text: line }));
}

function ended(text: string): string {
  return text === "" || text.endsWith("\n") ? text : `${text}\n`;
}

function kindOf(part: { readonly added: boolean; readonly removed: boolean }): Piece["kind"] {
  return part.added ? "added" : part.removed ? "removed" : "same";
}

/** Kept lines that stay beside a change. */
const CONTEXT = 2;

export type Excerpt = Piece | { readonly kind: "skipped"; readonly lines: number };

/** The diff without kept lines far from any change; leaving out a single line would save nothing. */
export function excerpts(pieces: readonly Piece[]): readonly Excerpt[] {
  const near = pieces.map((_, at) =>
    pieces.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some(({ kind }) => kind !== "same"),
  );
  const result: Excerpt[] = [];
  for (let at = 0; at < pieces.length;) {
    const next = near.indexOf(true, at);
    const far = (next === -1 ? pieces.length : next) - at;
    if (far > 1) result.push({ kind: "skipped", lines: far });
    else result.push(...pieces.slice(at, at + 1));
    at += Math.max(1, far);
  }
  return result;
}
