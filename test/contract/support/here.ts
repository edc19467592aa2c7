// Runs the built program in the process of the test, which takes a tenth of the time of a process.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { Readable, Writable } from "node:stream";
import type * as Cli from "../../../src/cli/run.ts";
import { at, parseJson, text } from "./json.ts";

export type Env = Readonly<Record<string, string>>;

/** Collects what is written to it, like the reading end of a pipe. */
class Collected extends Writable {
  text = "";
  readonly #decoder = new TextDecoder();

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += this.#decoder.decode(chunk, { stream: true });
    done();
  }
}

/** A build to compare with, which tests must start: its code may be another one. */
const OTHER_BUILD = process.env["TASC_CONTRACT_ROOT"] ?? process.env["TASC_EXECUTABLE"];

/** `serve` ends by a signal and sets the umask; the entry point prints help and version. */
const PROCESS_WORDS: ReadonlySet<string | undefined> = new Set([
  "serve",
  "--help",
  "-h",
  "--version",
  "-V",
]);

/** Returns whether a command line acts on its process, or Node itself reads its variables. */
export function needsProcess(args: readonly string[], env: Env): boolean {
  return (
    OTHER_BUILD !== undefined ||
    PROCESS_WORDS.has(args[0]) ||
    // Standard input is the file with the descriptor 0.
    args.includes("-") ||
    Object.keys(env).some((name) => name.startsWith("NODE_"))
  );
}

/** Node's arguments for processes that take keys from where other tests have left them. */
export const KNOWN_KEYS: readonly string[] = [
  "--require",
  resolve(import.meta.dirname, "keys.cjs"),
];
createRequire(import.meta.url)("./keys.cjs");

const ROOT = resolve(".");
const DIST = join(ROOT, "dist");
const CODE = join(DIST, "chunks", "run.cjs");

/** Runs a command line to its end, with an empty standard input. process.test.ts compares both. */
export async function runHere(
  args: readonly string[],
  cwd: string,
  env: Env,
  now: () => number = Date.now,
) {
  // Node's own loader keeps the code for all calls.
  const code: unknown = createRequire(CODE)(CODE);
  if (!isCli(code)) throw new Error(`${CODE} is not the built program; npm run build`);
  const [stdout, stderr] = [new Collected(), new Collected()];
  const exitCode = await code.exitCodeOf(args, DIST, {
    env,
    cwd,
    stdin: () => Readable.from([]),
    stdout,
    stderr,
    now,
    random: Math.random,
    version: await version(),
    unwritten: (error) => {
      throw error;
    },
  });
  return { code: exitCode, stdout: stdout.text, stderr: stderr.text };
}

function isCli(code: unknown): code is typeof Cli {
  return typeof code === "object" && code !== null && "exitCodeOf" in code;
}

async function version(): Promise<string> {
  return text(at(parseJson(await readFile(join(ROOT, "package.json"), "utf8")), "version"));
}
