import type { CommandSpec as Row, Raw } from "../commands/options.ts";
import type { ExitCode } from "../model/error.ts";
import type { World } from "./world.ts";

/** A row of the table; `load` is for commands that still read their options by name. */
export interface CommandSpec extends Omit<Row, "commands"> {
  readonly load?: () => Promise<{ readonly run: (given: Raw, world: World) => Promise<ExitCode> }>;
  readonly commands?: readonly CommandSpec[];
}
