// Runs the built program with its own folder and environment, as a process or, which takes a tenth
// of the time, in the process of the test.
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { expect } from "vitest";
import type { Host } from "../../../src/app/project.ts";
import { Secrets } from "../../../src/model/value.ts";
import { FakeService, type FakeOptions } from "../fake-service.ts";
import { KNOWN_KEYS, needsProcess, runHere } from "./here.ts";
import { at, object, parseJson, text, type Json, type JsonObject } from "./json.ts";

/**
 * Can be another checkout, or a copy of a build with package.json and the file that `bin.tasc`
 * names.
 */
const ROOT = resolve(process.env["TASC_CONTRACT_ROOT"] ?? ".");

export interface Ran {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly done: Promise<Ran>;
  /** Resolves once stdout and stderr together match the pattern. */
  saw(pattern: RegExp): Promise<void>;
}

export type Env = Readonly<Record<string, string>>;
export type Files = Readonly<Record<string, string | Buffer>>;

async function collect(command: string, args: readonly string[], cwd: string): Promise<Ran> {
  return await follow(spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] })).done;
}

function follow(child: ChildProcess): Running {
  let stdout = "";
  let stderr = "";
  const watchers: { readonly pattern: RegExp; readonly matched: () => void }[] = [];
  const look = (): void => {
    for (const watcher of watchers) if (watcher.pattern.test(stdout + stderr)) watcher.matched();
  };
  child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
    stdout += chunk;
    look();
  });
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
    stderr += chunk;
    look();
  });
  const done = new Promise<Ran>((settle, fail) => {
    child.once("error", fail);
    child.once("close", (code, signal) => settle({ code, signal, stdout, stderr }));
  });
  const saw = async (pattern: RegExp): Promise<void> => {
    await Promise.race([
      new Promise<void>((matched) => {
        watchers.push({ pattern, matched });
        look();
      }),
      done.then((ran) => {
        if (!pattern.test(ran.stdout + ran.stderr))
          throw new Error(`${pattern} never came: ${ran.stderr}`);
      }),
    ]);
  };
  return { child, done, saw };
}

async function findExecutable(): Promise<string> {
  const manifest = parseJson(await readFile(join(ROOT, "package.json"), "utf8"));
  const bin = join(ROOT, text(at(manifest, "bin", "tasc")));
  if (!existsSync(bin)) await build(manifest, bin);
  return bin;
}

/** Builds once, even if several workers find that the build is missing. */
async function build(manifest: Json, bin: string): Promise<void> {
  const lock = join(tmpdir(), `tasc-contract-build-${process.ppid}`);
  try {
    await mkdir(lock);
  } catch {
    for (let tries = 0; tries < 600 && !existsSync(bin); tries += 1)
      // oxlint-disable-next-line no-await-in-loop
      await new Promise((next) => setTimeout(next, 100));
    return;
  }
  try {
    const scripted = at(manifest, "scripts", "build") !== undefined;
    const ran = scripted
      ? await collect("npm", ["run", "build"], ROOT)
      : await collect(process.execPath, ["scripts/build.mjs"], ROOT);
    if (ran.code !== 0) throw new Error(`the build failed:\n${ran.stdout}${ran.stderr}`);
  } finally {
    await rm(lock, { recursive: true, force: true });
  }
}

let executable: Promise<string> | undefined;

export class Project {
  readonly dir: string;
  readonly env: Record<string, string>;
  /** The clock of `run`. One that stands still leaves no limit of time to a slow machine. */
  now: () => number = Date.now;

  constructor(dir: string, env: Env) {
    this.dir = dir;
    this.env = { ...env };
  }

  async write(files: Files): Promise<void> {
    for (const [name, content] of Object.entries(files)) {
      const file = join(this.dir, name);
      // oxlint-disable-next-line no-await-in-loop
      await mkdir(dirname(file), { recursive: true });
      // oxlint-disable-next-line no-await-in-loop
      await writeFile(file, content);
    }
  }

  async read(name: string): Promise<string> {
    return await readFile(join(this.dir, name), "utf8");
  }

  async mode(name: string): Promise<number> {
    return (await stat(join(this.dir, name))).mode & 0o777;
  }

