import { namedFields, pullFields } from "../app/pull.ts";
import { withSession } from "../app/session.ts";
import type { ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/** `tasc pull`: writes live values into the manifests, where they declare something else. */
export async function run(options: OptionsOf<"pull">, { host, console }: Context): Promise<ExitCode> {
  const fields = namedFields(options.fields);
  return withSession(options, host, async (session) => {
    const { view, exitCode } = await pullFields(session, { ...options, fields });
    console.show(view, options.format);
    return exitCode;
  });
}
