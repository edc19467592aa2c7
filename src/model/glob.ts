import picomatch from "picomatch";
import { invalid } from "./error.ts";

/** A test for one name or one address, or why there is none. */
export type Glob = { readonly test: (text: string) => boolean } | { readonly fault: string };

/**
 * `*` is any text and `?` one character, `{a,b}` is either, `[a-c]` one of a range; all else is literal. A pattern may be
 * hostile: what would take a regular expression exponential time is refused.
 */
export function compileGlob(source: string, { dot = true }: { readonly dot?: boolean } = {}): Glob {
  if (!/[*?[\]{}!\\]/.test(source)) return { test: (text) => text === source };
  const glob = source.replaceAll(/\*+/g, "*").replaceAll(/[()|+^$@]/g, String.raw`\$&`);
  if (source.length > LONGEST) return { fault: `it is longer than ${LONGEST} characters` };
  if (glob.split("*").length - 1 > MOST_STARS)
    return { fault: `it has more than ${MOST_STARS} \`*\` in one name` };
  if (glob.split("{").length - 1 > MOST_BRACES) return { fault: `it has more than ${MOST_BRACES} \`{\`` };
  try {
    const options = { debug: true, dot, noextglob: true, nonegate: true, ...BRACKETS };
    // An ending, as manifests are mostly named by, needs no library to be loaded.
    const pattern =
      !dot && /^\*\.[a-z]+$/.test(source)
        ? new RegExp(String.raw`^(?!\.)(?=.)[^/]*?[.]${source.slice(2)}$`)
        : picomatch.makeRe(glob, options);
    return { test: (text) => pattern.test(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const [range] = /\[[^\]]*\]/.exec(source) ?? [];
    return {
      fault: range === undefined ? "a `{` is not closed" : `\`${range}\` is not a range of characters`,
    };
  }
}

/** The same for a pattern that must be right. @throws TascError */
export function globTest(source: string): (text: string) => boolean {
  const glob = compileGlob(source);
  if ("fault" in glob) throw invalid("bad-glob", `The glob \`${source}\` cannot be used: ${glob.fault}`);
  return glob.test;
}

/** `[!a]` is any character but `a`, and a bracket is never one of the name. */
const BRACKETS = { posix: true, literalBrackets: false };

/** The time of a regular expression grows with the power of these. */
const MOST_STARS = 4;
const MOST_BRACES = 8;
const LONGEST = 1000;
