import { type Stats, existsSync, readFileSync, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join, relative, sep } from "node:path";
import { invalid, isSystemError } from "../model/error.ts";
import type { Json } from "../model/json.ts";
import { type TrustOf, readTrust } from "./trust.ts";
import { type YamlProblem, decodeUtf8, decodedText } from "./yaml/text.ts";

/** The project folder as manifests see it, with relative paths and forward slashes; tests put a folder in memory in its place. */
export interface ProjectFolder {
  /** What a folder holds, in no order; nothing where there is none. */
  readonly list: (folder: string) => readonly FolderEntry[];
  readonly read: (file: string) => FileRead;
  /** What a path leads to, through all symbolic links. */
  readonly follow: (path: string) => Destination;
  /** Limits from outside of the project, where there are any (`--trust`). */
  readonly trust?: () => Promise<TrustOf>;
  /** Whether a file is in git, so that its author is whoever wrote the manifests; asked where there are limits. */
  readonly isCommitted?: (file: string) => boolean;
  /** Which of these files are not in git as they stand, but written by the job; asked where there are limits. */
  readonly ownOf?: (files: readonly string[]) => ReadonlySet<string>;
}

export interface Destination {
  readonly kind: "file" | "folder" | "other" | "nothing";
  /** Its real path; `undefined` where that is outside of the project, or nowhere. */
  readonly inside: string | undefined;
}

export type FolderEntry = { readonly name: string; readonly kind: "file" | "folder" | "link" | "other" };

export type FileRead =
  | { readonly ok: true; readonly text: string; readonly bom: boolean; readonly value?: Json | undefined }
  | {
      readonly ok: false;
      readonly missing: boolean;
      readonly reason: string;
      /** Where the bytes stop being text. */
      readonly problem?: YamlProblem;
    };

/** The project folder on disk. Reading one by one is several times faster than side by side. */
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
        // What is in it must not seem to be gone.
        throw invalid("unreadable", `The folder ${folder || "."} cannot be read`, reasonOf(error));
      }
    },
    // Where there is nothing to be resolved, joining takes as long as opening the file.
    read: (file) => readOnDisk(file.includes("..") ? join(root, file) : within + file),
    follow: (path) => {
      try {
        const real = realpathSync(join(root, path));
        const way = relative(realpathSync(root), real);
        const isOutside = isAbsolute(way) || way.split(sep, 1)[0] === "..";
        return { kind: kindOf(statSync(real)), inside: isOutside ? undefined : way.split(sep).join("/") };
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

/** Made once: what Node makes of a mere "utf8" takes a sixth of the time that reading a small file does. */
const AS_TEXT = { encoding: "utf8", flag: "r" } as const;

function readOnDisk(file: string): FileRead {
  try {
    // Decoding on the way in is the fastest; it puts U+FFFD where bytes are no text, and where that stands is asked twice.
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

/** Without the system's own text, which repeats the absolute path. */
function reasonOf({ code }: { readonly code: string }): string {
  return REASONS.get(code) ?? `It cannot be read (${code}).`;
}

/**
 * What git says of a folder; nothing outside a repository, or without git. The folder is a stranger's, so no file in it
 * may pass for git, and git must not run what files in it name: they may look like a bare repository with its settings.
 */
export function git(
  folder: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): string | undefined {
  try {
    if (env["GIT_DIR"] === undefined && isForged(realpathSync(folder))) return undefined;
    // Loaded here alone: it takes a tenth of the time of a start.
    const { execFileSync } = process.getBuiltinModule("node:child_process");
    // npm puts the programs of all dependencies first, and any of them may be called git.
    const folders = process.env["PATH"]?.split(delimiter);
    const path = folders?.filter((one) => !one.split(sep).includes("node_modules")).join(delimiter);
    return execFileSync("git", ["-C", folder, ...NO_PROGRAMS, ...args], {
      // Windows looks for programs in the working folder first, and a PATH may name it.
      cwd: dirname(process.execPath),
      env: { ...process.env, PATH: path, ...env },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

const SETTINGS = ["safe.bareRepository=explicit", "core.fsmonitor=false", "core.hooksPath=/dev/null"];
const NO_PROGRAMS = SETTINGS.flatMap((setting) => ["-c", setting]);

/** Whether git before 2.38, to which the first of these says nothing, may take a folder on the way to `.git` for a repository. */
function isForged(folder: string): boolean {
  if (existsSync(join(folder, ".git"))) return false;
  return existsSync(join(folder, "HEAD")) || (folder !== dirname(folder) && isForged(dirname(folder)));
}

/** Where git does not say, a file counts as committed, unless there is no repository. A submodule has its own, which is asked. */
function isCommitted(root: string, file: string): boolean {
  const listed = git(join(root, dirname(file)), ["ls-files", "--", `:(icase,literal)${basename(file)}`]);
  return listed === undefined ? isInRepository(root) : listed !== "";
}

/**
 * Those of some files that are not in git as they stand, so that no manifest's author knows what is in them. A file that
 * was committed only to be overwritten by the job is one of them. Outside of git, nothing tells.
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
    for (const file of some) if (lines.has(`H ${file}`) && !lines.has(`C ${file}`)) own.delete(file);
  }
  return own;
}

function isInRepository(folder: string): boolean {
  return existsSync(join(folder, ".git")) || (folder !== dirname(folder) && isInRepository(dirname(folder)));
}
