import { safeOutput } from "./escape.ts";
import type { Redactor } from "./redact.ts";
import { cutTo } from "./style.ts";

/**
 * Facts about the screen of a stream, as plain data, so that only the entry point reads the
 * environment.
 */
export type Terminal = Readonly<ReturnType<typeof terminalOf>>;

export interface TerminalFacts {
  /** `isTTY` and `columns` are both unset for a stream to a file or a pipe. */
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  /** The variables `NO_COLOR`, `FORCE_COLOR`, `CI` and `TERM`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly noColor: boolean;
}

const DEFAULT_COLUMNS = 100;
/** Limits of the text width: longer lines are hard to read, shorter ones do not fit an address. */
const MOST_TEXT = 120;
const LEAST_TEXT = 40;

/**
 * Returns how to write to a stream. Colour: never with `--no-color` or a non-empty `NO_COLOR`;
 * otherwise as `FORCE_COLOR` says; otherwise on a terminal that is not `dumb`. `CI` only turns off
 * live drawing, because its logs keep every line.
 */
export function terminalOf({ isTTY = false, columns = 0, environment, noColor }: TerminalFacts) {
  const dumb = environment["TERM"] === "dumb";
  const isOff = noColor || (environment["NO_COLOR"] ?? "") !== "";
  const forced = environment["FORCE_COLOR"];
  const screen = isTTY && columns > 0 ? columns : DEFAULT_COLUMNS;
  return {
    isTTY,
    /** Columns of the screen itself; a longer line would break in two. */
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
  /** Called with the error that prevents writing to standard output. */
  readonly failed: (error: Error) => void;
}

/**
 * The only code that writes to standard output and standard error. Every text is redacted, and text
 * for people is made safe for a terminal and a workflow log. A reader that has gone (`tasc plan |
 * head`) is not an error.
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
    // If standard error cannot be written, there is no place to report it.
    this.#err = openSink(options.stderr, () => {});
  }

  /** Writes a result for people to standard output. Its data must already be redacted. */
  text(text: string): void {
    this.flush();
    this.#redraw(this.#area, () => this.#out(this.#forPeople(text, "stdout")));
  }

  /**
   * Writes a finished document for a program to standard output. Its data must already be redacted.
   */
  document(text: string, isMarkup = false): void {
    this.flush();
    const searched = this.#options.redactor[isMarkup ? "markup" : "document"](text);
    this.#redraw(this.#area, () => this.#out(searched));
  }

  /** Writes everything else to standard error. */
  note(text: string): void {
    this.queue(text);
    this.flush();
  }

  /**
   * Like `note`, but written with the next output or `flush`: a write to a pipe takes as long as a
   * call to the service.
   */
  queue(text: string): void {
    this.#queued += text;
  }

  flush(): void {
    const text = this.#queued;
    this.#queued = "";
    if (text !== "") this.#redraw(this.#area, () => this.#err(this.#forPeople(text, "stderr")));
  }

  /**
   * Redraws the status area; an empty list removes it. Does nothing if the terminal cannot redraw.
   */
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
    // Moves up and clears from the first column, because a terminal shows `^C` where the cursor is.
    if (this.#area.length > 0) this.#err(`\r\u001b[${this.#area.length}A\u001b[0J`);
    between();
    this.#area = lines;
    this.#err(lines.map((line) => `${line}\n`).join(""));
  }
}

/**
 * Returns a function that writes to a stream until its reader has gone; `failed` gets any other
 * error.
 */
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
