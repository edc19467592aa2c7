import { Writable } from "node:stream";
import { createRedactor } from "../../src/render/redact.ts";
import { type Terminal, Writer, terminalOf } from "../../src/render/terminal.ts";

export interface Screen {
  readonly writer: Writer;
  readonly stdout: () => string;
  readonly stderr: () => string;
}

/** A writer with two streams that collect their output. */
export function screen(
  options: { readonly live?: boolean; readonly secrets?: readonly string[] } = {},
): Screen {
  const out = collector();
  const err = collector();
  const terminal = terminalFor(options.live ?? false);
  const writer = new Writer({
    stdout: out.stream,
    stderr: err.stream,
    terminals: { stdout: terminal, stderr: terminal },
    redactor: createRedactor(options.secrets ?? []),
    failed: (error) => {
      throw error;
    },
  });
  return { writer, stdout: out.text, stderr: err.text };
}

export function terminalFor(live: boolean): Terminal {
  return terminalOf({ isTTY: live, columns: 60, environment: {}, noColor: true });
}

function collector(): { readonly stream: Writable; readonly text: () => string } {
  const chunks: string[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: unknown, _, done) {
      chunks.push(String(chunk));
      done();
    },
  });
  return { stream, text: () => chunks.join("") };
}
