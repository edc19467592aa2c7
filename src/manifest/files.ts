import { type Stats, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join, sep } from "node:path";
import { compareText } from "../model/address.ts";
import { compileGlob } from "../model/glob.ts";
import { type TrustOf, readTrust } from "./trust.ts";
import { type Decoded, decodeUtf8, decodedText } from "./yaml/text.ts";

/**
 * The project folder as manifests see it: all paths are relative to it and use forward slashes. The only door
 * between this part of tasc and the disk; tests put a folder in memory in its place.
 */
export interface ProjectFolder {
  /** What a folder holds, in no order; nothing where it is none or cannot be read. */
  readonly list: (folder: string) => readonly FolderEntry[];
  readonly read: (file: string) => FileRead;
  /** What a path leads to, through all symbolic links. */
  readonly follow: (path: string) => Destination;
  /** Limits from outside of the project, where there are any (`--trust`). */
  readonly trust?: () => Promise<TrustOf>;
}

export interface Destination {
  readonly kind: "file" | "folder" | "other" | "nothing";
  /** Its real path; `undefined` where that is outside of the project, or nowhere. */
  readonly inside: string | undefined;
}

export interface FolderEntry {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
}

export type FileRead =
  | { readonly ok: true; readonly decoded: Decoded }
  | { readonly ok: false; readonly missing: boolean; readonly reason: string };

/** The project folder on disk. Reading one by one is several times faster than side by side. */
export function projectFolder(root: string, trustFile?: string): ProjectFolder {
  const within = root.endsWith(sep) ? root : root + sep;
  return {
    list: (folder) => listOnDisk(join(root, folder)),
    // Where there is nothing to be resolved, joining takes as long as opening the file.
    read: (file) => readOnDisk(file.includes("..") ? join(root, file) : within + file),
    follow: (path) => followOnDisk(root, path),
    ...(trustFile === undefined || trustFile === "" ? {} : { trust: () => readTrust(trustFile) }),
  };
}

function listOnDisk(folder: string): FolderEntry[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).map((entry) => ({
      name: entry.name,
      kind: entry.isSymbolicLink() ? "link" : kindOf(entry),
    }));
  } catch (error) {
    if (isSystemError(error)) return [];
    throw error;
  }
}

/** Made once: what Node makes of a mere "utf8" takes a sixth of the time that reading a small file does. */
const AS_TEXT = { encoding: "utf8", flag: "r" } as const;

function readOnDisk(file: string): FileRead {
  try {
    // Decoding on the way in is the fastest; it puts U+FFFD where bytes are no text, and where that stands is asked twice.
    const text = readFileSync(file, AS_TEXT);
    return {
      ok: true,
      decoded: text.includes("\ufffd") ? decodeUtf8(readFileSync(file)) : decodedText(text),
    };
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return {
      ok: false,
      missing: error.code === "ENOENT" || error.code === "ENOTDIR",
      reason: reasonOf(error),
    };
  }
}

function followOnDisk(root: string, path: string): Destination {
  try {
    const real = realpathSync(join(root, path));
    return { kind: kindOf(statSync(real)), inside: relativeTo(realpathSync(root), real) };
  } catch (error) {
    if (isSystemError(error)) return { kind: "nothing", inside: undefined };
    throw error;
  }
}

function relativeTo(top: string, real: string): string | undefined {
  if (real === top) return "";
  const start = top.endsWith(sep) ? top : top + sep;
  return real.startsWith(start) ? real.slice(start.length).split(sep).join("/") : undefined;
}

function kindOf(entry: Pick<Stats, "isFile" | "isDirectory">): "file" | "folder" | "other" {
  return entry.isFile() ? "file" : entry.isDirectory() ? "folder" : "other";
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ["ENOENT", "There is no such file."],
  ["ENOTDIR", "A part of its path is a file, not a folder."],
  ["EISDIR", "It is a folder."],
  ["EACCES", "You have no permission to read it."],
  ["EPERM", "You have no permission to read it."],
  ["ELOOP", "Its symbolic links form a circle."],
]);

/** Without the system's own text, which repeats the absolute path. */
function reasonOf({ code }: { readonly code: string }): string {
  return REASONS.get(code) ?? `It cannot be read (${code}).`;
}

function isSystemError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && "code" in error && typeof error.code === "string";
}

export interface Found {
  /** Sorted, each once. */
  readonly files: readonly string[];
  /** Symbolic links that patterns matched and that lead out of the project, or nowhere. */
  readonly escaping: readonly string[];
  /** Files that patterns matched whose own names, or their folders', begin with a dot. */
  readonly hidden: readonly string[];
}

/**
 * The files that patterns mean. Links are followed inside of the project; what is reached both by a link and
 * without one, or by two links, is found once, under the shorter way to it.
 */
export function findFiles(folder: ProjectFolder, patterns: Iterable<Pattern>): Found {
  const walk = new Walk(folder);
  walk.enter({ path: "", real: "", above: [] }, new Set(patterns));
  walk.followLinks();
  return walk.found();
}

