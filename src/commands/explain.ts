import { explainAddress } from "../app/explain.ts";
import { withSession } from "../app/session.ts";
import { explainCode } from "../inspect/explain.ts";
import { KINDS } from "../model/address.ts";
import { EXIT, type ExitCode } from "../model/error.ts";
import type { Context } from "./context.ts";
import type { OptionsOf } from "./table.ts";

/**
 * `tasc explain ADDRESS [FIELD]`: where values come from, and what follows from them. `tasc explain CODE`: the entry of the
 * catalogue of errors. It changes nothing.
 */
export async function run(options: OptionsOf<"explain">, { host, console }: Context): Promise<ExitCode> {
  const { address, field, format } = options;
  // Addresses have dots, and codes have none; a kind alone is the beginning of an address.
  if (field === undefined && !address.includes(".") && !KINDS.some((kind) => kind === address)) {
    console.show(explainCode(address), format);
    return EXIT.done;
  }
  // Without the key fingerprints cannot be compared, and the rest can still be told.
  const needs = { apiKey: !options.offline };
  return withSession(
    options,
    host,
    async (session) => {
      const { view, diagnostics } = await explainAddress(session, options);
      console.show(view, format);
      if (format !== "json") console.diagnostics(diagnostics, session.source);
      return EXIT.done;
    },
    needs,
  );
}
