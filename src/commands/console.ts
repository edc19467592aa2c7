import type { Diagnostic } from "../model/diagnostic.ts";
import type { ReadSource } from "../model/error.ts";
import type { ClientEvent } from "../model/events.ts";
import type { Json } from "../model/json.ts";
import { eventLine } from "../render/apply.ts";
import { diagnosticView, renderDiagnostics } from "../render/diagnostics.ts";
import { printedJson } from "../render/escape.ts";
import { writeJson } from "../render/json.ts";
import { type Redactor, createRedactor } from "../render/redact.ts";
import { COLOURED, PLAIN, type Style } from "../render/style.ts";
import { type Terminal, type Writer, createWriter, terminalOf } from "../render/terminal.ts";
import { type View, show } from "../render/view.ts";
import type { ProcessContext } from "./context.ts";

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
  /** Whether the result is a stream of JSON objects, one a line. */
  streams: boolean;
  /** One of them. */
  event(value: Json): void;
  /** The command's result, in the format that was asked for; text where none was. */
  show(view: View, format?: string): void;
  /** A word to the person at the terminal, if the log level lets it through. */
  say(level: LogLevel, text: string): void;
  /** Errors and warnings, each with the line that it is about. */
  readonly diagnostics: (diagnostics: readonly Diagnostic[], source?: ReadSource) => void;
  /** A call to the service, if the log level lets it through; waits are left out where a display shows them. */
  readonly heard: (event: ClientEvent, displayed?: boolean) => void;
}

export interface ConsoleOptions {
  readonly level: LogLevel;
  /** `--no-color` was given. */
  readonly noColour: boolean;
}

export function openConsole(world: ProcessContext, { level, noColour }: ConsoleOptions): Console {
  const redactor = growingRedactor(world.secrets);
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
  const style = { stdout: styleOf(terminals.stdout), stderr: styleOf(terminals.stderr) };
  const columns = terminals.stdout.width;
  const say = (wanted: LogLevel, text: string): void => {
    if (LEVELS.indexOf(wanted) <= LEVELS.indexOf(level)) writer.note(`${text}\n`);
  };
  return {
    writer,
    redactor,
    style,
    columns,
    screen: terminals.stdout.isTTY ? terminals.stdout.columns : undefined,
    live: terminals.stderr.live,
    level,
    said: world.said,
    data: (text) => writer.text(text),
    json: (value) => writer.document(writeJson(redactor.json(value))),
    streams: false,
    event: (value) => writer.document(`${printedJson(JSON.stringify(redactor.json(value)))}\n`),
    show(view, format = "text") {
      const text = show(view, format, { redactor, style: style.stdout, width: columns });
      if (format === "text") writer.text(text);
      else writer.document(text);
    },
    say,
    diagnostics(diagnostics, source = () => undefined) {
      world.said.push(...diagnostics);
      for (const severity of ["error", "warning"] as const) {
        const own = diagnostics.filter((diagnostic) => diagnostic.severity === severity).map(diagnosticView);
        if (own.length === 0) continue;
        say(
          severity === "error" ? "error" : "warn",
          renderDiagnostics(own, { style: style.stderr, width: columns, source }),
        );
      }
    },
    heard(event, displayed = false) {
      if (event.kind === "finished") {
        if (level !== "debug") return;
        const answer = event.status ?? event.fault ?? "";
        const time = `${Math.round(event.ms)} ms`;
        say("debug", `${event.method} ${event.path}  ${answer}  ${time}  try ${event.attempt}`);
      } else if (event.kind !== "started" && !displayed) {
        const line = eventLine(event);
        if (line !== undefined) say("info", line);
      }
    },
  };
}

/** Knows the secrets of a project as soon as it is read, and those of another that is read later. */
function growingRedactor(secrets: ReadonlySet<string>): Redactor {
  let known = 0;
  let latest = createRedactor([]);
  const current = (): Redactor => {
    if (known !== secrets.size) {
      known = secrets.size;
      latest = createRedactor([...secrets]);
    }
    return latest;
  };
  return {
    text: (text) => current().text(text),
    document: (text) => current().document(text),
    json: (value) => current().json(value),
    freeJson: (value) => current().freeJson(value),
  };
}

function terminalFor({ env }: ProcessContext, stream: NodeJS.WriteStream, noColor: boolean): Terminal {
  // The types say that every stream has these; one that leads to a file or a pipe has not.
  const { isTTY, columns }: { isTTY?: boolean; columns?: number } = stream;
  return terminalOf({ isTTY: isTTY ?? false, columns: columns ?? 0, environment: env, noColor });
}

function styleOf(terminal: Terminal): Style {
  return terminal.colour ? COLOURED : PLAIN;
}
