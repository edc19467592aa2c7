import type { World } from "../cli/world.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import type { Json } from "../model/json.ts";
import { writeJson } from "../render/json.ts";
import { type Redactor, createRedactor } from "../render/redact.ts";
import { COLOURED, PLAIN, type Style } from "../render/style.ts";
import { type Terminal, type Writer, createWriter, terminalOf } from "../render/terminal.ts";

export type LogLevel = "error" | "warn" | "info" | "debug";

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

/** A command's way to the outside: the writer, and what is known of the terminals. */
export interface Console {
  readonly writer: Writer;
  readonly redactor: Redactor;
  readonly style: { readonly stdout: Style; readonly stderr: Style };
  /** Columns for running text. */
  readonly columns: number;
  /** Columns of the screen that standard output leads to, if it leads to one. */
  readonly screen: number | undefined;
  /** Whether lines on stderr may be drawn over. */
  readonly live: boolean;
  readonly level: LogLevel;
  /** Diagnostics said so far. */
  readonly said: Diagnostic[];
  /** The command's result, for people. */
  data(text: string): void;
  /** The command's result, for programs. */
  json(value: Json): void;
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
  const terminals = {
    stdout: terminalFor(world, world.stdout, noColour),
    stderr: terminalFor(world, world.stderr, noColour),
  };
  const { stdout, stderr, unwritten, printed } = world;
  const failed = (error: Error): void => void unwritten.push(error);
  const plain = createWriter({ stdout, stderr, terminals, redactor, failed });
  const writer: Writer = {
    ...plain,
    document(text) {
      printed.documents++;
      plain.document(text);
    },
  };
  return {
    writer,
    redactor,
    style: { stdout: styleOf(terminals.stdout), stderr: styleOf(terminals.stderr) },
    columns: terminals.stdout.width,
    screen: terminals.stdout.isTTY ? terminals.stdout.columns : undefined,
    live: terminals.stderr.live,
    level,
    said: world.said,
    data: (text) => writer.text(text),
    json: (value) => writer.document(writeJson(redactor.json(value))),
    say: (wanted, text) => {
      if (LEVELS.indexOf(wanted) <= LEVELS.indexOf(level)) writer.note(`${text}\n`);
    },
  };
}

function terminalFor({ env }: World, stream: NodeJS.WriteStream, noColor: boolean): Terminal {
  // The types say that every stream has these; one that leads to a file or a pipe has not.
  const { isTTY, columns }: { isTTY?: boolean; columns?: number } = stream;
  return terminalOf({ isTTY: isTTY ?? false, columns: columns ?? 0, environment: env, noColor });
}

function styleOf(terminal: Terminal): Style {
  return terminal.colour ? COLOURED : PLAIN;
}

export function isLogLevel(text: string | undefined): text is LogLevel {
  return text !== undefined && LEVELS.some((level) => level === text);
}
