import { compileGlob } from "../model/glob.ts";

/**
 * The patterns of `manifests:`. `*` and `?` stay within a name and do not match a leading dot, `**` is any number of
 * folders, `{a,b}` is either, `[a-c]` one of a range. All patterns are followed at once in one walk, so that no
 * folder is listed twice and no file found twice.
 */
export type Pattern = Segment | typeof DONE;

/** A pattern is shared by all that a walk finds, so it is a chain that is walked along and never copied. */
interface Segment {
  readonly name: "**" | ((name: string) => boolean);
  readonly rest: Pattern;
}

const DONE = "done";

/** Where in each pattern a walk is. */
export type Progress = ReadonlySet<Pattern>;

export type Compiled = { readonly patterns: readonly Pattern[] } | { readonly fault: string };

export function compilePattern(source: string): Compiled {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(source)) return { fault: "it is an absolute path" };
  if (source.includes("\\")) return { fault: "folders are separated by `/`" };
  if (/(?:^|[/{,])\.\.(?:$|[/},])/.test(source)) return { fault: "it leaves the folder by `..`" };
  const patterns: Pattern[] = [];
  const left = [source];
  for (let text = left.pop(); text !== undefined; text = left.pop()) {
    const alternatives = expandFolders(text);
    if (left.push(...alternatives) + patterns.length > MOST_ALTERNATIVES)
      return { fault: `its braces stand for more than ${MOST_ALTERNATIVES} patterns` };
    if (alternatives.length > 0) continue;
    const compiled = compileNames(text);
    if (typeof compiled === "object" && "fault" in compiled) return compiled;
    patterns.push(compiled);
  }
  return { patterns };
}

const MOST_ALTERNATIVES = 1000;

/** `{a/b,c}/d` into `a/b/d` and `c/d`: braces over folders are written out, all others are part of a name. */
function expandFolders(text: string): string[] {
  const found = /\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}/.exec(text);
  const inner = found?.[1]?.includes("/") === true ? found : /\{([^{}]*\/[^{}]*)\}/.exec(text);
  if (inner === null) return [];
  const [before, after] = [text.slice(0, inner.index), text.slice(inner.index + inner[0].length)];
  return commaSeparated(inner[1] ?? "").map((option) => before + option + after);
}

/** Split at the commas that stand in no further braces. */
function commaSeparated(text: string): string[] {
  const options = [""];
  let depth = 0;
  for (const character of text) {
    depth += character === "{" ? 1 : character === "}" ? -1 : 0;
    if (character === "," && depth === 0) options.push("");
    else options.push(`${options.pop() ?? ""}${character}`);
  }
  return options;
}

function compileNames(text: string): Pattern | { readonly fault: string } {
  let pattern: Pattern = DONE;
  const names = text.split("/").filter((name) => name !== "" && name !== ".");
  for (const name of names.toReversed()) {
    if (name === "**") pattern = { name, rest: pattern };
    else {
      const glob = compileGlob(name, { dot: false });
      if ("fault" in glob) return glob;
      pattern = { name: glob.test, rest: pattern };
    }
  }
  return pattern;
}

/** What remains of each pattern once a walk has gone into, or found, something of this name. */
export function advance(progress: Progress, name: string): Progress {
  const next = new Set<Pattern>();
  for (const pattern of progress) advanceOne(pattern, name, next);
  return next;
}

function advanceOne(pattern: Pattern, name: string, next: Set<Pattern>): void {
  if (pattern === DONE) return;
  if (pattern.name === "**") {
    if (!name.startsWith(".") && name !== "node_modules") next.add(pattern);
    advanceOne(pattern.rest, name, next);
  } else if (pattern.name(name)) next.add(pattern.rest);
}

/** Whether a file at this point is meant. */
export function isComplete(progress: Progress): boolean {
  for (const pattern of progress) if (endsHere(pattern)) return true;
  return false;
}

function endsHere(pattern: Pattern): boolean {
  return pattern === DONE || (pattern.name === "**" && endsHere(pattern.rest));
}

/** Whether anything further down can still be meant. */
export function isOpen(progress: Progress): boolean {
  for (const pattern of progress) if (pattern !== DONE) return true;
  return false;
}
