import { compareText } from "../model/address.ts";
import { compileGlob } from "../model/glob.ts";
import type { Severity } from "../model/diagnostic.ts";
import { type Path, defined, isArray } from "../model/json.ts";
import { cached } from "../model/collections.ts";
import { type Document, PROJECT_FILE } from "./document.ts";
import type { ProjectFolder } from "./files.ts";
import { type ManifestProblem, manifestProblem } from "./problem.ts";
import { DEFAULT_MANIFESTS } from "./tables.ts";

/**
 * Finds the files that match `manifests:`. Finding none is an error only if the patterns are
 * `certain`.
 */
export function findManifests(folder: ProjectFolder, project: Document, certain: boolean) {
  const sources = patternsOf(project);
  const patterns: (readonly Pattern[])[] = [];
  const problems: ManifestProblem[] = [];
  const { file, value } = project;
  const own: Path = value.manifests === undefined ? [] : ["manifests"];
  const report = (
    code: string,
    path: Path,
    summary: string,
    detail: string,
    severity?: Severity,
  ): void => {
    problems.push(manifestProblem(code, { file, path }, summary, detail, defined({ severity })));
  };
  let alternatives = 0;
  for (const [at, source] of sources.entries()) {
    const compiled = alternatives < MOST_ALTERNATIVES ? compilePattern(source) : TOO_MANY;
    const meant = "patterns" in compiled ? compiled.patterns : [];
    patterns.push(meant);
    alternatives += meant.length;
    if ("fault" in compiled) {
      const detail = `\`${source}\`: ${compiled.fault}. A pattern must stay inside the project folder, e.g. \`targets/**/*.yaml\`.`;
      report("bad-pattern", ["manifests", at], "The pattern cannot be used", detail);
    }
  }
  const found = findFiles(folder, patterns.flat());
  for (const path of found.escaping) {
    const detail = `\`${path}\` matches \`manifests\` and points elsewhere, or nowhere. Manifests must be inside the project folder. Copy them there, or narrow the pattern.`;
    report("escaping-link", own, "A symbolic link leaves the project folder", detail);
  }
  for (const path of found.hidden) {
    const detail = `\`${path}\` matches \`manifests\` and is, or points to, a file whose path has a name that begins with a dot. Such files often contain credentials. Rename it, or narrow the pattern.`;
    report("hidden-manifest", own, "A hidden file cannot be a manifest", detail);
  }
  const files = found.files.filter((path) => path !== PROJECT_FILE);
  // The last target may have left the manifests, and state has yet to forget it.
  const areRemoved = isArray(value.removed) && value.removed.length > 0;
  if (files.length + problems.length === 0 && certain && !areRemoved) {
    const detail = `No files match ${sources.map((pattern) => `\`${pattern}\``).join(", ")}. Write one with \`tasc new target shop\`, write those of a running service with \`tasc import\`, or correct \`manifests:\`.`;
    report("no-manifests", own, "There are no target documents", detail);
  }
  // A mistyped pattern would silently leave out targets.
  for (const [at, wanted] of files.length === 0 || own.length === 0 ? [] : patterns.entries()) {
    const isMet = (path: string) => isComplete(path.split("/").reduce(advance, new Set(wanted)));
    const detail = `\`${sources[at]}\` matches nothing. Correct or remove it.`;
    if (wanted.length > 0 && !found.files.some(isMet))
      report("idle-pattern", [...own, at], "A pattern matches no file", detail, "warning");
  }
  return { files, problems };
}

export function patternsOf(project: Document): readonly string[] {
  const { manifests } = project.value;
  return isArray(manifests)
    ? manifests.filter((item) => typeof item === "string")
    : DEFAULT_MANIFESTS;
}

/**
 * Hidden paths. Such files often contain credentials, and an error in a manifest is shown with its
 * line.
 */
export const HIDDEN = /(?:^|\/)\./;

/**
 * A place in a walk, with the patterns that continue there. `above` has the real paths of the links
 * on the way to it.
 */
interface WalkPlace {
  readonly path: string;
  readonly real: string;
  readonly above: readonly string[];
  readonly patterns: MatchedPatterns;
}

/**
 * Finds the matching files, also through links inside the project. A file with several paths is
 * found by the shortest. Also returns links that lead out of the project or nowhere, and files with
 * a leading dot in their own or a folder's name.
 */
