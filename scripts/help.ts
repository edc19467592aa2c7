// What the program answers to `--version` and `--help` where there is no terminal: the texts that `src/cli/main.ts`
// prints without loading the parser. The build bundles and runs this.
import { Writable } from "node:stream";
import { readCommandLine } from "../src/cli/program.ts";

export function readyTexts(version: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    ["--help", "-h", "--version", "-V"].map((word) => {
      const parts: string[] = [];
      const output = new Writable({ decodeStrings: false });
      output._write = (part: unknown, _, done) => done(void parts.push(String(part)));
      readCommandLine([word], { version, stdout: output, stderr: output, unwritten() {} });
      return [word, parts.join("")];
    }),
  );
}
