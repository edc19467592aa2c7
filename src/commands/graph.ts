import { withSession } from "../app/session.ts";
import { graphOf, graphView } from "../inspect/graph.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import { targetsNamed } from "./managed.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc graph [TARGET]`: prerequisites as a drawing. It reads the manifests alone, so it needs no secrets. */
export async function run(options: OptionsOf<"graph">, { host, console }: Context): Promise<ExitCode> {
  const { target, format = "mermaid" } = options;
  const work = { ...options, allowMissingSecrets: true };
  return withSession(
    work,
    host,
    async ({ desired }) => {
      console.show(graphView(graphOf(desired.stage, targetsNamed(target, desired))), format);
      return EXIT.done;
    },
    { apiKey: false },
  );
}
