import type { ExitCode } from "./exit.ts";
import type { Given, OptionSpec } from "./options.ts";
import type { World } from "./world.ts";

/** A command as the table of the product has it. Its code is loaded only when it is called. */
export interface CommandSpec {
  readonly name: string;
  readonly summary: string;
  /** Positional arguments in the parser's form. */
  readonly args?: readonly {
    readonly name: string;
    readonly description: string;
    readonly choices?: readonly string[];
  }[];
  readonly options?: readonly OptionSpec[];
  readonly examples: readonly Example[];
  readonly load?: () => Promise<CommandModule>;
  /** Commands below this one. */
  readonly commands?: readonly CommandSpec[];
}

export interface Example {
  readonly command: string;
  readonly does: string;
}

export interface CommandModule {
  readonly run: (given: Given, world: World) => Promise<ExitCode>;
}