  async remove(name: string): Promise<void> {
    await rm(join(this.dir, name), { recursive: true, force: true });
  }

  /** Paths of all files in the folder, relative to it and sorted. */
  async files(): Promise<readonly string[]> {
    const entries = await readdir(this.dir, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.dir, join(entry.parentPath, entry.name)))
      .toSorted();
  }

  async everything(): Promise<string> {
    const names = await this.files();
    return (await Promise.all(names.map((name) => this.read(name)))).join("\n");
  }

  #environment(env: Env): Env {
    return { PATH: process.env["PATH"] ?? "", HOME: this.dir, ...this.env, ...env };
  }

  /** Starts a process, for what only a process can show: signals, an end in the middle, streams. */
  async start(
    args: readonly string[],
    env: Env = {},
    stdout: "pipe" | number = "pipe",
  ): Promise<Running> {
    executable ??= findExecutable();
    const bin = await executable;
    return follow(
      spawn(process.execPath, [...KNOWN_KEYS, bin, ...args], {
        cwd: this.dir,
        env: this.#environment(env),
        stdio: ["ignore", stdout, "pipe"],
      }),
    );
  }

  /**
   * Runs a command line to its end: in this process if nothing shows the difference
   * (process.test.ts).
   */
  async run(
    args: readonly string[],
    env: Env = {},
    stdout: "pipe" | number = "pipe",
  ): Promise<Ran> {
    const all = this.#environment(env);
    if (stdout !== "pipe" || needsProcess(args, all))
      return await (
        await this.start(args, env, stdout)
      ).done;
    executable ??= findExecutable();
    await executable;
    return { ...(await runHere(args, this.dir, all, this.now)), signal: null };
  }

  async json(
    args: readonly string[],
    env: Env = {},
  ): Promise<{ readonly ran: Ran; readonly value: JsonObject }> {
    const ran = await this.run([...args, "--format", "json"], env);
    return { ran, value: parsed(ran) };
  }
}

export function parsed(ran: Ran): JsonObject {
  try {
    return object(parseJson(ran.stdout));
  } catch {
    throw new Error(
      `stdout is not one JSON object (exit ${ran.code}):\n${ran.stdout}\n--\n${ran.stderr}`,
    );
  }
}

/** Checks that the output shows no stack trace and no unformatted value. */
export function expectNoStack(ran: Ran): void {
  expect(ran.stderr + ran.stdout).not.toMatch(
    /^\s+at (?:async )?[\w.<>$]+ \(|node:internal|\.cjs:\d+|\[object Object\]|\bundefined\b/mu,
  );
}

export interface Scene {
  readonly project: Project;
  readonly service: FakeService;
}

/** A host for tests that call `app` directly, without a process. */
export function hostOf({ env, dir }: Project): Host {
  return {
    env,
    cwd: dir,
    now: Date.now,
    random: Math.random,
    version: "",
    secrets: new Secrets(),
    warn: () => {},
    onClientEvent: () => {},
  };
}

/** Starts a service, creates a project that uses it, runs `play`, and removes both. */
export async function scene(
  options: FakeOptions,
  play: (scene: Scene) => Promise<void>,
): Promise<void> {
  const service = await new FakeService(options).start();
  const dir = await mkdtemp(join(tmpdir(), "tasc-contract-"));
  try {
    const project = new Project(dir, {
      TASC_BASE_URL: service.url,
      TASC_API_KEY: service.apiKey,
      ...SECRETS,
    });
    await project.write({ "tasc.yaml": PROJECT });
    await play({ project, service });
  } finally {
    await service.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

export const PROJECT = [
  "version: 1",
  "service:",
  "  baseUrl: ${env:TASC_BASE_URL}",
  "  apiKey: ${secret:TASC_API_KEY}",
  "  requestTimeout: 60s",
  "",
].join("\n");

export const SECRETS = {
  QA_PASSWORD: "hunter2-qa-password",
  QA_OTP: "JBSWY3DPEHPK3PXP",
  GATE_PASSWORD: "open-sesame-gate",
  TRACKER_KEY: "tracker-key-abcdef",
  HEADER_TOKEN: "header-token-xyz",
} as const;
