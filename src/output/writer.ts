import { cutTo } from "../render/style.ts";
import type { Redactor } from "./redact.ts";
import { safeOutput } from "./safe.ts";
import { openSink } from "./sink.ts";
import { drawStatus, eraseStatus } from "./status-area.ts";
import type { Terminal } from "./terminal.ts";

/**
 * The only thing that writes to standard output and standard error. Every text passes the redactor and is made safe
 * for a terminal and a workflow log, whatever its renderer did. A reader that has gone (`tasc plan | head`) is not
 * an error.
 */
export interface Writer {
  /** A result for people, to standard output. */
  text(text: string): void;
  /**
   * A finished document for a program (JSON, HTML, annotations …), to standard output. Its data must have been
   * redacted before (`redact-plan.ts`), since here a secret that reads like a word or a number of the format itself
   * has to stay: else `1234` would spoil every count.
   */
  document(text: string): void;
  /** All else, to standard error. */
  note(text: string): void;
  /** Draws the status area, in place of what it showed before; no lines take it away. Nothing where it cannot be drawn. */
  status(lines: readonly string[]): void;
}

export interface WriterOptions {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly terminals: { readonly stdout: Terminal; readonly stderr: Terminal };
  readonly redactor: Redactor;
  /** Is told what keeps standard output from being written. */
  readonly failed: (error: Error) => void;
}

export function createWriter({ stdout, stderr, terminals, redactor, failed }: WriterOptions): Writer {
  const out = openSink(stdout, failed);
  // Where standard error cannot be written there is nobody to tell.
  const err = openSink(stderr, () => {});
  let area: readonly string[] = [];
  const redraw = (lines: readonly string[], between: () => void): void => {
    if (area.length > 0) err.write(eraseStatus(area.length));
    between();
    area = lines;
    if (area.length > 0) err.write(drawStatus(area));
  };
  const forPeople = (text: string, terminal: Terminal): string => safeOutput(redactor.text(text), terminal);
  return {
    text: (text) => redraw(area, () => out.write(forPeople(text, terminals.stdout))),
    document: (text) => redraw(area, () => out.write(redactor.document(text))),
    note: (text) => redraw(area, () => err.write(forPeople(text, terminals.stderr))),
    status(lines) {
      if (!terminals.stderr.live) return;
      const fitting = lines.map((line) =>
        cutTo(forPeople(line, terminals.stderr), terminals.stderr.columns - 1),
      );
      redraw(fitting, () => {});
    },
  };
}
