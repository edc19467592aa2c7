// The answers of the program without a terminal, by the file in which `src/cli/main.ts` looks for
// them. The build bundles and runs this module.
import { Writable } from "node:stream";
import { readCommandLine } from "../src/cli/program.ts";

export function readyTexts(version: string): Readonly<Record<string, string>> {
  return { "help.txt": answer("--help"), "version.txt": answer("--version") };

  function answer(word: string): string {
    const parts: string[] = [];
    const stdout = new Writable({
      decodeStrings: false,
      write(part: unknown, _, done) {
        parts.push(String(part));
        done();
      },
    });
    readCommandLine([word], { version, stdout, stderr: stdout, unwritten() {} });
    return parts.join("");
  }
}
