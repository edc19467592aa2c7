/** What is known of the screen that a stream leads to, as plain data; nobody below the entry asks the environment. */
export interface Terminal {
  readonly isTTY: boolean;
  /** Columns for running text. */
  readonly width: number;
  /** Columns of the screen itself; more would break a line in two. */
  readonly columns: number;
  readonly colour: boolean;
  /** Whether lines may be drawn over. */
  readonly live: boolean;
}

export interface TerminalFacts {
  readonly isTTY: boolean;
  readonly columns?: number;
  /** The variables `NO_COLOR`, `FORCE_COLOR`, `CI` and `TERM`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `--no-color`. */
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
export function terminalOf({ isTTY, columns, environment, noColor }: TerminalFacts): Terminal {
  const dumb = environment["TERM"] === "dumb";
  const screen = isTTY && columns !== undefined && columns > 0 ? columns : DEFAULT_COLUMNS;
  return {
    isTTY,
    columns: screen,
    width: Math.min(MOST_TEXT, Math.max(LEAST_TEXT, screen)),
    colour: wantsColour(environment, noColor) ?? (isTTY && !dumb),
    live: isTTY && !dumb && !isSet(environment["CI"]),
  };
}

function wantsColour(environment: TerminalFacts["environment"], noColor: boolean): boolean | undefined {
  if (noColor || (environment["NO_COLOR"] ?? "") !== "") return false;
  const forced = environment["FORCE_COLOR"];
  return forced === undefined ? undefined : isSet(forced) || forced === "";
}

function isSet(value: string | undefined): boolean {
  return value !== undefined && value !== "" && value !== "0" && value.toLowerCase() !== "false";
}
