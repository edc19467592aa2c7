import { type WriteFileOptions, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { failed } from "../model/error.ts";
import { refuseLinks } from "../files/output.ts";

/** Returns a file's text; undefined if there is no such file. */
export function textOf(path: string): string | undefined {
  return existsSync(path) ? unlessRefused(path, () => readFileSync(path, "utf8")) : undefined;
}

export function writeText(root: string, file: string, text: string, how?: WriteFileOptions): void {
  const path = join(root, file);
  unlessRefused(path, () => {
    refuseLinks(path, root);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text, how);
  });
}

/** Adds the path to a system error, whose message may not contain it. @throws TascError */
function unlessRefused<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
    const why = `${error.message}. Check the permissions, and that nothing else has this name.`;
    throw failed("unwritable", `${path} cannot be written`, why);
  }
}
