import stringWidth from "fast-string-width";

/**
 * The terminal's own sixteen colours by meaning: the codes that switch one on and off. Red is only
 * for harm.
 */
const CODES = {
  create: [32, 39],
  update: [33, 39],
  rediscover: [36, 39],
  disable: [31, 39],
  forget: [2, 22],
  error: [31, 39],
  warning: [33, 39],
  added: [32, 39],
  removed: [2, 22],
  strong: [1, 22],
  faint: [2, 22],
} as const;

export type Meaning = keyof typeof CODES;

/** Colours text by its meaning. A sign or a word next to it always says the same as the colour. */
export type Style = (meaning: Meaning, text: string) => string;

export const PLAIN: Style = (_, text) => text;

export const COLOURED: Style = (meaning, text) => {
  const [on, off] = CODES[meaning];
  return text === "" ? "" : `\u001b[${on}m${text}\u001b[${off}m`;
};

/** Code that switches a colour. It is a capturing group, so that `split` keeps the codes. */
// oxlint-disable-next-line no-control-regex -- a terminal's colours start with this control
export const COLOUR = /(\u001b\[[0-9;]*m)/;

/**
 * Returns the columns of a text on a terminal: two for a wide character, none for colours and
 * joiners.
 */
export function textWidth(text: string): number {
  return /^[ -~]*$/.test(text) ? text.length : stringWidth(text);
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

/**
 * Breaks a line at its spaces. Long words stay whole: half an id is useless, and half a secret gets
 * past the redactor.
 */
export function wrap(line: string, width: number): readonly string[] {
  if (textWidth(line) <= width) return [line];
  const lines: string[] = [];
  let current = "";
  for (const word of line.split(/(?<=\S)(?= )/)) {
    if (current !== "" && textWidth(current) + textWidth(word) > width) {
      lines.push(current);
      current = word.trimStart();
    } else current += word;
  }
  return [...lines, current];
}

/** Joins sections of lines with a blank line between them; empty sections are left out. */
export function sectionsText(sections: readonly (readonly string[])[]): string {
  return sections
    .filter(({ length }) => length > 0)
    .map((lines) => `${lines.join("\n")}\n`)
    .join("\n");
}

/**
 * Cuts a line to a width. Colour codes stay, so that every colour that was switched on is switched
 * off again.
 */
export function cutTo(line: string, width: number): string {
  if (textWidth(line) <= width) return line;
  // Created here, because creating one takes as long as the whole rest of a command's start.
  const graphemes = new Intl.Segmenter();
  let left = width - 1;
  const kept = line.split(COLOUR).map((part, at) => {
    if (at % 2 === 1) return part;
    return Array.from(graphemes.segment(part), ({ segment }) => {
      left -= textWidth(segment);
      return left >= 0 ? segment : "";
    }).join("");
  });
  return `${kept.join("")}…`;
}
