import { resolve } from "node:path";
import { COMMANDS } from "../cli/commands.ts";
import { GLOBAL_OPTIONS } from "../cli/options.ts";
import type { World } from "../cli/world.ts";
import { understand } from "./wanted.ts";
import type { Candidate, Wanted } from "./wanted.ts";

/**
 * Answers a shell that completes a command line: a candidate a line, with a tab before what is said of it, or
 * `:files` or `:dirs` for what the shell completes best itself. It stays silent, whatever is wrong.
 * @param words after `tasc`; the last is the one at the cursor
 */
export async function complete(words: readonly string[], world: World): Promise<void> {
  try {
    const { wanted, folder } = understand(words, { commands: COMMANDS, options: GLOBAL_OPTIONS });
    if (wanted.kind === "files" || wanted.kind === "dirs") {
      world.stdout.write(`:${wanted.kind}\n`);
      return;
    }
    const current = words.at(-1) ?? "";
    const candidates =
      wanted.kind === "words" ? wanted.words : await fromProject(wanted, resolve(world.cwd, folder ?? "."));
    const fitting = candidates.filter(({ word }) => word.startsWith(current));
    world.stdout.write(
      fitting.map(({ word, says }) => `${word}${says === "" ? "" : `\t${says}`}\n`).join(""),
    );
  } catch {
    // Whoever presses the tabulator wants no error message into the line.
  }
}

/** Loaded only when it is needed: most words are known without a project. */
async function fromProject(
  { lookup, before }: Wanted & { readonly kind: "project" },
  root: string,
): Promise<readonly Candidate[]> {
  const { lookUp } = await import("./project.ts");
  return (await lookUp(lookup, root)).map((word) => ({ word: `${before}${word}`, says: "" }));
}
