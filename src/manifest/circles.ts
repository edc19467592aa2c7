import { compareText } from "../model/address.ts";

/**
 * The circles in a graph in which each node points to one other at most. Each is told once, from its first member
 * in order and back to it, however it was entered.
 */
export function circlesIn(next: ReadonlyMap<string, string>): readonly (readonly string[])[] {
  const seen = new Set<string>();
  const circles: string[][] = [];
  for (const start of next.keys()) {
    const trail: string[] = [];
    let node: string | undefined = start;
    while (node !== undefined && !seen.has(node)) {
      seen.add(node);
      trail.push(node);
      node = next.get(node);
    }
    const entry = node === undefined ? -1 : trail.indexOf(node);
    if (entry >= 0) circles.push(fromFirst(trail.slice(entry)));
  }
  return circles.toSorted(([a = ""], [b = ""]) => compareText(a, b));
}

/** A circle, turned so that it begins with its first member in order and ends with it again. */
export function fromFirst(circle: readonly string[]): string[] {
  const [first = ""] = circle.toSorted(compareText);
  const start = circle.indexOf(first);
  return [...circle.slice(start), ...circle.slice(0, start), first];
}
