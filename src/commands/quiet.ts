import type { Diagnostic } from "../model/diagnostic.ts";
import type { Console } from "./console.ts";

/** A console that shows nothing, for what is told in another form; what was to be said is kept. */
export interface QuietConsole extends Console {
  readonly said: Diagnostic[];
}

export function quietConsole(console: Console): QuietConsole {
  const said: Diagnostic[] = [];
  return {
    ...console,
    said,
    live: false,
    say: () => {},
    data: () => {},
    json: () => {},
    heard: () => {},
    diagnostics: (diagnostics) => void said.push(...diagnostics),
  };
}
