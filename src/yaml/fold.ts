/**
 * A text as the lines of a `>` block. Paragraphs that the old block had keep their line breaks, so that a
 * change of one of them is all that a diff shows; others are broken at the width of the old block, if that
 * was broken at all.
 *
 * @param content the text without line ends at its end.
 * @param body the lines of the old block with their indentation.
 * @returns undefined for a text that folding would change: lines with white space at their start or end.
 */
export function foldedLines(content: string, body: readonly string[]): string[] | undefined {
  if (/^[ \t]|[ \t]$/m.test(content)) return undefined;
  const old = paragraphsOf(body);
  const isBroken = [...old.values()].some((lines) => lines.length > 1);
  const width = isBroken ? Math.max(...body.map((line) => line.trim().length)) : Infinity;
  const lines = content.split("\n").map((paragraph) => old.get(paragraph) ?? broken(paragraph, width));
  // Between two paragraphs a line end is written as an empty line; between empty ones it stands for itself.
  return lines.flatMap((paragraph, at) => {
    const isText = paragraph[0] !== "";
    const isFollowed = lines[at + 1] !== undefined;
    return isText && isFollowed ? [...paragraph, ""] : paragraph;
  });
}

/** Paragraphs by their text, each with its lines. */
function paragraphsOf(body: readonly string[]): Map<string, string[]> {
  const text = body.map((line) => line.trim()).join("\n");
  const blocks = text.trim().split(/\n\n+/);
  return new Map(blocks.map((block) => [block.replaceAll("\n", " "), block.split("\n")]));
}

/** Only single spaces can be line breaks: of several, folding would leave one. */
function broken(paragraph: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of paragraph.split(/(?<=[^ \t]) (?=[^ \t])/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
