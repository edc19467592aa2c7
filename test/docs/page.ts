import { readFileSync } from "node:fs";

/** A fenced block of a page: what stands after the fence, and its text. */
export interface Block {
  readonly language: string;
  /** `exit=3`, `file=tasc.yaml`, `background`: the rest of the fence's line. */
  readonly mark: string;
  readonly text: string;
  /** Line of the fence, from 1. */
  readonly line: number;
}

/** The fenced blocks of a page, in order. */
export function blocksOf(file: string): readonly Block[] {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(/^```(\w+)[ ]?(.*)\n([^]*?)^```$/gm)].map((match) => {
    const [, language = "", mark = "", body = ""] = match;
    return { language, mark, text: body, line: text.slice(0, match.index).split("\n").length };
  });
}
