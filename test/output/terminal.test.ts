import { expect, test } from "vitest";
import { type TerminalFacts, terminalOf } from "../../src/render/terminal.ts";

const TTY: TerminalFacts = {
  isTTY: true,
  columns: 90,
  environment: { TERM: "xterm" },
  noColor: false,
};

test.each<readonly [string, Partial<TerminalFacts>, object]>([
  [
    "a terminal has colour and is drawn over",
    {},
    { colour: true, live: true, width: 90, columns: 90 },
  ],
  [
    "a file has neither",
    { isTTY: false },
    { colour: false, live: false, width: 100, columns: 100 },
  ],
  ["--no-color", { noColor: true }, { colour: false, live: true }],
  ["NO_COLOR", { environment: { NO_COLOR: "1" } }, { colour: false }],
  ["an empty NO_COLOR does not count", { environment: { NO_COLOR: "" } }, { colour: true }],
  [
    "FORCE_COLOR without a terminal",
    { isTTY: false, environment: { FORCE_COLOR: "1" } },
    { colour: true, live: false },
  ],
  ["FORCE_COLOR=0 on a terminal", { environment: { FORCE_COLOR: "0" } }, { colour: false }],
  [
    "NO_COLOR wins over FORCE_COLOR",
    { environment: { FORCE_COLOR: "1", NO_COLOR: "1" } },
    { colour: false },
  ],
  [
    "--no-color wins over FORCE_COLOR",
    { noColor: true, environment: { FORCE_COLOR: "1" } },
    { colour: false },
  ],
  ["in CI lines stay", { environment: { CI: "true" } }, { colour: true, live: false }],
  ["CI=false does not mean CI", { environment: { CI: "false" } }, { live: true }],
  ["a dumb terminal", { environment: { TERM: "dumb" } }, { colour: false, live: false }],
  ["a wide screen does not make long lines", { columns: 300 }, { width: 120, columns: 300 }],
  ["a narrow one keeps room for an address", { columns: 20 }, { width: 40, columns: 20 }],
  ["a screen of unknown size", { columns: 0 }, { width: 100, columns: 100 }],
])("%s", (_, facts, expected) => {
  expect(terminalOf({ ...TTY, ...facts })).toMatchObject(expected);
});