export function findFiles(folder: ProjectFolder, wanted: Iterable<Pattern>) {
  const found = new Map<string, string>();
  const escaping = new Set<string>();
  const hidden = new Set<string>();
  /** Links to folders that are not entered yet. */
  let links: WalkPlace[] = [];
  const enter = (place: WalkPlace): void => {
    const isHidden = HIDDEN.test(place.real);
    folder.list(place.path).forEach(({ kind: own, name }) => {
      const patterns = advance(place.patterns, name);
      if (patterns.size === 0 || (own === "file" && !isComplete(patterns))) return;
      const path = below(place.path, name);
      const at = place.real === place.path ? path : below(place.real, name);
      const { kind, inside: real } =
        own === "link" ? folder.follow(path) : { kind: own, inside: at };
      const isOpen = kind === "folder" && [...patterns].some((pattern) => pattern !== DONE);
      if (kind === "folder" ? !isOpen : !isComplete(patterns)) return;
      if (real === undefined) escaping.add(path);
      else if (kind === "file") {
        const known = found.get(real);
        if (own === "link" ? HIDDEN.test(real) : isHidden || name.startsWith(".")) hidden.add(path);
        else if (
          known === undefined ||
          (path.length - known.length || compareText(path, known)) < 0
        )
          found.set(real, path);
      } else if (kind === "folder" && own === "folder")
        enter({ path, real, above: place.above, patterns });
      else if (kind === "folder") {
        const above = [...place.above, at];
        const isBack = real === "" || above.some((one) => `${one}/`.startsWith(`${real}/`));
        if (!isBack) links.push({ path, real, above, patterns });
      }
    });
  };
  enter({ path: "", real: "", above: [], patterns: new Set(wanted) });
  // Shortest paths first, each folder once per pattern: there can be too many paths between folders
  // that link to each other.
  const entered = new Map<string, Set<Pattern>>();
  for (let length = 0; links.length > 0; length++) {
    const places = links.filter(({ path }) => path.length === length);
    if (places.length > 0) links = links.filter(({ path }) => path.length !== length);
    for (const place of places.toSorted((a, b) => compareText(a.path, b.path))) {
      const known = cached(entered, place.real, () => new Set());
      const patterns = new Set([...place.patterns].filter((pattern) => !known.has(pattern)));
      for (const pattern of patterns) known.add(pattern);
      if (patterns.size > 0) enter({ ...place, patterns });
    }
  }
  const files = [...found.values()].toSorted();
  return { files, escaping: [...escaping].toSorted(), hidden: [...hidden].toSorted() };
}

function below(folder: string, name: string): string {
  // Not a template, see `addressOf`.
  return folder === "" ? name : [folder, name].join("/");
}

/**
 * A pattern of `manifests:`. `*` and `?` match within a name, and not a leading dot; `**` matches
 * any number of folders, `{a,b}` either text, `[a-c]` one character of a range. One walk follows
 * all patterns at the same time, so that no folder is listed twice and no file is found twice.
 */
export type Pattern = Segment | typeof DONE;

/**
 * The first name of a pattern, and the rest. A linked list, because a walk shares patterns and
 * never copies them.
 */
interface Segment {
  readonly name: "**" | ((name: string) => boolean);
  readonly rest: Pattern;
}

const DONE = "done";

type MatchedPatterns = ReadonlySet<Pattern>;

export function compilePattern(
  source: string,
): { readonly patterns: readonly Pattern[] } | { readonly fault: string } {
  if (/^(?:[/\\]|[A-Za-z]:)/.test(source)) return { fault: "it is an absolute path" };
  if (source.includes("\\")) return { fault: "folders are separated by `/`" };
  if (/(?:^|[/{,])\.\.(?:$|[/},])/.test(source)) return { fault: "it leaves the folder by `..`" };
  const patterns: Pattern[] = [];
  const left = [source];
  for (let text = left.pop(); text !== undefined; text = left.pop()) {
    // The innermost braces come first: braces may contain `/` and other braces.
    const [braces = "", options] = /\{([^{},]*,[^{}]*)\}/.exec(text) ?? [];
    if (options === undefined) {
      const compiled = compileNames(text);
      if (typeof compiled === "object" && "fault" in compiled) return compiled;
      patterns.push(compiled);
    } else for (const option of options.split(",")) left.push(text.replace(braces, () => option));
    if (left.length + patterns.length > MOST_ALTERNATIVES) return TOO_MANY;
  }
  return { patterns };
}

const MOST_ALTERNATIVES = 1000;
const TOO_MANY = { fault: `with its braces there are more than ${MOST_ALTERNATIVES} patterns` };

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

/**
 * Returns the rest of each pattern after a walk has entered a folder, or found a file, with this
 * name.
 */
function advance(progress: MatchedPatterns, name: string): MatchedPatterns {
  const next = new Set<Pattern>();
  for (let pattern of progress) {
    for (; pattern !== DONE && pattern.name === "**"; pattern = pattern.rest)
      if (!name.startsWith(".") && name !== "node_modules") next.add(pattern);
    if (pattern !== DONE && pattern.name !== "**" && pattern.name(name)) next.add(pattern.rest);
  }
  return next;
}

/** Whether a file at this point matches a pattern. */
function isComplete(progress: MatchedPatterns): boolean {
  for (let pattern of progress) {
    while (pattern !== DONE && pattern.name === "**") pattern = pattern.rest;
    if (pattern === DONE) return true;
  }
  return false;
}
