import { createRedactor } from "../output/redact.ts";
import type { Redactor } from "../output/redact.ts";
import { safeOutput } from "../output/safe.ts";
import { COLOURED, PLAIN } from "../render/style.ts";
import type { Style } from "../render/style.ts";
import type { World } from "../cli/world.ts";

export type LogLevel = "error" | "warn" | "info" | "debug";

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

/**
 * The only way to the outside: data to stdout, all else to stderr, everything through the redactor and the check for
 * what would drive a terminal.
 */
export interface Console {
  readonly redactor: Redactor;
  readonly style: { readonly stdout: Style; readonly stderr: Style };
  /** Of the terminal, or what reads well elsewhere. */
  readonly columns: number;
  readonly level: LogLevel;
  /** The command's result. */
  data(text: string): void;
  /** A word to the person at the terminal, if the log level lets it through. */
  say(level: LogLevel, text: string): void;
}

export interface ConsoleOptions {
  readonly secrets: readonly string[];
  readonly level: LogLevel;
  /** `--no-color` was given. */
  readonly noColour: boolean;
}

export function openConsole(world: World, { secrets, level, noColour }: ConsoleOptions): Console {
  for (const secret of secrets) world.secrets.add(secret);
  const redactor = createRedactor(secrets);
  const colour = {
    stdout: wantsColour(world, world.stdout, noColour),
    stderr: wantsColour(world, world.stderr, noColour),
  };
  return {
    redactor,
    style: { stdout: colour.stdout ? COLOURED : PLAIN, stderr: colour.stderr ? COLOURED : PLAIN },
    columns: world.stdout.columns ?? world.stderr.columns ?? 100,
    level,
    data: (text) => void world.stdout.write(safeOutput(redactor.text(text), { colour: colour.stdout })),
    say: (wanted, text) => {
      if (LEVELS.indexOf(wanted) > LEVELS.indexOf(level)) return;
      world.stderr.write(safeOutput(redactor.text(`${text}\n`), { colour: colour.stderr }));
    },
  };
}

/** no-color.org and its counterpart; a `dumb` terminal shows no colours. */
function wantsColour({ env }: World, stream: NodeJS.WriteStream, noColour: boolean): boolean {
  if (noColour || (env["NO_COLOR"] ?? "") !== "") return false;
  const force = env["FORCE_COLOR"];
  if (force !== undefined && force !== "") return force !== "0";
  return stream.isTTY && env["TERM"] !== "dumb";
}

export function isLogLevel(text: string | undefined): text is LogLevel {
  return text !== undefined && LEVELS.some((level) => level === text);
}
