import { lstatSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { parseEnv } from "node:util";
import { PROJECT_FILE } from "../manifest/document.ts";
import { projectFolder } from "../manifest/files.ts";
import {
  type LoadOptions,
  type LoadedProject,
  type ProjectReading,
  loadProject,
  readProject,
} from "../manifest/load.ts";
import { locate } from "../manifest/problem.ts";
import { declaredAddresses } from "../model/desired.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type ReadSource, TascError, invalid } from "../model/error.ts";
import type { ClientEvent } from "../model/events.ts";
import type { Secrets } from "../model/value.ts";

/* A project without its state and its service, for commands that only read manifests. */

export type LogLevel = "error" | "warn" | "info" | "debug";

/**
 * The application's access to the process that it runs in: the command line, or a program that uses
 * the library.
 */
export interface Host {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A random number from 0 to 1, for the jitter of retries. */
  readonly random: () => number;
  readonly version: string;
  readonly secrets: Secrets;
  /** Receives what the user should know although the work continues. */
  readonly warn: (diagnostics: readonly Diagnostic[], source?: ReadSource) => void;
  readonly say?: (level: LogLevel, text: string) => void;
  /** Asks the user at the terminal, if there is one. Questions without an answer have no entry. */
  readonly ask?: (questions: readonly Question[]) => Promise<ReadonlyMap<string, string>>;
  readonly onClientEvent: (event: ClientEvent) => void;
  /** Called before each manifest file is read, with the numbers of files read and known by then. */
  readonly reading?: (read: number, files: number) => void;
  readonly signal?: AbortSignal;
}

export interface Question {
  readonly id: string;
  readonly text?: string;
  readonly prompt: string;
}

/** Options for calls that override the project's settings. */
export interface CallOptions {
  readonly concurrency?: number | undefined;
  readonly requestTimeout?: number | undefined;
  readonly retries?: number | undefined;
  /** Allows plain http to an address of another machine. */
  readonly insecure?: boolean | undefined;
}

export interface ProjectOptions extends CallOptions {
  readonly chdir?: string | undefined;
  readonly stage?: string | undefined;
  readonly dotenv?: readonly string[];
  /** A file with limits that manifests cannot set; default: TASC_TRUST. */
  readonly trust?: string | undefined;
  readonly allowMissingSecrets?: boolean;
}

/**
 * Load options of a command that does not need a whole project with all secrets. They override the
 * user's options.
 */
export type ProjectNeeds = Omit<LoadOptions, "root" | "stage" | "env" | "reading">;

export interface Opened {
  readonly root: string;
  readonly env: Host["env"];
  readonly project: LoadedProject;
  readonly calls: CallOptions;
}

/** Opens a project, and reads and resolves its manifests. @throws TascError */
export async function openProject(
  options: ProjectOptions,
  host: Host,
  needs: ProjectNeeds = {},
): Promise<Opened> {
  const root = projectRoot(options, host);
  const env = readVariables(options, host, root);
  const { stage, allowMissingSecrets = false } = options;
  const { reading } = host;
  const project = await loadProject({ root, stage, env, allowMissingSecrets, reading, ...needs });
  for (const secret of project.secrets) host.secrets.add(secret);
  if (!project.ok)
    throw new TascError("invalid", project.diagnostics, (file) => project.sources.get(file)?.text);
  host.secrets.addresses.push(() => declaredAddresses(project.desired));
  return { root, env, project, calls: options };
}

/**
 * Returns the project's folder: that of `--chdir`, otherwise the nearest one from the working
 * folder up that has a project, as git does. A project gets the API key, so one that another user
 * put or linked into a parent folder is ignored.
 */
export function projectRoot(
  { chdir }: Pick<ProjectOptions, "chdir">,
  { cwd, say }: Pick<Host, "cwd" | "say">,
): string {
  if (chdir !== undefined) return resolve(cwd, chdir);
  for (let folder = cwd; ; folder = dirname(folder)) {
    const owner = lstatSync(join(folder, PROJECT_FILE), { throwIfNoEntry: false })?.uid;
    if (owner !== undefined && (folder === cwd || owner === process.getuid?.())) {
      if (folder !== cwd) say?.("debug", `The project is in ${folder}.`);
      return folder;
    }
    if (folder === dirname(folder)) return cwd;
  }
}

/** Reads the manifests without resolving them, within the limits of `--trust` or TASC_TRUST. */
export async function readFolder(options: ProjectOptions, host: Host) {
  const root = projectRoot(options, host);
  const env = readVariables(options, host, root);
  const folder = projectFolder(root, env.TASC_TRUST);
  return { root, env, folder, reading: await readProject(folder, { reading: host.reading }) };
}

export async function invalidProject(
  { sources }: ProjectReading,
  problems: ProjectReading["problems"],
) {
  return new TascError(
    "invalid",
    await locate(problems, sources),
    (file) => sources.get(file)?.text,
  );
}

/**
 * Returns the environment with the variables of `--dotenv`: existing ones take precedence, then
 * those of earlier files. `--trust` sets TASC_TRUST, so that its limits apply to every reading of
 * manifests.
 */
export function readVariables(
  { dotenv = [], chdir, trust }: ProjectOptions,
  { env, cwd }: Host,
  root: string,
): Host["env"] {
  const all: Record<string, string | undefined> = {};
  for (const file of dotenv) {
    try {
      const text = readFileSync(resolve(chdir === undefined ? cwd : root, file), "utf8");
      for (const [name, value] of Object.entries(parseEnv(text))) all[name] ??= value;
    } catch {
      throw invalid("dotenv-unreadable", `Cannot read ${file}, which --dotenv names`);
    }
  }
  const known = { ...all, ...env };
  const file = trust ?? known["TASC_TRUST"];
  return file === undefined || file === "" ? known : { ...known, TASC_TRUST: resolve(cwd, file) };
}
