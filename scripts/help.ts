// The answers of the program without a terminal and the specifications of its commands, by the file
// in which `src/cli` looks for them. The build bundles and runs this module.
import { Writable } from "node:stream";
import { readCommandLine } from "../src/cli/program.ts";
import { commandSpecs } from "../src/commands/table.ts";

export async function readyTexts(version: string): Promise<Readonly<Record<string, string>>> {
  const commands = await commandSpecs();
  return {
    "help.txt": answer("--help"),
    "version.txt": answer("--version"),
    "commands.json": JSON.stringify(commands),
  };

  function answer(word: string): string {
    const parts: string[] = [];
    const stdout = new Writable({
      decodeStrings: false,
      write(part: unknown, _, done) {
        parts.push(String(part));
        done();
      },
    });
    readCommandLine([word], commands, { version, stdout, stderr: stdout, unwritten() {} });
    return parts.join("");
  }
}
