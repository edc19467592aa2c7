import { createInterface } from "node:readline/promises";
import type { World } from "../cli/world.ts";
import { sayError } from "./diagnostics.ts";
import type { Console } from "./console.ts";

export type Answer = "yes" | "no" | "interrupted";

/** Asks the person at the terminal; only the whole word counts. Without a terminal nothing is asked. */
export async function ask(world: World, console: Console, question: string): Promise<Answer> {
  if (!world.stdin.isTTY || !world.stderr.isTTY) {
    sayError(
      console,
      "There is no terminal to ask at",
      "Nothing was applied. Run it with --auto-approve, or save the plan with `tasc plan --out FILE` and apply that.",
    );
    return "no";
  }
  const answer = await answerTo(world, question);
  if (answer === "no")
    sayError(console, "Nothing was applied", 'Only the whole word "yes" applies the changes.');
  return answer;
}

async function answerTo(world: World, question: string): Promise<Answer> {
  const terminal = createInterface({ input: world.stdin, output: world.stderr });
  try {
    return await new Promise<Answer>((resolve) => {
      terminal.once("SIGINT", () => resolve("interrupted"));
      terminal.once("close", () => resolve("no"));
      terminal.question(`\n${question}\nOnly "yes" applies them: `).then(
        (answer) => resolve(answer.trim() === "yes" ? "yes" : "no"),
        // The end of the input (Ctrl-D) is no answer.
        () => {
          world.stderr.write("\n");
          resolve("no");
        },
      );
    });
  } finally {
    terminal.close();
  }
}
