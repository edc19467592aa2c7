import { invalid } from "./error.ts";

/** A test for one name or one address, or the reason why the pattern cannot be used. */
export type Glob = { readonly test: (text: string) => boolean } | { readonly fault: string };

/**
 * Compiles a glob: `*` is any text, `?` one character, `{a,b}` either, `[a-c]` one of a range,
 * `[!a]` any other character, a backslash makes the next character literal, and so is the rest.
 * @param dot whether a glob that does not begin with a dot fits a name that does
 */
export function compileGlob(source: string, { dot = true }: { readonly dot?: boolean } = {}): Glob {
  if (!/[*?[\]{}\\]/.test(source)) return { test: (text) => text === source };
  if (source.length > LONGEST) return { fault: `it is longer than ${LONGEST} characters` };
  const parsed = parseGlob(source);
  if ("fault" in parsed) return parsed;
  const isHidden = dot || /^\\?\./.test(source) ? () => false : startsWithDot;
  const matches = globMatcher(parsed);
  return { test: (text) => !isHidden(text) && matches(text) };
}

/** Returns the test of a glob that must be valid. @throws TascError if it is not */
export function globTest(source: string): (text: string) => boolean {
  const glob = compileGlob(source);
  if ("fault" in glob)
    throw invalid("bad-glob", `The glob \`${source}\` cannot be used: ${glob.fault}`);
  return glob.test;
}

const LONGEST = 1000;

function startsWithDot(text: string): boolean {
  return text.startsWith(".");
}

/*
 * A pattern may be hostile, and a regular expression that backtracks takes time that grows with a
 * power of the number of `*`, or exponentially. So a glob becomes a list of instructions, and a
 * match follows all ways through it at once: at most its length times the length of the text.
 */

/** `one` takes a character; `ways` goes on at each of these places without taking one. */
type Instruction =
  { readonly one: (character: string) => boolean } | { readonly ways: readonly number[] };

/** Its end is behind its last instruction. */
type GlobProgram = readonly Instruction[];

/** Translates a glob. Each character becomes a few instructions, at most. */
export function parseGlob(source: string): GlobProgram | { readonly fault: string } {
  const program: Instruction[] = [];
  /** Braces that are open: where each began, and where its alternatives ended. */
  const open: { readonly start: number; readonly starts: number[]; readonly ends: number[] }[] = [];
  const characters = Array.from(source);
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? "";
    const within = open.at(-1);
    if (character === "*") {
      const here = program.length;
      program.push({ ways: [here + 1, here + 3] }, { one: () => true }, { ways: [here] });
    } else if (character === "?") program.push({ one: () => true });
    else if (character === "[") {
      const range = parseRange(characters, at);
      if ("fault" in range) return range;
      program.push({ one: range.fits });
      at = range.end;
    } else if (character === "{" && hasAlternatives(characters, at)) {
      open.push({ start: program.length, starts: [program.length + 1], ends: [] });
      program.push({ ways: [] });
    } else if (character === "," && within !== undefined) {
      within.ends.push(program.length);
      program.push({ ways: [] });
      within.starts.push(program.length);
    } else if (character === "}" && within !== undefined) {
      open.pop();
      program[within.start] = { ways: within.starts };
      for (const end of within.ends) program[end] = { ways: [program.length] };
    } else {
      const literal = character === "\\" ? (characters[(at += 1)] ?? "\\") : character;
      program.push({ one: (other) => other === literal });
    }
  }
  return open.length === 0 ? program : { fault: "a `{` is not closed" };
}

/** Whether a `{` begins alternatives: braces without a comma are literal, as in a shell. */
function hasAlternatives(characters: readonly string[], from: number): boolean {
  let depth = 0;
  for (let at = from; at < characters.length; at += 1) {
    const character = characters[at];
    if (character === "\\") at += 1;
    else if (character === "{") depth += 1;
    else if (character === "}" && (depth -= 1) === 0) return false;
    else if (character === "," && depth === 1) return true;
  }
  return true;
}

/** Parses a range, e.g. `[a-c_]`. A `]` at its beginning is literal. */
function parseRange(characters: readonly string[], from: number) {
  const isNegated = /[!^]/.test(characters[from + 1] ?? "");
  const start = from + (isNegated ? 2 : 1);
  const end = characters.indexOf("]", start + 1);
  const written = characters.slice(from, end < 0 ? undefined : end + 1).join("");
  const fault = { fault: `\`${written}\` is not a range of characters` };
  if (end < 0) return fault;
  const pairs: (readonly [string, string])[] = [];
  for (let at = start; at < end; at += 1) {
    const low = characters[at] ?? "";
    const isPair = characters[at + 1] === "-" && at + 2 < end;
    const high = isPair ? (characters[at + 2] ?? "") : low;
    if (codeOf(high) < codeOf(low)) return fault;
    pairs.push([low, high]);
    if (isPair) at += 2;
  }
  const isIn = (character: string): boolean =>
    pairs.some(([low, high]) => {
      const code = codeOf(character);
      return codeOf(low) <= code && code <= codeOf(high);
    });
  return { fits: (character: string) => isIn(character) !== isNegated, end };
}

function codeOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}

/**
 * Returns the test whether a whole text fits. Its lists are made once: those of each character of
 * 10,000 names were a quarter of what a plan allocates.
 * @param step called for each instruction that is looked at
 */
export function globMatcher(
  program: GlobProgram,
  step: () => void = () => undefined,
): (text: string) => boolean {
  const size = program.length + 1;
  /** By place: the turn in which it was entered last. Each character of a text is a turn. */
  const entered = new Uint32Array(size);
  let turn = 0;
  let [places, next] = [new Uint32Array(size), new Uint32Array(size)];
  let found = 0;
  const waiting: number[] = [];
  const enter = (first: number): void => {
    waiting.push(first);
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop()) {
      if (entered[place] === turn) continue;
      step();
      entered[place] = turn;
      const instruction = program[place];
      if (instruction !== undefined && "ways" in instruction)
        for (const way of instruction.ways) waiting.push(way);
      else next[found++] = place;
    }
  };
  const begin = (): number => {
    const before = found;
    [places, next] = [next, places];
    [found, turn] = [0, turn + 1];
    return before;
  };
  return (text) => {
    begin();
    enter(0);
    for (const character of text) {
      const before = begin();
      for (let at = 0; at < before; at += 1) {
        step();
        const place = places[at] ?? 0;
        const instruction = program[place];
        if (instruction !== undefined && "one" in instruction && instruction.one(character))
          enter(place + 1);
      }
      if (found === 0) return false;
    }
    return next.subarray(0, found).includes(program.length);
  };
}
