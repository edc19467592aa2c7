import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { build } from "rolldown";

/**
 * Bundles a script of `test/state/child` so that Node can run it directly. Modules that it loads
 * only if needed stay in separate files, so that it starts quickly.
 *
 * @param folder where to write the bundle
 */
export async function buildChild(script: string, folder: string): Promise<string> {
  const input = fileURLToPath(new URL(`../child/${script}.ts`, import.meta.url));
  const output = { dir: folder, entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
  await build({ input, platform: "node", logLevel: "silent", output });
  return join(folder, `${script}.mjs`);
}

/** A child process that exchanges lines with the test. */
export interface Child {
  say(line: string): void;
  /** Returns its next line; `undefined` after it has ended. */
  hear(): Promise<string | undefined>;
  /**
   * Kills it and waits until it is gone. Returns the lines that were not read yet.
   *
   * @throws Error if it wrote to stderr
   */
  kill(): Promise<readonly string[]>;
}

export function startChild(file: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  const closed = once(child, "close");
  const complaint = text(child.stderr);
  child.stdin.on("error", () => {}); // it may have ended already
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const hear = async (): Promise<string | undefined> => {
    const next = await lines.next();
    return next.done === true ? undefined : next.value;
  };
  return {
    say: (line) => child.stdin.write(`${line}\n`),
    hear,
    kill: async () => {
      child.kill("SIGKILL");
      const left: string[] = [];
      for (let line = await hear(); line !== undefined; line = await hear()) left.push(line);
      await closed;
      const words = await complaint;
      if (words !== "") throw new Error(`the child process complained: ${words}`);
      return left;
    },
  };
}
