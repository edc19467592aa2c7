import { createInterface } from "node:readline/promises";
import { stop, TascError } from "../model/error.ts";
import { type ProcessContext } from "./context.ts";

/**
 * Asks the person at the terminal; only the whole word counts. Without a terminal nothing is asked.
 *
 * @throws TascError where the answer is not yes
 */
export async function askToApply(stage: string, world: ProcessContext): Promise<void> {
  if (!world.stdin.isTTY || !world.stderr.isTTY)
    throw stop(
      "failed",
      "no-terminal",
      "Cannot ask for confirmation: no terminal",
      "Nothing was applied. Run it with --auto-approve, or save a plan with `tasc plan --out FILE` and apply that file.",
    );
  const answer = await answerTo(world, `Apply these changes to ${stage}?`);
  if (answer === "interrupted") throw new TascError("interrupted", []);
  if (answer === "no")
    throw stop(
      "failed",
      "not-approved",
      "Nothing was applied",
      'Apply cancelled. Type the full word "yes" to confirm.',
    );
}

type Answer = "yes" | "no" | "interrupted";

async function answerTo(world: ProcessContext, question: string): Promise<Answer> {
  const terminal = createInterface({ input: world.stdin, output: world.stderr });
  try {
    return await new Promise<Answer>((resolve) => {
      terminal.once("SIGINT", () => resolve("interrupted"));
      terminal.once("close", () => resolve("no"));
      terminal.question(`\n${question}\nType "yes" to apply: `).then(
        (answer) => resolve(answer.trim() === "yes" ? "yes" : "no"),
        // The end of the input (Ctrl-D) is not an answer.
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
