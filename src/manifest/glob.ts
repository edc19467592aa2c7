/**
 * The patterns of `manifests:`. `*` and `?` stay within a name and do not match a leading dot, `**` is any number of
 * folders, `{a,b}` is either, `[a-c]` one of a range. All patterns are followed at once in one walk, so that no
 * folder is listed twice and no file found twice.
 */
export type Pattern = Segment | typeof DONE;

/** A pattern is shared by all that a walk finds, so it is a chain that is walked along and never copied. */
interface Segment {
  readonly name: "**" | RegExp;
  readonly rest: Pattern;
}

const DONE = "done";

/** Where in each pattern a walk stands. */
export type Progress = readonly Pattern[];

export type Compiled = { readonly patterns: readonly Pattern[] } | { readonly fault: string };

export function compilePattern(source: string): Compiled {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(source)) return { fault: "it is an absolute path" };
  if (source.includes("\\")) return { fault: "folders are separated by `/`" };
  const alternatives = expandBraces(source);
  if (alternatives.some((text) => text.split("/").includes("..")))
    return { fault: "it leaves the folder by `..`" };
  return { patterns: alternatives.map(compileSegments) };
}

function compileSegments(text: string): Pattern {
  return text
    .split("/")
    .filter((segment) => segment !== "" && segment !== ".")
    .map((segment) => (segment === "**" ? segment : compileName(segment)))
    .reduceRight<Pattern>((rest, name) => ({ name, rest }), DONE);
}

/** `a{b,c}d` into `abd` and `acd`, from the innermost braces outwards; braces without a comma are literal. */
function expandBraces(text: string): string[] {
  const found = /\{([^{}]*,[^{}]*)\}/.exec(text);
  if (found === null) return [text];
  const before = text.slice(0, found.index);
  const after = text.slice(found.index + found[0].length);
  const options = (found[1] ?? "").split(",");
  return [...new Set(options.flatMap((option) => expandBraces(before + option + after)))];
}

function compileName(segment: string): RegExp {
  const source = segment.replaceAll(/\*+|\?|\[!?[^\]/]+\]|[\\^$.|+(){}[\]]/g, (token) => {
    if (token.startsWith("*")) return "[^/]*";
    if (token === "?") return "[^/]";
    if (token.length > 1) return token.replace("[!", "[^").replaceAll("\\", "\\\\");
    return `\\${token}`;
  });
  const hidden = segment.startsWith(".") ? "" : String.raw`(?!\.)`;
  return new RegExp(`^${hidden}${source}$`, "u");
}

/** What remains of each pattern once a walk has gone into, or found, something of this name. */
export function advance(progress: Progress, name: string): Progress {
  const next: Pattern[] = [];
  for (const pattern of progress) advanceOne(pattern, name, next);
  return next;
}

function advanceOne(pattern: Pattern, name: string, next: Pattern[]): void {
  if (pattern === DONE) return;
  if (pattern.name === "**") {
    if (!name.startsWith(".") && name !== "node_modules") next.push(pattern);
    advanceOne(pattern.rest, name, next);
  } else if (pattern.name.test(name)) next.push(pattern.rest);
}

/** Whether a file at this point is meant. */
export function isComplete(progress: Progress): boolean {
  return progress.some(endsHere);
}

function endsHere(pattern: Pattern): boolean {
  return pattern === DONE || (pattern.name === "**" && endsHere(pattern.rest));
}

/** Whether anything further down can still be meant. */
export function isOpen(progress: Progress): boolean {
  return progress.some((pattern) => pattern !== DONE);
}
