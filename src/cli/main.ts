import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";

/*
 * Where the program starts. The build writes the texts of `--help` and `--version`, which the parser makes of the table
 * of commands, to files; for whoever asks for nothing else, neither of them is loaded. On a terminal they are made there
 * and then, since they fill its columns.
 */

const FILES: Readonly<Record<string, string>> = {
  "--help": "help.txt",
  "-h": "help.txt",
  "--version": "version.txt",
  "-V": "version.txt",
};

const argv = process.argv.slice(2);
const file = argv.length === 1 && !isatty(1) ? FILES[argv[0] ?? ""] : undefined;
if (file === undefined || !printFile(file)) void import("./run.ts").then(({ run }) => run(argv));

function printFile(name: string): boolean {
  try {
    const text = readFileSync(join(__dirname, name));
    const written = writeSync(1, text);
    if (written < text.length) process.stdout.write(text.subarray(written));
    return true;
  } catch {
    // Nothing was written, and the parser's way of writing knows what to say of that.
    return false;
  }
}
