import { EXIT, type ExitCode } from "../model/error.ts";
import type { View } from "../render/view.ts";
import type { Context } from "./context.ts";
import type { CommandSpec, Group } from "./spec.ts";
import {
  GLOBAL,
  type OptionRecord,
  type OptionSpec,
  type Options,
  type Raw,
  TEXT_OR_JSON,
  isArgument,
  readOptions,
} from "./options.ts";

/** The options that a command receives: its own, the format, and the global ones. */
export type OptionsOf<R extends OptionRecord> = Options<Omit<typeof TEXT_OR_JSON, keyof R> & R> &
  Options<typeof GLOBAL>;

/** A command as its file exports it. */
export interface Command extends Pick<CommandSpec, "summary" | "examples" | "args" | "options"> {
  readonly group: Group;
  /** @throws TascError for a value that an option does not accept */
  readonly start: (raw: Raw, context: Context) => Promise<ExitCode>;
}

interface Definition<R extends OptionRecord> extends Pick<Command, "summary" | "examples"> {
  readonly group: Group;
  /**
   * Options in addition to the global ones and `--format text|json`, which a `format` of its own
   * replaces.
   */
  readonly options: R;
  /**
   * The command's work. If it returns a view, that is shown in the requested format; otherwise it
   * has printed its output.
   */
  readonly run: (options: OptionsOf<R>, context: Context) => Promise<View | ExitCode>;
}

export function defineCommand<R extends OptionRecord>(definition: Definition<R>): Command {
  const { group, summary, examples, options, run } = definition;
  const all = Object.values({ ...TEXT_OR_JSON, ...options });
  return {
    group,
    summary,
    examples,
    args: all.filter(isArgument).map(plain),
    options: all.filter((option) => !isArgument(option)).flatMap(withShortForm),
    start: async (raw, context) => {
      const given = optionsIn(options, raw);
      const result = await run(given, context);
      if (typeof result === "number") return result;
      await context.console.show(result, result.format ?? given.format);
      return result.exitCode ?? EXIT.done;
    },
  };
}

/** Adds `--json` to every `--format` that accepts json. */
function withShortForm(option: OptionSpec): readonly OptionSpec[] {
  const isFormat =
    option.flags.startsWith("--format ") && option.choices?.includes("json") === true;
  return isFormat
    ? [plain(option), { flags: "--json", description: "short for --format json" }]
    : [plain(option)];
}

function plain({ flags, description, choices, repeatable }: OptionSpec): OptionSpec {
  return { flags, description, ...(choices && { choices }), ...(repeatable && { repeatable }) };
}

function optionsIn<R extends OptionRecord>(
  own: R,
  raw: Raw,
): OptionsOf<R> & { readonly format: string | undefined };
function optionsIn(own: OptionRecord, raw: Raw): Readonly<Record<string, unknown>> {
  return readOptions({ ...TEXT_OR_JSON, ...own, ...GLOBAL }, raw);
}
