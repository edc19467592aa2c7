import { expect, test } from "vitest";
import { type Piece, fit } from "../../src/render/markdown.ts";

function piece(section: string, size: number, share = 1): Piece {
  return { section, share, text: "x".repeat(size) };
}

function sizes(pieces: readonly Piece[], budget: number): readonly string[] {
  return fit(pieces, budget).map(({ section, text }) => `${section}${text.length}`);
}

test.each<readonly [string, readonly Piece[], readonly string[]]>([
  ["all that fits", [piece("a", 4), piece("b", 6)], ["a4", "b6"]],
  ["the most important first", [piece("a", 6), piece("b", 6)], ["a6"]],
  ["smaller ones after one that is too big", [piece("a", 11), piece("b", 10)], ["b10"]],
  [
    "of a section no more than its share",
    [piece("a", 3, 0.5), piece("a", 3, 0.5), piece("b", 7)],
    ["a3", "b7"],
  ],
  [
    "never more than the whole, whatever the shares",
    [piece("a", 5), piece("b", 5), piece("c", 5)],
    ["a5", "b5"],
  ],
])("takes %s", (_, pieces, expected) => {
  expect(sizes(pieces, 10)).toEqual(expected);
});
