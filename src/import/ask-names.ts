import { createInterface } from "node:readline/promises";
import type { UnnamedFolder } from "./folders.ts";
import { folderQuestion } from "./report.ts";

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stderr: NodeJS.WriteStream;
  /** Shows a text that quotes live names. */
  readonly say: (text: string) => void;
}

/** Asks for the name of each folder once; without a terminal, for none. An empty answer leaves it without a name. */
export async function askForNames(
  folders: readonly UnnamedFolder[],
  { stdin, stderr, say }: Terminal,
): Promise<ReadonlyMap<string, string> | "interrupted"> {
  const names = new Map<string, string>();
  if (folders.length === 0 || !stdin.isTTY || !stderr.isTTY) return names;
  const terminal = createInterface({ input: stdin, output: stderr });
  const ended = new Promise<"interrupted" | "closed">((resolve) => {
    terminal.once("SIGINT", () => resolve("interrupted"));
    terminal.once("close", () => resolve("closed"));
  });
  try {
    for (const folder of folders) {
      say(folderQuestion(folder));
      const answer = await Promise.race([
        ended.then((how) => ({ how })),
        terminal.question("Its name (empty: leave it undeclared): ").then((text) => ({ text })),
      ]);
      if ("how" in answer) return answer.how === "interrupted" ? "interrupted" : names;
      if (answer.text.trim() !== "") names.set(folder.id, answer.text.trim());
    }
    return names;
  } finally {
    terminal.close();
  }
}
