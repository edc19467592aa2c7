import { readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { isatty } from "node:tty";

/*
 * The entry point. The build writes the texts of `--help` and `--version` to files, so that these
 * options need neither the parser nor the commands. On a terminal the texts are made at run time,
 * because they fill its columns.
 */

const FILES: Readonly<Record<string, string>> = {
  "--help": "help.txt",
  "-h": "help.txt",
  "--version": "version.txt",
  "-v": "version.txt",
  "-V": "version.txt",
};

// Under Bun, undici's exchanges with the service end without an answer or an error.
const { bun } = process.versions;
if (bun !== undefined) {
  writeSync(
    2,
    `Error: tasc needs Node 20.19 or later and does not work under Bun ${bun}; run it with \`node\`, or with \`bunx\` without \`--bun\`.\n`,
  );
  process.exit(1);
}

const argv = process.argv.slice(2);
const file = argv.length === 1 && !isatty(1) ? FILES[argv[0] ?? ""] : undefined;
if (file === undefined || !printFile(file))
  void import("./run.ts").then(({ run }) => run(argv, __dirname));

function printFile(name: string): boolean {
  try {
    const text = readFileSync(join(__dirname, name));
    const written = writeSync(1, text);
    if (written < text.length) process.stdout.write(text.subarray(written));
    return true;
  } catch {
    // Nothing was written. The parser then writes the text itself, and reports the failure.
    return false;
  }
}
