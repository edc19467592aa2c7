import type { Kind } from "./address.ts";

export function count(amount: number, noun: string, nouns = `${noun}s`): string {
  return `${amount} ${amount === 1 ? noun : nouns}`;
}

/** Removes counts of zero. */
export function nonZero(...counts: readonly string[]): readonly string[] {
  return counts.filter((text) => !text.startsWith("0 "));
}

export function list(parts: readonly string[], joint: "and" | "or" = "and"): string {
  return parts.length < 2
    ? parts.join("")
    : `${parts.slice(0, -1).join(", ")} ${joint} ${parts.at(-1)}`;
}

/** Returns a kind in words, e.g. `test case`. */
export function kindNoun(kind: Kind): string {
  return kind.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

export function serviceNoun(kind: Kind): string {
  return kind === "target" ? "test target" : kindNoun(kind);
}

/** Arranges parts in lines of `width` columns; a part never breaks. */
export function filled(
  parts: readonly string[],
  width: number,
  joint = " ",
  indent = "  ",
  first = "",
) {
  const lines: string[] = [];
  for (const part of parts) {
    const last = lines.at(-1);
    if (last === undefined) lines.push(first + part);
    else if (last.length + joint.length + part.length > width) lines.push(indent + part);
    else lines[lines.length - 1] = last + joint + part;
  }
  return lines;
}
