import type { Action } from "../model/plan.ts";

/** Colours text by its meaning. Colour says nothing that a sign or a word beside it does not say too. */
export interface Style {
  readonly action: (action: Action, text: string) => string;
  readonly error: (text: string) => string;
  readonly warning: (text: string) => string;
  readonly added: (text: string) => string;
  readonly removed: (text: string) => string;
  readonly strong: (text: string) => string;
  readonly faint: (text: string) => string;
}

const asItIs = (text: string): string => text;

export const PLAIN: Style = {
  action: (_, text) => text,
  error: asItIs,
  warning: asItIs,
  added: asItIs,
  removed: asItIs,
  strong: asItIs,
  faint: asItIs,
};

/** The sixteen colours that every terminal lets its user choose. */
const CODES: Readonly<Record<Action, number>> = { create: 32, update: 33, rediscover: 36, disable: 35 };

export const COLOURED: Style = {
  action: (action, text) => paint(CODES[action], 39, text),
  error: (text) => paint(31, 39, text),
  warning: (text) => paint(33, 39, text),
  added: (text) => paint(32, 39, text),
  removed: (text) => paint(31, 39, text),
  strong: (text) => paint(1, 22, text),
  faint: (text) => paint(2, 22, text),
};

/** What `paint` sets; with the brackets, splitting by it keeps it. */
// oxlint-disable-next-line no-control-regex -- a terminal's colours start with this control
export const COLOUR = /(\u001b\[[0-9;]*m)/;

function paint(on: number, off: number, text: string): string {
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
}
