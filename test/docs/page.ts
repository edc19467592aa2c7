import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** A fenced block of a page: the words after the fence, and its text. */
export interface Block {
  readonly language: string;
  /** `exit=3`, `file=tasc.yaml`, `background`, `tested-by=FILE`: the rest of the fence's line. */
  readonly mark: string;
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
}

/** The pages of the manual. */
export function pages(): readonly string[] {
  return readdirSync("docs", { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => join("docs", name))
    .toSorted();
}

/** The fenced blocks of a page, in order. */
export function blocksOf(file: string): readonly Block[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^```(\w+)[ ]?(.*)\n([^]*?)^```$/gm)].map((match) => {
    const [, language = "", mark = "", body = ""] = match;
    return { language, mark, text: body, line: text.slice(0, match.index).split("\n").length };
  });
}

/** The setup that the first block needs: `<!-- setup: NAME -->`. */
export function setupOf(file: string): string {
  return /^<!-- setup: (.+) -->$/m.exec(readFileSync(file, "utf8"))?.[1] ?? "none";
}
