import { createInterface } from "node:readline/promises";
import type { Host, Question } from "../app/session.ts";
import { TascError, failed } from "../model/error.ts";
import type { ProcessContext } from "./context.ts";

/** Asks the person at the terminal; only the whole word counts. @throws TascError where the answer is not yes */
export async function askToApply(stage: string, { ask }: Host): Promise<void> {
  if (ask === undefined)
    throw failed(
      "no-terminal",
      "Cannot ask for confirmation: no terminal",
      "Nothing was applied. Run it with --auto-approve, or save a plan with `tasc plan --out FILE` and apply that file.",
    );
  const prompt = `\nApply these changes to ${stage}?\nType "yes" to apply: `;
  const answers = await ask([{ id: "apply", prompt }]);
  if (answers.get("apply") !== "yes")
    throw failed(
      "not-approved",
      "Nothing was applied",
      'Apply cancelled. Type the full word "yes" to confirm.',
    );
}

/** Asks one question after the other. What is not answered has no entry. */
export async function askAll(
  questions: readonly Question[],
  { stdin, stderr }: ProcessContext,
  say: (text: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (questions.length === 0) return answers;
  const terminal = createInterface({ input: stdin, output: stderr });
  const ending = new AbortController();
  let interrupted = false;
  terminal.once("close", () => ending.abort());
  terminal.once("SIGINT", () => {
    interrupted = true;
    ending.abort();
  });
  try {
    for (const { id, text, prompt } of questions) {
      if (text !== undefined) say(text);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await terminal.question(prompt, { signal: ending.signal }).catch(() => undefined);
      if (interrupted) throw new TascError("interrupted", []);
      // The end of the input (Ctrl-D) is not an answer.
      if (answer === undefined) break;
      if (answer.trim() !== "") answers.set(id, answer.trim());
    }
    return answers;
  } finally {
    terminal.close();
  }
}
