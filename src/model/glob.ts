import picomatch from "picomatch";
import { invalid } from "./error.ts";

/** A test for one name or one address, or the reason why the pattern cannot be used. */
export type Glob = { readonly test: (text: string) => boolean } | { readonly fault: string };

/**
 * Compiles a glob: `*` is any text, `?` one character, `{a,b}` either, `[a-c]` one of a range, and
 * the rest is literal. A pattern may be hostile, so patterns that could take a regular expression
 * exponential time are refused.
 */
export function compileGlob(source: string, { dot = true }: { readonly dot?: boolean } = {}): Glob {
  if (!/[*?[\]{}!\\]/.test(source)) return { test: (text) => text === source };
  const glob = source.replaceAll(/\*+/g, "*").replaceAll(/[()|+^$@]/g, String.raw`\$&`);
  if (source.length > LONGEST) return { fault: `it is longer than ${LONGEST} characters` };
  if (glob.split("*").length - 1 > MOST_STARS)
    return { fault: `it has more than ${MOST_STARS} \`*\` in one name` };
  if (glob.split("{").length - 1 > MOST_BRACES)
    return { fault: `it has more than ${MOST_BRACES} \`{\`` };
  try {
    const options = { debug: true, dot, noextglob: true, nonegate: true, ...BRACKETS };
    // Most manifest patterns end in `*.yaml` or similar: these do not need picomatch to be loaded.
    const pattern =
      !dot && /^\*\.[a-z]+$/.test(source)
        ? new RegExp(String.raw`^(?!\.)(?=.)[^/]*?[.]${source.slice(2)}$`)
        : picomatch.makeRe(glob, options);
    return { test: (text) => pattern.test(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const [range] = /\[[^\]]*\]/.exec(source) ?? [];
    return {
      fault:
        range === undefined ? "a `{` is not closed" : `\`${range}\` is not a range of characters`,
    };
  }
}

/** Returns the test of a glob that must be valid. @throws TascError if it is not */
export function globTest(source: string): (text: string) => boolean {
  const glob = compileGlob(source);
  if ("fault" in glob)
    throw invalid("bad-glob", `The glob \`${source}\` cannot be used: ${glob.fault}`);
  return glob.test;
}

/** Options of picomatch: `[!a]` is any character except `a`, and a bracket is never literal. */
const BRACKETS = { posix: true, literalBrackets: false };

/** Limits of a glob, because the time of a regular expression grows as a power of these numbers. */
const MOST_STARS = 4;
const MOST_BRACES = 8;
const LONGEST = 1000;
