import { safeOutput } from "./escape.ts";
import type { Redactor } from "./redact.ts";
import { cutTo } from "./style.ts";

/** What is known of the screen that a stream leads to, as plain data; nobody below the entry asks the environment. */
export type Terminal = Readonly<ReturnType<typeof terminalOf>>;

export interface TerminalFacts {
  /** Both absent for a stream that leads to a file or a pipe. */
  readonly isTTY?: boolean;
  readonly columns?: number;
  /** The variables `NO_COLOR`, `FORCE_COLOR`, `CI` and `TERM`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly noColor: boolean;
}

const DEFAULT_COLUMNS = 100;
/** Longer lines are hard to read, shorter ones hold no address. */
const MOST_TEXT = 120;
const LEAST_TEXT = 40;

/**
 * Colour: never with `--no-color` or a `NO_COLOR` that is not empty; else as `FORCE_COLOR` says; else on a terminal.
 * `CI` only ends live drawing: its logs keep every line.
 */
export function terminalOf({ isTTY = false, columns = 0, environment, noColor }: TerminalFacts) {
  const dumb = environment["TERM"] === "dumb";
  const isOff = noColor || (environment["NO_COLOR"] ?? "") !== "";
  const forced = environment["FORCE_COLOR"];
  const screen = isTTY && columns > 0 ? columns : DEFAULT_COLUMNS;
  return {
    isTTY,
    /** Of the screen itself; more would break a line in two. */
    columns: screen,
    width: Math.min(MOST_TEXT, Math.max(LEAST_TEXT, screen)),
    colour: !isOff && (forced === undefined ? isTTY && !dumb : forced === "" || isSet(forced)),
    live: isTTY && !dumb && !isSet(environment["CI"]),
  };
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value.toLowerCase() !== "false";
}

export interface WriterOptions {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly terminals: { readonly stdout: Terminal; readonly stderr: Terminal };
  readonly redactor: Redactor;
  /** Is told what keeps standard output from being written. */
  readonly failed: (error: Error) => void;
}

/**
 * The only thing that writes to standard output and standard error. Every text passes the redactor and is made safe for
 * a terminal and a workflow log. A reader that has gone (`tasc plan | head`) is not an error.
 */
export class Writer {
  readonly #out: (text: string) => void;
  readonly #err: (text: string) => void;
  readonly #options: WriterOptions;
  #area: readonly string[] = [];
  #queued = "";

  constructor(options: WriterOptions) {
    this.#options = options;
    this.#out = openSink(options.stdout, options.failed);
    // Where standard error cannot be written there is nobody to tell.
    this.#err = openSink(options.stderr, () => {});
  }

  /** A result for people, whose data was redacted before, to standard output. */
  text(text: string): void {
    this.flush();
    this.#redraw(this.#area, () => this.#out(this.#forPeople(text, "stdout")));
  }

  /** A finished document for a program, whose data was redacted before, to standard output. */
  document(text: string, isMarkup = false): void {
    this.flush();
    const searched = this.#options.redactor[isMarkup ? "markup" : "document"](text);
    this.#redraw(this.#area, () => this.#out(searched));
  }

  /** All else, to standard error. */
  note(text: string): void {
    this.queue(text);
    this.flush();
  }

  /** As a note, but written with the next output or `flush`: each write to a pipe takes as long as a call to the service. */
  queue(text: string): void {
    this.#queued += text;
  }

  flush(): void {
    const text = this.#queued;
    this.#queued = "";
    if (text !== "") this.#redraw(this.#area, () => this.#err(this.#forPeople(text, "stderr")));
  }

  /** Draws the status area in place of what it showed before; no lines take it away. Nothing where it cannot be drawn. */
  status(lines: readonly string[]): void {
    const { live, columns } = this.#options.terminals.stderr;
    if (!live) return;
    const fitting = lines.map((line) => cutTo(this.#forPeople(line, "stderr"), columns - 1));
    this.#redraw(fitting, () => {});
  }

  #forPeople(text: string, stream: "stdout" | "stderr"): string {
    const { redactor, terminals } = this.#options;
    return safeOutput(redactor[stream === "stdout" ? "lines" : "text"](text), terminals[stream]);
  }

  #redraw(lines: readonly string[], between: () => void): void {
    // Up over the lines, and from the first column clear what is there: a terminal shows `^C` where the cursor is.
    if (this.#area.length > 0) this.#err(`\r\u001b[${this.#area.length}A\u001b[0J`);
    between();
    this.#area = lines;
    this.#err(lines.map((line) => `${line}\n`).join(""));
  }
}

/** Writes to a stream, until its reader goes; `failed` is told what else keeps it from being written to. */
export function openSink(stream: NodeJS.WritableStream, failed: (error: Error) => void) {
  let broken = false;
  stream.on("error", (error: Error & { readonly code?: string }) => {
    if (!broken && error.code !== "EPIPE" && error.code !== "ERR_STREAM_DESTROYED") failed(error);
    broken = true;
  });
  return (text: string): void => {
    if (!broken && text !== "") stream.write(text);
  };
}
