import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

export interface Ran {
  readonly code: number;
  readonly output: string;
}

/** The package as it would be published, packed and unpacked into a project. */
export interface Packed {
  readonly tarball: string;
  /** A project folder with the package in `node_modules`. */
  readonly project: string;
  readonly remove: () => void;
}

export async function pack(): Promise<Packed> {
  const folder = mkdtempSync(join(tmpdir(), "tasc-packed-"));
  // Otherwise npm would leave its cache in the home folder.
  const cache = join(folder, "cache");
  await must(
    "npm",
    ["pack", "--ignore-scripts", "--offline", "--cache", cache, "--pack-destination", folder],
    ".",
  );
  const tarball = join(folder, readdirSync(folder).find((name) => name.endsWith(".tgz")) ?? "");
  await must("tar", ["-xzf", tarball], folder);
  const project = join(folder, "project");
  mkdirSync(join(project, "node_modules", "@tasc"), { recursive: true });
  cpSync(join(folder, "package"), join(project, "node_modules", "@tasc", "cli"), {
    recursive: true,
  });
  symlinkSync(resolve("node_modules", "@types"), join(project, "node_modules", "@types"));
  return { tarball, project, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A project with the package in `node_modules`, without its documents. */
export function installed(): Omit<Packed, "tarball"> {
  const project = mkdtempSync(join(tmpdir(), "tasc-installed-"));
  const own = join(project, "node_modules", "@tasc", "cli");
  for (const name of ["package.json", "dist"]) cpSync(name, join(own, name), { recursive: true });
  return { project, remove: () => rmSync(project, { recursive: true, force: true }) };
}

async function must(command: string, args: readonly string[], cwd: string): Promise<void> {
  const { code, output } = await run(command, args, cwd);
  if (code !== 0) throw new Error(`${command} ${args.join(" ")} ended with ${code}:\n${output}`);
}

/** Runs a program; `output` is stdout followed by stderr. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Ran> {
  return new Promise((done) => {
    execFile(
      command,
      args,
      { cwd, env: { PATH: process.env["PATH"], HOME: cwd, NO_COLOR: "1", ...env } },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : -1;
        done({ code, output: stdout + stderr });
      },
    );
  });
}