/** Such files often contain credentials, and what is wrong with a manifest is shown with its line. */
export const HIDDEN = /(?:^|\/)\./;

/** Where a walk is. `above` are the real paths of the links that it came in by. */
interface Standing {
  readonly path: string;
  readonly real: string;
  readonly above: readonly string[];
}

class Walk {
  readonly #folder: ProjectFolder;
  /** Found without a link on the way, so each once. */
  readonly #plain: string[] = [];
  /** Real path → path as found by a link. */
  readonly #linked = new Map<string, string>();
  readonly #escaping = new Set<string>();
  readonly #hidden = new Set<string>();
  /** Links to folders, by the length of their paths. */
  readonly #links = new Map<number, [place: Standing, progress: MatchedPatterns][]>();
  /** By real path what was looked for in folders that links lead to. */
  readonly #entered = new Map<string, Set<Pattern>>();

  constructor(folder: ProjectFolder) {
    this.#folder = folder;
  }

  found(): Found {
    return {
      files: this.#files().toSorted(compareText),
      escaping: [...this.#escaping].toSorted(compareText),
      hidden: [...this.#hidden].toSorted(compareText),
    };
  }

  enter(place: Standing, progress: MatchedPatterns): void {
    for (const entry of this.#folder.list(place.path)) {
      const next = advance(progress, entry.name);
      if (next.size > 0) this.#visit(entry, place, next);
    }
  }

  /**
   * The shortest first, and each folder once for what is looked for in it: folders with links to one another have more
   * ways between them than anybody could walk.
   */
  followLinks(): void {
    for (let length = 0; this.#links.size > 0; length++) {
      const places = this.#links.get(length) ?? [];
      this.#links.delete(length);
      for (const [place, progress] of places.toSorted(([a], [b]) => compareText(a.path, b.path))) {
        const entered = this.#entered.get(place.real) ?? new Set();
        this.#entered.set(place.real, entered);
        const open = new Set([...progress].filter((pattern) => !entered.has(pattern)));
        for (const pattern of open) entered.add(pattern);
        if (open.size > 0) this.enter(place, open);
      }
    }
  }

  #visit({ kind, name }: FolderEntry, place: Standing, progress: MatchedPatterns): void {
    if (kind === "link") this.#follow(inside(place, name), progress);
    else if (kind === "folder" && isOpen(progress)) this.enter(inside(place, name), progress);
    else if (kind === "file" && isComplete(progress)) {
      const path = below(place.path, name);
      if (place.real === place.path && !HIDDEN.test(path)) this.#plain.push(path);
      else this.#keep(below(place.real, name), path);
    }
  }

  #follow(place: Standing, progress: MatchedPatterns): void {
    const { kind, inside: real } = this.#folder.follow(place.path);
    const wanted = kind === "folder" ? isOpen(progress) : isComplete(progress);
    if (!wanted) return;
    if (real === undefined) this.#escaping.add(place.path);
    else if (kind === "file") this.#keep(real, place.path);
    else if (kind === "folder" && !leadsBack(real, place)) {
      const links = this.#links.get(place.path.length) ?? [];
      this.#links.set(place.path.length, links);
      links.push([{ path: place.path, real, above: [...place.above, place.real] }, progress]);
    }
  }

  #keep(real: string, path: string): void {
    const known = this.#linked.get(real);
    if (HIDDEN.test(real)) this.#hidden.add(path);
    else if (known === undefined || isShorter(path, known)) this.#linked.set(real, path);
  }

  /** Of what was found in several ways, the shortest. */
  #files(): readonly string[] {
    if (this.#linked.size === 0) return this.#plain;
    const files = new Map(this.#plain.map((path) => [path, path]));
    for (const [real, path] of this.#linked) {
      const known = files.get(real);
      if (known === undefined || isShorter(path, known)) files.set(real, path);
    }
    return [...files.values()];
  }
}

function isShorter(path: string, known: string): boolean {
  return path.length < known.length || (path.length === known.length && path < known);
}

function inside({ path, real, above }: Standing, name: string): Standing {
  return { path: below(path, name), real: below(real, name), above };
}

function below(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`;
}

/** Whether following a link to this folder would come by a place where the walk already is. */
function leadsBack(real: string, { real: here, above }: Standing): boolean {
  return real === "" || [here, ...above].some((folder) => `${folder}/`.startsWith(`${real}/`));
}

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
type MatchedPatterns = ReadonlySet<Pattern>;

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
function advance(progress: MatchedPatterns, name: string): MatchedPatterns {
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
function isComplete(progress: MatchedPatterns): boolean {
  for (const pattern of progress) if (endsHere(pattern)) return true;
  return false;
}

function endsHere(pattern: Pattern): boolean {
  return pattern === DONE || (pattern.name === "**" && endsHere(pattern.rest));
}

/** Whether anything further down can still be meant. */
function isOpen(progress: MatchedPatterns): boolean {
  for (const pattern of progress) if (pattern !== DONE) return true;
  return false;
}
