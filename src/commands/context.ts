import { isatty } from "node:tty";
import { setFlagsFromString } from "node:v8";
import type { Host, LogLevel, Question } from "../app/project.ts";
import type { Diagnostic } from "../model/diagnostic.ts";
import { type ReadSource, TascError } from "../model/error.ts";
import type { ClientEvent } from "../model/events.ts";
import type { Json } from "../model/json.ts";
import { eventLine } from "../render/apply.ts";
import { renderDiagnostics } from "../render/diagnostics.ts";
import { printedJson } from "../render/escape.ts";
import { renderDiagnosticsAs } from "../render/formats.ts";
import { diagnosticView, writeJson } from "../render/json.ts";
import { type Redactor, createRedactor, redactDiagnostic } from "../render/redact.ts";
import { COLOURED, PLAIN, type Style } from "../render/style.ts";
import { Writer, terminalOf } from "../render/terminal.ts";
import type { View } from "../render/view.ts";
import type { CommandSpec } from "./spec.ts";

/** A stream, with the properties that only a terminal has. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
};

/**
 * Access to the outside world, passed to commands from the top, so that no other code accesses it
 * directly.
 */
export interface ProcessContext extends Omit<
  Host,
  "warn" | "say" | "ask" | "onClientEvent" | "signal"
> {
  readonly stdin: () => NodeJS.ReadableStream;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Called with the error if standard output cannot be written. */
  readonly unwritten: (error: Error) => void;
}

export type Context = {
  readonly host: Host;
  readonly console: Console;
  /** The specifications of all commands. */
  readonly commands: readonly CommandSpec[];
};

const LEVELS: readonly LogLevel[] = ["error", "warn", "info", "debug"];

/** The output of a command: the writer, and the properties of the terminals. */
export class Console {
  readonly level: LogLevel;
  readonly redactor: Redactor;
  readonly writer: Writer;
  readonly style: { readonly stdout: Style; readonly stderr: Style };
  readonly columns: number;
  /** Columns of the terminal that standard output is connected to, if any. */
  readonly screen: number | undefined;
  /** Whether lines on stderr can be overwritten. */
  readonly live: boolean;
  /** All diagnostics so far, for a command that was asked for JSON and ends without a result. */
  readonly reported: Diagnostic[] = [];
  /**
   * Whether a document for programs was printed. If a command fails before that, its errors become
   * the document.
   */
  printed = false;
  /** Whether the result is a stream of JSON objects, one per line. */
  streams = false;
  readonly #version: string;

  constructor(world: ProcessContext, level: LogLevel, noColor: boolean) {
    const { env, stdout, stderr, unwritten: failed } = world;
    const terminals = {
      stdout: terminalOf({
        isTTY: stdout.isTTY,
        columns: stdout.columns,
        environment: env,
        noColor,
      }),
      stderr: terminalOf({
        isTTY: stderr.isTTY,
        columns: stderr.columns,
        environment: env,
        noColor,
      }),
    };
    this.level = level;
    this.#version = world.version;
    this.redactor = createRedactor(world.secrets);
    this.writer = new Writer({ stdout, stderr, terminals, redactor: this.redactor, failed });
    this.style = {
      stdout: terminals.stdout.colour ? COLOURED : PLAIN,
      stderr: terminals.stderr.colour ? COLOURED : PLAIN,
    };
    this.columns = terminals.stdout.width;
    this.screen = terminals.stdout.isTTY ? terminals.stdout.columns : undefined;
    this.live = terminals.stderr.live;
  }

  /** Prints the command's result for people. */
  data(text: string): void {
    this.writer.text(text);
  }

  /**
   * Prints the command's result for programs: a finished document whose data is redacted, or a piece
   * of one that does not end within a word.
   */
  document(text: string, isMarkup = false): void {
    this.printed = true;
    this.writer.document(text, isMarkup);
  }

  json(value: Json): void {
    this.document(writeJson(this.redactor.json(value)));
  }

  event(value: Json): void {
    this.document(`${printedJson(JSON.stringify(this.redactor.json(value)))}\n`);
  }

  /** Prints errors and warnings as the command's result, if the format has a form for them. */
  async report(diagnostics: readonly Diagnostic[], format: string): Promise<void> {
    const views = diagnostics.map((one) => redactDiagnostic(diagnosticView(one), this.redactor));
    const document = await renderDiagnosticsAs(format, views, `tasc ${this.#version}`);
    if (document !== undefined) this.document(document, true);
  }

  async show(view: View, format = "text"): Promise<void> {
    const { show } = await import("../render/view.ts");
    const text = show(view, format, {
      redactor: this.redactor,
      style: this.style.stdout,
      width: this.columns,
    });
    if (format === "text") this.data(text);
    else this.document(text, format !== "json");
  }

  /** Prints a message for the person at the terminal, if the log level allows it. */
  say(level: LogLevel, text: string): void {
    if (LEVELS.indexOf(level) <= LEVELS.indexOf(this.level)) this.writer.note(`${text}\n`);
  }

