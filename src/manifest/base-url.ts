import { DEEPEST, type Interpolator } from "./interpolation.ts";
import { parseTemplate } from "./template.ts";

/**
 * Returns the first placeholder that must not be at its place in the service's address. The address
 * decides who gets the API key, and its text is sent there with every call. So it may only contain
 * what a reviewer sees, and, in the host, environment variables.
 */
export function firstMisplaced(text: string, interpolator: Interpolator): string | undefined {
  /**
   * By variable and what stands before it: what stands before the text after it. Each is looked
   * into once, because variables that double each other have exponentially many copies.
   */
  const known = new Map<string, string>();
  const walk = (template: string, before: string, depth: number): string | Misplaced => {
    let prefix = before;
    for (const part of parseTemplate(template).parts) {
      if (part.kind === "text") prefix = hostPrefix(prefix + part.text);
      else if (!MAY_INTERPOLATE.test(prefix) || part.kind === "secret" || part.kind === "file")
        return new Misplaced(part.source);
      else {
        const inner = part.kind === "var" ? interpolator.variable(part.name) : undefined;
        const key = `${part.name} ${prefix}`;
        // A circle, and too many levels, are reported elsewhere.
        let next = known.get(key) ?? hostPrefix(`${prefix}x`);
        if (inner !== undefined && !known.has(key) && depth < DEEPEST) {
          known.set(key, next);
          const after = walk(inner, prefix, depth + 1);
          if (after instanceof Misplaced) return new Misplaced(part.source);
          next = after;
        }
        if (inner !== undefined) known.set(key, next);
        prefix = next;
      }
    }
    return prefix;
  };
  const end = walk(text, "", 0);
  return end instanceof Misplaced ? end.source : undefined;
}

/** The placeholder, as written, that must not be where it is. */
class Misplaced {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** What may stand before a placeholder: nothing, or a part of the host. */
const MAY_INTERPOLATE = /^(?:[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?#]*)?$/;

/** Shortens the beginning of an address to what decides whether a placeholder may follow it. */
function hostPrefix(text: string): string {
  if (text !== "" && MAY_INTERPOLATE.test(text)) return "https://";
  return text.length > LONGEST_SCHEME ? "/" : text;
}

const LONGEST_SCHEME = 40;
