import { type Question, importTargets } from "../app/import.ts";
import { withSession } from "../app/session.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import { SAMPLE_FILE, SAMPLE_TARGET } from "./init.ts";
import { askAll } from "./question.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc import`: writes manifests for live targets, such that a plan right after it is empty. */
export async function run(
  options: OptionsOf<"import">,
  { host, world, console }: Context,
): Promise<ExitCode> {
  return withSession(
    options,
    host,
    async (session) => {
      const person = {
        warn: (text: string) => console.say("warn", text),
        ask: (questions: readonly Question[]) =>
          askAll(questions, world, (text) => console.say("error", text)),
      };
      const sample = { file: SAMPLE_FILE, text: SAMPLE_TARGET };
      const { view, preview } = await importTargets(session, options, person, sample);
      if (options.dryRun && options.format !== "json") console.data(preview);
      else console.show(view, options.format);
      return EXIT.done;
    },
    { mayBeEmpty: true },
  );
}
