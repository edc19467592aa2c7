import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";

/*
 * Where the program starts. The build makes the texts of `--help` and `--version` with the parser and the table of
 * commands; for whoever asks for nothing else, neither of them is loaded. On a terminal they are made there and then,
 * since they fill its columns.
 */

const argv = process.argv.slice(2);
const [word = ""] = argv;
const isReady = argv.length === 1 && word.startsWith("-") && !isatty(1) && printText(word);
if (!isReady) void import("./run.ts").then(({ run }) => run(argv));

/** Says whether it could. */
function printText(name: string): boolean {
  try {
    const texts: Readonly<Record<string, string>> = JSON.parse(
      readFileSync(join(__dirname, "help.json"), "utf8"),
    );
    const bytes = Buffer.from(texts[name] ?? "");
    if (bytes.length === 0) return false;
    const written = writeSync(1, bytes);
    if (written < bytes.length) process.stdout.write(bytes.subarray(written));
    return true;
  } catch {
    // Nothing was written, and the parser's way of writing knows what to say of that.
    return false;
  }
}