  diagnostics(diagnostics: readonly Diagnostic[], source: ReadSource = () => undefined): void {
    this.reported.push(...diagnostics);
    const options = { style: this.style.stderr, width: this.columns, source };
    for (const severity of ["error", "warning"] as const) {
      const own = diagnostics
        .filter((diagnostic) => diagnostic.severity === severity)
        .map(diagnosticView);
      if (own.length > 0)
        this.say(severity === "error" ? "error" : "warn", renderDiagnostics(own, options));
    }
  }

  /**
   * Logs a call to the service, if the log level allows it. Leaves out waits if a display shows
   * them.
   */
  onClientEvent(event: ClientEvent, displayed = false): void {
    if (event.kind === "finished") {
      if (this.level !== "debug") return;
      const answer = event.status ?? event.fault ?? "";
      const time = `${Math.round(event.ms)} ms`;
      this.say("debug", `${event.method} ${event.path}  ${answer}  ${time}  try ${event.attempt}`);
    } else if (event.kind !== "started" && !displayed) {
      const line = eventLine(event);
      if (line !== undefined) this.say("info", line);
    }
  }
}

export function openContext(
  world: ProcessContext,
  commands: readonly CommandSpec[],
  level: LogLevel,
  noColor: boolean,
): Context {
  const console = new Console(world, level, noColor);
  return {
    console,
    commands,
    host: {
      ...world,
      warn: (diagnostics, source) => console.diagnostics(diagnostics, source),
      onClientEvent: (event) => console.onClientEvent(event),
      say: (level, text) => console.say(level, text),
      reading: tuneFor,
      // Without a terminal, nothing can be asked.
      ...(isatty(0) &&
        isatty(2) && {
          ask: (questions: readonly Question[]) =>
            askAll(questions, world, (text) => console.say("error", text)),
        }),
    },
  };
}

/**
 * Sets V8 flags for a short run. In a run of a second or two, inlining costs more compile time than
 * it saves: without it, a plan of 10,000 test cases takes a seventh less CPU on Node 20, a tenth
 * less on 24 and a twentieth less on 26. Called only when a project or plan is read: Node's own
 * modules are precompiled for its initial flags, but not for others.
 * @param read number of manifest files that were read, of the `files` that are known by then
 */
export function tuneFor(read: number, files = read): void {
  if (read === 0) {
    set("--max-inlined-bytecode-size-cumulative=100");
    // Optimising the one huge function of the HTTP parser takes 30 MiB, and more time than a run of
    // seconds can save.
    set("--wasm-tiering-budget=2000000000");
    growYoung(1);
  } else if (read === 1) {
    // On Node 20, the heap of a large project grows in small steps, which takes up to a seventh less
    // memory for 100,000 test cases; later versions need more time for that and save nothing.
    if (files > LARGE) set("--heap-growing-percent=15", 22);
    else if (files < 1000) set("--heap-growing-percent=100", 22);
    if (files > LARGE) growYoung(2);
  } else if (read === 1000 && files > LARGE) growYoung(1);
}

const LARGE = 20_000;

/**
 * Sets by which factor the space of young objects grows. Data that was read is kept to the end, so
 * a large space saves no work, and costs a tenth of the memory on Node 20, and a third on 24 and
 * 26. It stays at the 2 MiB that it has at the start; a large project gets 4 MiB, as it takes a tenth
 * more CPU with 2, and 30 MiB more memory with the 16 that it would grow to.
 */
function growYoung(factor: number): void {
  set(`--semi-space-growth-factor=${factor}`);
}

/**
 * Delays optimisation, for commands that mostly wait or do little with much data: compiling took a
 * twelfth of the CPU of an apply, and a seventh of `show`. Waking threads to clear the megabyte of
 * young objects costs an apply as much again.
 */
export function optimiseLate(): void {
  set("--interrupt-budget=600000", 22);
  set("--no-parallel-scavenge", 24);
}

/**
 * Sets a V8 flag.
 * @param newest last version of Node known to have it: V8 complains on standard error about any
 * other
 */
function set(flag: string, newest = 26): void {
  if (Number.parseInt(process.versions.node, 10) <= newest) setFlagsFromString(flag);
}

async function askAll(
  questions: readonly Question[],
  { stdin, stderr }: ProcessContext,
  say: (text: string) => void,
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (questions.length === 0) return answers;
  const { createInterface } = await import("node:readline/promises");
  const terminal = createInterface({ input: stdin(), output: stderr });
  const ending = new AbortController();
  let interrupted = false;
  terminal.once("close", () => ending.abort());
  terminal.once("SIGINT", () => {
    interrupted = true;
    ending.abort();
  });
  try {
    for (const { id, text, prompt } of questions) {
      if (text !== undefined) say(text);
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const answer = await terminal
        .question(prompt, { signal: ending.signal })
        .catch(() => undefined);
      if (interrupted) throw new TascError("interrupted", []);
      // The end of the input (Ctrl-D) is not an answer.
      if (answer === undefined) break;
      if (answer.trim() !== "") answers.set(id, answer.trim());
    }
    return answers;
  } finally {
    terminal.close();
  }
}
