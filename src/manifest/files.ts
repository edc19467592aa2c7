import { type Stats, existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from "node:path";
import { invalid, isSystemError } from "../model/error.ts";
import type { Json } from "../model/json.ts";
import { type TrustOf, readTrust } from "./trust.ts";
import { type YamlProblem, decodeUtf8, decodedText } from "./yaml/text.ts";

/**
 * The project folder as manifests see it, with relative paths and forward slashes. Tests use a
 * folder in memory instead.
 */
export interface ProjectFolder {
  /** Lists the entries of a folder, in no particular order; empty if the folder does not exist. */
  readonly list: (folder: string) => readonly FolderEntry[];
  readonly read: (file: string) => FileRead;
  /** Returns where a path leads, through all symbolic links. */
  readonly follow: (path: string) => Destination;
  /** Returns the limits set from outside of the project (`--trust`); unset if there are none. */
  readonly trust?: () => Promise<TrustOf>;
  /**
   * Whether a file is in git, so that the authors of the manifests know its content. Only set with
   * a trust file.
   */
  readonly isCommitted?: (file: string) => boolean;
  /**
   * Returns those files whose current content is not in git but was written by the job. Only set
   * with a trust file.
   */
  readonly ownOf?: (files: readonly string[]) => ReadonlySet<string>;
}

export interface Destination {
  readonly kind: "file" | "folder" | "other" | "nothing";
  /** The real path; `undefined` if it is outside of the project or does not exist. */
  readonly inside: string | undefined;
}

export type FolderEntry = {
  readonly name: string;
  readonly kind: "file" | "folder" | "link" | "other";
};

export type FileRead =
  | {
      readonly ok: true;
      readonly text: string;
      readonly bom: boolean;
      readonly value?: Json | undefined;
    }
  | {
      readonly ok: false;
      readonly missing: boolean;
      readonly reason: string;
      /** The place where the bytes stop being text. */
      readonly problem?: YamlProblem;
    };

/**
 * Opens the project folder on disk. Reading files one by one is several times faster than in
 * parallel.
 */
export function projectFolder(root: string, trustFile?: string): ProjectFolder {
  const within = root.endsWith(sep) ? root : root + sep;
  return {
    list: (folder) => {
      try {
        return readdirSync(join(root, folder), { withFileTypes: true }).map((entry) => ({
          name: entry.name,
          kind: entry.isSymbolicLink() ? "link" : kindOf(entry),
        }));
      } catch (error) {
        if (!isSystemError(error)) throw error;
        if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
        // An unreadable folder must not look empty.
        throw invalid("unreadable", `The folder ${folder || "."} cannot be read`, reasonOf(error));
      }
    },
    // Without `..` there is nothing to resolve, and `join` would take as long as opening the file.
    read: (file) => readOnDisk(file.includes("..") ? join(root, file) : within + file),
    follow: (path) => {
      try {
        const real = realpathSync(join(root, path));
        const way = relative(realpathSync(root), real);
        const isOutside = isAbsolute(way) || way.split(sep, 1)[0] === "..";
        return {
          kind: kindOf(statSync(real)),
          inside: isOutside ? undefined : way.split(sep).join("/"),
        };
      } catch (error) {
        if (isSystemError(error)) return { kind: "nothing", inside: undefined };
        throw error;
      }
    },
    ...(trustFile === undefined || trustFile === ""
      ? {}
      : {
          trust: () => readTrust(trustFile),
          isCommitted: (file) => isCommitted(root, file),
          ownOf: (files) => ownOf(root, files),
        }),
  };
}

/**
 * Shared options: to make them from a plain "utf8", Node takes a sixth of the time of reading a
 * small file.
 */
const AS_TEXT = { encoding: "utf8", flag: "r" } as const;

function readOnDisk(file: string): FileRead {
  try {
    // Decoding while reading is fastest. It turns invalid bytes into U+FFFD, so such a text is read
    // again and checked.
    const text = readFileSync(file, AS_TEXT);
    return text.includes("\ufffd") ? decodeUtf8(readFileSync(file)) : decodedText(text);
  } catch (error) {
    if (!isSystemError(error)) throw error;
    return {
      ok: false,
      missing: error.code === "ENOENT" || error.code === "ENOTDIR",
      reason: reasonOf(error),
    };
  }
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

/** Returns the reason in words, without the system's own text, which repeats the absolute path. */
function reasonOf({ code }: { readonly code: string }): string {
  return REASONS.get(code) ?? `It cannot be read (${code}).`;
}

/**
 * Returns git's output for a folder; `undefined` outside of a repository, or without git. The
 * folder is not trusted: no file in it may run as git, and git must not run programs that its files
 * name: they may form a bare repository with settings.
 */
export function git(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string | undefined {
  try {
    if (env["GIT_DIR"] === undefined && isForged(realpathSync(folder))) return undefined;
    // Loaded only here, because it takes a tenth of the startup time.
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    // npm puts the programs of all dependencies first in PATH, and one of them may be called git.
    const folders = process.env["PATH"]?.split(delimiter);
    const path = folders?.filter((one) => !one.split(sep).includes("node_modules")).join(delimiter);
    return execFileSync("git", ["-C", folder, ...NO_PROGRAMS, ...args], {
      // Windows looks for programs in the working folder first, and PATH may contain that folder.
      cwd: dirname(process.execPath),
      env: { ...process.env, PATH: path, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

const SETTINGS = [
  "safe.bareRepository=explicit",
  "core.fsmonitor=false",
  "core.hooksPath=/dev/null",
];
const NO_PROGRAMS = SETTINGS.flatMap((setting) => ["-c", setting]);

/**
 * Whether git before 2.38, which ignores `safe.bareRepository`, may use a folder on the way up to
 * `.git` as repository.
 */
function isForged(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return false;
  return (
    existsSync(join(folder, "HEAD")) || (folder !== dirname(folder) && isForged(dirname(folder)))
  );
}

/**
 * Asks git in the file's folder, which may be a submodule. If git fails, a file in a repository
 * counts as committed.
 */
function isCommitted(root: string, file: string): boolean {
  const listed = git(join(root, dirname(file)), [
    "ls-files",
    "--",
    `:(icase,literal)${basename(file)}`,
  ]);
  return listed === undefined ? isInRepository(root) : listed !== "";
}

/**
 * Returns the files whose current content is not in git, so that the authors of the manifests
 * cannot know it. This includes a committed file that the job has overwritten. Outside of a
 * repository the result is empty.
 */
export function ownOf(root: string, files: readonly string[]): ReadonlySet<string> {
  if (!isInRepository(root)) return new Set();
  const own = new Set(files);
  // The longest path has 4 KB, and a command line takes a hundred of them.
  for (let at = 0; at < files.length; at += 100) {
    const some = files.slice(at, at + 100);
    const literal = some.map((file) => `:(literal)${file}`);
    const listed = git(root, ["ls-files", "-t", "-z", "--cached", "--modified", "--", ...literal]);
    const lines = new Set(listed?.split("\0"));
    for (const file of some)
      if (lines.has(`H ${file}`) && !lines.has(`C ${file}`)) own.delete(file);
  }
  return own;
}

function isInRepository(folder: string): boolean {
  return (
    existsSync(join(folder, ".git")) ||
    (folder !== dirname(folder) && isInRepository(dirname(folder)))
  );
}
